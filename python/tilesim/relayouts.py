"""Relayouts: how Mosaic brings a value in vregs from one layout to another."""
from __future__ import annotations

from typing import Dict, Optional, Union

from . import _native as native
from ._native import lib
from ._table import table
from .layout import Layout, layout_text
from .machine import DEFAULT, Machine, as_machine


class Relayout:
    """What :func:`relayout` found."""

    def __init__(self, source: str, destination: str, machine: Machine):
        self.source, self.destination, self.machine = source, destination, machine
        self._answer = native.asked(lib.ts_relayout_find, "ts_relayout_query", machine, machine=machine._machine,
                                    source=source, destination=destination)
        cycles = lib.ts_relayout_cycles(self._answer)
        self.cycles: Optional[int] = cycles if cycles >= 0 else None  #: that its ops add; None: the report says why
        self.op_count: int = lib.ts_relayout_op_total(self._answer)  #: ops on vregs
        found = self.json()
        self.how: str = found["how"]  #: "free", "rotate rows" ..
        self.ops: Dict[str, int] = found["ops"]  #: by Mosaic's names
        self.merged_op_count: int = found["merged_op_count"]  #: when those that are the same are merged

    def report(self) -> str:
        """What `tilesim relayout` prints."""
        return native.printed(lib.ts_relayout_text, self._answer) or ""

    def json(self) -> dict:
        """What `tilesim relayout --json` prints."""
        return native.printed_json(lib.ts_relayout_json, self._answer)

    def svg(self) -> str:
        """The picture of `tilesim relayout --svg`: vregs of both sides, in the colours of where elements come from."""
        return native.printed(lib.ts_relayout_svg, self._answer) or ""

    def _cycles(self) -> str:
        return "cycles not known" if self.cycles is None else f"{self.cycles} cycles"

    def __reduce__(self):
        return Relayout, (self.source, self.destination, self.machine)  # for pickle: asked again there

    def __repr__(self) -> str:
        return f"<Relayout {self.how}, {self.op_count} ops, {self._cycles()}>"

    def _repr_html_(self) -> str:
        title = f"{self.source} to {self.destination}: {self.how}, {self._cycles()}"
        return table(title, ("op", "count"), list(self.ops.items())) + self.svg()


def relayout(source: Union[str, Layout], destination: Union[str, Layout], machine: Union[str, Machine] = DEFAULT) -> Relayout:
    """How a value comes from one layout in vregs to another: ``'f32[8,128] vpad<"32,{0,0},(8,128)">'``. What Mosaic refuses
    is an :class:`InputError` in its words, what is not modelled an :class:`UnmodelledError`."""
    return Relayout(layout_text(source), layout_text(destination), as_machine(machine))
