"""Resharding: a tensor from one sharding over a mesh of chips to another."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Union

from . import _native as native
from ._native import ffi, lib
from ._table import table
from .machine import Machine, machine_of


class Reshard:
    """What :func:`reshard` found."""

    def __init__(self, machine: Machine, failed_links: Union[str, Sequence[str]] = (), **query: Any):
        self.machine = machine
        failed_links = [failed_links] if isinstance(failed_links, str) else failed_links
        links = [native.optional(link) for link in failed_links]
        self._answer = native.asked(lib.ts_reshard_find, "ts_reshard_query", (machine, links),
                                    machine=machine._machine,
                                    failed_links=ffi.new("char *[]", links) if links else ffi.NULL,
                                    failed_link_count=len(links), **query)
        self.microseconds: float = lib.ts_reshard_microseconds(self._answer)
        self.bound_microseconds: float = lib.ts_reshard_bound_microseconds(self._answer)  #: by the links' bandwidth
        found = self.json()
        self.plan: List[Dict[str, Any]] = found["plan"]  #: its collectives: kind, algorithm, steps, bytes, microseconds
        self.links: Dict[str, int] = found["links"]  #: bytes over each link that is used
        self.proved: bool = found["proved"]  #: made with bytes of a small array

    def report(self) -> str:
        """What `tilesim reshard` prints."""
        return native.printed(lib.ts_reshard_text, self._answer) or ""

    def json(self) -> dict:
        """What `tilesim reshard --json` prints."""
        return native.printed_json(lib.ts_reshard_json, self._answer)

    def __repr__(self) -> str:
        kinds = ", ".join(step["kind"] for step in self.plan) or "nothing"
        return f"<Reshard {kinds}: {self.microseconds:.2f} us>"

    def _repr_html_(self) -> str:
        rows = [(step["kind"], step["algorithm"] or "", step["steps"], step["microseconds"]) for step in self.plan]
        return table(f"{self.microseconds:.2f} us", ("collective", "algorithm", "steps", "us"), rows)


def reshard(source: str, destination: str, mesh: str, machine: Union[str, Machine, None] = None,
            topology: Optional[str] = None, algorithm: Optional[str] = None, proof: bool = True,
            failed_links: Union[str, Sequence[str]] = ()) -> Reshard:
    """How a tensor comes from one sharding to another: ``"f32[64,64] P('x', None)"`` to ``"f32[64,64]"`` on `mesh` ``"4x4"``,
    ``"data=2,model=8"``, whose chips lie as `topology` says, or ``"v4-64"``, a mesh file with a machine of its own; in
    partition specs, HLO's, Shardy's or Axe's notation. Links that have failed are ``"(0,0)->(0,1)"``, one way each."""
    return Reshard(machine_of(mesh, machine), failed_links, source=source, destination=destination, mesh=mesh,
                   topology=topology, algorithm=algorithm, unproved=not proof)
