"""Layouts: sizes, and which element lies where."""
from __future__ import annotations

from typing import List, Optional, Tuple, Union

from . import _native as native
from ._native import ffi, lib


class Layout:
    """An element type, logical dims and a layout, in any notation: ``Layout("bf16[1000,784]{1,0:T(8,128)(2,1)}")``.

    Two are equal when they have the same type, the same dims and every element at the same place.
    """

    def __init__(self, text: Union[str, "Layout"]):
        arena = native.new_arena()
        shape = native.call(lib.ts_shape_from_text, arena, native.encoded(layout_text(text)))
        self._shape = native.owned(shape, arena)
        self.text: str = native.printed(lib.ts_shape_text, self._shape) or ""  #: canonical
        self.type: str = native.decoded(lib.ts_shape_type(self._shape))  #: "bf16"
        dims = lib.ts_shape_dims(self._shape)
        rank = lib.ts_shape_rank(self._shape)
        self.dims: Tuple[int, ...] = tuple(dims[i] for i in range(rank))  #: logical
        #: What elements lie on: "m" is memory, others are lanes, devices ...
        self.axes: Tuple[str, ...] = tuple(self._axes())

    def _axes(self) -> List[str]:
        names: List[str] = []
        while lib.ts_shape_axis(self._shape, len(names)) != native.NULL:
            names.append(native.decoded(lib.ts_shape_axis(self._shape, len(names))))
        return names

    @property
    def bytes(self) -> int:
        """With padding, as XLA's compilers report it."""
        return lib.ts_shape_padded_bytes(self._shape)

    @property
    def logical_bytes(self) -> int:
        """Of the elements alone."""
        return lib.ts_shape_logical_bytes(self._shape)

    @property
    def storage_bytes(self) -> int:
        """Of what holds every element at its offset."""
        return lib.ts_shape_storage_bytes(self._shape)

    @property
    def expansion(self) -> Optional[float]:
        """Bytes with padding by bytes without; None of an empty array."""
        return self.bytes / self.logical_bytes if self.logical_bytes else None

    def locate(self, *index: int) -> Tuple[int, ...]:
        """Where an element lies: a coordinate for each of `axes`, of memory in elements."""
        if len(index) != len(self.dims):
            raise TypeError(f"{len(index)} indices of {len(self.dims)} dims")
        found = ffi.new("int64_t[]", max(1, len(self.axes)))
        native.call(lib.ts_shape_locate, self._shape, ffi.new("int64_t[]", list(index) or 1), found, failed=0)
        return tuple(found[i] for i in range(len(self.axes)))

    def offset(self, *index: int) -> int:
        """Where an element lies in memory, in elements; of a layout on one axis."""
        if len(self.axes) != 1:
            axes = f"the layout has the axes {', '.join(self.axes)}: locate() gives a coordinate for each"
            raise TypeError(axes if self.axes else f"{self.text} has no layout")
        return self.locate(*index)[0]

    def index(self, *coordinates: int) -> Optional[Tuple[int, ...]]:
        """The element that lies there; None of padding."""
        if len(coordinates) != len(self.axes):
            raise TypeError(f"{len(coordinates)} coordinates on {len(self.axes)} axes")
        found = ffi.new("int64_t[]", max(1, len(self.dims)))
        at = ffi.new("int64_t[]", list(coordinates) or 1)
        there = native.call(lib.ts_shape_find, self._shape, at, found, failed=-1)
        return tuple(found[i] for i in range(len(self.dims))) if there else None

    def translate(self, notation: str) -> "Layout":
        """The same map in another notation: "xla", "axe", "tvm" or "cute"."""
        arena = native.new_arena()
        shape = native.call(lib.ts_shape_translate, arena, self._shape, native.encoded(notation))
        return Layout(native.printed(lib.ts_shape_text, shape) or "")

    def report(self) -> str:
        """What `tilesim layout` prints."""
        return native.printed(lib.ts_shape_report, self._shape) or ""

    def json(self) -> dict:
        """What `tilesim layout --json` prints."""
        return native.printed_json(lib.ts_shape_json, self._shape)

    def svg(self) -> Optional[str]:
        """A picture of where the elements lie; None of a shape without a layout."""
        return native.printed(lib.ts_shape_svg, self._shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        if self.text == other.text:
            return True
        if not self.axes or not other.axes:
            return False
        return native.call(lib.ts_shape_equal, self._shape, other._shape, failed=-1) == 1

    def __hash__(self) -> int:
        return hash((self.type, self.dims))

    def __reduce__(self):
        return Layout, (self.text,)  # for pickle, other processes, and copies

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Layout({self.text!r})"

    def _repr_html_(self) -> Optional[str]:
        return self.svg()


def layout_text(layout: Union[str, Layout]) -> str:
    """As the library reads it; what is neither a text nor a layout is refused."""
    if not isinstance(layout, (str, Layout)):
        raise TypeError(f"a layout is a text, not {type(layout).__name__}")
    return str(layout)


def as_layout(layout: Union[str, Layout]) -> Layout:
    """Itself, or the layout of a text."""
    return layout if isinstance(layout, Layout) else Layout(layout)
