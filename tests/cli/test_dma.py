"""tilesim dma: the bill of a transfer, its JSON keys, what layouts cost against each other, and bad input."""
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import ALL, TOOL, cases, expect, expect_json, main, release_test, run, test

ROWS = "f32[1024,1024]{1,0}"
TILES = "f32[1024,1024]{1,0:T(8,128)}"


def price(src, dst, *options):
    return expect_json(["dma", src, dst, "--alone", *options])


@test
def keys_and_bytes():
    bill = price(ROWS, TILES, "-m", "tpu-v5e")
    assert bill == expect_json(["dma", f"{ROWS} -> {TILES}", "--alone", "-m", "tpu-v5e"])
    assert bill["schema"] == "tilesim.dma" and bill["machine"] == "tpu-v5e" and len(bill["machine_hash"]) == 16
    assert bill["useful_bytes"] == 4 << 20 and bill["moved_bytes"] == 8 << 20
    assert bill["padding_bytes"] == bill["waste_bytes"] == 0
    assert bill["microseconds"] == round(bill["cycles"] / 1500, 6)
    assert abs(bill["gb_per_s"] - bill["useful_bytes"] / bill["microseconds"] / 1000) < 0.01
    assert bill["cycles"] >= bill["fixed_cycles"] + max(bill["memory_cycles"], bill["engine_cycles"]) // 2
    assert (bill["src_at"], bill["dst_at"]) == (0, 4 << 20)


@test
def parts_of_the_time_add_up():
    for options in cases(([], ["--exact"], ["-m", "tpu-v7x"], ["--set", "hbm.controller.refresh=none"]), 2):
        for dst in (ROWS, TILES, "f32[1024,1024]{0,1}", "bf16[1024,1024]{1,0:T(8,128)(2,1)}"):
            bill = price(ROWS, dst, *options)
            assert list(bill["parts"]) == ["useful", "padding", "burst_waste", "row_misses", "conflicts", "refresh",
                                           "reordering", "fixed"]
            assert sum(bill["parts"].values()) == bill["cycles"] and min(bill["parts"].values()) >= 0
            assert bill["parts"]["fixed"] >= bill["fixed_cycles"]
    assert price(ROWS, TILES, "--set", "hbm.controller.refresh=none")["parts"]["refresh"] == 0


@test
def a_search_needs_the_library_alone():
    """The driver has only public headers; its prices are those of the command."""
    done = subprocess.run([Path(TOOL).parent / "tests/dma/search", "tpu-v4"], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 5, done
    totals = {}
    for line in lines[:4]:
        layout, into, _, out, _ = line.split()
        totals[layout] = int(into) + int(out)
        bill = price("bf16[2048,1024]{1,0}", layout, "-m", "tpu-v4", "--dst-at", str(1 << 30))
        assert bill["cycles"] == int(into)
    best = min(totals, key=totals.get)
    assert lines[4] == f"best: {best}, {totals[best]} cycles"
    done = subprocess.run([Path(TOOL).parent / "tests/dma/search", "tpu-v9"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("error: no machine is called 'tpu-v9'")


@test
def runs_and_their_lengths():
    bill = price("f32[8,165]{1,0}", "f32[8,165]{1,0:T(8,128)}")
    assert bill["runs_at_both"] == [{"shortest_bits": 1184, "longest_bits": 1184, "count": 8},
                                    {"shortest_bits": 4096, "longest_bits": 4096, "count": 8}]
    assert sum(row["count"] * row["longest_bits"] for row in bill["src_runs"]) == 8 * 165 * 32
    text = expect(["dma", "f32[8,165]{1,0}", "f32[8,165]{1,0:T(8,128)}"])
    assert "in one piece 8 of 512 B, 8 of 148 B\n" in text, text


@test
def what_is_estimated_is_marked():
    side = 4096 if ALL else 2048
    large = ["dma", f"f32[{side},{side}]", f"f32[{side},{side}]{{1,0:T(8,128)}}", "--alone"]
    small = ["dma", "f32[256,256]", "f32[256,256]{1,0:T(8,128)}", "--alone"]
    for words, estimated in ((large, True), (large + ["--exact"], False), (small, False)):
        bill = expect_json(words, schema="tilesim.dma")
        assert bill["estimated"] == estimated, words
        mark = "~" if estimated else ""
        assert f"\ntime          {mark}{bill['cycles']:,} cycles" in expect(words, out=None), words


@test
def keys_are_documented():
    bill = expect_json(["dma", ROWS, TILES, "--explain"])
    documented = set(re.findall(r"`(\w+)`", Path("docs/timing.md").read_text()))
    assert set(bill) | set(bill["parts"]) | set(bill["boxes"][0]) <= documented, set(bill) - documented


@test
def limits_in_words():
    rows = [
        (ROWS, TILES, [], "HBM bandwidth"),
        ("f32[8]{0}", "f32[8]{0}", [], "fixed cost of a transfer"),
        ("f32[64,128] SW(3,2,3) o S[8192:1]", "f32[64,128]", [], "number of descriptors"),
        (ROWS, "f32[1024,1024]{0,1}", ["--set", "dma.rate.transpose=64"], "HBM bandwidth, taken by burst waste"),
        ("f32[4096,8]{1,0:T(8,128)}", "f32[4096,8]{1,0:T(8,128)}", [], "HBM bandwidth, taken by padding"),
        (ROWS, "f32[1024,1024]{0,1}", ["--set", "dma.rate.transpose=8"], "transpose rate of the DMA engine"),
        (ROWS, TILES, ["--set", "hbm.timing.t_rcd_rd=800 ns", "--set", "hbm.timing.t_rcd_wr=800 ns"], "HBM row misses"),
        ("f32[4,1024] S[(4,1024):(1@P,1@F)] S(1)", "f32[4,1024]", ["-m", "trainium2"], "rate of the partitions"),
    ]
    for src, dst, options, limiter in rows:
        bill = price(src, dst, "--alone", *options)
        assert bill["limiter"] == limiter, (src, dst, options, bill["limiter"])


@test
def waste_hides_behind_an_engine_that_takes_longer():
    words = ("f32[512,512]{1,0}", "f32[512,512]{0,1}", "--alone")
    parts = {rate: price(*words, "--set", f"dma.rate.transpose={rate}")["parts"] for rate in (16, 2048)}
    assert parts[16]["burst_waste"] == 0 < parts[2048]["burst_waste"] and parts[2048]["reordering"] == 0
    assert parts[16]["reordering"] > 0.8 * (512 * 512 * 4 // 16)


@test
def few_bytes_do_not_conflict():
    for machine in ("tpu-v4", "tpu-v5e", "tpu-v7x"):
        bill = price("f32[]", "f32[]", "-m", machine)
        assert bill["parts"]["conflicts"] < 0.05 * bill["cycles"], bill["parts"]


@test
def waits_are_counted_up():
    src, dst = "f16[2,2048,2048]{2,0,1:T(128)S(1)}", "f16[2,2048,2048]{2,0,1:T(4,128)(2,1)}"
    waits, exact = (price(src, dst, "--alone", "-m", "trainium2", *options)["hbm_limiters"] for options in ([], ["--exact"]))
    assert min(waits.values()) > 0 and abs(waits["requests"] / exact["requests"] - 1) < 0.01, (waits, exact)


@release_test
def same_answer_twice():
    assert expect(["dma", ROWS, TILES, "--explain"]) == expect(["dma", ROWS, TILES, "--explain"])


@test
def explain_shows_the_loops():
    text = expect(["dma", ROWS, "f32[1024,1024]{1,0:T(8,128)S(1)}", "--explain"])
    assert """
boxes (strides in bits, outermost loop first)
  0: 1048576 elements from bit 0 to bit 0
       for 128: src += 262144, dst += 262144
         for 8: src += 4096, dst += 32768
           for 8: src += 32768, dst += 4096
             for 128: src += 32, dst += 32
""" in text, text
    assert "tpu-v5e (TPU v5e), the default" in text
    assert all(len(line) <= 100 for line in text.splitlines())


@test
def a_buffer_can_be_placed():
    assert price(ROWS, TILES, "--dst-at", "8388608")["dst_at"] == 8388608
    assert price(ROWS, TILES, "--src-at", "4096")["dst_at"] == (4 << 20) + 4096


@test
def layouts_that_agree_are_cheap():
    copy, retile, turn = (price(ROWS, dst)["cycles"] for dst in (ROWS, TILES, "f32[1024,1024]{0,1}"))
    assert retile < turn and copy < turn
    large = price("f32[2048,2048]{1,0}", "f32[2048,2048]{1,0:T(8,128)}")["cycles"]
    small = price("f32[1024,2048]{1,0}", "f32[1024,2048]{1,0:T(8,128)}")["cycles"]
    assert 1.9 * small < large < 2.1 * small


@test
def padding_travels_and_is_counted():
    ragged = "f32[1000,1000]{1,0:T(8,128)}"
    bill = price(ragged, ragged)
    assert bill["padding_bytes"] == 2 * 4 * (1000 * 1024 - 1000 * 1000) and bill["kind"] == "copy"


@test
def nothing_costs_the_fixed_part():
    bill = price("f32[0]{0}", "f32[0]{0}")
    wide = price("c64[3,127,0,4096]{0,2,3,1:T(1024)S(1)}", "c64[3,127,0,4096]{0,2,3,1}")
    assert wide["src_at"] == wide["useful_bytes"] == wide["moved_bytes"] == 0, "of no elements no memory is too small"
    assert bill["cycles"] == bill["fixed_cycles"] and bill["moved_bytes"] == 0


@test
def slices():
    whole, half = price(TILES, TILES), price(TILES + "[0:512]", TILES + "[512:1024,:]")
    assert half["useful_bytes"] * 2 == whole["useful_bytes"] and half["dst_at"] == whole["dst_at"]
    row = price(ROWS + "[5, 0:256]", "f32[256]{0:T(256)S(1)}")  # dims of 1 do not count
    assert row["useful_bytes"] == 1024 and row["kind"] == "copy"
    for text, canonical in (("[5 , 0:+256]", "[5,0:256]"), ("[:8,:]", "[0:8,:]"), ("[1016:]", "[1016:1024,:]")):
        bill = expect(["dma", ROWS + text, ROWS + text])
        assert f"source        {ROWS}{canonical}  in hbm at byte 0\n" in bill, bill
    other = "f32[8,16] S[(8,2,4,2):(4@m,1@m,2@m,1@m)] + R[1:64@m]"
    assert price("f32[8,16] lambda i,j: [j,i] [2:4]", "f32[2,16]{1,0}")["useful_bytes"] == 128
    assert price("f32[8,16] lambda i,j: [j,i]", "f32[8,16]{1,0}")["useful_bytes"] == 512
    assert price(other, "f32[8,16]{1,0}")["useful_bytes"] == 512


@test
def slices_of_one_array():
    """Columns of one array do not overlap, though their ranges of bytes do; nor do the partitions of a memory."""
    place = ("--src-at", "0", "--dst-at", "0")
    for layout in ("{1,0}", "{1,0:T(8,128)}"):
        array = f"f32[256,256]{layout}"
        assert price(array + "[:, 0:128]", array + "[:, 128:256]", *place)["useful_bytes"] == 1 << 17
        code, _, err = run("dma", array + "[:, 0:128]", array + "[:, 127:255]", *place)
        assert code == 1 and " overlap\n" in err, err
    sbuf = "f32[128,512] S[(128,512):(1@P,1@F)] S(1)"
    assert price(sbuf, sbuf, "-m", "trainium2")["dst_at"] == 2048  # behind it in every partition


@test
def bad_input():
    rows = [
        (["f32[4]{0}", "f32[4]{0}", "-m", "no.yaml"], "cannot open 'no.yaml': No such file or directory"),
    ]
    for words, message in rows:
        expect(["dma", *words], code=1, out="", err=f"tilesim: error: {message}\n")
    code, _, err = run("dma", ROWS, TILES, "--set", "dma.isue=3 ns")
    assert code == 1 and "did you mean 'dma.issue'" in err, err
    placed = [  # source, destination, options, which is wrong, column, message
        ("f32[4]{0}", "f32[5]{0}", "", "destination", 4, "the destination takes [5] and the source gives [4]"),
        ("f32[4]{0}", "f32[2,2]{1,0}", "", "destination", 4,
         "the destination has 2 dimensions, [2,2], and the source has 1, [4]"),
        ("f32[4]{0}", "f32[8]{0}[0:5]", "", "destination", 10, "the destination takes [5] and the source gives [4]"),
        ("f32[4]{0}", "f32[4]{0:S(9)}", "", "destination", 10, "tpu-v5e has no memory space S(9)"),
        ("f32[4]{0}", "c64[4]{0}", "", "destination", 1, "there is no conversion from f32 to c64"),
        ("f32[4]{0}", "(f32[4]{0},f32[4]{0})", "", "destination", 1, "the destination is a tuple, expected an array"),
        ("f32[65536,65536]{1,0}", "f32[65536,65536]{1,0}", "", "destination", 1,
         "the tensor takes 17179869184 bytes at byte 17179869184 of hbm, which has 17179869184 bytes"),
        ("u8[1152921504606846976]", "u8[1152921504606846976]", "", "source", 1,
         "the tensor takes 1152921504606846976 bytes at byte 0 of hbm, which has 17179869184 bytes"),
        ("f32[65536,1024]{1,0:S(1)}", "f32[65536,1024]{1,0}", "", "source", 1,
         "the tensor takes 268435456 bytes at byte 0 of vmem, which has 134217728 bytes"),
        ("f32[1024]{0}", "f32[1024]{0}", "--dst-at 4095", "destination", 1,
         "the source (bytes 0 to 4095) and the destination (4095 to 8190) overlap"),
        ("f32[4,4]{1,0}[0:2", "f32[2,4]", "", "source", 18, "found the end, expected ',' or ']'"),
        ("f32[4,4][", "f32[2,4]", "", "source", 10, "found the end, expected an index or a range"),
        ("f32[4,4]{1,0}[0:5]", "f32[4,4]{1,0}", "", "source", 15, "the slice 0:5 is outside dim 0, which has 4"),
        ("f32[4,4]{1,0}[0, 4]", "f32[4,4]{1,0}", "", "source", 18, "index 4 is outside dim 1, which has 4"),
        ("f32[4,4]{1,0}[-1]", "f32[4,4]{1,0}", "", "source", 15, "index -1 is outside dim 0, which has 4"),
        ("f32[4,4]{1,0}[2:2]", "f32[4,4]{1,0}", "", "source", 15, "the slice holds nothing"),
        ("f32[4,4]{1,0}[0,0,0]", "f32[4,4]{1,0}", "", "source", 19,
         "the slice has more ranges than the 2 dims of the shape"),
        ("f32[4,4]{1,0}[x]", "f32[4,4]{1,0}", "", "source", 15, "found 'x', expected an index or a range"),
        ("f32[4,4]{1,0}[9223372036854775807:+9223372036854775807]", "f32[4,4]{1,0}", "", "source", 15,
         "the slice 9223372036854775807:9223372036854775807 is outside dim 0, which has 4"),
        ("f32[4]{0:T(2}", "f32[4]{0}", "", "source", 13, "found '}', expected ',' or ')'"),
        ("f32[4]{0}", "f32[4] (4):(0)", "", "destination", 1, "the destination puts (0) and (1) in one place"),
    ]
    for src, dst, options, where, column, message in placed:
        text = src if where == "source" else dst
        expect(["dma", src, dst, *options.split()], code=1, out="",
               err=f"{where}:1:{column}: error: {message}\n{text}\n{' ' * (column - 1)}^\n")
    expect(["dma", f"{ROWS} -> {ROWS[:-1]}"], code=1, out="",
           err=f"destination:1:19: error: found the end, expected ',', ':' or '}}'\n{ROWS[:-1]}\n                  ^\n")
    expect(["dma", ROWS], code=2, out="", err="tilesim dma: error: too few operands, expected SRC DST, or 'SRC -> DST'\n"
                                              "`tilesim dma --help` shows how it is used\n")
    expect(["dma", "f32[?]{0}", "f32[4]{0}"], code=4, out="",
           err="source:1:1: not modelled: the source has an unbounded dimension ('?'), which has no layout\n"
               "f32[?]{0}\n^\n")
    code, _, err = run("dma", ROWS, TILES, "-m", "tpu-v5")
    assert code == 1 and "did you mean 'tpu-v5e'?" in err, err
    assert run("dma", ROWS)[0] == 2


main()
