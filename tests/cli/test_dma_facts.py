"""What is publicly said about TPU layouts comes out of tilesim dma as numbers: XLA tiled_layout.md on packing and on small
tiles, the Pallas documentation on slices."""
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import cases, expect_json, main, run, test

MACHINES = cases(("tpu-v2", "tpu-v3", "tpu-v4", "tpu-v4i", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7x"), 2)


def price(machine, src, dst):
    return expect_json(["dma", src, dst, "-m", machine, "--alone", "--exact"])


@test
def two_bf16_from_a_column_are_far_cheaper_than_two_from_a_row():
    """tiled_layout.md: collecting two 16-bit values from the same column is much more efficient than from the same row."""
    packed = "bf16[16,131072]{1,0:T(8,128)(2,1)}"
    for machine in MACHINES:
        column = price(machine, packed + "[0:2, 0:65536]", "bf16[2,65536]{0,1:S(1)}")
        row = price(machine, packed + "[0, :]", "bf16[1,131072]{1,0:S(1)}")
        assert column["useful_bytes"] == row["useful_bytes"] == 65536 * 2 * 2
        assert row["cycles"] > 3 * column["cycles"], (machine, row["cycles"], column["cycles"])
        assert column["waste_bytes"] == 0  # whole words
        assert row["waste_bytes"] == row["useful_bytes"]  # the other half of every word
        # into the packed array: two of a column are a word, two of a row are half of two words, which must be read first
        column = price(machine, "bf16[2,65536]{0,1:S(1)}", packed + "[0:2, 0:65536]")
        row = price(machine, "bf16[1,131072]{1,0:S(1)}", packed + "[0, :]")
        assert row["cycles"] > 3 * column["cycles"]
        assert column["rmw_accesses"] == 0 and row["rmw_accesses"] > 0
        assert row["waste_bytes"] == 3 * row["useful_bytes"]  # half of what is read, and half of what is written, twice


@test
def small_tiles_save_memory_for_a_small_second_minor_dim():
    """tiled_layout.md: with a second most minor dim of 1 or 2 XLA tiles by 2x128, to save memory."""
    for rows, tile, factor in cases(((2, 2, 4), (1, 2, 4), (4, 4, 2), (3, 4, 2)), 2):
        shapes = [f"f32[1024,{rows},512]{{2,1,0:T({t},128)}}" for t in (8, tile)]
        normal, small = (expect_json(["layout", shape])["bytes"] for shape in shapes)
        assert normal == factor * small == 1024 * 8 * 512 * 4
        for machine in MACHINES:
            dear, cheap = (price(machine, shape, shape) for shape in shapes)
            assert dear["moved_bytes"] == factor * cheap["moved_bytes"]
            assert dear["padding_bytes"] == 2 * (8 - rows) * 1024 * 512 * 4
            saving = dear["cycles"] / cheap["cycles"]
            assert 0.75 * factor < saving < 1.25 * factor, (machine, rows, saving)


@test
def aligned_slices_are_cheap_and_others_are_not():
    """Pallas: slices are best, and often must be, aligned to tiles."""
    for tensor, rows, columns in (("bf16[4096,4096]{1,0:T(8,128)(2,1)}", 8, 128), ("f32[4096,4096]{1,0:T(8,128)}", 8, 128)):
        def slice_at(row, column):
            return f"{tensor}[{row}:+512,{column}:+1024]"
        buffer = tensor.replace("[4096,4096]", "[512,1024]").replace("}", "S(1)}")
        for machine in MACHINES:
            whole = price(machine, tensor.replace("4096,4096", "512,1024"), buffer)
            aligned = price(machine, slice_at(3 * rows, 5 * columns), buffer)
            assert aligned["waste_bytes"] == 0 and aligned["cycles"] < 1.15 * whole["cycles"]
            odd = price(machine, slice_at(3 * rows + 1, 5 * columns + 1), buffer)
            assert odd["cycles"] > 1.5 * aligned["cycles"], (machine, tensor, odd["cycles"], aligned["cycles"])
            into, into_odd = (price(machine, buffer, slice_at(*at)) for at in ((24, 640), (25, 641)))
            assert into["rmw_accesses"] == 0 and into["cycles"] < 1.15 * whole["cycles"]
            assert into_odd["cycles"] > 1.5 * into["cycles"]
            if tensor.startswith("bf16"):  # odd rows are halves of words
                assert into_odd["rmw_accesses"] > 0 and into_odd["parts"]["burst_waste"] > 0


@test
def bursts_that_queues_answer_are_not_on_the_pins():
    """Many short runs in the same lines: more is asked for than the HBM could carry, and no more is carried."""
    for machine, src, dst in (("tpu-v5e", "u8[154744]{0:T(128)}", "u8[154744]{0:T(100)}"), ("tpu-v6e", "u4[126,1090]{1,0:T(7,3)}", "u4[126,1090]{0,1:T(6,3)(3,1)}"),
                              ("tpu-v3", "pred[5,11946]{1,0:T(5,11)(3,1)}[1, 1186:7867]", "pred[1,6681]{0,1:T(6,11)(3,1)}")):
        found = price(machine, src, dst)
        answered = found["forwarded"] + found["coalesced"]
        assert answered > 0 and found["memory_cycles"] > found["cycles"] and found["peak_percent"] < 100, found
        share = (1 - answered / found["bursts"]) * found["memory_cycles"] / found["cycles"]
        assert abs(share - found["peak_percent"] / 100) < 1 / found["cycles"] + 1e-5, (share, found)
        text = run("dma", src, dst, "-m", machine, "--alone", "--exact")[1]
        mix = ["dma", src, dst, "--with", "f32[8]{0:S(1)} -> f32[8]", "-m", machine, "--exact"]
        both = expect_json(mix)
        assert both["moved_bytes"] > both["pin_bytes"] > 0 and both["memory_cycles"] < both["cycles"], both
        assert f"and {both['moved_bytes'] - both['pin_bytes']:,} bytes that its queues answer" in run(*mix)[1]
        assert f"{answered:,} of the bursts are answered by its queues" in text and f", {found['peak_percent']:.1f} % of HBM's peak" in text, text


@test
def waste_that_queues_answer_takes_no_time():
    """Lines that are written piece by piece are on the pins once: the useful bytes take what they take at the peak."""
    found = price("tpu-v5p", "f32[196,9053]{1,0:T(4,128)S(1)}", "f32[196,9053]")
    on_pins = found["peak_percent"] / 100 * found["cycles"]
    assert found["coalesced"] > 0 and abs(found["parts"]["useful"] - found["useful_bytes"] / 2764.8 * 1.75) < 2, found["parts"]
    assert abs(found["parts"]["useful"] + found["parts"]["burst_waste"] - on_pins) < 2, (found["parts"], on_pins)
    coarse = ("--set", "dma.access=4KiB")  # the engine takes longer than the pins, though not than all lines would
    hidden = expect_json(["dma", "s8[3,32,20331]{2,1,0:S(1)}", "s8[3,32,20331]{2,1,0:T(32,128)(4,1)}", "--alone", *coarse])
    assert hidden["memory_cycles"] > hidden["engine_cycles"] > hidden["peak_percent"] / 100 * hidden["cycles"], hidden
    assert hidden["parts"]["burst_waste"] == 0 and hidden["limiter"] == "interleave rate of the DMA engine", hidden


@test
def a_run_is_no_faster_than_the_pins():
    """The same within a program: what it takes, and how busy the HBM is, are of bursts on the pins."""
    path = os.path.join(tempfile.mkdtemp(), "answered.tsim")
    with open(path, "w") as program:
        program.write(".tensor a hbm u8[154744]{0:T(128)} in random(seed=1, lo=0, hi=9)\n.tensor b hbm u8[154744]{0:T(100)} out\n.sem s\n"
                      "{ dma b <- a, s }\n{ wait s, 1 }\n{ halt }\n")
    found = expect_json(["run", path])
    counters, roofline = found, found["roofline"]
    assert counters["hbm_read_bytes"] + counters["hbm_written_bytes"] > roofline["hbm_pin_bytes"] > 0, found
    assert roofline["hbm_bytes_per_s"] < roofline["peak_hbm_bytes_per_s"], roofline
    assert counters["transfer_cycles"] > counters["least_transfer_cycles"] > 0, counters
    answered = counters["hbm_read_bytes"] + counters["hbm_written_bytes"] - roofline["hbm_pin_bytes"]
    assert f"{answered:,} bytes of them are answered by its queues" in run("run", path)[1]


@test
def writes_of_v6e_are_faster_than_its_reads():
    """A fusion wrote bf16[8192,8192] in 89.6 us (rudrite/kernels, timeline.json); reductions read 1,138 GB/s (JAXBench)."""
    inside, outside = (f"bf16[8192,8192]{{1,0:T(8,128)(2,1){space}}}" for space in ("S(1)", ""))
    written, read = price("tpu-v6e", inside, outside), price("tpu-v6e", outside, inside)
    assert abs(written["microseconds"] / 89.6 - 1) < 0.05, written["microseconds"]
    assert abs(read["microseconds"] / (8192 * 8192 * 2 / 1138e3) - 1) < 0.03, read["microseconds"]


main()
