"""What ends every run: operations counted from instructions, the machine's peaks, and what bounds the run."""
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, test

FOLDER = tempfile.TemporaryDirectory()


def program(text):
    path = Path(FOLDER.name) / "a.tsim"
    path.write_text(text)
    return path


def counted(text, machine="tpu-v5e"):
    """(operations of the matrix units, of the vector unit) of a program with that text."""
    out = expect_json(["run", program(text + "\nhalt\n"), "-m", machine])
    return out["mxu_flops"], out["vpu_flops"]


def defines(**values):
    return [word for name, value in values.items() for word in ("-D", f"{name}={value}")]


@test
def operations_of_each_instruction():
    rows = (("vadd.f32 v0, v1, v2", 1024), ("vsub.f32 v0, v1, 1.0", 1024), ("vmul.f32 v0, v1, v2 if m0", 1024), ("vmax.f32 v0, v1, v2", 1024),
            ("vround.f32 v0, v1", 1024), ("vneg.f32 v0, v1", 0), ("vcmp.lt.f32 m0, v1, v2", 0), ("vadd.i32 v0, v1, v2", 0),
            ("vexp.f32 v0, v1", 0), ("vunpack.lo.bf16 v0, v1", 0), ("vsum.lane.f32 v0, v1", 8 * 127), ("vmin.sublane.f32 v0, v1", 128 * 7),
            ("vsum.lane.i32 v0, v1", 0), ("sadd s0, s1, s2", 0))
    for text, flops in rows:
        assert counted(text) == (0, flops), (text, counted(text))
    assert counted("vadd.bf16 v0, v1, v2", "tpu-v6e") == (0, 2048)
    assert counted("vexp.bf16 v0, v1", "tpu-v6e") == (0, 0)
    assert counted(".loop s0 = 0, 10\nvadd.f32 v0, v1, v2\nvadd.f32 v3, v4, v5\n.end") == (0, 20 * 1024)


@test
def a_product_is_two_for_each_multiply():
    """Tiles are full, so nothing but the product is multiplied; the sum over the tiles of K is the vector unit's: an addition each."""
    for name, m, n, k, machine in (("matmul", 512, 512, 512, "tpu-v5e"), ("matmul", 512, 512, 512, "tpu-v6e"), ("matmul_int8", 512, 256, 512, "tpu-v5e")):
        out = expect_json(["run", f"programs/{name}.tsim", "-m", machine, "--time-only", *defines(M=m, N=n, K=k)])
        assert out["mxu_flops"] == 2 * m * n * k, (name, machine, out["mxu_flops"])
        roofline = out["roofline"]
        assert roofline["flops"] == 2 * m * n * k and roofline["unit"] == "mxu"
        assert roofline["types"] == (["int8"] if name == "matmul_int8" else ["bf16"])
    out = expect_json(["run", "programs/matmul.tsim", "--time-only", *defines(M=512, N=512, K=512)])
    assert out["vpu_flops"] == 512 * 512 * 512 // 128, out["vpu_flops"]


@test
def one_addition_for_each_element():
    out = expect_json(["run", "programs/add.tsim", *defines(ROWS=256, COLS=512)])
    assert (out["mxu_flops"], out["vpu_flops"]) == (0, 256 * 512)
    roofline = out["roofline"]
    assert roofline["unit"] == "vpu" and roofline["types"] == ["f32"] and roofline["flops"] == 256 * 512
    assert abs(roofline["intensity"] - 256 * 512 / (out["hbm_read_bytes"] + out["hbm_written_bytes"])) < 1e-6


@test
def peaks_are_those_of_the_machine():
    for machine in ("tpu-v5e", "tpu-v4", "tpu-v6e", "tpu-v7x"):
        shown = expect_json(["show", "machine", machine])
        out = expect_json(["run", "programs/matmul.tsim", "-m", machine, "--time-only", *defines(M=256, N=256, K=256)])
        roofline, bf16 = out["roofline"], shown["operations_per_second"]["bf16"]
        assert roofline["peak_flops_per_s"] == bf16["peak"] and abs(roofline["ridge"] - bf16["hbm_ridge"]) < 0.001
        assert roofline["peak_hbm_bytes_per_s"] == shown["hbm_bytes_per_second"]
        seconds = out["microseconds"] / 1e6
        assert abs(roofline["flops_per_s"] * seconds / roofline["flops"] - 1) < 1e-6
        hbm = out["hbm_read_bytes"] + out["hbm_written_bytes"]
        assert abs(roofline["hbm_bytes_per_s"] * seconds / hbm - 1) < 1e-6
        assert abs(roofline["busy_percent"]["hbm"] - 100 * roofline["hbm_bytes_per_s"] / roofline["peak_hbm_bytes_per_s"]) < 0.001
        assert roofline["busy_percent"]["mxu"] == out["mxu_busy_percent"]
        assert abs(roofline["roof_flops_per_s"] / min(roofline["peak_flops_per_s"], roofline["intensity"] * roofline["peak_hbm_bytes_per_s"]) - 1) < 1e-5
        assert abs(roofline["peak_percent"] - 100 * roofline["flops_per_s"] / roofline["peak_flops_per_s"]) < 0.001


@test
def busy_units_have_their_occupancy():
    """Of 1000 transcendental functions each keeps the unit for two cycles."""
    text = ".loop s0 = 0, 1000\nvexp.f32 v0, v1\n.end\n"
    out = expect_json(["run", program(text + "halt\n")])
    assert abs(out["roofline"]["busy_percent"]["eup"] - 100 * 2000 / out["cycles"]) < 0.001
    assert abs(out["roofline"]["busy_percent"]["issue"] - 100 * out["bundles"] / out["cycles"]) < 0.001
    assert out["roofline"]["busy_percent"]["hbm"] == 0


@test
def text_says_what_bounds_it():
    copy = expect(["run", "programs/copy.tsim"])
    assert re.search(r"^roofline   no floating-point operations, and none of the matrix units\nbound by   memory: hbm is busy [\d.]+ % of the time", copy, re.M), copy
    text = expect(["run", "programs/matmul.tsim"])
    assert re.search(r"^roofline   mxu bf16: 268,435,456 FLOP = 55\.\d\d TFLOP/s, 28\.\d % of the peak of 196\.6 TFLOP/s\n"
                     r"           128 FLOP a byte of HBM, below the ridge at 240\.0: at most 104\.9 TFLOP/s, [\d.]+ % reached\n"
                     r"bound by   latency: hbm is busy [\d.]+ % of the time, mxu 28\.\d %, issue [\d.]+ %\n"
                     r"           3,840 cycles at least; the run took 1\.\d\d times that\n"
                     r"           [\d.]+ % of the time: waiting for a DMA, or another semaphore\n", text, re.M), text
    assert " OP = " in expect(["run", "programs/matmul_int8.tsim"])
    dense = expect(["run", "programs/conv3x3.tsim", "-m", "tpu-v6e", "--time-only"]).split("\nroofline")[1]
    assert re.search(r"\n {11}1\d{3} FLOP a byte of HBM, above the ridge at 560\.0: at most 917\.5 TFLOP/s, [\d.]+ % reached\n", dense), dense
    assert all(len(line) <= 100 for line in dense.splitlines()), dense
    one = expect(["run", program("vadd.f32 v0, v1, v2\n")])
    assert one.endswith("roofline   vpu f32: 1,024 FLOP = 1.536 TFLOP/s, 25.0 % of the peak of 6.144 TFLOP/s\n"
                        "           no bytes of HBM: the peak is the roof\n"
                        "bound by   compute: issue is busy 100.0 % of the time, valu 25.0 %\n"
                        "           1 cycle at least; the run took 1.00 times that\n"), one


@test
def nothing_to_do_prints_sensibly():
    for text in ("halt\n", "nop\n", "delay 1000\n"):
        out = expect(["run", program(text)])
        assert "roofline   no floating-point operations" in out and not re.search(r"\b(nan|inf)\b", out), out
        roofline = expect_json(["run", program(text)])["roofline"]
        assert roofline["unit"] is None and roofline["types"] == [] and roofline["flops"] == 0 and roofline["peak_percent"] == 0, roofline
    assert roofline["bound"] == "latency"
    assert "bound by   latency: misc is busy 0.1 % of the time" in out and "99.9 % of the time: not ready: nop, delay, halt" in out, out


if __name__ == "__main__":
    sys.exit(main())
