"""Prices: what moving a tensor from one layout to another costs on a machine."""
from __future__ import annotations

from typing import Dict, List, NamedTuple, Union

from . import _native as native
from ._native import lib
from ._table import table
from .layout import Layout, layout_text
from .machine import DEFAULT, Machine, as_machine


class Cheaper(NamedTuple):
    """Another layout of one end that costs less."""

    end: str  #: "source" or "destination"
    layout: Layout
    cycles: int
    microseconds: float


class Price:
    """What :func:`price` found."""

    def __init__(self, source: str, destination: str, machine: Machine, exact: bool):
        self.source, self.destination, self.machine = source, destination, machine
        self._asked_exact = exact
        self._price = self._ask(others=False)
        self.cycles: int = lib.ts_price_cycles(self._price)  #: of the core's clock
        self.microseconds: float = lib.ts_price_microseconds(self._price)
        self.useful_bytes: int = lib.ts_price_useful_bytes(self._price)
        self.moved_bytes: int = lib.ts_price_moved_bytes(self._price)  #: at both ends, with padding and waste
        self.limiter: str = native.decoded(lib.ts_price_limiter(self._price))  #: in words
        self.exact: bool = lib.ts_price_is_exact(self._price) != 0  #: nothing was left out

    def _ask(self, others: bool):
        return native.asked_until_stopped(lib.ts_price_transfer, "ts_price_request", self.machine, machine=self.machine._machine,
                                          source=self.source, destination=self.destination, exact=self._asked_exact,
                                          others=others)

    @property
    def breakdown(self) -> Dict[str, int]:
        """Cycles by what they are due to; their sum is `cycles`."""
        return self.json()["parts"]

    @property
    def cheaper(self) -> List[Cheaper]:
        """Other layouts of the source or of the destination that cost less, the cheapest first."""
        found = native.printed_json(lib.ts_price_json, self._ask(others=True))
        rows = [(end, row) for end in ("source", "destination") for row in found[f"other_{end}s"]]
        rows = sorted((pair for pair in rows if pair[1]["cycles"] < self.cycles), key=lambda pair: pair[1]["cycles"])
        return [Cheaper(end, Layout(row["shape"]), row["cycles"], row["cycles"] * self.microseconds / self.cycles)
                for end, row in rows]

    def report(self) -> str:
        """What `tilesim dma` prints, without other layouts."""
        return native.printed(lib.ts_price_text, self._price) or ""

    def json(self) -> dict:
        """What `tilesim dma --json` prints, without other layouts."""
        return native.printed_json(lib.ts_price_json, self._price)

    def __reduce__(self):
        return Price, (self.source, self.destination, self.machine, self._asked_exact)  # for pickle: asked again there

    def __repr__(self) -> str:
        return f"<Price {self.microseconds:.3f} us, {self.cycles} cycles, limited by {self.limiter}>"

    def _repr_html_(self) -> str:
        title = f"{self.source} to {self.destination}: {self.microseconds:.3f} us, limited by {self.limiter}"
        return table(title, ("part", "cycles"), [(part, cycles) for part, cycles in self.breakdown.items() if cycles])


def price(source: Union[str, Layout], destination: Union[str, Layout], machine: Union[str, Machine] = DEFAULT,
          exact: bool = False) -> Price:
    """What moving a tensor costs, or a slice of it (``"f32[64,256]{1,0}[0:8, :]"``), by DMA. `exact`: simulate every access."""
    return Price(layout_text(source), layout_text(destination), as_machine(machine), exact)
