"""tilesim debug, run --break and run --trace-text on a mesh: all devices stop together, and each line says whose it is."""
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, run, test

FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)
MESH = ["-m", "tpu-v5p", "--mesh", "4"]
# Device n sends its part to the next after n delays of 1,000 cycles, and waits for that of the device before.
PROGRAM = """.tensor x hbm f32[8,128]{1,0:T(8,128)} in iota
.tensor y vmem f32[8,128]{1,0:T(8,128)}
.sem sent, came
        device.id s1
        sadd s2, s1, 1
        smod s2, s2, 4
        smul s3, s1, 1000
.loop s4 = 0, s3, 1000
        delay 1000
.end
        dma y <- x, sent, came device=s2
        wait sent
        wait came
        sadd s5, s1, 10
"""
(HERE / "ring.tsim").write_text(PROGRAM)
LINE = {text: number for number, text in enumerate((line.strip() for line in PROGRAM.splitlines()), 1)}
SEND, CAME, LAST = LINE["dma y <- x, sent, came device=s2"], LINE["wait came"], LINE["sadd s5, s1, 10"]


def debug(*commands, words=MESH, code=0, program="ring.tsim", breaks=()):
    """(stdout, stderr) as lines, without the line that says where it stands at first, where no place was given."""
    places = [word for place in breaks for word in ("--break", str(place))]
    found, out, err = run("debug", HERE / program, "--exact", *words, *places, stdin="".join(c + "\n" for c in commands))
    assert found == code, (found, out, err)
    return [line for line in out.split("\n")[0 if breaks else 1:-1] if not line.startswith("it stalled")], err


def standing(line):
    """Device, cycle and line of the program."""
    found = re.match(r"device (\d+), cycle ([\d,]+), line (\d+): ", line)
    assert found, line
    return int(found[1]), int(found[2].replace(",", "")), int(found[3])


@test
def devices_that_come_together_stop_once():
    out, _ = debug("break 5", "continue", "step", "device 3", "device", "continue")
    assert out[1] == "at a breakpoint: device 0, 1, 2, 3" and standing(out[2]) == (0, 1, 5), out
    assert standing(out[3]) == (0, 2, 6) and standing(out[4]) == standing(out[5]) == (3, 2, 6), out
    assert re.fullmatch(r"device 3, cycle [\d,]+: the program has ended", out[6]), out


@test
def each_stops_when_it_comes():
    out, _ = debug("continue", "continue", "continue", "continue", breaks=[SEND])
    hits = [(out[i], standing(out[i + 1])) for i in (0, 2, 4, 6)]
    for device, (told, (at, cycle, line)) in enumerate(hits):
        assert told == f"at a breakpoint: device {device}" and (at, line) == (device, SEND) and 1000 * device <= cycle <= 1000 * device + 50 * (device + 1), out
    assert "the program has ended" in out[8], out
    cycles = expect_json(["run", HERE / "ring.tsim", *MESH])["mesh"]["devices"]
    ends = debug("continue", *(f"device {device}" for device in range(4)))[0][1:]
    at = [int(re.search(r"cycle ([\d,]+):", line)[1].replace(",", "")) for line in ends]
    assert at == [row["cycles"] for row in cycles], (ends, cycles)


@test
def a_condition_chooses_devices():
    out, _ = debug("print s1", "device 1", "print s1", "continue", breaks=[f"{LAST} if s1 == 2"])
    assert out[0] == "at a breakpoint: device 2" and standing(out[1])[::2] == (2, LAST) and out[2].startswith("s1 = 2 "), out
    assert out[3].startswith("device 1, cycle ") and out[4].startswith("s1 = 1 ") and "the program has ended" in out[5], out


@test
def what_other_devices_write_is_watched():
    out, _ = debug("device 1", "watch y[0:1, 0:4]", "continue", "print y[0:1, 0:4]", "step 1", "print y[0:1, 0:4]", "unwatch", "continue")
    assert out[1] == "1  bytes 0 to 15 of vmem", out
    assert re.match(rf"watch 1: at cycle [\d,]+, line {SEND}, bytes 0 to .* of vmem were written by dma y", out[2]), out
    assert standing(out[3])[::2] in ((1, CAME), (1, LAST)), out
    assert "[0,:]          0          1          2          3" in "\n".join(out), out
    assert "no watches" in out and "the program has ended" in out[-1], out


@test
def until_stops_all_of_them():
    out, _ = debug("until 1500", "device 3", "until 1000000", "device 2")
    assert standing(out[0])[0] == 0 and 1500 <= standing(out[0])[1], out
    assert standing(out[2])[0] == 3 and 1500 <= standing(out[2])[1] <= 2100 and out[1].startswith("it waits for "), out
    assert "device 2, cycle" in out[-1] and "the program has ended" in out[-1], out


@test
def who_waits_for_whom_is_told():
    (HERE / "stuck.tsim").write_text(".sem a\n device.id s1\n wait a\n")
    out, err = debug("continue", "where", "continue", program="stuck.tsim", code=3)
    assert "deadlock: device 0 waits" in err and "the program has failed" in err, err
    assert out[0].startswith("device 0, cycle 1, line 3: wait a") and "it waits for a semaphore or the DMA engine" in out[1], out


@test
def run_with_a_break_is_the_debuggers():
    ring = HERE / "ring.tsim"
    out = expect(["run", ring, *MESH, "--break", SEND], out=None)
    assert out.startswith("at a breakpoint: device 0\ndevice 0, cycle "), out
    for words in (["--mesh", "2x2", "-m", "tpu-v5p"], ["--mesh", "4", "--topology", "2x1", "-m", "tpu-v7x"], ["--mesh", "4", "-m", "tpu-v5p", "--fail-link", "(0)->(1)"]):
        assert "device 3, cycle" in debug("device 3", words=words)[0][0], words


@test
def texts_that_are_wrong():
    assert "expected a device, 0 to 3" in debug("device 4")[1]
    assert "expected a number from 0 on" in debug("device x")[1]
    assert "expected a mesh (--mesh) for that" in debug("device 0", words=["-m", "tpu-v5p"])[1]


@test
def lines_of_a_trace_name_their_device():
    """Of a device the same bundles, stalls and transfers as are counted, in order of time; and what comes, behind a hop."""
    words = ["run", "programs/mesh/all_gather.tsim", "-m", "tpu-v5p", "--mesh", "2x2", "-D", "ROWS=16"]
    text, out = expect([*words, "--trace-text"], out=None), expect_json(words)
    lines = text[:text.index("\nmachine ")].split("\n") if "\nmachine " in text else text.split("machine ")[0].splitlines()
    assert all(re.match(r"device [0-3] ", line) for line in lines), lines[:5]
    for device, row in enumerate(out["mesh"]["devices"]):
        own = [line for line in lines if line.startswith(f"device {device} ")]
        assert sum("  came: dma " in line for line in own) == 3 and sum("  done: dma " in line for line in own) == row["transfers"], own
        stalls = sum(int(found[1].replace(",", "")) for line in own if (found := re.search(r"  stalls ~?([\d,]+) cycles: ", line)))
        issued = [line for line in own if not re.search(r"  (stalls|came:|done:) ", line)]
        assert stalls + len(issued) == row["cycles"], (device, stalls, len(issued), row)
        cycles = [int(line.split()[2].strip("~").replace(",", "")) for line in issued]
        assert cycles == sorted(cycles) and cycles[-1] == row["cycles"] - 1, cycles
    came = re.findall(r"^device (\d) .*  came: dma y.* \(([\d,]+) bytes of device (\d), issued at", text, re.M)
    assert {(int(b), int(a)) for a, _, b in came} == {(0, 1), (1, 2), (2, 3), (3, 0)} and {size for _, size, _ in came} == {f"{16 * 512 * 4:,}"}, came
    expect([*words, "--trace-text", "-j", "3"], out=text)


main()
