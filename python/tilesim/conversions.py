"""Arrays of NumPy into layouts and back, by the library's kernels: once, or many alike."""
from __future__ import annotations

import functools
import math
import mmap
from numbers import Number
from typing import Any, Optional, Tuple, Union, overload

import numpy as np

from . import _native as native
from ._native import ffi, lib
from .arrays import dtype, is_little_endian, little_endian, plain, type_of, unmasked
from .layout import Layout, as_layout

#: Layouts do not change.
_parsed = functools.lru_cache(maxsize=64)(Layout)


def _known(layout: Union[str, Layout]) -> Layout:
    return _parsed(layout) if isinstance(layout, str) else as_layout(layout)


def _rows(type_: str, dims: Tuple[int, ...]) -> str:
    """The layout of an array."""
    return f"{type_}[{','.join(map(str, dims))}]"


def _array_of(layout: Layout) -> Layout:
    return _parsed(_rows(layout.type, layout.dims))


def _flat(buffer: Any) -> np.ndarray:
    """Its bytes, without a copy."""
    view = memoryview(buffer)
    return np.frombuffer(view.cast("B"), np.uint8) if view.nbytes else np.zeros(0, np.uint8)  # no dim of 0 can be cast


def _bytes_of(buffer: Any) -> np.ndarray:
    """A buffer, or an array of any type, as its bytes."""
    if not isinstance(buffer, np.ndarray):
        return _flat(buffer)
    return np.ascontiguousarray(little_endian(unmasked(buffer))).view(np.uint8).reshape(-1)


def _fresh(count: int, zero: bool) -> np.ndarray:
    """So many bytes, of zero where that is asked for. Large ones in huge pages, where the system has them: most of the time of
    filling fresh memory is that of its first touch."""
    if count < 4 << 20 or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(count, np.uint8) if zero else np.empty(count, np.uint8)
    try:
        memory = mmap.mmap(-1, count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no memory for {count:,} bytes") from error
    try:
        memory.madvise(mmap.MADV_HUGEPAGE)
    except OSError:  # a kernel without them
        pass
    return np.frombuffer(memory, np.uint8)


def _bytes_to_fill(out: np.ndarray) -> np.ndarray:
    """Of the caller's array, which is contiguous."""
    return np.asarray(unmasked(out)).reshape(-1).view(np.uint8)


def _writable(out: Any) -> np.ndarray:
    """The bytes of the caller's memory."""
    if isinstance(out, np.ndarray):  # of any type, also one that is no buffer
        good = out.flags.writeable and out.flags.c_contiguous and is_little_endian(out.dtype)
    else:
        view = memoryview(out)
        good = not view.readonly and view.c_contiguous
    if not good:
        raise TypeError("out= needs memory that can be written, one byte behind the other, little endian")
    return _bytes_to_fill(out) if isinstance(out, np.ndarray) else _flat(out)


def _type_of_elements(out: Any, wanted: Optional[str]) -> str:
    """Of the caller's array for elements; of a type where one was asked for."""
    good = isinstance(out, np.ndarray) and out.flags.c_contiguous and out.flags.writeable and is_little_endian(out.dtype)
    if not good:
        raise TypeError("out= of elements needs an array of NumPy, contiguous, little endian, that can be written")
    type_ = type_of(out.dtype)
    if wanted is not None and type_ != wanted:
        raise TypeError(f"out= has {type_}, to= has {wanted}")
    return type_


@functools.lru_cache(maxsize=64)
def _simplest(text: str) -> str:
    """The layout of an array, where the elements lie as those of one, however that is written; else the layout itself."""
    layout = _parsed(text)
    array = _array_of(layout)
    return array.text if layout == array and layout.bytes == layout.logical_bytes else text


class Converter:
    """What `convert` finds out about two layouts, kept: ``Converter("f32[64,300]", to="bf16[64,300]{1,0:T(8,128)(2,1)}")`` takes
    arrays of float32 into tiles, and with the two the other way round takes them back.

    A call takes the bytes of the one layout and gives those of the other: an array where that is written as one, row-major
    without tiles (``f32[64,300]`` or ``f32[64,300]{1,0}``), else a memoryview with padding zero. Values are rounded. Data of a
    layout that is written so must be an array with these dims and this type, its bytes, or lists of numbers. `out` as in
    `convert`. `threads` at most; 0: the caller alone. Threads of Python may share it.
    """

    def __init__(self, source: Union[str, Layout], to: Union[str, Layout], threads: int = 0):
        self.source = _known(source)  #: of the data
        self.to = _known(to)  #: of the result
        self.threads = threads
        arena = native.new_arena()
        made = native.call(lib.ts_converter_new, arena, self.source._shape, self.to._shape, threads)
        self._native = native.owned(made, (arena, self.source, self.to))
        self.source_bytes: int = lib.ts_converter_source_bytes(made)  #: of the data
        self.bytes: int = lib.ts_converter_destination_bytes(made)  #: of the result, with padding
        #: Are some of its bits no element's? Those of bytes of narrow elements may be.
        self._pads = self.bytes != self.to.logical_bytes or self.bytes <= math.prod(self.to.dims)
        self._takes_array = self.source.text == _array_of(self.source).text
        self._gives_array = self.to.text == _array_of(self.to).text

    @property
    def dims(self) -> Tuple[int, ...]:
        """Logical, of both."""
        return self.source.dims

    def __call__(self, data: Any, out: Any = None) -> Any:
        return self._give(self._read(data), out)

    def _give(self, data: np.ndarray, out: Any) -> Any:
        return self._give_array(data, out) if self._gives_array else self._give_bytes(data, out)

    def _read(self, data: Any) -> np.ndarray:
        """The bytes of the data."""
        if self._takes_array and isinstance(data, (list, tuple, Number)):
            return _flat(convert(data, to=self.source))
        if not self._takes_array or not hasattr(data, "__array__"):
            return _bytes_of(data)
        array = np.asarray(unmasked(data))
        if array.dtype == np.uint8 and array.ndim == 1:
            return _bytes_of(array)
        type_, held = plain(array, self.source.type)
        if type_ != self.source.type or array.shape != self.dims:
            raise ValueError(f"the array is {_rows(type_, array.shape)}, expected {self.source.text}")
        return held.reshape(-1).view(np.uint8)

    def _give_array(self, data: np.ndarray, out: Any) -> np.ndarray:
        if out is None:
            return self._fill(data).view(dtype(self.to.type)).reshape(self.dims)
        _type_of_elements(out, self.to.type)
        if out.shape != self.dims:
            raise ValueError(f"out= has the dims {list(out.shape)}, expected {list(self.dims)}")
        self._move_apart(data, _bytes_to_fill(out))
        return out

    def _give_bytes(self, data: np.ndarray, out: Any) -> Any:
        if out is None:
            return memoryview(self._fill(data))
        self._move_apart(data, _writable(out))
        return out

    def _fill(self, data: np.ndarray) -> np.ndarray:
        """Fresh memory; of data that are refused none."""
        return self._move(data, _fresh(self.bytes if data.size == self.source_bytes else 0, self._pads))

    def _move_apart(self, data: np.ndarray, out: np.ndarray) -> None:
        """Into the caller's memory."""
        if np.may_share_memory(data, out):  # a move reads while it writes
            raise ValueError("out= is memory of the data itself: expected other memory")
        if self._pads and (data.size, out.size) == (self.source_bytes, self.bytes):
            out.fill(0)
        self._move(data, out)

    def _move(self, data: np.ndarray, out: np.ndarray) -> np.ndarray:
        arguments = self._native, ffi.from_buffer(data), data.size, ffi.from_buffer(out), out.size
        if not lib.ts_converter_run(native.NULL, *arguments):
            native.call(lib.ts_converter_run, *arguments, failed=0)  # says why
        return out

    def __reduce__(self):
        return Converter, (self.source, self.to, self.threads)  # for pickle, other processes, and copies

    def __repr__(self) -> str:
        return f"Converter({self.source.text!r}, to={self.to.text!r})"


#: The last few: of tensors that come in turns.
_converter = functools.lru_cache(maxsize=16)(Converter)


@overload
def convert(data: Any, layout: None = None, *, to: Union[str, Layout], threads: int = 0, out: None = None) -> memoryview: ...
@overload
def convert(data: Any, layout: Union[str, Layout], to: None = None, threads: int = 0,
            out: Optional[np.ndarray] = None) -> np.ndarray: ...
@overload
def convert(data: Any, layout: Union[str, Layout, None] = None, to: Union[str, Layout, None] = None, threads: int = 0,
            out: Any = None) -> Any: ...


def convert(data: Any, layout: Union[str, Layout, None] = None, to: Union[str, Layout, None] = None, threads: int = 0,
            out: Any = None) -> Any:
    """Moves an array into a layout, or the bytes of one layout into another.

    ``convert(array, to=layout)`` gives the bytes of the layout, a memoryview with padding zero; values are rounded to its
    type. ``convert(buffer, layout)`` gives the elements as an array in the layout's type, and ``convert(buffer, layout,
    to=other)`` the bytes of the other, which are an array where the other is row-major without padding. The input is not
    copied where it is contiguous. `threads` at most; 0: the caller alone. `out`: the caller's memory, none of it the data's,
    which gets the result and is returned: a buffer of as many bytes; for elements an array with the dims, whose type they
    get. It is several times as fast as fresh memory. What is found out about two layouts is kept for a while; a `Converter`
    keeps it as long as it is there.
    """
    if layout is None and to is None:
        raise TypeError("convert() needs a layout: of the data, or to convert it to")
    if layout is None:
        target = _known(to)
        type_, held = plain(data, target.type)
        return _converter(_rows(type_, held.shape), target.text, threads)._give_bytes(held.reshape(-1).view(np.uint8), out)
    source = _known(layout)
    if to is None:
        type_, dims = (source.type, source.dims) if out is None else (_type_of_elements(out, None), out.shape)
        target = _rows(type_, dims)
    else:
        target = _simplest(_known(to).text)
    return _converter(source.text, target, threads)._give(_bytes_of(data), out)
