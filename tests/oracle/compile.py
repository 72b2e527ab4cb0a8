#!/usr/bin/env python3
"""Asks the TPU compiler what it does with layouts; tests/oracle/README.md has the whole way.

    tests/oracle/compile.py layouts --chip v6e --seed 1 --count 2000 -o layouts_v6e.tsv
"""
import argparse
import json
import math
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import hlo  # noqa: E402
import programs  # noqa: E402
import tpu  # noqa: E402

PRIMES = [11, 13, 17, 19, 23, 29, 31, 37, 61, 67, 97, 101, 127, 131, 191, 251, 257, 383, 509, 521, 1009, 2039]
AT_ONCE = 400          # arguments of one program; more of them make each dearer
TOTAL = 4 << 30        # bytes, without padding, of one program's arguments


def random_dim(rng):
    """One dim: small, a power of two, a prime, near a multiple of what tiles are made of, or large."""
    kind = rng.random()
    if kind < 0.30:
        return rng.choice([1, 1, 2, 3, 4, 5, 6, 7, 8])
    if kind < 0.50:
        return 1 << rng.randint(0, 12)
    if kind < 0.60:
        return rng.choice(PRIMES)
    if kind < 0.75:
        return max(1, rng.randint(1, 24) * rng.choice([8, 16, 32, 64, 128]) + rng.choice([-1, 0, 0, 1]))
    return rng.randint(1, 300) if kind < 0.9 else rng.randint(300, 20000)


def random_dims(rng):
    """Dims of an array of at most 64 Mi elements; now and then of none, or of more than five dims."""
    while True:
        rank = rng.choices(range(9), [1, 8, 30, 30, 20, 11, 1, 1, 1])[0]
        dims = tuple(random_dim(rng) if rank < 6 else rng.choice([1, 2, 3, 5, 8, 16]) for _ in range(rank))
        if rank > 0 and rng.random() < 0.01:
            dims = dims[:-1] + (0,)
        if math.prod(dims) <= 1 << 26:
            return dims


COMMON = ["f32", "bf16", "s8", "u8", "pred", "s32"]


def random_shapes(seed, count):
    """Types and dims, half of them of the usual types."""
    rng = random.Random(seed)
    return [(rng.choice(COMMON if rng.random() < 0.5 else list(tpu.TYPES)), random_dims(rng))
            for _ in range(count)]


def read_shapes(path):
    """Types and dims from a file of lines `type<TAB>dims`."""
    rows = [line.rstrip("\n").split("\t") for line in Path(path).read_text().splitlines()]
    return [(row[0], tuple(int(d) for d in row[1].split(",") if d)) for row in rows]


def batches(shapes):
    """Runs of shapes that one program takes."""
    batch, total = [], 0
    for type_name, dims in shapes:
        size = math.prod(dims) * 8
        if batch and (len(batch) == AT_ONCE or total + size > TOTAL):
            yield batch
            batch, total = [], 0
        batch.append((type_name, dims))
        total += size
    yield batch


def layouts(chip, shapes, out):
    """The layouts of arguments that nothing reads: those that a type and its dims decide alone. Their bytes are worked out
    and their sum compared with what the compiler states, which gives each argument whole 512 bytes."""
    for batch in batches(shapes):
        compiled = chip.lower(lambda *a: chip.jax.numpy.float32(1), batch, keep_unused=True).compile()
        parameters, _ = tpu.entry_shapes(compiled.as_text())
        if len(parameters) != len(batch):
            sys.exit(f"{len(batch)} arguments went in, {len(parameters)} came out")
        total = 0
        for (type_name, dims), (got_type, got_dims, layout) in zip(batch, parameters):
            text = ",".join(map(str, dims))
            if (type_name, text) != (got_type, got_dims):
                sys.exit(f"{type_name}[{text}] came out as {got_type}[{got_dims}]")
            size = tpu.padded_bytes(type_name, dims, layout)
            total += -(-size // 512) * 512
            out.write(f"{type_name}\t{text}\t{layout}\t{size}\n")
        if total != tpu.memory(compiled)[0]:
            sys.exit(f"{total} bytes by the layouts, {tpu.memory(compiled)[0]} by the compiler")


def join(paths, out):
    """The files of several chips, NAME=FILE, as one table: a row a shape and layout, with the chips that have it."""
    names = [path.split("=")[0] for path in paths]
    files = [Path(path.split("=")[1]).read_text().splitlines() for path in paths]
    out.write("chips\ttype\tdims\tlayout\tbytes\n")
    for rows in zip(*files, strict=True):
        for row in dict.fromkeys(rows):
            chips = [name for name, other in zip(names, rows) if other == row]
            out.write(f"{'all' if chips == names else ','.join(chips)}\t{row}\n")


def compile_programs(chip, seed, count, out):
    """What goes in and what comes out, as JSON, a line a program."""
    rng = random.Random(seed)
    for arguments, function, names in programs.random_programs(rng, chip.jax, count):
        for automatic in (False, True):
            if automatic and rng.random() > 0.2:
                continue
            row = {"names": names, "auto": automatic}
            try:
                lowered = chip.lower(function, arguments, automatic)
                row["before"] = lowered.as_text()
                compiled = lowered.compile()
                row["after"] = compiled.as_text()
                row["memory"] = tpu.memory(compiled)
            except Exception as e:  # what the compiler refuses is a fact too
                row["error"] = str(e)[:300]
            out.write(json.dumps(row) + "\n")
            out.flush()


def tabulate_copies(paths, out):
    """The programs of the files that `programs` wrote, FILE of each, and the copies that the compiler made in them."""
    out.write("# = operations, > a copy: type, dims, minor to major before and after; then the program\n")
    for path in paths:
        for row in map(json.loads, Path(path).read_text().splitlines()):
            if row["auto"] or "after" not in row:
                continue
            out.write(f"= {' '.join(row['names'])}\n")
            for name, *lists in hlo.copies(row["after"]):
                out.write("> " + " ".join([name, *(",".join(map(str, part)) for part in lists)]) + "\n")
            out.write(hlo.short(row["before"]).strip() + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["layouts", "programs", "join", "copies"])
    parser.add_argument("files", nargs="*", help="of join: NAME=FILE of each chip; of copies: files of programs")
    parser.add_argument("--chip", choices=tpu.CHIPS, default="v6e")
    parser.add_argument("--config", help="chip_config_name; default: the chip's first")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--shapes", help="a file of lines type<TAB>dims instead of random ones")
    parser.add_argument("--venv", help=f"the environment with jax and libtpu; default: {tpu.VENV}")
    parser.add_argument("-o", dest="output", required=True)
    arguments = parser.parse_args()
    if arguments.what in ("join", "copies"):
        with open(arguments.output, "w", encoding="ascii") as out:
            (join if arguments.what == "join" else tabulate_copies)(arguments.files, out)
        return
    tpu.enter(arguments.venv)
    shapes = read_shapes(arguments.shapes) if arguments.shapes else random_shapes(arguments.seed, arguments.count)
    chip = tpu.Chip(arguments.chip, arguments.config)
    with open(arguments.output, "w", encoding="ascii") as out:
        if arguments.what == "layouts":
            layouts(chip, shapes, out)
        else:
            compile_programs(chip, arguments.seed, arguments.count, out)


if __name__ == "__main__":
    main()
