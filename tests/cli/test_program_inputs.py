"""The shipped programs with random sizes and random inputs of every range, drawn from a fixed seed; and defects, which their
bounds must not let through. TILESIM_DRAWS=1000 draws that many of each, TILESIM_SEED=N others."""
import array
import json
import os
import random
import re
import shutil
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import cases, main, run, test
from programs import PROGRAMS, refusal, sizes

HERE = Path(tempfile.mkdtemp())
DRAWS = int(os.environ.get("TILESIM_DRAWS", "2"))
SEED = int(os.environ.get("TILESIM_SEED", "1"))
MACHINES = ["tpu-v5e", "tpu-v3", "tpu-v4", "tpu-v6e", "tpu-v7x"]
LARGEST = {"f32": 3.4028234e38, "bf16": 3.3895e38, "f16": 65504.0}
LEAST = {"f32": 2.0**-149, "bf16": 2.0**-133, "f16": 2.0**-24}


def plain(draw, kind):
    return draw.uniform(-3, 3)


def wide(draw, kind):
    return draw.choice([-1, 1]) * 2 ** draw.uniform(-14, 14)


def widest(draw, kind):
    return draw.choice([-1, 1]) * 2 ** draw.uniform(*((-140, 127.9) if kind != "f16" else (-24, 15.9)))


def subnormal(draw, kind):
    return draw.randint(-100, 100) * LEAST[kind] * draw.choice([1, 1000])


def large(draw, kind):
    return draw.uniform(-1, 1) * LARGEST[kind]


def mixed(draw, kind):
    return draw.choice([plain, wide, widest, subnormal, large, lambda *_: 0.0, lambda *_: 1.0])(draw, kind)


def offset(draw, kind):                                  # a mean much larger than the deviation
    return 1000 + draw.uniform(-1, 1)


RANGES = [plain, wide, offset, widest, subnormal, large, mixed]


def write(path, dims, values, code):
    head = f"{{'descr': '<{code}', 'fortran_order': False, 'shape': ({', '.join(map(str, dims))}{',' * (len(dims) == 1)})}}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode()
                     + array.array({"f4": "f", "f8": "d", "i4": "i"}[code], values).tobytes())


def inputs(path, words, draw, ranges, special=()):
    """Options that give each float input of the program random values."""
    code, out, err = run("run", path, *words, "--time-only", "--json")
    assert code == 0, (path, words, err)
    options = ["--convert"]
    for tensor in json.loads(out)["tensors"]:
        kind, dims = re.match(r"(\w+)\[([\d,]*)\]", tensor["shape"]).groups()
        if tensor["role"] not in ("in", "inout") or kind not in LARGEST:
            continue
        dims = [int(d) for d in dims.split(",")]
        count = 1
        for d in dims:
            count *= d
        fill = draw.choice(ranges)
        values = [min(max(fill(draw, kind), -LARGEST[kind]), LARGEST[kind]) for _ in range(count)]
        for i in range(count):
            if special and draw.random() < 0.2:
                values[i] = draw.choice(special)
        file = HERE / f"{tensor['name']}.npy"
        write(file, dims, values, "f4")
        options += ["-i", f"{tensor['name']}={file}"]
    return options


def fails(path, words, draw, ranges, special=()):
    files = inputs(path, words, draw, ranges, special)
    code, out, err = run("run", path, *words, *files)
    return [] if code == 0 else [f"run {path} {' '.join(map(str, words))}, seed {SEED}, {' '.join(files)}\n{out}{err}"]


@test
def any_size_and_any_finite_input():
    failures = []
    for path in cases(PROGRAMS, 6):
        draw = random.Random(f"{SEED} {path.stem}")
        for i in range(DRAWS):
            rows, columns = (draw.choice([1, 2, 3, 7, draw.randint(1, 40), draw.randint(100, 300)]) for _ in range(2))
            machine = draw.choice([m for m in MACHINES if refusal(path, m) is None])
            failures += fails(path, [*sizes(path, rows, columns), "-m", machine], draw, RANGES)
    assert not failures, "\n".join(failures)


@test
def any_factor():
    draw, failures = random.Random(f"{SEED} factor"), []
    for program, factor in [(p, a) for p in ("saxpy", "stream") for a in (0.1, -3e38, 1e-38, 1e-40, -3e-45)]:
        words = ["-D", "ROWS=9", "-D", "COLS=40", "-D", f"A={factor}"]
        failures += fails(f"programs/{program}.tsim", words, draw, [large, mixed])
    assert not failures, "\n".join(failures)


@test
def nan_where_it_is_defined():
    failures = []
    for stem in "quantise", "top1", "relu", "pred_mask", "copy", "transpose":
        for _ in range(DRAWS):
            draw = random.Random(f"{SEED} nan {stem}")
            failures += fails(f"programs/{stem}.tsim", ["-D", f"ROWS={draw.randint(1, 40)}", "-D", f"COLS={draw.randint(1, 300)}"], draw,
                   [plain, wide, mixed], [float("nan"), float("inf"), float("-inf")])
    assert not failures, "\n".join(failures)


# What a bound must not let through: (program, options, lines of the program, what stands there instead). A vreg is cut to
# the bits of bf16, or its last bits are, before it is stored; a denominator is that of another size; rows are left out.
CUT = 0xffff0000 - (1 << 32)
LAST_BITS = -64                                          # 6 of 24 bits: 2^-18, where the error of one rounding is 2^-24


def cut(register, store, bits):
    return (store, f"vand.i32 {register}, {register}, {bits}\n        {store}")


def cuts(stem, register, store, *options, bits=(CUT, LAST_BITS)):
    return [(stem, options, cut(register, store, b)) for b in bits]


ONE_TILE = ("-D", "COLS=100")
DEFECTS = [
    *cuts("cumsum", "t", "vst     yb[slot, s4 + 8 * I, 128 * J], t"),
    ("cumsum", (), ("vrot.lane u, t, 64", "vrot.lane u, t, 65")),
    *cuts("gelu", "t", "vst     yb.words[at], t"),
    ("gelu", (), ("0.044715\n", "0.044700\n")),
    *cuts("layernorm", "t", "vst     yb[slot, s4 + 8 * I, 128 * J], t", bits=(CUT,)),
    ("layernorm", (), ("vmul.f32 v[8 + I], v[8 + I], 1.0 / COLS", "vmul.f32 v[8 + I], v[8 + I], 1.0 / (COLS - 1)")),
    ("layernorm", (), ("vmul.f32 v[4 + I], v[I], 1.0 / COLS", "vmul.f32 v[4 + I], v[I], 1.0 / (COLS + 1)")),
    *cuts("normalize", "t", "vst     yb[slot, row + 8 * I, 128 * J], t"),
    ("normalize", (), ("vmul.f32 v[8 + I], v[8 + I], 1.0 / COLS", "vmul.f32 v[8 + I], v[8 + I], 1.0 / (COLS - 1)")),
    ("normalize", (), ("vmul.f32 v[4 + I], v[I], 1.0 / COLS", "vmul.f32 v[4 + I], v[I], 1.0 / (COLS + 1)")),
    ("rmsnorm", (), ("1.0 / COLS", "1.0 / (COLS - 8)")),
    *cuts("rmsnorm", "high", "vpack.bf16 low, low, high", bits=(CUT,)),
    *cuts("softmax", "t", "vst     yb[slot, row + 8 * I, 128 * J], t\n.end\n.end\n.end\n.end\n\n        mlanes"),
    ("softmax", (), ("vadd.f32 v[4 + I], v[4 + I], t if valid", "vadd.f32 v[4 + I], v[4 + I], t")),
    ("softmax", (), ("vmov    v[4 + I], 0.0", "vmov    v[4 + I], 0.001")),
    *cuts("swish", "high", "vpack.bf16 low, low, high", bits=(CUT,)),
    ("swish", ("-m", "tpu-v6e"), ("vsigmoid.f32 low_gate, low", "vsigmoid.bf16 low_gate, low")),
    *cuts("saxpy", "v[2 * (J)]", "vst     zb.words[at], v[2 * (J)]"),
    *cuts("rope", "t", "vst     yb[slot, step, 128 * J], t"),
    *cuts("rope", "t", "vst     yb[slot, step, 128 * J], t", "-D", "D=4", bits=(LAST_BITS,)),
    ("rope", (), ("sadd    position, position, step", "sadd    position, position, 0")),
    ("conv3x3", (), ("S / STRIDE + 8", "R / STRIDE + 8")),
    ("conv3x3", (), ("vadd.f32 sum, sum, part\n", "vadd.f32 sum, sum, part\n        vand.i32 sum, sum, -65536\n")),
    ("conv3x3", ("-D", "C=200"), ("xb[sl, to_row:to_row+rows, STRIDE:STRIDE+W, 0:size] <- x[limage, row:+rows, :, at:+size]",
                 "xb[sl, to_row:to_row+rows, STRIDE:STRIDE+W, 0:size-1] <- x[limage, row:+rows, :, at:+size-1]")),
    ("quantise", (), ("vround.f32 t, t", "vfloor.f32 t, t")),
    ("quantise", ("-D", "SCALE=0.1"), ("vround.f32 t, t", "vfloor.f32 t, t")),
    ("top1", (), ("vcmp.gt.f32", "vcmp.ge.f32")),
    ("reduce", ("-D", "DIM=0"), ("vmov    v0, 0.0\n", "vmov    v0, 0.001\n")),
    *cuts("reduce", "v[K]", "vmov    v16, v[K] if m[K]", "-D", "DIM=1"),
    *cuts("reduce", "v[8 + K]", "vmov    v24, v[8 + K] if m[K]", "-D", "DIM=2"),
    ("matmul", (), ("take_c slot, batch, m, at, rows, n, columns\n", "take_c slot, batch, m, at, rows, n, columns\n        vmov    v0, 0\n"
                    "        vst     acc[slot, 0, 0], v0\n")),
    ("matmul_f32", ("-D", "PASSES=1"), ("", "")),
    ("matmul_int8", (), ("vmul.f32 value, value, scale", "vmul.f32 value, value, scale\n        vand.i32 value, value, -16")),
    ("add", (), ("v[4*J+1], v[4*J+1], 1.0", "v[4*J+1], v[4*J+1], 1.01")),
    ("mlp_digits", (), ("vadd.f32 v[16 + I], v[16 + I], bias2", "vadd.f32 v[16 + I], v[16 + I], bias2\n        vand.i32 v[16 + I], "
                        "v[16 + I], -65536")),
    ("mlp_digits", (), ("vpack.bf16 low, low, high", "vand.i32 low, low, -65536\n        vpack.bf16 low, low, high")),
    ("flash_attention", ("-D", "SEQ=1000", "-D", "CAUSAL=0"), ("ssub    s[12 + C], KEY_LIMIT, key", "ssub    s[12 + C], KEY_LIMIT + 12, key")),
    ("flash_attention", (), ("vrcp.f32 sums, sums", "vmul.f32 sums, sums, 1.01\n        vrcp.f32 sums, sums")),
    ("flash_attention", (), ("vcmp.le.i32 m[N], lag", "vcmp.lt.i32 m[N], lag")),
]


def planted(stem, options, change):
    old, new = change
    text = (Path("programs") / f"{stem}.tsim").read_text()
    text = re.sub(r'\.include "(.*)"', lambda found: (Path("programs") / found[1]).read_text(), text)
    assert old in text, (stem, old)
    folder = HERE / "programs"
    if not folder.exists():
        shutil.copytree("programs", folder)
    path = folder / "planted.tsim"
    path.write_text(text.replace(old, new))
    code, out, err = run("run", path, *options)
    return [] if code == 3 and "FAILED" in out else [f"{stem} {options} with {new!r}: exit code {code}\n{err}"]


@test
def defects_fail():
    failures = []
    for stem, options, change in cases(DEFECTS, 4):
        failures += planted(stem, options, change)
    assert not failures, "\n".join(failures)


main()
