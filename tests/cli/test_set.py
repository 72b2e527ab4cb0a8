"""--set: on every command that takes a machine, checked like the machine's file."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, main, run, test

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


main()
