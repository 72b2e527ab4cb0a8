"""Transfers that the DMA engine cannot do cost what the shipped program takes that does them with the core."""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import cases, expect, expect_json, main, release_test, run, test

NO_CONVERT = ("--set", "dma.rate.convert=0")
NO_RETILE = ("--set", "dma.rate.retile=0")


def price(src, dst, *options):
    return expect_json(["dma", src, dst, "--alone", *options], schema="tilesim.dma")


def cycles_of(bill, *options):
    """The program that the bill names, with the parameters that it names, run as a user would."""
    by = bill["core_program"]
    words = ["run", by["program"], "--time-only", "--exact", *by["parameters"].split(), *options]
    return expect_json(words, schema="tilesim.run")["cycles"]


@test
def the_price_is_that_of_the_program():
    rows = [
        ("f32[300,1030]{1,0:T(8,128)}", "f32[300,1030]{0,1:T(8,128)}", "transpose", []),
        ("f32[300,1030]{1,0}", "f32[300,1030]{0,1:T(8,128)}", "transpose", []),
        ("bf16[3,520,260]{2,1,0:T(8,128)(2,1)}", "bf16[3,520,260]{1,2,0}", "transpose", []),
        ("s8[512,256]{1,0:T(8,128)(4,1)}", "s8[512,256]{0,1:T(8,128)(4,1)}", "transpose", []),
        ("s4[512,256]{1,0:T(8,128)(8,1)E(4)}", "s4[512,256]{0,1:T(8,128)(8,1)E(4)}", "transpose", []),
        ("f32[512,256]{1,0:T(8,128)}", "f32[512,256]{0,1:T(8,128)S(1)}", "transpose", []),
        ("f32[600,512]{1,0}", "bf16[600,512]{1,0:T(8,128)(2,1)}", "convert", NO_CONVERT),
        ("bf16[600,512]{1,0:T(8,128)(2,1)}", "f32[600,512]{1,0:T(8,128)}", "convert", NO_CONVERT),
        ("f32[600,512]{1,0}", "f32[600,512]{1,0:T(8,128)}", "retile", NO_RETILE),
        ("f32[600,512]{1,0:T(8,128)}", "f32[600,512]{1,0}", "retile", NO_RETILE),
    ]
    for machine in cases(("tpu-v4", "tpu-v5e", "tpu-v7x"), 1):
        for src, dst, cannot, options in rows:
            bill = price(src, dst, "-m", machine, *options)
            assert bill["kind"] == "core program" and bill["core_program"]["engine_cannot"] == cannot, (src, dst)
            assert bill["cycles"] == cycles_of(bill, "-m", machine, *options), (src, dst, machine)
            assert sum(bill["parts"].values()) == bill["cycles"]


@test
def what_queues_answer_takes_no_time_of_it():
    """Coarse accesses, of which the HBM could not carry as many as the program makes in its time."""
    coarse = ("--set", "dma.access=4KiB")
    bill = price("f32[318,1009]{0,1:T(8,128)}", "f32[318,1009]{1,0}", *coarse)
    assert bill["memory_cycles"] > bill["cycles"] == cycles_of(bill, *coarse) == sum(bill["parts"].values()), bill
    on_pins = bill["peak_percent"] / 100 * bill["cycles"]
    assert abs(bill["parts"]["useful"] + bill["parts"]["padding"] + bill["parts"]["burst_waste"] - on_pins) < 2, (bill["parts"], on_pins)


@release_test
def exact_runs_the_whole():
    src, dst = "f32[12,700,1300]{2,1,0:T(8,128)}", "f32[12,700,1300]{1,2,0:T(8,128)}"
    bill = price(src, dst, "--exact")
    assert bill["cycles"] == cycles_of(bill) and not bill["estimated"]
    assert price(src, dst)["estimated"]


@release_test
def large_ones_are_extended():
    for src, dst, machine in cases((
        ("f32[4096,4096]{1,0:T(8,128)}", "f32[4096,4096]{0,1:T(8,128)}", "tpu-v5e"),
        ("f32[20,128,4000]{2,1,0:T(8,128)}", "f32[20,128,4000]{1,2,0:T(8,128)}", "tpu-v5p"),
        ("bf16[600,40000]{1,0:T(8,128)(2,1)}", "bf16[600,40000]{0,1:T(8,128)(2,1)}", "tpu-v6e"),
        ("f32[8192,8192]{1,0}", "f32[8192,8192]{0,1}", "tpu-v5e"),
        ("s8[6,3000,900]{2,1,0}", "s8[6,3000,900]{1,2,0:T(8,128)(4,1)}", "tpu-v4"),
        ("f32[40,700,1300]{2,1,0:T(8,128)}", "f32[40,700,1300]{1,2,0:T(8,128)}", "tpu-v7x"),
    ), 0, 3):
        bill = price(src, dst, "-m", machine)
        run_whole = cycles_of(bill, "-m", machine)
        assert abs(bill["cycles"] / run_whole - 1) < 0.03, (src, machine, bill["cycles"], run_whole)
        assert bill["moved_bytes"] >= 2 * bill["useful_bytes"] * 0.99


# Of small matrices as many are run as hold what a few large blocks do.
@release_test
def small_matrices_are_extended():
    for src, dst, machine in cases((
        ("s32[5888,18,23]{1,2,0:T(8,128)}", "s32[5888,18,23]{2,1,0:T(8,128)}", "tpu-v5p"),
        ("f32[7,382,871]{1,0,2}", "f32[7,382,871]{0,1,2:T(8,128)}", "tpu-v4"),
        ("bf16[8,110,1115]{0,1,2:T(16,128)(2,1)}", "bf16[8,110,1115]{1,0,2}", "tpu-v7x"),
    ), 0, 2):
        estimated, whole = price(src, dst, "-m", machine), price(src, dst, "-m", machine, "--exact")
        assert estimated["estimated"] and abs(estimated["cycles"] / whole["cycles"] - 1) < 0.02, (src, estimated["cycles"], whole["cycles"])


# Where the full strips of one matrix are fewer blocks than are run, whole matrices are: other columns have another pace.
@release_test
def batches_of_few_strips_are_extended():
    for src, dst, machine in cases((
        ("f32[4,8059,1253]{2,1,0:T(8,128)}", "f32[4,8059,1253]{1,2,0:T(8,128)}", "tpu-v5p"),
        ("s8[6,5939,1550]{2,1,0:T(8,128)(4,1)}", "s8[6,5939,1550]{1,2,0}", "tpu-v5e"),
        ("bf16[3,2261,3345]{2,1,0:T(8,128)(2,1)}", "bf16[3,2261,3345]{1,2,0}", "tpu-v5e"),
    ), 0, 1):
        estimated, whole = price(src, dst, "-m", machine), price(src, dst, "-m", machine, "--exact")
        assert estimated["estimated"] and abs(estimated["cycles"] / whole["cycles"] - 1) < 0.01, (src, estimated["cycles"], whole["cycles"])


# Their first blocks are faster or slower than others: queues settle, and writes come in bursts.
@release_test
def the_middle_of_a_run_tells_its_pace():
    for src, dst, machine in cases((
        ("f32[333682,20]{0,1:T(4,128)}", "f32[333682,20]{1,0:T(8,128)}", "tpu-v3"),
        ("f32[13,907,296]{0,1,2}", "f32[13,907,296]{2,0,1:T(4,128)}", "tpu-v6e"),
        ("f32[95,4078,5]{2,1,0:T(8,128)}", "f32[95,4078,5]{0,1,2:T(8,128)}", "tpu-v4"),
        ("s32[10,7,183845]{0,2,1}", "s32[10,7,183845]{2,1,0:T(8,128)}", "tpu-v2"),
        ("f32[2322,27787]{0,1:T(4,128)}", "f32[2322,27787]{1,0}", "tpu-v5p"),
    ), 0, 3):
        estimated, whole = price(src, dst, "-m", machine), price(src, dst, "-m", machine, "--exact")
        assert estimated["estimated"] and abs(estimated["cycles"] / whole["cycles"] - 1) < 0.01, (src, estimated["cycles"], whole["cycles"])
        assert sum(estimated["parts"].values()) == estimated["cycles"]


# MaxText on v5p: relayout copies, (read + written) bytes / 2.37 TB/s.
@release_test
def measured_relayouts():
    orders = ("2,1,0", "1,2,0")
    for layers, (a, b) in cases(((layers, turn) for turn in (orders, orders[::-1]) for layers in (6, 24, 28)), 0, 3):
        shape = f"f32[{layers},128,32000]"
        bill = price(f"{shape}{{{a}:T(8,128)}}", f"{shape}{{{b}:T(8,128)}}", "-m", "tpu-v5p")
        measured = 2 * 4 * layers * 128 * 32000 / 2.37e6
        assert abs(bill["microseconds"] / measured - 1) < 0.15, (layers, bill["microseconds"], measured)


@test
def the_bill_says_who_does_it():
    text = expect(["dma", "f32[512,256]{1,0}", "f32[512,256]{0,1}", "--alone"])
    assert re.search(r"^plan          core program: the engine cannot transpose \(dma.rate.transpose is 0, derived\)\n"
                     r" {14}programs/transpose.tsim -D TYPE=f32 -D ROWS=512 -D COLS=256 -D X_TILES=0 -D Y_TILES=0\n", text, re.M)
    narrow = price("s8[2048,2048]{1,0:T(8,128)(4,1)}", "s8[2048,2048]{0,1:T(8,128)(4,1)}")
    assert narrow["limiter"] == "unit busy: transpose of 128 x 128" and narrow["parts"]["reordering"] > narrow["cycles"] / 3


@test
def its_parts_are_what_they_are_called():
    inside = price("f32[512,512]{1,0:S(1)}", "f32[512,512]{0,1:S(1)}", "-m", "tpu-v6e")  # no transfer at all
    assert inside["parts"]["reordering"] == inside["cycles"] and inside["fixed_cycles"] == 0
    load, both = (price("f32[512,512]{1,0}", f"f32[512,512]{{0,1{to}}}") for to in (":S(1)", ""))
    assert both["fixed_cycles"] == 2 * load["fixed_cycles"] > 0
    small = price("f32[64,256]{1,0}", "f32[64,256]{0,1}")  # the HBM waits for the core: its rows cost next to nothing
    assert small["parts"]["reordering"] > 0.3 * small["cycles"] and small["parts"]["row_misses"] < 0.05 * small["cycles"]
    large = price("f32[4096,4096]{1,0}", "f32[4096,4096]{0,1}", "-m", "tpu-v6e")  # the core waits for the HBM
    assert large["parts"]["reordering"] < 0.01 * large["cycles"] and large["limiter"] == "HBM bandwidth"


@test
def nothing_is_waited_for_less_than_never():
    bill = price("bf16[33,33,4096]{1,2,0:T(8,128)}", "bf16[33,33,4096]{0,1,2:T(8,128)}", "-m", "tpu-v3")
    assert min(bill["hbm_limiters"].values()) >= 0 and min(bill["parts"].values()) >= 0, bill


# Tiles (8,128) whose lanes or sublanes hold one element of a short dim: 128 and 8 times the bytes.
@test
def tiles_that_hold_little_move_whole():
    for src, dst, least in (
        ("f32[1,728,2048]{2,1,0:T(8,128)}", "f32[1,728,2048]{0,1,2:T(8,128)}", 4 * 728 * 2048 * 129),
        ("f32[700,3,1024]{2,1,0:T(8,128)}", "f32[700,3,1024]{0,1,2:T(8,128)}", 4 * 8 * 1024 * (700 + 768)),
    ):
        bill = price(src, dst)
        assert bill["moved_bytes"] >= 0.99 * least and sum(bill["parts"].values()) == bill["cycles"], (src, bill)
        assert bill["microseconds"] >= 0.99 * least / 819e3 and bill["kind"] == "core program", (src, bill)


@test
def a_program_that_fails_is_named():
    """The errors of a shipped program are none of a text that the user has written: the first says what is wrong."""
    cannot = "tilesim: error: the DMA engine of {} cannot do a transpose (dma.rate.transpose is 0), and programs/transpose.tsim, which does it, fails: "
    for words, machine, why in (
        (["f32[4096,4096]", "f32[4096,4096]{0,1}", "--set", "core.sregs=4"], "tpu-v5e", "there is no sreg s"),
        (["f32[128,30000]{1,0:S(1)}", "f32[128,30000]{0,1:T(8,128)}", "-m", "tpu-v4"], "tpu-v4", "'xb' does not fit: 3,145,728 bytes behind the 15,360,000"),
    ):
        for alone in ([], ["--alone"]):
            code, out, err = run("dma", *words, *alone)
            assert (code, out) == (1, "") and err.startswith(cannot.format(machine) + why) and err.count("\n") == 1, err


@test
def what_no_program_does():
    odd = "f32[512,512] S[(64,8,32,16):(4096@m,16@m,128@m,1@m)]"
    text = expect(["dma", "f64[64,64]{1,0}", "f64[64,64]{0,1}", "--alone"])
    assert "\nplan          gather, element by element: 1 box, " in text
    assert "\n              the engine cannot transpose (dma.rate.transpose is 0, derived), nor does a program\n" in text
    many = ("s8[64,56,56,4]{2,3,1,0}", "s8[64,56,56,4] NCHW4c")  # 3,584 matrices of 56 x 4
    gather, text = price(*many), " ".join(expect(["dma", *many, "--alone"]).split())
    program = re.search(r"cannot transpose \(dma.rate.transpose is 0, derived\), and programs/transpose.tsim takes ([0-9,]+) cycles", text)
    assert gather["kind"] == "gather" and int(program[1].replace(",", "")) > 5 * gather["cycles"], text
    slow = price("f32[8,8]{1,0}", "f32[8,8]{0,1}", "--set", "dma.rate.gather=0")
    assert slow["kind"] == "core program" and slow["cycles"] > price("f32[8,8]{1,0}", "f32[8,8]{0,1}")["cycles"]
    for src, dst, kind, options in (
        ("f64[64,64]{1,0}", "f64[64,64]{0,1}", "transpose", ()),
        ("f32[64,64]{1,0}", "s8[64,64]{1,0}", "convert", NO_CONVERT),
        ("bf16[64,64]{1,0}", "bf16[64,64]{1,0:T(8,128)(2,1)}", "interleave", ("--set", "dma.rate.interleave=0")),
    ):
        code, out, err = run("dma", src, dst, *options, "--set", "dma.rate.gather=0")
        assert code == 4 and out == "" and err == (
            f"tilesim: not modelled: the DMA engine of tpu-v5e cannot do a {kind} (dma.rate.{kind} is 0), and no shipped "
            "program does this one: transpose.tsim takes one axis and 4 to 32 bits; pack.tsim and unpack.tsim f32 and tiled "
            "bf16, tile.tsim and untile.tsim 32 bits, from HBM to HBM\n"), (src, err)
    assert price(odd, "f32[512,512]{1,0}")["cycles"] > 0  # any layout has a price


main()
