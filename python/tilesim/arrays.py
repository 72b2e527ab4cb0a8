"""Arrays of NumPy into layouts and back, by the library's kernels; types that NumPy lacks through ml_dtypes, or as raw words."""
from __future__ import annotations

import math
import mmap
from typing import Any, Dict, Optional, Tuple, Union

import numpy as np

from . import _native as native
from ._native import ffi, lib
from .layout import Layout, as_layout

try:
    import ml_dtypes  # type: ignore
except ImportError:
    ml_dtypes = None

# Element type: NumPy's name.
_NUMPY = {
    "pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
    "c128": "complex128",
}
# Element type: ml_dtypes's name, and the raw word where that is not installed.
_OTHERS = {
    "bf16": ("bfloat16", "u2"), "f8e5m2": ("float8_e5m2", "u1"), "f8e4m3": ("float8_e4m3", "u1"),
    "f8e4m3fn": ("float8_e4m3fn", "u1"), "f8e4m3b11fnuz": ("float8_e4m3b11fnuz", "u1"),
    "f8e3m4": ("float8_e3m4", "u1"), "f8e5m2fnuz": ("float8_e5m2fnuz", "u1"), "f8e4m3fnuz": ("float8_e4m3fnuz", "u1"),
    "f8e8m0fnu": ("float8_e8m0fnu", "u1"), "f4e2m1fn": ("float4_e2m1fn", "u1"), "f6e2m3fn": ("float6_e2m3fn", "u1"),
    "f6e3m2fn": ("float6_e3m2fn", "u1"), "s1": ("int1", "u1"), "s2": ("int2", "u1"), "s4": ("int4", "u1"),
    "u1": ("uint1", "u1"), "u2": ("uint2", "u1"), "u4": ("uint4", "u1"),
}


def _dtypes() -> Dict[str, np.dtype]:
    found = {type_: np.dtype(name) for type_, name in _NUMPY.items()}
    for type_, (name, word) in _OTHERS.items():
        there = getattr(ml_dtypes, name, None)
        found[type_] = np.dtype(there) if there is not None else np.dtype([(type_, "<" + word)])
    return found


_DTYPES = _dtypes()
_TYPES = {dtype: type_ for type_, dtype in _DTYPES.items()}


def dtype(type_: str) -> np.dtype:
    """NumPy's type for an element type: ml_dtypes's where NumPy has none and that is installed, else a structure of one
    raw word that is called like the type: ``a["bf16"]`` are the words of such an array, uint16."""
    if type_ not in _DTYPES:
        raise TypeError(f"arrays cannot hold {type_}")
    return _DTYPES[type_]


def type_of(of: Any) -> str:
    """The element type of NumPy's."""
    there = np.dtype(of).newbyteorder("<") if np.dtype(of).names is None else np.dtype(of)
    found = _TYPES.get(there)
    if found is None and there.names and len(there.names) == 1:  # raw words, where ml_dtypes is installed too
        named = _OTHERS.get(there.names[0])
        found = there.names[0] if named and there == np.dtype([(there.names[0], "<" + named[1])]) else None
    if found is None:
        raise TypeError(f"no element type is NumPy's {np.dtype(of)}")
    return found


def wrap(arena, array: Any, plain_void: Optional[str] = None) -> Tuple[Any, np.ndarray]:
    """The array as the library's, and what holds its bytes while that is used: a copy only where they do not lie one
    behind the other, little endian. `plain_void`: the type of NumPy's unnamed bytes, as .npy files have them."""
    held = np.asarray(array)
    is_void = held.dtype.kind == "V" and held.dtype.names is None and held.dtype not in _TYPES
    type_ = plain_void if is_void and plain_void and held.itemsize == dtype(plain_void).itemsize else type_of(held.dtype)
    if held.dtype.byteorder == ">":
        held = held.astype(held.dtype.newbyteorder("<"))
    held = np.ascontiguousarray(held).reshape(held.shape)
    made = native.call(lib.ts_array_wrap, arena, native.encoded(type_), held.ndim,
                       ffi.new("int64_t[]", list(held.shape) or 1), ffi.cast("void *", held.ctypes.data))
    return made, held


def as_numpy(array, arena) -> np.ndarray:
    """One of the library's, without a copy."""
    dims = tuple(lib.ts_array_dims(array)[i] for i in range(lib.ts_array_rank(array)))
    data = native.view(lib.ts_array_data(array), lib.ts_array_bytes(array), arena)
    return np.frombuffer(data, dtype(native.decoded(lib.ts_array_type(array)))).reshape(dims)


def _flat(buffer: Any) -> np.ndarray:
    """Its bytes, without a copy."""
    view = memoryview(buffer)
    return np.frombuffer(view.cast("B"), np.uint8) if view.nbytes else np.zeros(0, np.uint8)  # no dim of 0 can be cast


def _bytes_of(buffer: Any) -> np.ndarray:
    """A buffer, or an array of any type, as its bytes."""
    return np.ascontiguousarray(buffer).view(np.uint8).reshape(-1) if isinstance(buffer, np.ndarray) else _flat(buffer)


def _row_major(layout: Layout) -> bool:
    """Are the bytes those of an array, one element behind the other?"""
    dims = ",".join(map(str, layout.dims))
    return layout == Layout(f"{layout.type}[{dims}]") and layout.bytes == layout.logical_bytes


def _fresh(count: int) -> np.ndarray:
    """So many bytes of zero. Large ones in huge pages, where the system has them: most of the time of filling fresh memory is
    that of its first touch."""
    if count < 4 << 20 or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(count, np.uint8)
    memory = mmap.mmap(-1, count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    try:
        memory.madvise(mmap.MADV_HUGEPAGE)
    except OSError:  # a kernel without them
        pass
    return np.frombuffer(memory, np.uint8)


def _writable(out: Any) -> np.ndarray:
    """The bytes of the caller's memory."""
    if isinstance(out, np.ndarray):  # of any type, also one that is no buffer
        good = out.flags.writeable and out.flags.c_contiguous
    else:
        view = memoryview(out)
        good = not view.readonly and view.c_contiguous
    if not good:
        raise TypeError("out= needs memory that can be written, one byte behind the other")
    return out.reshape(-1).view(np.uint8) if isinstance(out, np.ndarray) else _flat(out)


def _check_elements(out: Any, type_: Optional[str]) -> None:
    """The caller's array for elements, of a type where one was asked for."""
    if not isinstance(out, np.ndarray) or not out.flags.c_contiguous or not out.flags.writeable or out.dtype.byteorder == ">":
        raise TypeError("out= of elements needs an array of NumPy, contiguous, little endian, that can be written")
    if type_ is not None and type_of(out.dtype) != type_:
        raise TypeError(f"out= has {type_of(out.dtype)}, to= has {type_}")


def _check_apart(data: np.ndarray, out: np.ndarray) -> None:
    """A move reads while it writes."""
    if np.may_share_memory(data, out):
        raise ValueError("out= is memory of the data itself: expected other memory")


def _pack(array: Any, layout: Layout, threads: int, out: Any) -> Any:
    count = native.call(lib.ts_move_bytes, layout._shape, failed=-1)
    bytes_ = _fresh(count) if out is None else _writable(out)
    arena = native.new_arena()
    own, held = wrap(arena, array, layout.type)
    _check_apart(held, bytes_)
    if out is not None and count != layout.logical_bytes:
        bytes_[:] = 0  # padding
    native.call(lib.ts_move_pack_into, own, layout._shape, threads, ffi.cast("void *", bytes_.ctypes.data), bytes_.size, failed=0)
    del held
    return memoryview(bytes_) if out is None else out


def _unpack(buffer: Any, layout: Layout, type_: str, threads: int, out: Any) -> np.ndarray:
    """The elements, converted to a type: that of `out` where there is one."""
    data, array = _bytes_of(buffer), out
    if out is None:
        held = dtype(type_)
        array = np.ndarray(layout.dims, held, _fresh(held.itemsize * math.prod(layout.dims)))
    _check_apart(data, array)
    arena = native.new_arena()
    own, _ = wrap(arena, array)
    native.call(lib.ts_move_unpack_into, ffi.cast("void *", data.ctypes.data), data.size, layout._shape, threads, own, failed=0)
    return array


def convert(data: Any, layout: Union[str, Layout, None] = None, to: Union[str, Layout, None] = None, threads: int = 0,
            out: Any = None) -> Union[memoryview, np.ndarray]:
    """Moves an array into a layout, or the bytes of one layout into another.

    ``convert(array, to=layout)`` gives the bytes of the layout, a memoryview with padding zero; values are rounded to its
    type. ``convert(buffer, layout)`` gives the elements as an array in the layout's type, and ``convert(buffer, layout,
    to=other)`` the bytes of the other, which are an array where the other is row-major without padding. The input is not
    copied where it is contiguous. `threads` at most; 0: the caller alone. `out`: the caller's memory, none of it the data's,
    which gets the result and is returned: a buffer of as many bytes; for elements an array with the dims, whose type they
    get. It is several times as fast as fresh memory.
    """
    if layout is None and to is None:
        raise TypeError("convert() needs a layout: of the data, or to convert it to")
    if layout is None:
        return _pack(data, as_layout(to), threads, out)
    source = as_layout(layout)
    target = source if to is None else as_layout(to)
    if to is None or target.dims == source.dims and _row_major(target):
        if out is not None:
            _check_elements(out, None if to is None else target.type)
        return _unpack(data, source, target.type, threads, out)
    return _pack(_unpack(data, source, source.type, threads, None), target, threads, out)
