"""--set: on every command that takes a machine, checked like the machine's file."""
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, release_test, run, test

TRANSFER = ["f32[512,512]{1,0}", "f32[512,512]{1,0:T(8,128)}"]
COMMANDS = [["run", "programs/softmax.tsim"], ["debug", "programs/softmax.tsim"], ["dma", *TRANSFER], ["hbm", "a_seq_rd"],
            ["show", "machine", "tpu-v5e"], ["show", "program", "programs/softmax.tsim"], ["choose", TRANSFER[0]],
            ["audit", "tests/data/xla_vectors.tsv"], ["validate", "-m", "tpu-v4"],
            ["calibrate", "tests/data/calibrate.csv", "-m", "tpu-v4"]]


@test
def wrong_figures():
    for words in COMMANDS:
        code, out, err = run(*words, "--set", "hbm.stack=4")
        assert code == 1 and out == "" and err.startswith("--set:1:5: error: unknown key 'hbm.stack'; did you mean"), (words, err)
        code, out, err = run(*words, "--set", "hbm.channels=3")
        assert code == 1 and "expected an integer from 1 to 64, a power of two" in err, (words, err)


@test
def two_figures():
    """A what-if: twice the HBM, and a smaller VMEM."""
    before = expect(["dma", *TRANSFER, "-m", "tpu-v5e", "--json"], out=None)
    after = expect(["dma", *TRANSFER, "-m", "tpu-v5e", "--set", "hbm.stacks=4", "--set", "memories.hbm.capacity=32 GiB",
                    "--json"], out=None)
    assert before != after
    code, _, err = run("run", "programs/softmax.tsim", "--set", "memories.vmem.capacity=256 KiB")
    assert code == 1 and "is larger than vmem" in err, err


@release_test
def every_report_says_what_was_changed():
    """In the words of the file, wherever the machine is named."""
    step, shape = "tests/data/hlo/attention.mlir", "f32[64,128]"
    name = "tpu-v5e (TPU v5e), the default, with hbm.clock=3.2 GHz"
    sets, overrides = ["--set", "hbm.clock=3.2GHz"], ["hbm.clock=3.2 GHz"]
    value = 'f32[8,128] vpad<"32,{%d,0},(8,128)">'
    with tempfile.TemporaryDirectory() as folder:
        for words in (["run", "programs/softmax.tsim"], ["run", "programs/add.tsim", "-D", "ROWS=8,16"],
                      ["relayout", value % 0, value % 3], ["relayout", value % 0, value % 0],
                      ["reshard", f"{shape} P('x')", shape, "--mesh", "4"], ["layout", f"{shape} P('x')", "--mesh", "4"],
                      ["choose", "programs/add.tsim", "--block", "ROWS=8,16"],
                      ["dma", shape, shape], ["dma", shape, shape, "--with", f"{shape} -> {shape}"],
                      ["dma", "--matrix", shape], ["hbm", "a_seq_rd"], ["choose", shape, "--no-moves"], ["audit", step],
                      ["show", "machine"], ["calibrate", "tests/data/calibrate.csv", "-m", "tpu-v4", "--fit", "chip.launch"],
                      ["validate", "--data", "tests/data/calibrate.csv", "-m", "tpu-v4"]):
            called = name.replace("tpu-v5e (TPU v5e), the default", "tpu-v4 (TPU v4)") if "tpu-v4" in words else name
            assert f"{called}\n" in expect([*words, *sets]), words
            assert expect_json([*words, *sets])["machine_overrides"] == overrides, words
            assert expect_json(words)["machine_overrides"] == [], words
        pair = ["layout", shape, shape + "{0,1}", "-m", "tpu-v5e"]
        assert f"{name}\n" in expect([*pair, *sets]), pair
        assert expect_json([*pair, *sets])["transfer"]["machine_overrides"] == overrides, pair
        for words, option in ((["run", "programs/softmax.tsim"], "--trace"), (["dma", "--matrix", shape], "--svg"),
                              (["choose", shape, "--no-moves"], "--svg"), (["audit", step], "--svg"), (["audit", step], "--html")):
            file = Path(folder) / "file"
            expect([*words, *sets, option, file], out=None)
            assert name in file.read_text(), (words, option)
    long = [word for i in range(6) for word in ("--set", f"core.timing.{['eup', 'scalar', 'branch', 'random', 'mxu_pop', 'control'][i]}.latency=9")]
    lines = expect(["run", "programs/softmax.tsim", *long]).splitlines()
    assert max(map(len, lines)) <= 100 and lines[1].startswith("           core.timing.") and lines[0].endswith(","), lines[:4]


@test
def short_names():
    plain = json.loads(expect(["show", "machine", "tpu-v5e", "--json"]))
    twice = json.loads(expect(["show", "machine", "tpu-v5e", "--set", "hbm.bandwidth_scale=2", "--set",
                               "vmem.size_mib=64", "--json"]))
    same = json.loads(expect(["show", "machine", "tpu-v5e", "--set", "hbm.clock=3.2 GHz", "--set",
                              "memories.vmem.capacity=64 MiB", "--json"]))
    assert twice == same != plain
    expect(["show", "machine", "tpu-v5e", "--set", "hbm.bandwidth_scale=0"], 1, "",
           "--set:1:21: error: hbm.bandwidth_scale: found '0', expected a number from 0.01 to 100\n"
           "hbm.bandwidth_scale=0\n" + 20 * " " + "^\n")


main()
