"""Operands by a text: "bf16[128,256] random(seed=1, lo=-1, hi=1)", "f32[8,8]", by the rules of `.tensor` in docs/program.md."""
from __future__ import annotations

import math
import re
from typing import Tuple

import numpy as np

_OPERAND = re.compile(r"\s*(\w+)\[([\d,\s]*)\]\s*(.*)")
_RANDOM = re.compile(r"random\(\s*seed=(\d+)\s*,\s*lo=([-+.\w]+)\s*,\s*hi=([-+.\w]+)\s*\)")


def _mixed(z: np.ndarray) -> np.ndarray:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _splitmix64(seed: int, count: int) -> np.ndarray:
    with np.errstate(over="ignore"):
        start = _mixed(np.array([seed], dtype=np.uint64))
        return _mixed(start + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))


def _is_integer(kind: str) -> bool:
    return re.fullmatch(r"[su]\d+|pred", kind) is not None


def _draw(kind: str, dims: Tuple[int, ...], seed: int, low: float, high: float) -> np.ndarray:
    draws = _splitmix64(seed, math.prod(dims)).reshape(dims)
    if _is_integer(kind):
        first = math.ceil(low)
        return (draws % np.uint64(math.floor(high) - first + 1)).astype(np.int64) + first
    return low + (high - low) * ((draws >> np.uint64(40)).astype(np.float64) * 2.0 ** -24)


def filled(operand: str, seed: int = 1) -> Tuple[str, np.ndarray]:
    """The type's name, and the values in double precision or 64 bits; without a fill `random` of that seed, from -1 to 1."""
    read = _OPERAND.fullmatch(operand)
    if read is None:
        raise ValueError(f"'{operand}' is no operand: expected such as 'f32[8,128] random(seed=1, lo=-1, hi=1)'")
    kind, fill = read[1], read[3].strip() or f"random(seed={seed}, lo=-1, hi=1)"
    dims = tuple(int(dim) for dim in read[2].split(",") if dim.strip())
    drawn = _RANDOM.fullmatch(fill)
    if drawn is not None:
        return kind, _draw(kind, dims, int(drawn[1]), float(drawn[2]), float(drawn[3]))
    if fill not in ("zeros", "iota"):
        raise ValueError(f"'{fill}' is no fill: expected random(seed=1, lo=-1, hi=1), iota or zeros")
    counted = np.arange(math.prod(dims)).reshape(dims)
    return kind, counted if fill == "iota" else counted * 0
