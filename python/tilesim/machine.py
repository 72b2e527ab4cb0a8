"""Machines: every figure that the models take."""
from __future__ import annotations

import html
import os
from typing import List, Mapping, Optional, Union

from . import _native as native
from ._native import ffi, lib

DEFAULT = "tpu-v5e"


class Machine:
    """A built-in machine or a file of one, with figures changed: ``Machine("tpu-v6e", {"hbm.clock": "3.2 GHz"})``."""

    def __init__(self, name: str = DEFAULT, overrides: Optional[Mapping[str, object]] = None):
        if overrides is not None and not isinstance(overrides, Mapping):
            raise TypeError("overrides are values by the names of fields, such as {'hbm.clock': '3.2 GHz'}")
        self.name = os.fspath(name)
        self.overrides = {field: native.figure(value) for field, value in (overrides or {}).items()}
        changes = [ffi.new("char[]", native.encoded(f"{field}={value}")) for field, value in self.overrides.items()]
        arena = native.new_arena()
        machine = native.call(lib.ts_machine_change, arena, native.encoded(self.name), ffi.new("char *[]", changes),
                              len(changes))
        self._machine = native.owned(machine, arena)
        self.title: str = native.decoded(lib.ts_machine_title(self._machine))  #: "TPU v6e"
        self.hash: int = lib.ts_machine_hash(self._machine)  #: equal machines have equal ones

    @staticmethod
    def names() -> List[str]:
        """The built-in machines."""
        found: List[str] = []
        while lib.ts_machine_name(len(found)) != native.NULL:
            found.append(native.decoded(lib.ts_machine_name(len(found))))
        return found

    def report(self) -> str:
        """The file, with the source of each figure, and what follows from it."""
        return native.printed(lib.ts_machine_text, self._machine) or ""

    def json(self) -> dict:
        """What `tilesim show machine NAME --json` prints."""
        return native.printed_json(lib.ts_machine_json, self._machine)

    def __eq__(self, other: object) -> bool:
        return self.hash == other.hash if isinstance(other, Machine) else NotImplemented

    def __hash__(self) -> int:
        return self.hash

    def __reduce__(self):
        return Machine, (self.name, self.overrides)  # for pickle, other processes, and copies

    def __repr__(self) -> str:
        return f"Machine({self.name!r}{', ' + repr(self.overrides) if self.overrides else ''})"

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(self.title)}</b><pre>{html.escape(self.report())}</pre>"


def as_machine(machine: Union[str, Machine]) -> Machine:
    """Itself, or the machine of a name."""
    return machine if isinstance(machine, Machine) else Machine(machine)


def machine_of(mesh: Optional[str], machine: Union[str, Machine, None]) -> Machine:
    """The same; where there is none, that of the mesh, of which a file names one."""
    if machine is not None or not isinstance(mesh, str):
        return as_machine(DEFAULT if machine is None else machine)
    arena = native.new_arena()
    name = native.decoded(native.call(lib.ts_machine_of_mesh, arena, native.encoded(mesh)))
    ffi.release(arena)
    return Machine(name)
