"""Writes what Mosaic's own pass makes of relayouts: relayouts.tsv, of a grid; relayouts_drawn.tsv, drawn from all that is possible.
Run where jaxlib 0.8.1 is; see docs/pallas.md.

usage: python3 tests/mosaic/make_relayouts.py                      # both
       python3 tests/mosaic/make_relayouts.py SEED ROWS > FILE     # others, drawn with that seed
"""
import itertools
import os
import random
import re
import sys
from collections import Counter
from pathlib import Path

from jax._src.interpreters import mlir
from jax._src.lib import tpu
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

HERE = Path(__file__).resolve().parent
HEAD = ("# generation, sublanes of scratch memory, shape, from, to, what tpu-apply-vector-layout (jaxlib 0.8.1) makes: ops, its refusal, or\n"
        "# \"stops\" where a check of its own ends it\n")
TYPES = {"f32": 32, "s32": 32, "bf16": 16, "s8": 8, "s4": 4}
SHAPES = [(24, 300), (16, 128), (7, 500), (3, 9, 130), (5, 1), (1, 77)]
FREE = ("tpu.bitcast_vreg", "tpu.roll_vectors", "arith.constant", "tpu.internal_scratch")
ROWS = 900  # drawn of the grid, beside all of rows and columns of native tiles


def tiles(bits):
    packing = 32 // bits
    every = [(rows, 128) for rows in (1, 2, 4, 8, 16, 32, 64)] + [(1, 128 * packing), (1, 1024 * packing), (4, 256), (2, 512)]
    return [tile for tile in dict.fromkeys(every) if tile[0] <= 8 * packing and tile[0] * tile[1] % (packing * 128) == 0
            and (tile[1] == 128 or packing == 1 or tile[0] == 1) and packing * 1024 % (tile[0] * tile[1]) == 0]


def layouts(bits):
    """Every layout of the grid: tiles, offsets and implicit dims."""
    for tile, offsets in itertools.product(tiles(bits), [("0", "0"), ("3", "0"), ("0", "17"), ("5", "100"), ("*", "0"), ("*", "*")]):
        if offsets[0] == "*" or int(offsets[0]) < tile[0]:
            for implicit in ("", "", ",-1", ",-2"):  # most have none
                yield f"{bits},{{{','.join(offsets)}}},({tile[0]},{tile[1]}){implicit}"


def replicated(layout):
    return re.sub(r"\{.*\}", "{*,*}", layout)


def module(shape, name, source, target):
    """A relayout of vregs that are all one constant: only the ops count."""
    element = {"pred": "i1", "f8e4m3fn": "f8E4M3FN"}.get(name, {"s": "i"}.get(name[0], name[0]) + name[1:])
    vector = f"vector<{'x'.join(map(str, shape))}x{element}>"
    one = "1" if element[0] == "i" else "1.0"
    whole = replicated(source)
    attributes = lambda a, b: f'in_layout = [#tpu.vpad<"{a}">], out_layout = [#tpu.vpad<"{b}">]'  # noqa: E731
    first = f'%a = "tpu.relayout"(%c) {{{attributes(whole, source)}}} : ({vector}) -> {vector}' if whole != source else ""
    value = "%a" if first else "%c"
    return f"""func.func @main(%arg0: i32) attributes {{dimension_semantics = [], scalar_prefetch = 0 : i64, scratch_operands = 0 : i64}} {{
 %c = arith.constant {{out_layout = [#tpu.vpad<"{whole}">]}} dense<{one}> : {vector}
 {first}
 %v = "tpu.relayout"({value}) {{{attributes(source, target)}}} : ({vector}) -> {vector}
 return }}"""


def ops(text):
    """The ops behind the source's vregs, by name."""
    behind = text.split("tpu.roll_vectors", 1 if text.count("tpu.roll_vectors") == 2 else 2)[-1]
    found = Counter(re.findall(r"= ((?:tpu|arith|vector|math)\.\w+)|^\s+(tpu\.\w+)", behind, re.MULTILINE))
    counts = Counter({(name or other): n for (name, other), n in found.items()})
    return {name: n for name, n in sorted(counts.items()) if name not in FREE}


def asked(context, question, generation, scratch):
    with context, ir.Location.unknown():
        parsed = ir.Module.parse(module(*question))
        try:
            PassManager.parse("builtin.module(func.func(tpu-apply-vector-layout{"
                              f"hardware-generation={generation} max-sublanes-in-scratch={scratch}}}))").run(parsed.operation)
        except ir.MLIRError as error:
            found = re.search(r"error: \"[^\"]*\":\d+:\d+: (.*)", str(error))
            return "refused: " + re.sub(r" for 'vector.*", "", (found[1] if found else str(error).split("\n")[0]))
        return " ".join(f"{name}={n}" for name, n in ops(str(parsed)).items()) or "free"


def answer(context, *question):
    """The same in a process of its own: the pass ends its process where it meets what it does not expect."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(writing, asked(context, *question).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    os.waitpid(child, 0)
    return text or "stops"


def write_rows(context, file, rows):
    file.write(HEAD)
    for (shape, name, source, target), generation, scratch in rows:
        said = answer(context, (shape, name, source, target), generation, scratch)
        file.write(f"{generation}\t{scratch}\t{name}[{','.join(map(str, shape))}]\t{source}\t{target}\t{said}\n")


def grid():
    every = [(shape, name, source, target) for shape in SHAPES for name, bits in TYPES.items()
             for source, target in itertools.product(layouts(bits), repeat=2) if source != target]
    random.seed(19)
    chosen = sorted(random.sample(every, ROWS), key=str) + [row for row in every if row[1] in ("f32", "bf16") and row[0] == SHAPES[0]
                                                            and all("(8,128)" in text or "(16,128)" in text for text in row[2:])]
    return [(row, 5, 72) for row in dict.fromkeys(chosen)]


# What a draw seldom meets
CHOSEN = [((5, 1), "f32", "32,{*,*},(8,128),-2,-1", "32,{0,0},(8,128),-1"), ((1, 1), "f32", "32,{0,0},(8,128),-2,-1", "32,{*,*},(8,128),-1"),
          ((16, 384), "pred", "32,{0,0},(8,128)", "16,{0,0},(8,128)"), ((16, 300), "pred", "32,{0,*},(8,128)", "16,{0,*},(8,128)"),
          ((3, 5, 7), "f32", "32,{0,0},(8,128)", "32,{*,0},(8,128)"), ((7,), "f32", "32,{0,*},(8,128),-1", "32,{*,0},(8,128),-2")]
DRAWN_TYPES = {"f32": 32, "bf16": 16, "s8": 8, "s16": 16, "s4": 4, "f8e4m3fn": 8, "pred": None}
DRAWN_SHAPES = [(9, 257), (40, 100), (1, 1), (3, 2, 129), (64, 64), (17,), (1, 4, 600), (300,), (2, 3, 5, 20), (33, 128), (1, 1100), (130, 3)]


def drawn_layout(bits, like):
    """A valid layout, at random; what is not replicated in `like` seldom is here."""
    packing = 32 // bits
    tile = random.choice([tile for tile in tiles(bits) for _ in range(4 if tile[1] == 128 else 2 if tile == (1, 128 * packing) else 1)])
    columns = tile[1] * packing * 1024 // (tile[0] * tile[1])
    offsets = [random.choice([0, random.randrange(tile[0])]),
               random.choice([0, 0, random.randrange(min(128, columns)), random.randrange(columns)])]
    for i in range(2):
        if random.random() < (0.15 if like is None or like[i] == "*" else 0.02):
            offsets[i] = "*"
    implicit = random.choice(["", "", "", ",-1", ",-2", ",-2,-1"] if random.random() < 0.1 else ["", "", ",-1", ",-2"])
    return f"{bits},{{{offsets[0]},{offsets[1]}}},({tile[0]},{tile[1]}){implicit}", offsets


def fits(layout, shape):
    return len(shape) >= 2 or layout.count(",-") > 0


def drawn(count):
    rows = []
    while len(rows) < count:
        shape, (name, bits) = random.choice(DRAWN_SHAPES), random.choice(list(DRAWN_TYPES.items()))
        first, second = (bits, bits) if bits else (random.choice([32, 32, 16, 8]), random.choice([32, 16, 16, 8]))
        second = second if random.random() < 0.3 else first
        source, offsets = drawn_layout(first, None)
        target, _ = drawn_layout(second, offsets)
        if bits is None and "32,{" in source and ",(8,128)" in source and random.random() < 0.5:
            source, target = source, source.replace("32,{", "16,{", 1)
        if source != target and fits(source, shape) and fits(target, shape):
            rows.append(((shape, name, source, target), random.choice([4, 5, 5, 6, 6, 7]), random.choice([72, 72, 72, 0, 64, 144])))
    return rows


def main():
    context = mlir.make_ir_context()
    tpu.register_dialect(context)
    context.allow_unregistered_dialects = True
    if len(sys.argv) == 3:
        random.seed(int(sys.argv[1]))
        write_rows(context, sys.stdout, drawn(int(sys.argv[2])))
        return
    with (HERE / "relayouts.tsv").open("w") as file:
        write_rows(context, file, grid())
    random.seed(1908)
    with (HERE / "relayouts_drawn.tsv").open("w") as file:
        write_rows(context, file, [(row, generation, 72) for row in CHOSEN for generation in (4, 5, 6)] + drawn(1000))


main()
