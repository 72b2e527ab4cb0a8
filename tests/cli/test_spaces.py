"""Memories with named axes: layouts on partitions land in a simulated memory, and feeding few of them takes longer."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, run, test

ROWS = "f32[256,512]{1,0}"


def sbuf(rows, partitions):
    return f"f32[256,512] S[({rows},{partitions},512):(512@F,1@P,1@F)] S(1)"


@test
def more_partitions_are_faster():
    cycles = [expect_json(["dma", ROWS, sbuf(256 // n, n), "-m", "trainium2", "--alone"])["cycles"] for n in (8, 32, 128)]
    assert cycles[0] > 3 * cycles[1] and cycles[1] > 1.5 * cycles[2], cycles


@test
def both_ways_and_every_space():
    for src, dst in [(ROWS, sbuf(2, 128)), (sbuf(2, 128), ROWS),
                     (ROWS, "f32[256,512] S[(2,128,512):(1@Bank,1@P,1@F)] S(2)")]:
        bill = expect_json(["dma", src, dst, "-m", "trainium2", "--alone"])
        assert bill["useful_bytes"] == 256 * 512 * 4 and bill["kind"] != "gather", bill
    for lanes, columns in [("Lane", "Col"), ("TLane", "TCol")]:
        layout = f"f32[256,112] S[(2,128,112):(112@{columns},1@{lanes},1@{columns})] S(1)"
        assert expect_json(["dma", "f32[256,112]{1,0}", layout, "-m", "tmem"])["useful_bytes"] == 256 * 112 * 4


@test
def what_does_not_fit():
    rows = [
        ("f32[256,512] S[(2,128,512):(512@F,1@Q,1@F)] S(1)", "sbuf has no axis 'Q'"),
        ("f32[256,512] S[(256,512):(1@P,1@F)] S(1)",
         "the layout reaches 0 to 255 on axis 'P' of sbuf, which has 0 to 127"),
        ("f32[256,512] S[(2,128,512):(512@F,1@P,1@F)] S(2)",
         "the layout reaches 0 to 1023 on axis 'F' of psum, which has 0 to 511"),
        ("f32[256,512] S[(256,512):(512@F,1@F)] S(1)",
         "the layout takes 524288 bytes on axis 'F' of sbuf, whose partitions have 196608"),
        ("f32[256,512] S[(256,512):(512,-1)]", "the layout reaches back to -511 on axis 'm' of hbm, which begins at 0"),
    ]
    for layout, message in rows:
        expect(["dma", ROWS, layout, "-m", "trainium2"], code=1, out="", err=f"destination:1:1: error: {message}\n{layout}\n^\n")


@test
def machines_without_some_memory():
    """Whatever needs it is refused; the rest is as ever."""
    with tempfile.TemporaryDirectory() as folder:
        lacks = {name: f"{folder}/no-{name}.yaml" for name in ("vmem", "smem")}
        for name, path in lacks.items():
            Path(path).write_text(f"base: tpu-v5e\nmemories: {{{name}: null}}\n")
        texts = {"vmem": " vld v0, vmem[0]\n", "smem": " sst smem[4], 1\n"}
        for name, text in texts.items():
            Path(folder, f"{name}.tsim").write_text(text)
        program = {name: f"{folder}/{name}.tsim" for name in texts}
        for options in ([], ["--check"], ["--time-only"]):
            for name, text in texts.items():
                place = f"{program[name]}:1:{text.index(name + '[') + 1}"
                assert run("run", program[name], "-m", lacks[name], *options)[2].startswith(f"{place}: error: {lacks[name]} has no {name}\n")
            assert run("run", program["smem"], "-m", lacks["vmem"], *options)[0] == 0
            assert run("run", program["vmem"], "-m", lacks["smem"], *options)[0] == 0
        for words in (["dma", "f32[64,64]{1,0}", "f32[64,64]{1,0:T(8,128)}"], ["audit", "tests/data/hlo/step.txt"]):
            found = run(*words, "-m", lacks["smem"])
            assert found[0] == 0 and found[1].replace(f"{lacks['smem']} (TPU v5e)", "tpu-v5e (TPU v5e), the default") == run(*words)[1]


main()
