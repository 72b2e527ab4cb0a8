"""What the compiler for TPUs does with a function of JAX, without a TPU: compiled ahead of time, audited, fixed, compiled again.

Needs jax and libtpu, as ``./configure.py jax`` installs them beside the build; nothing else of the package does. One process at a
time compiles: libtpu holds a lock (ALLOW_MULTIPLE_LIBTPU_LOAD=1 lets several try).
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from ._aot import CHIPS, Chip, Compiled, CompileError, Function, Memory, OutOfMemoryError, in_words, memory_in_words
from ._fixes import Fix, Tried
from ._table import table
from .machine import Machine
from .studies import Finding

__all__ = ["Answer", "CHIPS", "Chip", "CompileError", "Compiled", "Fit", "Fix", "JaxAudit", "Memory", "OutOfMemoryError", "audit",
           "compile", "fits"]


def compile(f: Callable, *args: Any, chip: str = "v5e", donate_argnums: Union[int, Sequence[int]] = ()) -> Compiled:
    """Compiles a function for one device of a chip, ahead of time. The arguments are arrays, ``jax.ShapeDtypeStruct``, or trees
    of them; only shapes and types matter. What ``jax.jit`` made keeps its donated arguments."""
    return Function(f, args, chip, donate_argnums).compile({}, {})


class Answer(NamedTuple):
    """A finding, and what would remove it."""

    finding: Finding
    fix: Optional[Fix]  #: None: no layout of an argument or result is known to help, or too many were tried

    def time(self) -> str:
        """That is lost."""
        return "at most " * self.finding.at_most + f"{self.finding.microseconds:.3f} us"

    def lines(self) -> List[str]:
        """What is lost, the user's line, and what to do."""
        finding, fix = self
        memory = f", {in_words(finding.bytes)}" if finding.bytes > 0 else ""
        lines = [finding.what, f"costs {self.time()}" + " each time it is read" * finding.each_read + memory]
        if finding.source is not None:
            lines += [str(finding.source)] + [f"    {finding.source.code}"] * bool(finding.source.code)
        if fix is None:
            return lines + [f"advice: {finding.fix}"]
        return lines + [f"fix: {fix.code}", f"tried: {fix.verdict}; {fix.bought()}"]


class JaxAudit:
    """What :func:`audit` found."""

    def __init__(self, function: Function, tries: int):
        tried = Tried(function, tries)
        self.compiled, self.audit = tried.base, tried.audit  #: the module as it is, and the audit of it
        #: The most time first; padding of HBM alone.
        self.answers: List[Answer] = [Answer(finding, tried.of_finding(finding)) for finding in tried.audit.findings
                                      if finding.space == 0 or not finding.each_read]
        #: Each alone; then all that help, and what the compiler chooses where it may.
        self.fixes: List[Fix] = list({id(fix): fix for _, fix in self.answers if fix is not None}.values())
        helpful = [fix for fix in self.fixes if fix.helps]
        for more in (tried.together(helpful) if len(helpful) > 1 else None, tried.automatic()):
            if more is not None and more not in self.fixes:
                self.fixes.append(more)

    @property
    def best(self) -> Optional[Fix]:
        """The fix that leaves the least time in moves; None: none helps."""
        helpful = [fix for fix in self.fixes if fix.helps]
        return min(helpful, key=lambda fix: (fix.microseconds[1], fix.peak_bytes[1]), default=None)

    def _matters(self, answer: Answer) -> bool:
        """A hundredth of the time of all moves, or of the peak."""
        finding = answer.finding
        return (answer.fix is not None or finding.microseconds > self.audit.microseconds / 100
                or finding.bytes > self.compiled.memory.peak / 100)

    def _title(self) -> str:
        one = self.compiled
        return (f"{one.name} for {one.chip.name} ({one.machine.title}): {self.audit.microseconds:.3f} us of moves, "
                + memory_in_words(one.memory))

    def _others(self) -> List[Fix]:
        """Fixes that are of no finding alone."""
        return [fix for fix in self.fixes if all(fix is not answer.fix for answer in self.answers)]

    def report(self, findings: int = 8) -> str:
        """As text: so many findings, of those that matter."""
        lines, shown = [self._title()], [answer for answer in self.answers if self._matters(answer)][:findings]
        for number, answer in enumerate(shown, 1):
            first, *others = answer.lines()
            lines += [f"{number}. {first}"] + [f"   {line}" for line in others]
        if len(self.answers) > len(shown):
            left = len(self.answers) - len(shown)
            lines.append(f"and {left} smaller finding{'s' * (left != 1)}")
        for fix in self._others():
            lines += [f"{fix.what}: {fix.code}", f"   tried: {fix.verdict}; {fix.bought()}"]
        best = self.best
        lines.append(f"best: {best.what}: {best.bought()}" if best else "no layout of an argument or result that was tried helps")
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        return (f"<JaxAudit {self.compiled.name} for {self.compiled.chip.name}: {len(self.answers)} findings, "
                f"{len(self.fixes)} fixes tried>")

    def _repr_html_(self) -> str:
        rows = []
        for answer in filter(self._matters, self.answers):
            finding, fix = answer
            code = finding.source.code if finding.source else ""
            rows.append((answer.time(), finding.what, f"{finding.source or ''} {code}".strip(),
                         finding.fix if fix is None else fix.code, "" if fix is None else f"{fix.verdict}; {fix.bought()}"))
        rows += [("", fix.what, "", fix.code, f"{fix.verdict}; {fix.bought()}") for fix in self._others()]
        return table(self._title(), ("costs", "finding", "your code", "fix", "tried"), rows)


def audit(f: Callable, *args: Any, chip: str = "v5e", donate_argnums: Union[int, Sequence[int]] = (), tries: int = 8) -> JaxAudit:
    """Compiles a function, as :func:`compile` does, and audits what layouts cost in it. A finding that a layout of an argument or
    of a result would remove is answered with the code for it, and the function is compiled again with that, at most `tries`
    times: what is said to be gone was gone."""
    return JaxAudit(Function(f, args, chip, donate_argnums), tries)


def _padding(layouts) -> int:
    return sum(layout.bytes - layout.logical_bytes for layout in layouts)


class Fit:
    """What :func:`fits` found."""

    def __init__(self, function: Function, tries: int):
        self.chip, self.name = function.chip, function.name
        figures = Machine(self.chip.machine).json()["figures"]
        #: HBM of a device; the compiler keeps a part of it for itself.
        self.capacity_bytes: int = figures["memories.hbm.capacity"]["value"] // figures["chip.devices"]["value"]
        self.refusal = ""  #: the compiler's words
        self.memory: Optional[Memory] = None  #: None: it does not fit
        self.peak_bytes: Optional[int] = None  #: what is needed; None: the compiler does not say
        self.fixes: List[Fix] = []  #: those that free memory, the most first
        self.padding: Dict[str, int] = {}  #: bytes of "arguments", "results", and of temporaries at most
        try:
            self._look(Tried(function, tries))
        except OutOfMemoryError as error:
            self.peak_bytes = error.needed_bytes
            self.refusal = error.message.splitlines()[0].split("RESOURCE_EXHAUSTED: ")[-1] + self._automatic(function)

    @staticmethod
    def _automatic(function: Function) -> str:
        chosen = " With layouts of arguments and results as the compiler chooses them (Layout.AUTO) it "
        try:
            return chosen + f"fits: peak {in_words(function.compile({}, {}, auto=True).memory.peak)}."
        except CompileError:
            return chosen + "does not fit either."

    def _look(self, tried: Tried) -> None:
        self.memory = tried.base.memory
        self.peak_bytes = self.memory.peak
        ends = {"arguments": _padding(tried.base.arguments.values()), "results": _padding(tried.base.results)}
        spaces = {row["space"]: row["padded_bytes"] - row["logical_bytes"] for row in tried.audit.json()["spaces"]}
        others = max(0, spaces.get(0, 0) - sum(ends.values()))
        self.padding = {**ends, "temporaries at most": min(others, self.memory.temporaries)}
        fixes = [tried.of_finding(finding) for finding in tried.audit.findings] + [tried.automatic()]
        freeing = {id(fix): fix for fix in fixes if fix is not None and fix.freed > 0}
        self.fixes = sorted(freeing.values(), key=lambda fix: -fix.freed)

    @property
    def fits(self) -> bool:
        """Does it?"""
        return self.memory is not None

    def _title(self) -> str:
        if self.memory is None:
            return f"{self.name} does not fit {self.chip.name}: {self.refusal}"
        share = f"{self.memory.peak / self.capacity_bytes:.1%} of {in_words(self.capacity_bytes)} of HBM"
        return f"{self.name} fits {self.chip.name}: {share}"

    def report(self) -> str:
        """As text."""
        lines = [self._title()]
        if self.memory is not None:
            lines += [memory_in_words(self.memory)]
        padding = ", ".join(f"{name} {in_words(size)}" for name, size in self.padding.items() if size)
        lines += [f"padding: {padding}"] * bool(padding)
        lines += [f"{fix.what} frees {in_words(fix.freed)}: {fix.code}" for fix in self.fixes]
        return "\n  ".join(lines) + "\n"

    def __bool__(self) -> bool:
        return self.fits

    def __repr__(self) -> str:
        return f"<Fit {self.name} {'fits' if self.fits else 'does not fit'} {self.chip.name}>"

    def _repr_html_(self) -> str:
        rows: List[Tuple[str, int]] = list(self.memory._asdict().items()) if self.memory else []
        rows += [(f"padding of {name}", size) for name, size in self.padding.items()]
        rows += [(f"freed by {fix.what}: {fix.code}", fix.freed) for fix in self.fixes]
        return table(self._title(), ("", "bytes"), rows)


def fits(f: Callable, *args: Any, chip: str = "v5e", donate_argnums: Union[int, Sequence[int]] = (), tries: int = 8) -> Fit:
    """Does a function fit one device's HBM? The compiler says; beside its peak stands what padding takes of it, and what layouts
    of arguments and results free, each compiled again."""
    return Fit(Function(f, args, chip, donate_argnums), tries)
