"""Every committed kernel through `tilesim run`: values against JAX's interpret mode; what is not modelled is counted and named."""
import json
import re
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent / "support"), str(Path(__file__).parent)]
from cli import SANITIZED, expect, main, run, test  # noqa: E402

# Texts that are refused, and what is said of why.
REFUSED = {"views_narrow": "'tpu.enqueue_dma' is not modelled: through a view with another layout"}
SANITIZED_TEXTS = ("add", "paged_dma", "flash_ragged", "handshake", "softmax.v6", "matmul_int8", "reduce_scatter")


def sanitized():
    """Under ASan a few texts run; they are compared in the release."""
    for name in SANITIZED_TEXTS:
        machine = "tpu-v6e" if name.endswith(".v6") else "tpu-v5e"
        mesh = ["--mesh", "4", "--check"] if name == "reduce_scatter" else []
        expect(["run", f"tests/mosaic/kernels/{name}.mlir", "-m", machine, *mesh], out=None)


if SANITIZED:
    test(sanitized)
    main()
    sys.exit(0)

import package  # noqa: E402, F401

import numpy as np  # noqa: E402

import cases  # noqa: E402
import tilesim as ts  # noqa: E402


def wide(array):
    """In double precision; bf16 comes as its bits where NumPy has no type for it."""
    array = np.asarray(array)
    if array.dtype.kind == "V" or array.dtype == np.uint16:
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def rounded(kind, values):
    """To a type, ties to even, in double precision."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    if kind == "bf16":
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return bits.view(np.float32).astype(np.float64)


def apart(result, expected, near):
    """How many values are farther from what is expected than the case allows, and the largest difference; NaN is as NaN, infinity as infinity."""
    result, expected = wide(result), wide(expected)
    same = (result == expected) | np.isnan(result) & np.isnan(expected)
    difference = np.abs(np.subtract(result, expected, where=~same, out=np.zeros(same.shape)))
    bad = ~(difference <= near[0] + near[1] * np.abs(np.nan_to_num(expected)))
    return int(bad.sum()), float(difference.max())


def compared(name, generation):
    """Runs a text and says what is wrong with its values."""
    case = cases.CASES[name]
    found = ts.run(cases.text_path(name, generation), machine=cases.MACHINES[generation], mesh=case.mesh or None, check=bool(case.mesh))
    assert found.passed, name
    assert found.cycles > 0
    wrong = []
    for i, path in enumerate(sorted(cases.FOLDER.glob(f"{name}.out*.npy"))):
        bad, largest = apart(found.outputs[str(len(case.operands) + i)], np.load(path), case.near)
        if bad:
            wrong.append(f"result {i}: {bad} values, by up to {largest:.3g}")
    return wrong


@test
def values_are_those_of_interpret_mode():
    ran, refused, wrong = 0, {}, {}
    for name, generation in cases.names():
        stem = cases.text_path(name, generation).stem
        try:
            problems = compared(name, generation)
        except ts.UnmodelledError as error:
            refused[stem] = error
            continue
        ran += 1
        if problems:
            wrong[stem] = problems
    print(f"# {ran} texts run, {len(refused)} refused: {', '.join(refused) or 'none'}")
    assert not wrong, wrong
    assert set(refused) == set(REFUSED), {name: str(error) for name, error in refused.items()}
    for name, why in REFUSED.items():
        assert why in str(refused[name]), (name, str(refused[name]))


# What collectives are, of whole arrays.
COLLECTIVES = {
    "permute": lambda x: np.roll(x, 128, axis=1),
    "swap_rows_of_devices": lambda x: np.roll(x, 32, axis=0),
    "all_gather": lambda x: x.reshape(4, 16, 128),
    "all_gather_meeting": lambda x: np.stack(np.split(x, 4, axis=1)),
    "all_reduce": lambda x: np.tile(x.reshape(8, 8, 256).sum(axis=0), (8, 1)),
    "reduce_scatter": lambda x: x.reshape(4, 128, 128).sum(axis=0),
    "gather_product": lambda x, w: x @ w,
}


@test
def collectives_are_what_they_are_called():
    """What interpret mode gave, against NumPy."""
    assert set(COLLECTIVES) == {name for name, case in cases.CASES.items() if case.mesh}
    for name, function in COLLECTIVES.items():
        case = cases.CASES[name]
        operands = [rounded(*cases.filled(operand)) for operand in case.operands]
        bad, largest = apart(np.load(cases.FOLDER / f"{name}.out0.npy"), function(*operands), case.near)
        assert not bad, (name, bad, largest)


@test
def a_wrong_value_is_seen():
    """The comparison can fail: another input, another result."""
    case = cases.CASES["softmax"]
    found = ts.run(cases.text_path("softmax", 5), {"0": np.zeros((32, 256), np.float32)})
    bad, _ = apart(found.outputs["1"], np.load(cases.FOLDER / "softmax.out0.npy"), case.near)
    assert bad > 0
    odd = np.array([np.inf, np.nan, 1, -np.inf])
    assert apart(odd, odd, (0, 0))[0] == 0 and apart(odd, odd[::-1], (1e-2, 1e-2))[0] == 4


# A kernel without some of its operations, and what is said of it, with the line of Python.
BROKEN = (
    ("all_reduce", ('"tpu.sem_wait"(%10', '"tpu.sem_signal"(%10'), "copy.start()", "writes bytes of 'scratch0' whose use here it did not wait for"),
    ("all_gather", ('"tpu.wait_dma2"(%29',), "copy.start()", "writes bytes of '1' whose use here it did not wait for"),
    ("all_gather", ('"tpu.wait_dma2"(%7',), "copy.start()", "semaphore scratch1[0] is 24576 at the end, expected 0"),
    ("all_reduce", ('"tpu.sem_signal"(%17',), "pltpu.semaphore_wait(barrier, len(devices))",
     "deadlock: device 0 waits at line 41 for semaphore 'barrier[0]' to reach 2"),
)


@test
def what_devices_do_to_each_other_is_seen():
    for name, gone, line, said in BROKEN:
        lines = cases.text_path(name, 5).read_text().split("\n")
        kept = [text for text in lines if not any(word in text for word in gone)]
        assert len(lines) - len(kept) >= len(gone)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "k.mlir").write_text("\n".join(kept))
            code, _, err = run("run", f"{folder}/k.mlir", "--mesh", cases.CASES[name].mesh, "--check")
        assert code == 3 and said in err and line in err and "mesh_kernels.py:" in err, (name, gone, code, err)


@test
def two_bits_are_packed_in_either_format():
    """What is packed as the words have it, and taken apart so, is as it was."""
    text = cases.text_path("two_bits", 5).read_text()
    assert text.count("pack_format<compressed>") == 34
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "k.mlir").write_text(text.replace("pack_format<compressed>", "pack_format<interleaved>"))
        found = ts.run(f"{folder}/k.mlir")
    for i in range(2):
        assert (found.outputs[str(1 + i)] == np.load(cases.FOLDER / f"two_bits.out{i}.npy")).all(), i


@test
def scalars_outside_of_their_array_are_warned_of():
    """The chip has no bounds in SMEM; with --check the run has failed."""
    for words, expected in (((), 0), (("--check",), 3)):
        code, out, err = run("run", "tests/mosaic/kernels/steps_before.mlir", "--json", *words)
        assert code == expected, (words, code, err)
        found = json.loads(out)["findings" if words else "warnings"]
        first = next(finding for finding in found if finding["kind"] == "read_outside")
        assert first["message"] == "sld reads bytes 508 to 511, outside of prefetch_0 (512 to 1023): it gets what lies there", first
        assert first["where"]["file"] == "tests/mosaic/kernels.py" and first["times"] == 1, first


@test
def what_a_machine_has_no_slot_for_is_refused():
    """Where the kernel has it; no order of instructions is looked for."""
    for slot, place in (("eup", r"tests/mosaic/kernels.py:\d+"), ("vst", r"tests/mosaic/kernels.py:\d+"), ("misc", "pipeline:1")):
        code, _, err = run("run", "tests/mosaic/kernels/softmax.mlir", "--set", f"core.slots.{slot}=0")
        assert code == 1 and re.match(rf"{place}:1: error: one {slot} instruction too many: a bundle has 0 of them", err), (slot, code, err)


@test
def more_registers_than_there_are_are_refused():
    """Of each kind one that some kernel still does with, and one fewer."""
    for name, kind, least in (("add", "sregs", 4), ("softmax", "vregs", 2), ("integers", "vmasks", 2)):
        words = ["run", f"tests/mosaic/kernels/{name}.mlir", "--set"]
        expect([*words, f"core.{kind}={least}"], out=None)
        code, _, err = run(*words, f"core.{kind}={least - 1}")
        assert code == 1 and re.match(rf"\S+:\d+:1: error: this needs more {kind} at once than the machine has\n", err), (name, code, err)


@test
def what_is_refused_says_where():
    """An op that is not modelled: its name, the text's line, and the kernel's in Python."""
    text = cases.text_path("add", 5).read_text().replace('"arith.addf"', '"arith.frob"', 1)
    line = 1 + text[:text.index("arith.frob")].count("\n")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "add.mlir").write_text(text)
        code, _, err = run("run", f"{folder}/add.mlir")
    assert code == 4 and "arith.frob" in err and f"add.mlir:{line}:" in err and "kernels.py:" in err, (code, err)


main()
