"""tilesim run --lines: cycles, stalls, executions and bytes by line add up to the run, whatever the program."""
import itertools
import os
import random
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, release_test, run, test
from programs import PROGRAMS

FOLDER = tempfile.TemporaryDirectory()
COUNTS = ("cycles", "issued", "stalled", "transfers", "hbm_bytes", "vmem_bytes")


def program(text, name="a.tsim"):
    path = Path(FOLDER.name) / name
    path.write_text(text)
    return path


def added(rows):
    """The sums of rows, by counter and by reason of a stall."""
    sums, stalls = dict.fromkeys(COUNTS, 0), {}
    for row in rows:
        for key in COUNTS:
            sums[key] += row[key]
        for reason, cycles in row["stalls"].items():
            stalls[reason] = stalls.get(reason, 0) + cycles
    return sums, stalls


def check_sums(out, what):
    """Of the JSON of a run."""
    sums, stalls = added(out["lines"])
    assert sums["cycles"] == sum(core["cycles"] for core in out["cores"]), what
    assert sums["issued"] == out["bundles"] and sums["cycles"] == sums["issued"] + sums["stalled"], what
    assert stalls == out["stalls"] and sum(stalls.values()) == sums["stalled"], what
    assert sums["transfers"] == out["transfers"] and sums["hbm_bytes"] == out["hbm_read_bytes"] + out["hbm_written_bytes"], what
    for number, frame in enumerate(out["frames"]):
        inside = [row for row in out["lines"] if row["frame"] == number] + [row for row in out["frames"] if row["parent"] == number]
        assert added(inside) == added([frame]), (what, frame)
        assert frame["parent"] is None or frame["parent"] < number, (what, frame)
    for row in out["lines"] + out["frames"] + out["loops"]:
        assert row["cycles"] == row["issued"] + row["stalled"] and row["stalled"] == sum(row["stalls"].values()), (what, row)
        assert all(row[key] >= 0 for key in (*COUNTS, "times")), (what, row)
    assert sum(loop["own_cycles"] for loop in out["loops"]) <= sums["cycles"], what
    assert all(0 <= loop["own_cycles"] <= loop["cycles"] for loop in out["loops"]), what
    heat = [loop["own_cycles"] for loop in out["loops"]]
    assert heat == sorted(heat, reverse=True), what


def lines(path, *options):
    out = expect_json(["run", path, "--lines", *options])
    check_sums(out, (path, options))
    return out


@release_test
def all_programs_add_up():
    for path, machine in zip(PROGRAMS, itertools.cycle(("tpu-v5e", "tpu-v4"))):
        whole, time_only = (lines(path, "-m", machine, *more) for more in ([], ["--time-only"]))
        assert whole["lines"] == time_only["lines"] and whole["loops"] == time_only["loops"], (path, machine)


@test
def loops_that_are_left_out_count():
    """A program of 10^7 cycles: nearly all of its turns are skipped."""
    text = ".loop s0 = 0, 1000000\nvexp.f32 v0, v1\nvadd.f32 v2, v0, v2\n.end\nhalt\n"
    out = lines(program(text), "--time-only")
    assert out["cycles"] > 10**7 and len(out["loops"]) == 1
    assert out["loops"][0]["times"] == 10**6 and out["loops"][0]["cycles"] > 10**7
    by_line = {row["line"]: row for row in out["lines"]}
    assert by_line[2]["times"] == by_line[3]["times"] == by_line[1]["times"] == 10**6
    assert by_line[3]["stalls"]["wait_eup"] == 11 * 10**6 and by_line[2]["stalls"].get("wait_eup", 0) == 0, by_line
    short = program(text.replace("1000000", "1000"))
    assert lines(short)["lines"] == lines(short, "--time-only")["lines"]


@test
def several_cores():
    for machine, cores in (("tpu-v4", 2), ("tpu-v5p", 2)):
        out = lines("programs/cores.tsim", "-m", machine, "--time-only")
        assert len(out["cores"]) == cores
    # the second core counts to ten for itself
    out = lines(program(".cores 2\ncore.id s1\nbrz s1, end\n.loop s0 = 0, 10\nnop\n.end\nend:\nbarrier\n"), "-m", "tpu-v4")
    by_line = {row["line"]: row for row in out["lines"]}
    assert (by_line[2]["times"], by_line[5]["times"], by_line[8]["times"]) == (2, 10, 2), by_line
    assert by_line[8]["stalls"]["barrier"] > 10 and [loop["times"] for loop in out["loops"]] == [10]


@test
def whose_stall_it_is():
    """In one bundle, the instruction whose constraint is met last."""
    rows = (("vexp.f32 v0, v1\n{ sadd s1, s1, 1\nvadd.f32 v2, v0, v0\nvadd.f32 v4, v5, v5 }\nhalt\n", 3, "wait_eup", 11),
            ("{ vexp.f32 v0, v1\nnop }\n{ sadd s1, s1, 1\nvexp.f32 v3, v4 }\nhalt\n", 4, "busy_eup", 1),
            ("vexp.f32 v0, v1\n{ sadd s1, s1, 1\nvmov v0, v3 }\nhalt\n", 3, "wait_eup", 10),
            ("{ sadd s1, s1, 1\njump end }\nend:\nhalt\n", 2, "wait_branch", 3),
            ("{ sadd s1, s1, 1\ndelay 7 }\nhalt\n", 2, "wait_control", 6),
            (".tensor b vmem f32[8,128]{1,0:T(8,128)}\nvst b.words[0], v1\n{ sadd s1, s1, 1\nvld v0, b.words[0] }\nhalt\n", 4, "wait_vector_store", 3),
            ("vadd.f32 v0, v1, v1\n{ vadd.f32 v5, v6, v6\nv2s s1, v0 }\nsadd s2, s1, 1\nhalt\n", 3, "wait_vector_alu", 1))
    for text, line, reason, cycles in rows:
        out = lines(program(text))
        stalls = {row["line"]: row["stalls"] for row in out["lines"] if row["stalls"].get(reason)}
        assert stalls == {line: {reason: cycles}}, (text, stalls)


@test
def transfers_and_their_waits():
    text = (".tensor x hbm f32[64,128]{1,0:T(8,128)} in iota\n.tensor b vmem f32[64,128]{1,0:T(8,128)}\n.sem s\n"
            "{ sadd s1, s1, 1\ndma b <- x, s }\n{ wait s\nsadd s1, s1, 1 }\nvld v0, b[8, 0]\nvst b[8, 0, mask=0x0f], v0\nhalt\n")
    out = lines(program(text.replace(", mask=0x0f]", "] mask=0x0f")), "--time-only")
    by_line = {row["line"]: row for row in out["lines"]}
    assert by_line[5]["hbm_bytes"] == by_line[5]["vmem_bytes"] == 64 * 128 * 4 and by_line[5]["transfers"] == 1
    assert by_line[6]["stalls"]["semaphore_low"] > 300 and by_line[7]["stalls"] == {}
    assert by_line[8]["vmem_bytes"] == 4096 and by_line[9]["vmem_bytes"] == 2048, by_line


NESTED = """.include "inner.tsim"
.macro outer what, n
        what    n
        sadd    s5, s5, 1
.end
.loop s0 = 0, 3
        outer   twice, 4
.end
        twice   2
top:    sadd    s6, s6, 1
        br.lt   s6, 5, top
        halt
"""
INNER = """.macro twice n
.loop s1 = 0, n
.for I = 0, 2
        sadd    s2, s2, 1
.end
.end
.end
"""


@test
def frames_are_calls_files_and_loops():
    program(INNER, "inner.tsim")
    out = lines(program(NESTED, "nested.tsim"))
    frames = [(f["kind"], Path(f["name"]).name, f["line"], f["parent"], f["times"]) for f in out["frames"]]
    assert frames == [("file", "inner.tsim", 1, None, 0), ("loop", "", 6, None, 3), ("macro", "outer", 7, 1, 3), ("macro", "twice", 3, 2, 3),
                      ("loop", "", 2, 3, 12), ("macro", "twice", 9, None, 1), ("loop", "", 2, 5, 2)], frames
    rows = {(Path(row["file"]).name, row["line"], row["frame"]): row["times"] for row in out["lines"]}
    assert rows[("inner.tsim", 4, 4)] == 3 * 4 * 2 and rows[("inner.tsim", 4, 6)] == 2 * 2, rows
    assert rows[("nested.tsim", 4, 2)] == 3 and rows[("nested.tsim", 10, None)] == 5, rows
    loops = {(Path(loop["file"]).name, loop["line"], loop["last_line"]): (loop["times"], loop["places"]) for loop in out["loops"]}
    assert loops == {("inner.tsim", 2, 6): (14, 2), ("nested.tsim", 6, 8): (3, 1), ("nested.tsim", 10, 11): (5, 1)}, loops


@test
def loops_whose_first_instruction_is_a_macros():
    """The packer puts what the macro takes longest for first; the loop begins where its label is."""
    text = """.pack auto
.macro last
        smul s1, s1, 3
        smul s1, s1, 5
        sadd s2, s2, 1
        br.lt s2, 10, l
.end
l:      sadd s5, s5, 1
        sadd s6, s6, 1
        sadd s7, s7, 1
        last
"""
    loop, = lines(program(text))["loops"]
    assert (loop["line"], loop["last_line"], loop["frame"], loop["times"]) == (8, 11, None, 10), loop


MACROS = """.macro back to
        br.lt   s1, 0, to
.end
.macro deep n
.if n > 0
        deep    n - 1
.end
        nop
        nop
.end
"""


@test
def loops_that_overlap():
    """Branches back from anywhere to anywhere: from the label's line to the last branch to it, a call's where it is a macro's."""
    draw = random.Random(3)
    for _ in range(5):
        text, first, last = MACROS.splitlines(), {}, {}
        for number in range(len(text) + 1, 150):
            kind = draw.choice(("label", "label", "deep", "br.lt", "back")) if first else "label"
            if kind == "label":
                first[number] = number
                text.append(f"l{number}: nop")
            elif kind == "deep":
                text.append(f"deep {draw.randrange(4)}")
            else:
                to = draw.choice(list(first))
                last[to] = number
                text.append(f"back l{to}" if kind == "back" else f"br.lt s1, 0, l{to}")
        out = lines(program("\n".join(text) + "\nhalt\n"))
        assert sorted((loop["line"], loop["last_line"]) for loop in out["loops"]) == sorted(last.items())


@release_test
def long_programs_take_linear_time():
    """.3 s, not 30 and 8: loops that overlap, calls one after the other."""
    count = 100_000
    loops = "".join(f"l{i}: nop\n" for i in range(count)) + "".join(f"br.lt s1, 0, l{i}\n" for i in range(count))
    for text, key, most in ((loops, "loops", 15), (".macro m\nnop\n.end\n" + "m\n" * count, "frames", 4)):
        start = sum(os.times()[2:4])
        out = expect_json(["run", program(text + "halt\n"), "--time-only", "--lines"])
        assert len(out[key]) == count and sum(os.times()[2:4]) - start < most


@test
def two_runs_are_compared_by_place():
    folder, program_path = Path(FOLDER.name), program(".param N = 9\n.loop s0 = 0, N\nnop\n.end\n.macro twice\nnop\nnop\n.end\ntwice\n", "n.tsim")
    for name, turns in (("a.json", 9), ("b.json", 12)):
        (folder / name).write_text(expect(["run", program_path, "--lines", "--json", "-D", f"N={turns}"]))
    text = expect(["compare", folder / "a.json", folder / "b.json", "--all"])
    for row in (r"loops\[n\.tsim:2-4\]\.times +9 +12 ", r"lines\[n\.tsim:3\]\.times +9 +12 ", r"frames\[n\.tsim:2\]\.issued +19 +25 "):
        assert re.search(row, text), (row, text)
    assert "n.tsim:9" not in text, text


@test
def one_run_and_no_debugger():
    code, out, err = run("run", "programs/copy.tsim", "--lines", "--break", "9")
    assert code == 2 and out == "" and "--break does not go with --lines" in err, err


@test
def the_listing():
    program(INNER, "inner.tsim")
    path = program(NESTED, "nested.tsim")
    text = expect(["run", path, "--lines"])
    assert all(len(line) <= 100 for line in text.splitlines() if str(path) not in line), text
    listing = text.split("cycles by line")[1]
    assert re.search(r"^ .* 100\.0 .* total$", listing, re.M), listing
    assert re.search(r" 3 +6 \+\.loop s0 = 0, 3\n", listing) and re.search(r" 3 +7 \+  outer twice, 4  -> 3\n", listing), listing
    assert re.search(r" 3 +3 \+    what n  -> inner\.tsim:2\n", listing), listing
    assert re.search(r"\n +3 +\.for I = 0, 2\n|\n +3 +  +\.for I = 0, 2\n", listing), listing
    assert re.search(r" 24 +4 +sadd s2, s2, 1\n", listing) and "\033" not in text, listing
    loops = text.split("hottest loops")[1].split("\n\n")[0]
    assert re.search(r" 14 +[\d.]+  inner\.tsim:2-6 in 2 places  \.loop s1 = 0, n\n", loops), loops
    assert "hottest" not in expect(["run", program("nop\n"), "--lines"]) and "cycles by line" not in expect(["run", program("nop\n")])


@test
def long_names_are_whole():
    """By a place two runs are compared, so that two places are never one."""
    name, macro = "a" * 70 + ".tsim", "m" * 50
    out = expect_json(["run", program(f".macro {macro} A\nsadd s1, s1, A\n.end\n{macro} 1\n{macro}b: halt\n", name), "--lines"])
    assert [row["place"] for row in out["frames"]] == [f"{name}:4 {macro}"], out["frames"]
    assert out["lines"][0]["place"].startswith(f"{name}:"), out["lines"]


if __name__ == "__main__":
    sys.exit(main())
