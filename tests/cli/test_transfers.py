"""Several transfers at once: who goes first, and what mixing costs."""
import csv
import json
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import cases, expect, expect_json, main, run, test

PROGRAM = """\
.tensor x hbm  f32[2048,1024]{1,0:T(8,128)} in zeros
.tensor a vmem f32[2048,1024]{1,0:T(8,128)}
.tensor b vmem f32[8,1024]{1,0:T(8,128)}
.sem large, small
        dma     a <- x, large LARGE
        delay   2000
        dma     b <- x[0:8], small
        wait    small
        wait    large
"""


def cycles_of(large, *options):
    """Of the large transfer, and of the small one that comes 2000 cycles later."""
    with tempfile.TemporaryDirectory() as folder:
        path, trace = Path(folder, "p.tsim"), Path(folder, "t.json")
        path.write_text(PROGRAM.replace("LARGE", large))
        expect(["run", path, "--time-only", "--trace", trace, *options], out=None)
        events = json.loads(trace.read_text())["traceEvents"]
        return [next(e["args"]["cycles_from_issue"] for e in events if e["name"] == name) for name in ("a <- x", "b <- x")]


@test
def policies():
    rows = [  # with an engine that is narrower than the memory: does the small one wait for the large one?
        ("priority", "priority=1", False), ("priority", "", True), ("first_ready", "priority=1", True),
        ("round_robin", "", False), ("in_order", "priority=1", True),
    ]
    for policy, priority, waits in rows:
        large, small = cycles_of(priority, "--set", f"dma.arbitration={policy}", "--set", "dma.rate.copy=128")
        assert large >= 2048 * 1024 * 4 // 128
        assert small > large - 2100 if waits else small < 2000, (policy, large, small)
    large, small = cycles_of("priority=1", "--set", "dma.rate.copy=128")  # the machines that are shipped
    assert small < 1000 and large > 65536


@test
def a_priority_is_printed_and_checked():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "p.tsim")
        path.write_text(PROGRAM.replace("LARGE", "priority = 1 + 2"))
        printed = expect(["show", "program", path])
        assert ", large[0] priority=3\n" in printed and ", small[0]\n" in printed, printed
        path.write_text(PROGRAM.replace("LARGE", "priority=16"))
        code, out, err = run("run", path)
        assert code == 1 and err == (f"{path}:5:40: error: the priority is 16, expected 0 to 15\n"
                                     "        dma     a <- x, large priority=16\n" + " " * 39 + "^\n"), err


def reference(pattern, address_map):
    """Of the simulators: the pattern's time over that of its reads and its writes as streams of their own."""
    rows = list(csv.DictReader(open("tests/data/hbm_reference.csv")))
    runs = {}
    for row in rows:
        if row["map"] == address_map and row["frontend"] == "win1024" and re.fullmatch("hbm2_8ch(_q256)?_[AH]_win1024|hbm2m_16pc_.*",
                                                                                     row["config"]):
            runs.setdefault(row["config"], {})[row["pattern"]] = int(row["cycles"])
    reads = {"c_copy4k": "a_seq_rd", "l_relayout": "g_tile_f32"}[pattern]
    return [2 * run[pattern] / (run[reads] + run["b_seq_wr"]) for run in runs.values()]


@test
def mixing_is_as_slow_as_in_other_simulators():
    src, tiles = "f32[512,4096]{1,0}", "f32[512,4096]{1,0:T(8,128)}"
    for pattern, in_vmem, out in (("c_copy4k", src.replace("}", ":S(1)}"), src), ("l_relayout", tiles.replace("}", "S(1)}"), tiles)):
        for address_map in cases(("A", "H"), 1):
            mix = expect_json(["dma", src, in_vmem, "--with", f"{in_vmem} -> {out}", "-m", "hbm2-reference", "--exact",
                               "--set", f"hbm.address_map={address_map}"], schema="tilesim.dma_mix")
            slower, theirs = mix["cycles"] / mix["one_after_other_cycles"], reference(pattern, address_map)
            assert len(theirs) >= 2
            assert 0.95 * min(theirs) <= slower <= 1.05 * max(theirs), (pattern, address_map, slower, theirs)
            assert mix["memory_cycles"] <= mix["cycles"] == max(t["together_cycles"] for t in mix["transfers"])
            assert all(t["slowdown"] > 1 for t in mix["transfers"])


@test
def parts_of_the_memory_stand_for_all_of_it():
    words = ["dma", "f32[2048,1024]{1,0}", "f32[2048,1024]{1,0:T(8,128)}", "--with", "f32[2048,1024] -> f32[2048,1024]"]
    part, whole = expect_json(words), expect_json([*words, "--exact"])
    assert abs(part["cycles"] / whole["cycles"] - 1) < 0.03, (part["cycles"], whole["cycles"])
    assert part["moved_bytes"] == whole["moved_bytes"] == 4 * 2048 * 1024 * 4
    for mix, about, more in ((part, "~", []), (whole, "", ["--exact"])):  # of the text, and what its figures are in JSON
        text, alone = expect([*words, *more], out=None), [t["alone_cycles"] / 1500 for t in mix["transfers"]]
        marks = ["~" if t["alone_estimated"] else "" for t in mix["transfers"]]
        assert mix["estimated"] == (about == "~") and (more == [] or marks == ["", ""]), mix
        assert f"\ntogether      {about}{mix['microseconds']:.3f} us" in text, text
        for mark, us, t in zip(marks, alone, mix["transfers"]):
            assert re.search(f" {mark}{us:.3f} +{about}{t['together_cycles'] / 1500:.3f} ", text), (mark, us, text)
        limiters = mix["hbm_limiters"]
        assert f" {100 * limiters['data'] / sum(limiters.values()):.1f} % data" in text, (limiters, text)


@test
def a_short_one_may_reach_few_channels():
    for machine in ("tmem", "trainium2", "tpu-v5e"):
        mix = expect_json(["dma", "f8e4m3fn[2048,24]", "f8e4m3fn[2048,24]{0,1}", "--with", "pred[128] -> pred[128]", "-m", machine,
                           "--set", "dma.rate.transpose=64"])
        assert mix["cycles"] < 1.05 * mix["one_after_other_cycles"], (machine, mix)


@test
def more_than_the_engine_holds():
    pair = "f32[256,128] -> f32[256,128]"
    words = ["dma", *pair.split(" -> "), *(["--with", pair] * 9), "--set", "dma.descriptors=3", "--set", "dma.queues=2"]
    mix = expect_json(words)
    done = [t["together_cycles"] for t in mix["transfers"]]
    assert len(done) == 10 and done == sorted(done) and mix["memory_cycles"] <= mix["cycles"] == done[-1]
    text = expect(words)
    assert all(len(line) <= 100 for line in text.splitlines()) and len(re.findall("^ +10 ", text, re.M)) == 2, text


# Where data in flight is limited, here to that of one access, each access may be the turn of another transfer.
@test
def turns_with_and_without_a_limit_of_what_is_in_flight():
    pairs = [("f32[256,128]{1,0:T(8,128)S(1)}", "f32[256,128]{1,0:T(8,128)}"),
             ("f32[64,1000]{1,0:T(8,128)}", "f32[64,1000]{1,0:S(1)}"),
             ("f32[256,512]{1,0:T(8,128)}", "f32[256,512]{1,0:S(1)}")]
    with_others = [word for src, dst in pairs[1:] for word in ("--with", f"{src} -> {dst}")]
    for in_flight, cycles in (("512 B", 79435), ("32 KiB", 1034), ("0 B", 399)):
        mix = expect_json(["dma", *pairs[0], *with_others, "-m", "tpu-v7x", "--exact", "--set", "dma.issue=0 ns",
                           "--set", f"dma.in_flight={in_flight}"], schema="tilesim.dma_mix")
        assert mix["cycles"] == cycles, (in_flight, mix["cycles"])


@test
def tensors_of_a_mix_lie_behind_each_other():
    """In each memory, whichever ends are in it; the first pair may be placed."""
    def places(*words):
        text = expect(["dma", *words]).splitlines()
        return [(line.split()[-4], int(line.split()[-1].replace(",", ""))) for line in text if " at byte " in line]
    fast, slow = "f32[64,512]{1,0:S(1)}", "f32[64,512]{1,0}"
    size = 64 * 512 * 4
    assert places(slow, fast, "--with", f"{fast} -> {slow}", "--with", f"{slow} -> {fast}") == [
        (memory, size * i) for i in range(3) for memory in (("vmem", "hbm") if i == 1 else ("hbm", "vmem"))]
    assert places(fast, fast, "--with", f"{fast} -> {fast}") == [("vmem", size * i) for i in range(4)]
    assert places(slow, fast, "--dst-at", "4096", "--with", f"{fast} -> {slow}") == [
        ("hbm", 0), ("vmem", 4096), ("vmem", 4096 + size), ("hbm", size)]
    half = "f32[16384,1024]{1,0:S(1)}"  # of the VMEM
    code, out, err = run("dma", half, half, "--with", f"{fast} -> {slow}")
    assert code == 1 and out == "" and "at byte 134217728 of vmem, which has 134217728 bytes\n" in err, err


@test
def a_run_says_how_much_longer_transfers_took():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "p.tsim")
        path.write_text(PROGRAM.replace("LARGE", ""))
        result = expect_json(["run", path, "--time-only"])
        assert result["transfer_cycles"] > result["least_transfer_cycles"] > 8 << 20 >> 10
        text = expect(["run", path, "--time-only"])
        slower = result["transfer_cycles"] / result["least_transfer_cycles"]
        assert f"\n           each took {slower:.2f} times what it takes alone at the peak" in text


@test
def bad_mixes():
    rows = [
        (["--with", "f32[8]"], 2, "tilesim: error: --with is 'f32[8]', expected 'SRC -> DST'\n"),
        (["--with", "f32[8] -> f32[9]"], 1, "destination of --with:1:4: error: the destination takes [9] and the source gives [8]\n"
                                            "f32[9]\n   ^\n"),
        (["--with", "f32[8,128]{1,0} -> f32[8,128]{0,1}"], 4,
         "destination of --with:1:1: not modelled: programs/transpose.tsim does this one, and only the engine's transfers can "
         "be mixed\nf32[8,128]{0,1}\n^\n"),
        (["--with", "f32[8] -> f32[8]", "--alone"], 2, None),
    ]
    for words, code, err in rows:
        found, out, text = run("dma", "f32[8]", "f32[8]", *words)
        assert found == code and out == "" and (err is None or text.startswith(err)), (words, found, text)


main()
