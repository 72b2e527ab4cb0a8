"""Instructions on rows of packed values, in programs with a check: each takes rows apart or puts them together as the layout says."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, main, run, test

# instruction: the packed type, its values, how many rows a vreg of it has, what its wider rows are
UNPACKED = {"vunpack.rows.bf16": ("bf16", "lo=-4, hi=4", 16, "f32"), "vunpack.rows.i16": ("s16", "lo=-32768, hi=32767", 16, "s32"),
            "vunpack.rows.u16": ("u16", "lo=0, hi=65535", 16, "s32"), "vunpack.rows.i8": ("s8", "lo=-128, hi=127", 32, "s32"),
            "vunpack.rows.u8": ("u8", "lo=0, hi=255", 32, "s32"), "vunpack.rows.i4": ("s4", "lo=-8, hi=7", 64, "s32"),
            "vunpack.rows.u4": ("u4", "lo=0, hi=15", 64, "s32")}


def layout(kind, rows):
    packing = rows // 8
    return f"{kind}[{rows},128]{{1,0:T({rows},128)({packing},1){'E(4)' if kind in ('s4', 'u4') else ''}}}"


def program(text, check, tensors):
    """Brings every `in`, runs the text, takes every `out`."""
    lines, inputs, outputs = [], [], []
    for name, (shape, role) in tensors.items():
        lines += [f".tensor {name} hbm {shape} {role}", f".tensor {name}v vmem {shape}"]
        (outputs if role == "out" else inputs).append(name)
    lines += [".sem done", f".check {check}", ".pack auto"]
    lines += [line for name in inputs for line in (f"dma {name}v <- {name}, done", "wait done")] + text
    lines += [line for name in outputs for line in (f"dma {name} <- {name}v, done", "wait done")]
    return "\n".join([*lines, "halt", ""])


def passes(text, *, right=True):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.tsim")
        path.write_text(text)
        if right:
            expect(["run", path, "--check"], out=None)
        else:
            code, out, err = run("run", path)
            assert code == 3, (code, out, err)


def unpacking(mnemonic, turn=0):
    kind, values, rows, wide = UNPACKED[mnemonic]
    groups = range(rows // 8)
    text = ["vld v0, xv[0, 0]"] + [f"{mnemonic} v{i + 1}, v0, {(i + turn) % len(groups)}" for i in groups] + \
        [f"vst yv[{8 * i}, 0], v{i + 1}" for i in groups]
    return program(text, "y == x", {"x": (layout(kind, rows), f"in random(seed=3, {values})"), "y": (f"{wide}[{rows},128]{{1,0:T(8,128)}}", "out")})


@test
def rows_are_unpacked():
    for mnemonic in UNPACKED:
        passes(unpacking(mnemonic))
        passes(unpacking(mnemonic, turn=1), right=False)


def packing(rows, low, high):
    words = [f"vld v{i}, xv[{8 * i}, 0]" for i in range(rows // 8)]
    pairs = [f"vpack.rows.b16 v{8 + i}, v{2 * i}, v{2 * i + 1}" for i in range(rows // 16)]
    last = ["vpack.rows.b8 v8, v8, v9"] if rows == 32 else []
    return program([*words, *pairs, *last, "vst yv[0, 0], v8"], "y == x",
                   {"x": (f"s32[{rows},128]{{1,0:T(8,128)}}", f"in random(seed=5, lo={low}, hi={high})"),
                    "y": (layout("s16" if rows == 16 else "s8", rows), "out")})


@test
def rows_are_packed():
    """Of words the lowest halves or bytes are taken: larger numbers are cut."""
    passes(packing(16, -32768, 32767))
    passes(packing(32, -128, 127))
    passes(packing(32, -128, 400), right=False)


def masking(first, second):
    """x where it is above 0: compared as f32, chosen as bf16."""
    text = ["vld v0, xv[0, 0]", "vunpack.rows.bf16 v1, v0, 0", "vunpack.rows.bf16 v2, v0, 1", "vcmp.gt.f32 m0, v1, 0", "vcmp.gt.f32 m1, v2, 0",
            f"mpack.rows.b16 m2, {first}, {second}", "vmov v3, 0", "vsel v4, m2, v0, v3", "vst yv[0, 0], v4"]
    return program(text, "y == max(x, 0)", {"x": (layout("bf16", 16), "in random(seed=7, lo=-4, hi=4)"), "y": (layout("bf16", 16), "out")})


@test
def masks_of_rows_are_packed():
    passes(masking("m0", "m1"))
    passes(masking("m1", "m0"), right=False)


main()
