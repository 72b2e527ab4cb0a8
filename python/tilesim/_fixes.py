"""Layouts of arguments and results that may spare a copy: compiled again, and what that bought."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from . import _hlo
from ._aot import CompileError, Function, Order, Orders, in_words
from .studies import Finding

class Fix:
    """Layouts of arguments or results that were compiled again, and what they bought."""

    def __init__(self, what: str, arguments: Dict[int, Order], results: Dict[int, Order], code: str):
        self.what, self.code = what, code  #: code: a line for the call of jax.jit
        self._arguments, self._results = arguments, results
        self.gone = False  #: the copy, in the module compiled with it
        self.verdict = "not tried"  #: in words
        self.microseconds: Tuple[float, float] = (0.0, 0.0)  #: of all moves, before and after
        self.peak_bytes: Tuple[int, int] = (0, 0)  #: before and after; what the compiler reports

    @property
    def freed(self) -> int:
        """Bytes of the peak."""
        return self.peak_bytes[0] - self.peak_bytes[1]

    @property
    def helps(self) -> bool:
        """Less time in moves, or as much and less memory."""
        spared = self.microseconds[0] - self.microseconds[1]
        return spared > 0.001 or abs(spared) <= 0.001 and self.freed > 0

    def bought(self) -> str:
        """In words."""
        (us, then), (peak, later) = self.microseconds, self.peak_bytes
        return f"moves {us:.3f} to {then:.3f} us, peak {in_words(peak)} to {in_words(later)}"

    def __repr__(self) -> str:
        return f"<Fix {self.what}: {self.verdict}; {self.bought()}>"


class _Code:
    """A leaf of a tree of arguments that prints as this code."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _format_code(order: Order) -> str:
    return f"Format(Layout(major_to_minor={tuple(order)}), sharding)"


def _code(function: Function, arguments: Orders, results: Orders, count: int) -> str:
    """``in_shardings=(None, Format(..))``: what jax.jit takes."""
    parts = []
    if arguments:
        texts = [_format_code(arguments[i]) if i in arguments else "None" for i in range(len(function.leaves))]
        parts.append(f"in_shardings={function.tree.unflatten(list(map(_Code, texts)))!r}")
    if results:
        texts = [_format_code(results[i]) if i in results else "None" for i in range(count)]
        parts.append("out_shardings=" + (texts[0] if count == 1 else f"({', '.join(texts)})"))
    return ", ".join(parts)


def _move_in_words(move: Mapping[str, Any]) -> str:
    return f"{move['first']}, {move['source']} to {move['shape']}"


class Tried:
    """The module as it is, and fixes compiled beside it."""

    def __init__(self, function: Function, tries: int):
        self.function, self.left = function, tries
        self.base = function.compile({}, {})
        self.audit = self.base.audit()
        self.moves = self.audit.json()["moves"]
        self.used = self.base.used()
        self._known: Dict[Any, Optional[Fix]] = {}

    def fix(self, arguments: Dict[int, Order], results: Dict[int, Order], what: str) -> Optional[Fix]:
        """Compiles with it, once; None: too many were tried."""
        key = tuple(tuple(sorted((i, tuple(order)) for i, order in orders.items())) for orders in (arguments, results))
        if key in self._known or not (arguments or results) or self.left == 0:
            return self._known.get(key)
        self.left -= 1
        made = Fix(what, arguments, results, _code(self.function, arguments, results, len(self.base.results)))
        self._known[key] = made
        self._try(made)
        return made

    def _try(self, fix: Fix) -> None:
        now = self.base.memory.peak
        fix.microseconds, fix.peak_bytes = (self.audit.microseconds,) * 2, (now, now)
        try:
            again = self.function.compile(fix._arguments, fix._results)
        except CompileError as error:
            fix.verdict = f"the compiler refuses it: {error.message.splitlines()[0]}"
            return
        audit = again.audit()
        fix.microseconds, fix.peak_bytes = (self.audit.microseconds, audit.microseconds), (now, again.memory.peak)
        moves = audit.json()["moves"]
        parameters = [number for number, i in enumerate(again.used()) if i in fix._arguments]
        put_back = again.entry.reorders(moves, parameters, list(fix._results))
        left, before = _hlo.reordering(moves), _hlo.reordering(self.moves)
        fix.gone = not put_back
        if put_back:
            fix.verdict = f"the compiler put a copy back: {_move_in_words(put_back[0])}"
        elif left and audit.microseconds > self.audit.microseconds - 0.001:
            fix.verdict = f"the copy is gone from there, but others cost as much: {_move_in_words(left[0])}"
        else:
            fix.verdict = "the copy is gone" + (f"; moves that reorder: {len(before)}, now {len(left)}" if left else "")

    def of_finding(self, finding: Finding) -> Optional[Fix]:
        """The layout of an argument or of a result without which the finding would not be."""
        entry = self.base.entry
        order = _hlo.major_to_minor(finding.layout or "")
        if order is None:
            return None
        name = entry.name_at(finding.line)
        parameter = entry.parameter_behind(name)
        if parameter is not None and len(order) == len(_hlo.major_to_minor(entry.arguments[parameter]) or ()):
            leaf = self.used[parameter]
            results = {i: order for i in entry.aliases.get(parameter, [])}  # a donated one has the layout of both
            return self.fix({leaf: order}, results, f"argument {self.function.parameter_name(leaf)}")
        result = entry.result_of(name)
        source = next((m["source"] for m in self.moves if m["line"] == finding.line and m["opcode"] == "copy"), None)
        if result is not None and source:
            order = _hlo.major_to_minor(source) or ()
            arguments = {self.used[p]: order for p, aliased in entry.aliases.items() if result in aliased}
            return self.fix(arguments, {result: order}, f"result {result}")
        return None

    def automatic(self) -> Optional[Fix]:
        """What the compiler chooses where it may: those that differ."""
        if self.left == 0 or not _hlo.reordering(self.moves):
            return None
        try:
            liked = self.function.compile({}, {}, auto=True).orders()
        except CompileError:
            return None
        changed = [{i: order for i, order in likes.items() if order != has.get(i)}
                   for likes, has in zip(liked, self.base.orders())]
        return self.fix(changed[0], changed[1], "layouts as the compiler chooses them (Layout.AUTO)")

    def together(self, fixes: Sequence[Fix]) -> Optional[Fix]:
        """All of them at once."""
        arguments: Dict[int, Order] = {}
        results: Dict[int, Order] = {}
        for fix in fixes:
            for into, of in ((arguments, fix._arguments), (results, fix._results)):
                for i, order in of.items():
                    into.setdefault(i, order)
        return self.fix(arguments, results, "all of these")
