"""What links an audit's findings to arguments and results of a compiled module: its ENTRY, and its header."""
from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

_INSTRUCTION = re.compile(r"^\s*(ROOT )?%?([\w.\-]+) = (?:\(.*?\)|\S+) ([\w\-]+)\((.*?)\)(?:,|\s|$)")
_NEARER = ("copy-start", "copy-done")  # the same dims in the same order in another memory
_SAME_BYTES = (*_NEARER, "bitcast")  # by other dims, perhaps


def _split(text: str) -> List[str]:
    """Members of a list of shapes, without comments."""
    found, depth, start = [], 0, 0
    text = re.sub(r"/\*.*?\*/", "", text)
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            found.append(text[start:i].strip())
            start = i + 1
    return found + [text[start:].strip()] * bool(text[start:].strip())


def _closing(text: str, start: int) -> int:
    """Behind the bracket that closes the one there."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i + 1
    return len(text)


def major_to_minor(shape: str) -> Optional[Tuple[int, ...]]:
    """The order of dims of a layout in braces, or of a shape with one; None: it has none."""
    found = re.search(r"\{([\d,]*)[:}]", shape)
    return tuple(int(dim) for dim in reversed(found[1].split(","))) if found and found[1] else None


def time_of(move: Mapping[str, Any]) -> float:
    """Microseconds of all runs of a row of an audit's moves."""
    return (move["microseconds"] or 0.0) * move["runs"]


def reordering(moves: Sequence[Mapping[str, Any]]) -> List[Mapping[str, Any]]:
    """Moves that are made because a layout does not suit, the most time first: not those of fusions, which are bounds."""
    found = [move for move in moves
             if not move["at_most"] and time_of(move) > 0 and {"order", "tile"} & set(move["changes"].split("+"))]
    return sorted(found, key=time_of, reverse=True)


class Entry:
    """The instructions of ENTRY by name, and shapes of parameters and results."""

    def __init__(self, text: str):
        self._lines = text.split("\n")
        head = self._lines[0]
        start = head.find("entry_computation_layout={") + len("entry_computation_layout={")
        ends = _closing(head, start)
        arrow = head.find("->", ends)
        self.arguments = _split(head[start + 1:ends - 1])
        behind = head[arrow + 2:_closing(head, start - 1) - 1]
        self.results = _split(behind[1:-1]) if behind.startswith("(") else [behind]
        #: By the number of a donated parameter, the results that lie in it.
        self.aliases: Dict[int, List[int]] = {}
        for result, parameter in re.findall(r"\{\s*(\d*)\s*\}: \((\d+),", head):
            self.aliases.setdefault(int(parameter), []).append(int(result or 0))
        self._read()

    def _read(self) -> None:
        self.opcodes: Dict[str, str] = {}
        self.operands: Dict[str, List[str]] = {}
        self.root = ""
        first = next((i for i, line in enumerate(self._lines) if line.startswith("ENTRY ")), len(self._lines))
        for line in self._lines[first + 1:]:
            if line.startswith("}"):
                break
            found = _INSTRUCTION.match(line)
            if found:
                self.opcodes[found[2]] = found[3]
                self.operands[found[2]] = [name.split("%")[-1].strip() for name in _split(found[4])]
                self.root = found[2] if found[1] else self.root

    def name_at(self, line: int) -> str:
        """Of the instruction on that line of the text."""
        found = _INSTRUCTION.match(self._lines[line - 1]) if 0 < line <= len(self._lines) else None
        return found[2] if found else ""

    def parameter_behind(self, name: str, through: Sequence[str] = _NEARER) -> Optional[int]:
        """The number of the parameter that a move reads, or that it is; None: it reads no parameter."""
        for step in range(len(self.opcodes)):
            opcode = self.opcodes.get(name)
            if opcode == "parameter":
                return int(self.operands[name][0])
            if opcode is None or step > 0 and opcode not in through or not self.operands[name]:
                return None
            name = self.operands[name][0]
        return None

    def result_of(self, name: str) -> Optional[int]:
        """The number of the result that an instruction is; None: it is none."""
        if name and name == self.root:
            return 0
        members = self.operands.get(self.root, []) if self.opcodes.get(self.root) == "tuple" else []
        return members.index(name) if name in members else None

    def reorders(self, moves: Sequence[Mapping[str, Any]], parameters: Sequence[int],
                 results: Sequence[int]) -> List[Mapping[str, Any]]:
        """Moves that reorder one of these parameters, or into one of these results, whose dims stay."""
        found = []
        for move in reordering(moves):
            name = self.name_at(move["line"])
            if "dims" not in move["changes"].split("+") and (
                    self.parameter_behind(name, _SAME_BYTES) in parameters or self.result_of(name) in results):
                found.append(move)
        return found
