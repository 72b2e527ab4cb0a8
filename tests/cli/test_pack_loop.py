""".pack pipeline: iterations of loops overlap, and nothing else changes."""
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect_json, main, release_test, run, test

ROOT = Path(__file__).parent.parent.parent

PRODUCT = """
.param  ROWS = 1024
.tensor a  hbm  bf16[ROWS,128]{1,0:T(8,128)(2,1)} in random(seed=1, lo=-1, hi=1)
.tensor b  hbm  bf16[128,128]{1,0:T(8,128)(2,1)} in random(seed=2, lo=-1, hi=1)
.tensor c  hbm  f32[ROWS,128]{1,0:T(8,128)} out
.tensor av vmem bf16[ROWS,128]{1,0:T(16,128)(2,1)}
.tensor bv vmem bf16[128,128]{1,0:T(16,128)(2,1)}
.tensor cv vmem f32[ROWS,128]{1,0:T(8,128)}
.sem done
.check c ~= matmul(a, b) abs=1e-4
        dma     av <- a, done
        dma     bv <- b, done
        wait    done, 2
.pack MODE
.for I = 0, 8
        vld     v0, bv[16 * I, 0]
        mxu.latch.bf16 0, v0
.end
        mxu.swap 0
.loop s1 = 0, ROWS, 16
        vld     v0, av[s1, 0]
        mxu.push.bf16 0, v0
        mxu.pop v1, 0
        vst     cv[s1, 0], v1
        mxu.pop v1, 0
        vst     cv[s1 + 8, 0], v1
.end
        dma     c <- cv, done
        wait    done
        halt
"""


def cycles(mode, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "product.tsim")
        path.write_text(PRODUCT.replace("MODE", mode))
        found = expect_json(["run", str(path), "-m", "tpu-v5e", *options])
        assert all(check["passed"] for check in found["checks"]), found
        return found["cycles"]


@test
def a_product_waits_for_no_result():
    auto, pipeline = cycles("auto"), cycles("pipeline v8")
    assert pipeline * 3 < auto, (auto, pipeline)
    assert cycles("pipeline") < auto and cycles("pipeline v8", "--check") == pipeline
    for rows in (16, 112, 128, 144):  # few iterations, and what a turn leaves
        cycles("pipeline v8", "-D", f"ROWS={rows}")


@test
def what_a_turn_takes_is_told():
    """16 rows keep a port of four units for 16 cycles; a product alone takes more than 200."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "product.tsim")
        path.write_text(PRODUCT.replace("MODE", "pipeline v8"))
        found = expect_json(["run", str(path), "-m", "tpu-v5e", "--time-only"])["pipelines"]
        assert len(found) == 1 and found[0]["file"] == str(path) and found[0]["line"] == 20, found
        assert found[0]["iterations"] == 1 and found[0]["slot_bound"] == 4 <= found[0]["cycles"], found
        assert found[0]["stages"] * found[0]["cycles"] > 200 < found[0]["critical_path"], found
        _, out, _ = run("run", str(path), "-m", "tpu-v5e", "--time-only")
        row = f"pipelines  20: 1 iteration in {found[0]['cycles']} cycles, {found[0]['stages']} under way; slot bound 4, critical path "
        assert f"{row}{found[0]['critical_path']}\n" in out, out
        path.write_text(PRODUCT.replace("MODE", "auto"))
        assert "pipelines" not in expect_json(["run", str(path), "-m", "tpu-v5e", "--time-only"])


@test
def vregs_of_the_packer_are_its_own():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "own.tsim")
        for text, message in ((".pack pipeline v4\n vmov v4, 1.0\n halt\n", "2:2: error: v4 is the packer's, as .pack pipeline says"),
                              (".pack pipeline s4\n halt\n", "1:16: error: found 's4', expected a vreg from v1 on, or the end of the line"),
                              (".pack some\n halt\n", "1:7: error: found 'some', expected auto, pipeline or off")):
            path.write_text(text)
            code, _, err = run("run", str(path))
            assert code == 1 and f"own.tsim:{message}" in err, err


@release_test
def programs_compute_the_same():
    """All that are shipped, by their own checks; those that have no vregs from v32 on."""
    pipelined = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in [*ROOT.glob("programs/*.tsim"), *ROOT.glob("programs/include/*.tsim")]:
            copy = Path(folder, path.relative_to(ROOT / "programs"))
            copy.parent.mkdir(exist_ok=True)
            copy.write_text(path.read_text().replace(".pack auto", ".pack pipeline v32"))
        for path in sorted(Path(folder).glob("*.tsim")):
            code, out, err = run("run", str(path), "-m", "tpu-v5e")
            if "is the packer's" in err or "cannot open" in err:
                continue
            assert code == 0, (path.name, out, err)
            before = (ROOT / "programs" / path.with_suffix(".cycles").name).read_text()
            now = int(re.search(r"^cycles +~?([\d,]+)", out, re.M)[1].replace(",", ""))
            pipelined += f"tpu-v5e {now}" not in re.sub(r" +", " ", before)
    assert pipelined >= 8, pipelined


main()
