"""Of a module's text after the TPU compiler: which copies change an array's order of dims."""
import re

COMPUTATION = re.compile(r"(?:ENTRY )?%?(\S+) \(.*\) -> .* \{$")
INSTRUCTION = re.compile(r"\s+(?:ROOT )?%?(\S+) = (\(.*?\)|\S+) ([\w\-]+)\((.*)$")
ARRAY = re.compile(r"(\w+)\[([\d,]*)\](?:\{([\d,]*)[^}]*\})?")


def array(text):
    """(type, dims, minor to major) of the first array in the text."""
    name, dims, order = ARRAY.search(text).groups()
    return name, tuple(int(d) for d in dims.split(",") if d), tuple(int(d) for d in (order or "").split(",") if d)


def seen(dims, order):
    """The order, without the dims of 1 that no tile covers: where those are makes no difference."""
    return tuple(d for place, d in enumerate(order) if place < 2 or dims[d] != 1)


def copies(text):
    """(type, dims, order before, order after) of each, of fused ones too; moves between memories alone are none."""
    shapes, found = {}, []
    for line in text.splitlines():
        if COMPUTATION.match(line):
            shapes = {}
            continue
        match = INSTRUCTION.match(line)
        if not match:
            continue
        name, shape, opcode, rest = match.groups()
        shapes[name] = shape
        if opcode == "copy-start":
            to, source = (array(part) for part in shape[1:].split(", ")[:2]) if shape.count("[") > 2 else (None, None)
        elif opcode == "copy":
            operand = re.match(r"%([\w.\-]+)", rest)
            source = array(shapes[operand.group(1)]) if operand and operand.group(1) in shapes else None
            to = array(shape)
        else:
            continue
        if source and to and seen(source[1], source[2]) != seen(to[1], to[2]):
            found.append((*source[:2], seen(source[1], source[2]), seen(to[1], to[2])))
    return sorted(found)


def short(text):
    """StableHLO without what says nothing of its values."""
    text = re.sub(r" \{[^{}]*sdy\.sharding = #sdy\.sharding<@mesh, \[[^\]]*(?:\{\}[^\]]*)*\]>\}", "", text)
    text = re.sub(r"\n *sdy\.mesh.*", "", text)
    text = re.sub(r"module @\S+ attributes \{[^}]*\}", "module @m", text)
    text = re.sub(r", precision = \[[^\]]*\]|, indices_are_sorted = \w+", "", text)
    return text
