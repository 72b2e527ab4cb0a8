"""Choices of layouts, and audits of compiled modules."""
from __future__ import annotations

import linecache
import os
from typing import Any, Iterable, List, Mapping, NamedTuple, Optional, Union

from . import _native as native
from ._native import ffi, lib
from ._table import table
from .layout import Layout, layout_text
from .machine import DEFAULT, Machine, as_machine
from .program import defines


class Candidate(NamedTuple):
    """A legal layout of a tensor."""

    layout: str
    cycles: Optional[int]  #: None: cut, its bound is no better
    bytes: int


class Choice:
    """What :func:`choose` found."""

    def __init__(self, choice):
        self._choice = choice
        cycles = [lib.ts_choice_cycles(choice, i) for i in range(lib.ts_choice_count(choice))]
        #: The best first.
        self.candidates: List[Candidate] = [
            Candidate(native.decoded(lib.ts_choice_layout(choice, i)), None if c < 0 else c, lib.ts_choice_bytes(choice, i))
            for i, c in enumerate(cycles)]

    @property
    def best(self) -> Layout:
        """The first of them."""
        return Layout(self.candidates[0].layout)

    def report(self) -> str:
        """What `tilesim choose --no-moves` prints, all rows."""
        return native.printed(lib.ts_choice_text, self._choice) or ""

    def json(self) -> dict:
        """What `tilesim choose --no-moves --json` prints."""
        return native.printed_json(lib.ts_choice_json, self._choice)

    def __repr__(self) -> str:
        return f"<Choice {self.candidates[0].layout} of {len(self.candidates)}>"

    def _repr_html_(self) -> str:
        rows = [(row.layout, "cut" if row.cycles is None else row.cycles, row.bytes) for row in self.candidates]
        return table("layouts, the best first", ("layout", "cycles", "bytes"), rows)


def choose(shape: Union[str, Layout, None] = None, uses: Union[str, Iterable[str], None] = None,
           machine: Union[str, Machine] = DEFAULT, program: Union[str, "os.PathLike[str]", None] = None,
           tensor: Optional[str] = None, params: Optional[Mapping[str, object]] = None, combine: bool = False,
           exhaustive: bool = False, exact: bool = False) -> Choice:
    """Every legal layout, priced: of a shape and its uses (``"dma:hbm>vmem,reduce:0"``, or a list of such), or of a program's
    tensor. `exact`: simulate every access."""
    joined = uses if uses is None or isinstance(uses, str) else ",".join(uses)
    chip = as_machine(machine)
    values, count, _kept = defines(params)
    changes = [native.optional(f"{field}={value}") for field, value in chip.overrides.items()]
    return Choice(native.asked_until_stopped(
        lib.ts_choose_layouts, "ts_choice_request", machine=chip.name,
        shape=None if shape is None else layout_text(shape), uses=joined,
        program=None if program is None else os.fspath(program), tensor=tensor, defines=values, define_count=count,
        combine=combine, exhaustive=exhaustive, exact=exact, changes=ffi.new("char *[]", changes), change_count=len(changes)))


class Source(NamedTuple):
    """Where in the user's program something comes from. `str` of it: "model.py:12 in f: jit(f)/sin"."""

    op: str  #: an argument's name, or the way to an operation; ""
    file: str  #: "" where the module names none
    function: str
    line: int
    of: str  #: "own"; of what has no place itself that of its "maker" or "reader"

    @property
    def code(self) -> str:
        """The line itself; "" where it cannot be read."""
        return linecache.getline(self.file, self.line).strip() if self.file else ""

    def __str__(self) -> str:
        if not self.file:
            return self.op
        below = self.file.startswith(os.getcwd() + os.sep)
        place = f"{os.path.relpath(self.file) if below else self.file}:{self.line}"
        place += f" in {self.function}" * bool(self.function)
        if self.of == "own":
            return place + f": {self.op}" * bool(self.op)
        return f"{self.op}, " * bool(self.op) + f"{'read' if self.of == 'reader' else 'made'} at {place}"


class Finding(NamedTuple):
    """A move, or padding, that costs something."""

    what: str
    fix: str  #: a sentence
    microseconds: float  #: that are lost; with `each_read`, each time that the buffers are read once
    bytes: int
    each_read: bool
    first: str  #: the name of the first instruction that has it
    line: int  #: of the text
    layout: Optional[str]  #: in braces, with which the move's source, or the buffer, would not cost it
    space: int  #: the memory that it lies in, 0 is HBM
    source: Optional[Source]  #: None: the text does not say
    at_most: bool = False  #: so much is lost: of what is within a fusion, which may hide it


def _finding(row: Mapping[str, Any]) -> Finding:
    place = row["source"]
    source = place and Source(place["op"], place["file"] or "", place["function"] or "", place["line"], place["of"])
    keys = ("what", "fix", "microseconds_saved", "bytes_saved", "each_read", "first", "line", "layout", "space")
    return Finding(*(row[key] for key in keys), source, row["at_most"])


class Audit:
    """What :func:`audit` found."""

    def __init__(self, audit):
        self._audit = audit
        self.logical_bytes: int = lib.ts_audit_logical_bytes(audit)  #: of all buffers
        self.padded_bytes: int = lib.ts_audit_padded_bytes(audit)
        self.microseconds: float = lib.ts_audit_microseconds(audit)  #: of all moves
        self.fixes: List[str] = []  #: what to change, the most time first
        while lib.ts_audit_fix(audit, len(self.fixes)) != native.NULL:
            self.fixes.append(native.decoded(lib.ts_audit_fix(audit, len(self.fixes))))

    @property
    def findings(self) -> List[Finding]:
        """What costs something, the most time first."""
        return [_finding(row) for row in self.json()["findings"]]

    def report(self) -> str:
        """What `tilesim audit` prints, all rows."""
        return native.printed(lib.ts_audit_text, self._audit) or ""

    def json(self) -> dict:
        """What `tilesim audit --json` prints."""
        return native.printed_json(lib.ts_audit_json, self._audit)

    def __repr__(self) -> str:
        return f"<Audit {self.padded_bytes:,} bytes of {self.logical_bytes:,} of data, {len(self.fixes)} findings>"

    def _repr_html_(self) -> str:
        title = f"{self.padded_bytes:,} bytes for {self.logical_bytes:,} of data, {self.microseconds:.3f} us of moves"
        rows = [(f"{one.microseconds:.3f}", one.what, str(one.source or ""), one.fix) for one in self.findings]
        return table(title, ("us", "finding", "source", "what to change"), rows)


def _module_text(module: Any) -> bytes:
    if hasattr(module, "as_text"):  # what JAX compiled or lowered
        return module.as_text().encode("utf-8")
    if hasattr(module, "read"):
        text = module.read()
        return text if isinstance(text, bytes) else text.encode("utf-8")
    if isinstance(module, bytes):
        return module
    if isinstance(module, str) and "\n" in module:
        return module.encode("utf-8")
    with open(os.fspath(module), "rb") as file:  # not a number, which is an open file of the process
        return file.read()


def audit(module: Any, machine: Union[str, Machine] = DEFAULT, exact: bool = False) -> Audit:
    """What layouts cost in a module that was compiled for a TPU: HLO or StableHLO as a text of several lines, as bytes, a
    path, an open file, or what has ``as_text()``, as JAX's compiled functions have. `exact`: price every move by itself, and
    simulate every access."""
    chip = as_machine(machine)
    text = _module_text(module)
    arena = native.new_arena()
    with native.stopping() as stopped:
        request, _held = native.request_of("ts_module_audit_request", machine=chip._machine, text=ffi.from_buffer(text),
                                           length=len(text), exact=exact, stopped=stopped)
        made = native.call(lib.ts_audit_module, arena, request)

    def _close(opened, kept=(arena, chip._machine)):
        lib.ts_audit_close(opened)

    return Audit(ffi.gc(made, _close))
