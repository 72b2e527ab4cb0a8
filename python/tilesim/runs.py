"""Runs: a program on a machine, with arrays of NumPy."""
from __future__ import annotations

import os
from html import escape
from typing import Any, Dict, Mapping, Optional, Union

import numpy as np

from . import _native as native
from . import arrays
from ._native import ffi, lib
from .machine import Machine
from .program import Program


class Run:
    """What :func:`run` found. A run whose checks failed is a run: `passed` tells."""

    def __init__(self, program: Program, inputs: Mapping[str, Any], options: Dict[str, Any]):
        self.program, self._options = program, options
        self._inputs = {str(name): np.array(arrays.unmasked(array), order="C")  # for a trace of the same run
                        for name, array in inputs.items()}
        self._run = self._simulate()
        self.cycles: int = lib.ts_simulation_cycles(self._run)
        self.microseconds: float = lib.ts_simulation_microseconds(self._run)
        self.passed: bool = lib.ts_simulation_passed(self._run) != 0  #: its checks, and with `check` nothing was found
        self._json: dict = native.printed_json(lib.ts_simulation_json, self._run)
        self.stalls: Dict[str, int] = self._json["stalls"]  #: cycles by reason
        self.outputs: Dict[str, np.ndarray] = {}  #: values of the program's outputs
        for tensor in self._json["tensors"]:
            array = lib.ts_simulation_output(self._run, native.encoded(tensor["name"]))
            if array != native.NULL:
                self.outputs[tensor["name"]] = arrays.as_numpy(array, self._run)

    def _simulate(self, trace: Optional[bytes] = None, page: bool = False):
        arena = native.new_arena()
        kept = [(native.optional(name), *arrays.wrap(arena, array))
                for name, array in self._inputs.items()]
        inputs = ffi.new("ts_input[]", [{"name": name, "array": array} for name, array, _ in kept])
        program = self.program
        return native.asked_until_stopped(lib.ts_simulate, "ts_run_options", program, arena, machine=program.machine._machine,
                                          program=program._program, inputs=inputs, input_count=len(kept), trace=trace,
                                          page=page, **self._options)

    def counter(self, name: str) -> int:
        """A counter by its name in the JSON: "bundles", "hbm_read_bytes"."""
        value = lib.ts_simulation_counter(self._run, native.encoded(name))
        if value == -1:
            raise KeyError(name)
        return value

    def trace(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Runs once more and writes the timeline, for ui.perfetto.dev."""
        self._simulate(trace=os.fsencode(path))

    def html(self) -> str:
        """Runs once more; the page that `tilesim run --html` writes: cycles, roofline, timeline, lines, transfers."""
        return native.printed(lib.ts_simulation_html, self._simulate(page=True)) or ""

    def report(self) -> str:
        """What `tilesim run` prints: the report, and behind it each finding and failed check with its line."""
        return native.printed(lib.ts_simulation_text, self._run) or ""

    def json(self) -> dict:
        """What `tilesim run --json` prints."""
        return native.printed_json(lib.ts_simulation_json, self._run)

    def __repr__(self) -> str:
        return f"<Run {self.cycles} cycles, {self.microseconds:.3f} us, {'passed' if self.passed else 'failed'}>"

    def _repr_html_(self) -> str:
        """The page, in a frame of its own."""
        return f'<iframe srcdoc="{escape(self.html())}" style="width:100%;height:40em;border:0"></iframe>'


def run(program: Union[str, "os.PathLike[str]", Program], inputs: Optional[Mapping[str, Any]] = None,
        machine: Union[str, Machine, None] = None, params: Optional[Mapping[str, object]] = None, convert: bool = False,
        time_only: bool = False, check: bool = False, exact: bool = False, max_cycles: int = 0,
        mesh: Optional[str] = None, topology: Optional[str] = None, threads: int = 1) -> Run:
    """Runs a program: a path, ``"tilesim:/softmax.tsim"`` of those that the library carries, or a :class:`Program`.

    `inputs` by tensor, those of kernels by number; others are as the program says. `params` are its ``.param``.
    `convert`: round inputs of another type; `time_only`: no values; `check`: look for undefined values, races and what is
    left over; `exact`: nothing is left out of the time; `max_cycles`: a program that still runs then has failed, 0: no limit.
    `mesh`: "4x4" or "data=2,model=8": devices that all run the program, arrays being whole, None: those that the program
    was read for; `topology`: how their chips lie; `threads`: that step them, with the same result.
    """
    if inputs is not None and not isinstance(inputs, Mapping):
        raise TypeError("inputs are arrays by the names of tensors, such as {'x': array}")
    if isinstance(program, Program):
        if machine is not None or params:
            raise TypeError("a Program has its machine and its params")
    else:
        program = Program.read(program, machine, params, mesh, topology)
    return Run(program, inputs or {}, {"convert": convert, "time_only": time_only, "check": check, "exact": exact,
                                       "max_cycles": max_cycles, "mesh": native.optional(mesh),
                                       "topology": native.optional(topology), "threads": threads})
