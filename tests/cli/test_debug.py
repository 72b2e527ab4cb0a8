"""tilesim debug, run --break and run --trace-text: stepping, stopping, looking, and every way to say it wrong."""
import json
import re
import sys
import tempfile
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import main, run, test

FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)
PROGRAM = """.tensor x hbm f32[16,128]{1,0:T(8,128)} in iota
.tensor xb vmem f32[16,128]{1,0:T(8,128)}
.tensor y hbm f32[16,128]{1,0:T(8,128)} out
.sem in, out
.check y == x + 1
        dma xb <- x, in
        wait in
.loop s1 = 0, 16, 8
        vld v3, xb[s1, 0]
        vadd.f32 v3, v3, 1.0
        vst xb[s1, 0], v3
.end
        dma y <- xb, out
        wait out
"""
(HERE / "a.tsim").write_text(PROGRAM)


def debug(*commands, options=(), code=0):
    """(stdout, stderr) as lines, without the line that says where it stands at first."""
    found, out, err = run("debug", HERE / "a.tsim", "--exact", *options, stdin="".join(c + "\n" for c in commands))
    assert found == code, (found, out, err)
    lines = out.split("\n")
    assert lines[0] == "cycle 0, line 6: dma xb[0:+16, 0:+128] <- x[0:+16, 0:+128], in[0]", lines[0]
    return lines[1:-1], err


def error(command):
    out, err = debug(command)
    assert out == [], out
    return err


@test
def a_step_is_a_bundle():
    out, err = debug("step", "s 2", "where")
    assert out[0].startswith("cycle 1, line 7: wait in[0]"), out
    assert out[-1] == out[-2] or "stalled" in out[-1], out
    assert any("line 9: vld v3" in line for line in out), out


@test
def a_breakpoint_stops_before_its_line():
    out, err = debug("break 10", "continue", "print s1", "print xb[0:2, 126:128]", "c", "p s1",
                     "step", "p v3", "c", "where")
    assert out[0] == "1  line 10", out
    assert re.fullmatch(r"cycle \d+, line 10: vadd.f32 v3, v3, 1.0", out[1]), out
    text = "\n".join(out)
    assert "s1 = 0 (0x00000000)" in text and "s1 = 8 (0x00000008)" in text, text
    assert "xb, f32[2,2], from column 126 on\n[0,:]        126        127\n[1,:]        254        255\n" in text, text
    assert "the program has ended" in out[-1], out


@test
def a_vreg_is_a_grid():
    out, err = debug("b 11", "c", "p v3", "p v3 i32", "p v3 hex", "p v3 all", "p m0")
    text = "\n".join(out)
    assert "lane                 0            1            2            3          126          127\n" \
           "sublane 0            1            2            3            4          127          128\n" in text, text
    assert "all 1,024 words: 1 to 1024, 0 NaN" in text, text
    assert "3f800000" in text and "1065353216" in text, text
    assert text.count("sublane 7") == 3 + 22 + 1, text.count("sublane 7")
    out, err = debug("b 11", "c", "p v3 bf16", "p v3 bf16 all")
    ends = [re.search(r" [^ ]+$", line).end() for line in out if line.startswith(("lane ", "sublane "))]
    assert len(ends) == 9 + 9 * 32 and set(ends) == {89}, set(ends)  # 1.02e+03:1.02e+03 is wider than a word of f32


@test
def the_range_of_a_vreg_is_that_of_its_view():
    (HERE / "v.tsim").write_text(" vmov v0, 1.0\n vmov v1, nan\n nop\n")
    code, out, err = run("debug", HERE / "v.tsim", stdin="s 2\np v0\np v0 i32\np v1\np v1 i32\np v1 hex\n")
    assert code == 0 and re.findall(r"^all 1,024 words.*$", out, re.M) == [
        "all 1,024 words: 1 to 1, 0 NaN", "all 1,024 words: 1065353216 to 1065353216", "all 1,024 words: NaN",
        "all 1,024 words: 2143289344 to 2143289344"], out


@test
def a_single_column_has_its_number():
    out, err = debug("until 600", "p xb[1:3, 7]", "p xb[2, 9:11]", "p xb[15, 127]")
    assert out[2:] == ["xb, f32[2,1]", "[1,7]        136", "[2,7]        264", "xb, f32[1,2], from column 9 on",
                       "[2,:]        266        267", "xb, f32[1,1]", "[15,127]       2048"], out
    (HERE / "z.tsim").write_text(".tensor z hbm s32[] in zeros\n.tensor c smem s32[8] in iota\n nop\n")
    code, out, err = run("debug", HERE / "z.tsim", stdin="p z\np c[7]\n")
    assert (code, out.split("\n")[1:]) == (0, ["z, s32[]", "[]          0", "c, s32[1]", "[7]          7", ""]), out


@test
def what_is_under_way():
    out, err = debug("step", "dmas", "sems", "c", "dmas", "sems")
    text = "\n".join(out)
    assert "line 6: dma xb[0:+16, 0:+128] <- x[0:+16, 0:+128], in[0], issued at cycle 0\n" in text, text
    assert "in[0]            0\nout[0]           0\n" in text and "no DMA is under way\n" in text, text


@test
def bytes_arrive_at_the_end_of_a_transfer():
    out, err = debug("until 100", "p xb[0, 0:2]", "b 9", "c", "p xb[0, 1:3]")
    text = "\n".join(out)
    assert "[0,:]          0          0\n" in text and "[0,:]          1          2" in text, text
    assert "it waits for a semaphore or the DMA engine\n" in text, text


@test
def scalars_source_and_breakpoints():
    out, err = debug("scalars", "list 1", "b 9", "b a.tsim:11", "b 9", "delete 1", "d", "b")
    text = "\n".join(out)
    assert text == "all scalar registers are 0\n" + f"{HERE}/a.tsim\n" \
        "     5  .check y == x + 1\n>    6          dma xb <- x, in\n     7          wait in\n" \
        "1  line 9\n1  line 9\n2  a.tsim, line 11\n1  line 9\n2  a.tsim, line 11\n" \
        "1  a.tsim, line 11\nno breakpoints\nno breakpoints", text


@test
def wrong_commands():
    for command, message in (
            ("stp", "command 1:1:1: error: expected a command (help lists them); did you mean 'step'?\nstp\n^\n"),
            ("step 0", "command 1:1:6: error: expected a number from 1 on\nstep 0\n     ^\n"),
            ("step 3 4", "command 1:1:8: error: expected the end\nstep 3 4\n       ^\n"),
            ("until 7 8", "command 1:1:9: error: expected the end\nuntil 7 8\n        ^\n"),
            ("continue 5", "command 1:1:10: error: expected the end\ncontinue 5\n         ^\n"),
            ("step x", "command 1:1:6: error: expected a number from 1 on\nstep x\n     ^\n"),
            ("until", "command 1:1:6: error: expected a cycle\nuntil\n     ^\n"),
            ("break 3", "tilesim: error: no instruction comes from '3', the next one from line 6\n"),
            ("print " + "(" * 2000, "command 1:1:1000: error: the line is longer, expected at most 999 bytes\n"),
            ("break z.tsim:6", "tilesim: error: no instruction comes from 'z.tsim:6'\n"),
            ("break x", "tilesim: error: 'x' is no place, expected a line, FILE:LINE or a macro\n"),
            ("break 9 when s1 == 4", "tilesim: error: found 'when s1 == 4' behind the place, expected 'if' and a condition\n"),
            ("break 9 if", "tilesim: error: found 'if' behind the place, expected 'if' and a condition\n"),
            ("break 9 if s1", "tilesim: error: 's1' is no condition, expected one like s1 == 4\n"),
            ("break 9 if v3 == 4", "tilesim: error: 'v3' is no side of a condition, expected a number, a scalar register or a "
                                   "semaphore\n"),
            ("break 9 if s1 == ", "tilesim: error: '' is no side of a condition, expected a number, a scalar register or a "
                                  "semaphore\n"),
            ("break 9 if s1 < 4294967295", "tilesim: error: found 4294967295 beside a scalar register, expected -2147483648 to "
                                           "2147483647\n"),
            ("break 9 if 4294967296 == s1", "tilesim: error: found 4294967296 beside a scalar register, expected -2147483648 to "
                                            "4294967295\n"),
            ("watch z", "command 1:1:7: error: expected a slice of a tensor, or bytes of a memory as vmem:4096..8192\n"
                        "watch z\n      ^\n"),
            ("watch vmem:1", "command 1:1:7: error: expected bytes of a memory, as vmem:4096..8192\nwatch vmem:1\n      ^\n"),
            ("watch vmem:8..8", "tilesim: error: expected bytes that vmem has\n"),
            ("watch vmem:-8..8", "tilesim: error: expected bytes that vmem has\n"),
            ("watch cmem:0..8", "tilesim: error: expected bytes that cmem has\n"),
            ("watch xb[0:17]", "command 1:1:10: error: the slice 0:17 is outside dim 0, which has 16\nwatch xb[0:17]\n         ^\n"),
            ("unwatch", "command 1:1:8: error: expected the number of a watch\nunwatch\n       ^\n"),
            ("unwatch 99999999999", "command 1:1:9: error: expected the number of a watch\nunwatch 99999999999\n        ^\n"),
            ("delete 1", "command 1:1:8: error: expected the number of a breakpoint\ndelete 1\n       ^\n"),
            ("delete", "command 1:1:7: error: expected the number of a breakpoint\ndelete\n      ^\n"),
            ("print", "command 1:1:6: error: expected a register (v3, m0, s1), a slice of a tensor (x[0:8, 0:4]) or another "
                      "name\n"
                      "print\n     ^\n"),
            ("print in[1]", "command 1:1:7: error: expected a number of the semaphores of that name\nprint in[1]\n      ^\n"),
            ("print v99", "command 1:1:7: error: expected a register (v3, m0, s1), or the program's name of one, of a tensor, a "
                          "parameter or a semaphore\n"
                          "print v99\n      ^\n"),
            ("print v3[0,1]", "command 1:1:9: error: found '[', expected the end\nprint v3[0,1]\n        ^\n"),
            ("print in 1", "command 1:1:10: error: found '1', expected the end\nprint in 1\n         ^\n"),
            ("print v3 f64", "command 1:1:10: error: expected f32, i32, hex, bf16 or all\nprint v3 f64\n         ^\n"),
            ("print xb[16]", "command 1:1:10: error: index 16 is outside dim 0, which has 16\nprint xb[16]\n         ^\n"),
            ("print xb[0:17]", "command 1:1:10: error: the slice 0:17 is outside dim 0, which has 16\nprint xb[0:17]\n         ^\n"),
            ("print xb[0", "command 1:1:11: error: found the end, expected ',' or ']'\nprint xb[0\n          ^\n"),
            ("print xb[0,1,2]", "command 1:1:14: error: the slice has more ranges than the 2 dims of the shape\nprint xb[0,1,2]\n             ^\n"),
            ("print xb[0] x", "command 1:1:13: error: found 'x', expected the end\nprint xb[0] x\n            ^\n"),
            ("print xb(0)", None)):
        err = error(command)
        assert message is None and "expected" in err or err == message, (command, err)


@test
def random_commands_do_no_harm():
    random = Random(7)
    words = ["print", "p", "step", "b", "d", "until", "list", "where", "xb", "x[", "v3", "m9", "s", "[", "]", ":", ",", "0",
             "17", "-1", "watch ", "unwatch ", "break ", " if ", "s1 == 4", "in", "in[0]", "<=", "vmem:0..64", "..", "hbm:", "xb[0:8,0:8]", "99999999999999999999", "all", "hex", "\t", "\x7f", "é", "a.tsim:9", "xb[0:", "c", "dmas"]
    lines = ["".join(random.choice(words) + random.choice(["", " "]) for _ in range(random.randint(1, 6)))
             for _ in range(600)]
    code, out, err = run("debug", HERE / "a.tsim", stdin="\n".join(lines) + "\n")
    assert code == 0 and len(err.split("\n")) > 300, (code, err[-300:])


@test
def the_debugger_ends_with_its_input_and_with_quit():
    out, err = debug("quit", "step")
    assert (out, err) == ([], ""), (out, err)
    out, err = debug("", "   ")
    assert (out, err) == ([], ""), (out, err)
    out, err = debug("step", "dmas")  # with a DMA under way
    assert (out[-1][:7], err) == ("line 6:", ""), (out, err)
    out, err = debug("help")
    assert len(out) == 21 and out[0].startswith("step      s  [N]"), out
    assert max(map(len, out)) <= 100, out


@test
def a_fault_is_told_and_the_state_stays():
    (HERE / "b.tsim").write_text(".sem a\n        smov s1, 7\n        wait a\n")
    code, out, err = run("debug", HERE / "b.tsim", stdin="c\nscalars\nc\n")
    assert code == 3 and "s1 = 7" in out, (code, out, err)
    assert "deadlock" in err and "error" not in err.split("\n")[0], err
    assert "fault: the program has failed; its state is still there to look at" in err, err


@test
def cycles_that_are_estimated_are_marked():
    """As run marks them: once a transfer has started whose accesses are not all simulated."""
    for words, mark in (((), "~"), (("--exact",), "")):
        code, out, err = run("debug", HERE / "a.tsim", *words, stdin="step\nc\n")
        where = [line.split(",")[0] for line in out.splitlines()]
        assert (code, err) == (0, "") and where[0] == "cycle 0" and where[1] == f"cycle {mark}1", out
        assert re.search(rf"^cycle {mark}[\d,]+: the program has ended$", out, re.M), out


@test
def run_can_break():
    code, out, err = run("run", HERE / "a.tsim", "--break", "10", stdin="p s1\n")
    assert code == 0 and re.search(r"^cycle ~\d+, line 10: vadd", out), (code, out, err)
    assert out.endswith("s1 = 0 (0x00000000)\n"), out
    for words in (["-o", f"x={HERE}/x.npy"], ["--update"], ["--trace-text"]):
        code, out, err = run("run", HERE / "a.tsim", "--break", "10", *words)
        assert (code, out) == (2, "") and "--break does not go with --" in err, (words, out, err)
    code, out, err = run("run", HERE / "a.tsim", "--break", "1000")
    assert (code, out, err) == (1, "", "tilesim: error: no instruction comes from '1000'\n"), (code, out, err)


@test
def several_cores_are_told_apart():
    code, out, err = run("run", "programs/cores.tsim", "-m", "tpu-v4", "--trace-text")
    lines = out.split("\n")
    assert code == 0 and {line for line in lines if line.startswith("core ")} == {"core 0", "core 1"}, lines[:20]
    code, out, err = run("debug", "programs/cores.tsim", "-m", "tpu-v4", stdin="step 3\nprint s7\nc\nwhere\n")
    assert code == 0 and "s7 = 0 (0x00000000)" in out and out.endswith(": the program has ended\n"), (code, out, err)


@test
def each_core_can_be_followed():
    commands = "step 3\ncore 1\nstep 3\np s7\ncore 2\nbreak 100\nc\np xb[0, 0:1, 0:2]\ncore 0\np s7\np xb[0, 0:1, 0:2]\n"
    code, out, err = run("debug", "programs/cores.tsim", "-m", "tpu-v4", stdin=commands)
    assert (code, err) == (0, "command 5:1:6: error: expected a core, 0 to 1\ncore 2\n     ^\n"), (code, err)
    where = [re.match(r"core (\d), cycle ~?[\d,]+, line \d+: ", line).group(1) for line in out.splitlines() if ", line " in line]
    assert where == ["0", "0", "1", "1", "1", "0"], out
    assert re.findall(r"^s7 = (\d)", out, re.M) == ["1", "0"], out
    first, second = re.findall(r"^\[0,0,:\](.*)$", out, re.M)
    assert first != second, out


INCLUDED = """.macro bump V, BY
        vld V, xb[s1, 0]
        vadd.f32 V, V, BY
        vst xb[s1, 0], V
.end
"""
INCLUDER = PROGRAM.replace("""        vld v3, xb[s1, 0]
        vadd.f32 v3, v3, 1.0
        vst xb[s1, 0], v3
""", """        bump v3, 1.0
""").replace(".sem in", '.include "lib/bump.tsim"\n.sem in')


def includer():
    (HERE / "lib").mkdir(exist_ok=True)
    (HERE / "lib" / "bump.tsim").write_text(INCLUDED)
    (HERE / "b.tsim").write_text(INCLUDER)
    return HERE / "b.tsim"


@test
def lines_of_included_files_have_their_names():
    path = includer()
    code, out, err = run("run", path, "--trace-text")
    assert code == 0, err
    lines = out[:out.index("machine ")].rstrip("\n").split("\n")
    places = [re.match(r" +~?[\d,]+  (\S+:\d+) +", line).group(1) for line in lines]
    assert {p.split(":")[0] for p in places} == {"b.tsim", "lib/bump.tsim"}, places
    assert all(("lib/bump.tsim:3" in line) == ("vadd.f32" in line) for line in lines if "stalls" not in line), lines
    code, out, err = run("run", path, "--json", "--trace", HERE / "b.json")
    events = [e for e in json.loads((HERE / "b.json").read_text())["traceEvents"] if "line" in e.get("args", {})]
    assert code == 0 and all(e["args"]["file"] in (str(path), str(HERE / "lib" / "bump.tsim")) for e in events), events[:3]
    assert {(Path(e["args"]["file"]).name, e["args"]["line"]) for e in events if e["name"] == "vadd.f32"} == {("bump.tsim", 3)}
    code, out, err = run("debug", path, stdin="break bump.tsim:3\nc\nwhere\ndmas\nbreak b.tsim:13\nc\nc\ndmas\n")
    assert code == 0 and ", b.tsim:7: dma xb" in out and ", lib/bump.tsim:3: vadd.f32 v3" in out, (out, err)
    assert "b.tsim:12: dma y" in out, out


NAMED = """.param ROWS = 16
.param EPS = 0.5
.tensor x hbm f32[16,128]{1,0:T(8,128)} in iota
.tensor xb vmem f32[16,128]{1,0:T(8,128)}
.tensor y hbm f32[16,128]{1,0:T(8,128)} out
.sem in, out[2]
.reg row = s1
.reg acc = v3
.macro bump V, BY
        vadd.f32 V, V, BY
.end
        dma xb <- x, in
        wait in
.loop row = 0, ROWS, 8
        vld acc, xb[row, 0]
        bump acc, 1.0
        vst xb[row, 0], acc
.end
        dma y <- xb, out[1]
        wait out[1]
.for I = 0, 2
.reg part = v[I + 8]
        vmov part, I + 7.0
.end
"""


(HERE / "n.tsim").write_text(NAMED)


def named(*commands):
    code, out, err = run("debug", HERE / "n.tsim", "--exact", stdin="".join(c + "\n" for c in commands))
    assert (code, err) == (0, ""), (code, out, err)
    return out.split("\n")[1:-1]


@test
def nothing_stands_behind_a_parameter():
    code, out, err = run("debug", HERE / "n.tsim", stdin="print ROWS hex\nprint ROWS  \n")
    assert (code, out.endswith("ROWS = 16\n")) == (0, True) and "command 1:1:12: error: found 'hex', expected the end" in err, (code, out, err)


@test
def names_of_the_program_are_printed():
    out = named("until 480", "print row", "print ROWS", "print EPS", "print in", "print out", "print out[1]", "p x[3, 0:3]")
    assert out[0].startswith("cycle 480, line 17: "), out   # the wait ended at 411
    assert out[1:8] == ["s1 = 0 (0x00000000)", "ROWS = 16", "EPS = 0.5", "in[0]            0", "out[0]           0",
                        "out[1]           0", "out[1]           0"], out
    assert out[9].split() == ["[3,:]", "384", "385", "386"], out
    assert named("until 480", "print acc") == named("until 480", "print v3")
    out = named("break 23", "c", "c", "p part", "s", "p part")              # the same name, two registers
    assert "vmov v9, 8.0" in out[3] and out[13].startswith("all 1,024 words: 0 to 0"), out
    assert out[-1].startswith("all 1,024 words: 8 to 8"), out


@test
def a_breakpoint_on_a_macro_and_with_a_condition():
    out = named("break bump", "c", "c")
    assert [line.split(": ")[0] for line in out[1:]] == ["cycle 470, line 10", "cycle 487, line 10"], out
    for condition, times in (("row == 8", 1), ("s1==8", 1), ("row != 8", 1), ("0 < row", 1), ("row >= ROWS", 0), ("row<=8", 2),
                             ("in > 0", 0), ("out[1] == 0", 2), ("row < 0x10", 2), ("-1 < row", 2)):
        out = named(f"break 17 if {condition}", *["c"] * 3)
        assert sum(", line 17: " in line for line in out) == times, (condition, out)
    assert named("break 17 if row <= ROWS")[0] == "1  line 17 if s1 <= 16"
    assert len(named("break 17", "break 17 if row == 8", "break 17 if s1 == 8")) == 1 + 2 + 2
    assert named("break 17 if s1 != 0xffffffff", "c")[0] == "1  line 17 if s1 != -1"  # the 32 bits, as in a program
    includer()
    code, out, err = run("debug", HERE / "b.tsim", "-b", "bump if s1 == 8", stdin="p s1\n")
    assert code == 0 and ", lib/bump.tsim:2: vld v3" in out and "s1 = 8 " in out, (code, out, err)
    code, out, err = run("debug", HERE / "b.tsim", "-b", "lib/bump.tsim:4", stdin="")
    assert code == 0 and ", lib/bump.tsim:4: vst xb" in out, (code, out, err)


CALLS = """.macro inner K
 sadd s2, s2, K
 sadd s3, s3, K
.end
.macro outer K
 inner K
 inner K + 1
.end
.macro none
.end
 smov s1, 1
.for I = 0, 3
 outer I
.end
 inner 5
 none
 .include "lib/add.tsim"
 halt
"""


@test
def a_breakpoint_on_the_use_of_a_macro_stops_before_its_first_instruction():
    (HERE / "lib").mkdir(exist_ok=True)
    (HERE / "lib" / "add.tsim").write_text("; what is included\n sadd s4, s4, 9\n sadd s4, s4, 8\n")
    (HERE / "u.tsim").write_text(CALLS)
    for place, stops in (("13", ["s2, 0", "s2, 1", "s2, 2"]), ("outer", ["s2, 0", "s2, 1", "s2, 2"]), ("15", ["s2, 5"]),
                         ("6", ["s2, 0", "s2, 1", "s2, 2"]), ("7", ["s2, 1", "s2, 2", "s2, 3"]), ("17", ["s4, 9"]),
                         ("inner", ["s2, 0", "s2, 1", "s2, 1", "s2, 2", "s2, 2", "s2, 3", "s2, 5"]),
                         ("lib/add.tsim:3", ["s4, 8"])):
        code, out, err = run("debug", HERE / "u.tsim", stdin=f"break {place}\n" + "c\n" * 9)
        found = re.findall(r"^cycle .*: sadd s\d, (s\d, \d)$", out, re.M)
        assert (code, err, found) == (0, "", stops), (place, found, stops, err)
    code, out, err = run("debug", HERE / "u.tsim", stdin="break 16\nbreak none\nbreak 12\n")
    assert err == ("tilesim: error: no instruction comes from '16', the next one from line 17\n"
                   "tilesim: error: no instruction comes from macro 'none'\n"
                   "tilesim: error: no instruction comes from '12', the next one from line 13\n"), err


@test
def a_watch_says_who_wrote():
    out = named("watch xb[8:16, 0:128]", "c", "c", "c")
    assert out[0] == "1  bytes 4,096 to 8,191 of vmem", out
    assert re.match(r"watch 1: at cycle \d+, line 12, bytes .* of vmem were written by dma xb\[0:\+16, ", out[1]), out
    assert out[4].startswith("watch 1: at cycle ") and ", line 17, bytes 4,096 to 8,191 of vmem were written by vst" in out[4], out
    assert out[-1].endswith("the program has ended") and len(out) == 7, out
    out = named("watch vmem:0..4", "c", "c", "unwatch 1", "c")
    assert ", line 12, " in out[1] and ", line 17, bytes 0 to 4,095 " in out[4] and out[6] == "no watches", out
    out = named("watch xb[8:16, 0:128]", "watch vmem:0..4", "unwatch", "unwatch", "watch")
    assert out[3:] == ["2  bytes 0 to 3 of vmem", "no watches", "no watches"], out
    out = named("watch y[9, 3]", "c")
    assert out[0] == "1  bytes 12,812 to 12,815 of hbm" and ", line 19, bytes " in out[1], out
    (HERE / "c.tsim").write_text(PROGRAM.replace("dma y <- xb, out", "dma y[:, 0:64] <- xb[:, 0:64], out"))
    for slice_, hit in ("y[0:16, 64:128]", False), ("y[0:16, 63:64]", True), ("y[15, 0]", True):
        code, out, err = run("debug", HERE / "c.tsim", stdin=f"watch {slice_}\nc\n")
        assert code == 0 and ("watch 1: at cycle" in out) == hit, (slice_, out, err)
    out = named("watch vmem:8192..9000", "watch x", "c")                        # nobody writes there
    assert out[-1].endswith("the program has ended"), out
    code, out, err = run("debug", HERE / "n.tsim", stdin="watch xb\n" * 17)
    assert "there are 16 watches already" in err, err


@test
def what_a_mask_leaves_out_is_not_written():
    (HERE / "m.tsim").write_text(""".tensor a vmem f32[16,128]{1,0:T(8,128)}
        mlanes m1, 100
        vmov v0, 3.0
        vst a[0, 0], v0 if m1
        vst a[8, 0] mask=0x18, v0 if m1
        vst a.words[256] stride=0, v0 if m1
        halt
""")
    for slice_, lines in (("a[0, 99]", ["4"]), ("a[0, 100]", []), ("a[7, 0:100]", ["4"]), ("a[0:16, 100:128]", []),
                          ("a[11, 98:102]", ["5"]),
                          ("a[12, 0]", ["5"]), ("a[13, 0]", []), ("a[2, 0]", ["4", "6"]), ("a[2, 127]", []), ("a[3, 5]", ["4"])):
        code, out, err = run("debug", HERE / "m.tsim", stdin=f"watch {slice_}\n" + "c\n" * 4)
        assert (code, err, re.findall(r"watch 1: at cycle \d+, line (\d+),", out)) == (0, "", lines), (slice_, out, err)
    code, out, err = run("debug", HERE / "m.tsim", stdin="watch a[3, 90:110]\nc\n")
    assert "bytes 1,536 to 1,935 of vmem were written by vst\n" in out, out


@test
def a_program_ends_in_the_cycle_that_run_says():
    transfer = ".tensor x hbm f32[8,128] in iota\n.tensor v vmem f32[8,128]\n.sem s\n dma v <- x, s\n"
    for text, words in ((" nop\n nop\n", ()), (" nop\n nop\n halt\n", ()), (" nop\n delay 10\n", ()),
                        (" nop\n delay 10\n halt\n", ()),
                        (transfer, ()), (transfer + " wait s\n", ()), (transfer + " wait s\n halt\n", ()),
                        (".cores 2\n nop\n barrier\n halt\n", ("-m", "tpu-v4"))):
        (HERE / "end.tsim").write_text(text)
        code, out, err = run("run", HERE / "end.tsim", *words)
        cycles = re.search(r"^cycles +(~?[\d,]+)", out, re.M).group(1)
        code, out, err = run("debug", HERE / "end.tsim", *words, stdin="c\n")
        assert out.endswith(f"cycle {cycles}: the program has ended\n"), (text, cycles, out)


@test
def a_trace_as_text_has_every_cycle():
    code, out, err = run("run", HERE / "a.tsim", "--trace-text")
    lines = out[:out.index("machine ")].rstrip("\n").split("\n")
    assert code == 0 and len([line for line in lines if " stalls " not in line and " done: " not in line]) == 13, out
    cycles = 0
    for line in lines:
        stall = re.search(r"stalls ~?([\d,]+) cycles", line)
        cycles += int(stall.group(1).replace(",", "")) if stall else " done: " not in line
    total = int(re.search(r"^cycles +~?([\d,]+)", out, re.M).group(1).replace(",", ""))
    assert cycles == total, (cycles, total, out)
    assert sum(" done: dma " in line for line in lines) == 2, out
    exact = run("run", HERE / "a.tsim", "--trace-text", "--exact")[1]
    assert "~" not in exact and all(re.match(r" +~\d", line) for line in lines), (exact, out)
    code, out, err = run("run", HERE / "a.tsim", "--trace-text", "--trace", HERE / "t.json")
    assert code == 2, (code, out, err)


main()
