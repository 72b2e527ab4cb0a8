"""Arrays of NumPy as the library's, and back; types that NumPy lacks through ml_dtypes, or as raw words."""
from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np

from . import _native as native
from ._native import ffi, lib

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
    if isinstance(of, np.dtype) and of in _TYPES:
        return _TYPES[of]
    there = np.dtype(of).newbyteorder("<") if np.dtype(of).names is None else np.dtype(of)
    found = _TYPES.get(there)
    if found is None and there.names and len(there.names) == 1:  # raw words, where ml_dtypes is installed too
        named = _OTHERS.get(there.names[0])
        found = there.names[0] if named and there == np.dtype([(there.names[0], "<" + named[1])]) else None
    if found is None:
        raise TypeError(f"no element type is NumPy's {np.dtype(of)}")
    return found


def _is_masked(array: Any) -> bool:
    """Of a list its parts, too: NumPy takes their values."""
    if isinstance(array, (list, tuple)):
        return any(map(_is_masked, array))
    return isinstance(array, np.ma.MaskedArray) and bool(np.ma.is_masked(array))


def unmasked(array: Any) -> Any:
    """What has values everywhere: no layout has a place for a mask."""
    if _is_masked(array):
        raise TypeError("the array has masked values: expected values everywhere, such as array.filled(0)")
    return array


def is_little_endian(of: np.dtype) -> bool:
    """All of its fields, too."""
    return of.byteorder != ">" and (of.names is None or of == of.newbyteorder("<"))


def little_endian(array: np.ndarray) -> np.ndarray:
    """The same values, as the library's bytes are."""
    return array if is_little_endian(array.dtype) else array.astype(array.dtype.newbyteorder("<"))


def _type_held(held: np.ndarray, plain_void: Optional[str]) -> str:
    """As in files: unnamed bytes are of the type that is expected, if they are as many; else two are bf16."""
    if held.dtype.kind != "V" or held.dtype.names is not None or held.dtype in _TYPES:
        return type_of(held.dtype)
    if plain_void and held.itemsize == dtype(plain_void).itemsize:
        return plain_void
    return "bf16" if held.itemsize == 2 else type_of(held.dtype)


def plain(array: Any, plain_void: Optional[str] = None) -> Tuple[str, np.ndarray]:
    """The element type, and the elements one behind the other, little endian: a copy only where they do not lie so.
    `plain_void`: the type of NumPy's unnamed bytes, as .npy files have them."""
    held = little_endian(np.asarray(unmasked(array)))
    type_ = _type_held(held, plain_void)
    return type_, held if held.flags.c_contiguous else np.ascontiguousarray(held)


def wrap(arena, array: Any) -> Tuple[Any, np.ndarray]:
    """The array as the library's, and what holds its bytes while that is used."""
    type_, held = plain(array)
    made = native.call(lib.ts_array_wrap, arena, native.encoded(type_), held.ndim,
                       ffi.new("int64_t[]", list(held.shape) or 1), ffi.cast("void *", held.ctypes.data))
    return made, held


def as_numpy(array, arena) -> np.ndarray:
    """One of the library's, without a copy."""
    dims = tuple(lib.ts_array_dims(array)[i] for i in range(lib.ts_array_rank(array)))
    data = native.view(lib.ts_array_data(array), lib.ts_array_bytes(array), arena)
    return np.frombuffer(data, dtype(native.decoded(lib.ts_array_type(array)))).reshape(dims)
