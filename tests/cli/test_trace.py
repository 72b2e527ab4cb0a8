"""tilesim run --trace: a timeline that Perfetto reads as it is meant, with all cycles, bursts and transfers of the run."""
import copy
import json
import re
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from chrome_trace import check, rows_of, sums
from cli import TOOL, cases, expect, expect_json, main, read_json, release_test, run, test
from programs import PROGRAMS

FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)
SAMPLING = "events are drawn in one of 2 windows of 1,024 cycles"


def traced(program, *words, notes=False):
    """A run's JSON, and its trace, in which nothing is wrong; with `notes`, stderr too."""
    path = HERE / "trace.json"
    code, out, err = run("run", program, "--json", "--trace", path, *words)
    assert code == 0 and (notes or err == ""), (program, words, err)
    trace = check(path.read_bytes())
    assert trace.faults == [], (program, words, trace.faults[:3])
    assert trace.about["time"].startswith("1 ns is 1 cycle of the core, "), trace.about
    return (read_json(out), trace, err) if notes else (read_json(out), trace)


def total(slices):
    return sum(s["end"] - s["begin"] for s in slices)


def cores_of(out):
    return ["core"] if len(out["cores"]) == 1 else [f"core {i}" for i in range(len(out["cores"]))]


def says_all(out, trace, exact):
    """What a whole timeline says of cores and transfers, and of HBM where all of it is simulated."""
    for core, name in zip(out["cores"], cores_of(out)):
        assert sums(rows_of(trace, name, "stalls")) == core["stalls"], (name, core["stalls"])
        assert total(rows_of(trace, name, "bundles")) == core["bundles"]
        times = sorted((s["begin"], s["end"]) for row in ("stalls", "bundles") for s in rows_of(trace, name, row))
        assert times[0][0] == 0 and times[-1][1] == core["cycles"]  # all of the time, once
        assert all(a[1] == b[0] for a, b in zip(times, times[1:]))
    transfers = rows_of(trace, "DMA engine", "queue")
    assert len(transfers) == out["transfers"]
    for key, should in (("useful_bytes", out["useful_bytes"]), ("moved_bytes", out["moved_bytes"]), ("cycles_from_issue", out["transfer_cycles"])):
        assert sum(s["args"][key] for s in transfers) == should, key
    outstanding = [v["bytes"] for key, points in trace.counters.items() if key[1] == "outstanding" for _, v in points]
    assert outstanding[-1] == 0 and max(outstanding) >= max(s["args"]["useful_bytes"] for s in transfers)
    buses = rows_of(trace, "HBM", "channel")
    assert all(s["args"]["ticks"] % (s["args"]["reads"] + s["args"]["writes"]) == 0 for s in buses)
    if exact:
        bursts = sum(s["args"]["reads"] + s["args"]["writes"] for s in buses)
        assert bursts == out["row_hits"] + out["row_misses"] + out["row_conflicts"]


@test
def shipped_programs():
    for path in cases(PROGRAMS, 2, 12):
        machine = "tpu-v4" if path.stem in ("cores", "pass") else "tpu-v5e"
        out, trace = traced(path, "-m", machine)
        says_all(out, trace, False)


@test
def every_channel():
    for words in cases((["programs/softmax.tsim"], ["programs/matmul.tsim", "-m", "tpu-v6e"], ["programs/cores.tsim", "-m", "tpu-v4"],
                        ["programs/copy.tsim", "--set", "hbm.controller.scheduler=per_bank", "--set", "hbm.controller.row_hits=4"],
                        ["programs/flash_attention.tsim", "-m", "tpu-v7x"]), 2):
        out, trace = traced(*words, "--exact")
        says_all(out, trace, True)
        assert not any(e["name"] == "process_labels" for e in trace.events if e["ph"] == "M")


@test
def a_trace_changes_nothing():
    for words in cases((["programs/softmax.tsim"], ["programs/transpose.tsim", "-m", "tpu-v7x"], ["programs/matmul.tsim", "--time-only"]), 1):
        assert expect_json(["run", *words]) == traced(*words)[0], words


@test
def matrix_units_are_busy_as_counted():
    for machine in cases(("tpu-v5e", "tpu-v7x"), 1):
        out, trace = traced("programs/matmul.tsim", "-m", machine)
        units = int(re.search(r"^mxu:\n    units: (\d+)", expect(["show", "machine", machine]), re.M).group(1))
        pushes = [s for row, name in trace.rows.items() if name.startswith("mxu ") and name.endswith(" push") for s in trace.slices[row]]
        assert abs(total(pushes) / (units * out["cycles"]) * 100 - out["mxu_busy_percent"]) < 0.001, (machine, out["mxu_busy_percent"])


@test
def bandwidth_is_that_of_the_run():
    out, trace = traced("programs/copy.tsim", "-D", "ROWS=4096", "--exact")
    points = next(points for key, points in trace.counters.items() if key[1] == "bandwidth")
    ends = [at for at, _ in points[1:]] + [points[-1][0]]
    for key, should in (("read GB/s", out["hbm_read_bytes"]), ("written GB/s", out["hbm_written_bytes"])):
        found = sum(values[key] * 1e9 * (end - at) / 1.5e9 for (at, values), end in zip(points, ends))
        assert abs(found - should) < 0.001 * should, (key, found, should)
        assert points[-1][1][key] == 0


@test
def arrows_lead_from_a_dma_to_the_wait_for_it():
    text = """.tensor x hbm  f32[64,128]{1,0:T(8,128)} in iota
.tensor a vmem f32[64,128]{1,0:T(8,128)}
.tensor b vmem f32[64,128]{1,0:T(8,128)}
.sem    one, two
        smov    s1, 2
        dma     a <- x, one
        dma     b <- x, two
        wait    two
        nop
        wait    one
        sem.add one, 1
        wait    one
        dma     a <- x, two
        dma     b <- x, two
        wait    two, s1
"""
    path = HERE / "arrows.tsim"
    path.write_text(text)
    out, trace = traced(path)
    bundles = {s["begin"]: s["args"]["line"] for s in rows_of(trace, "core", "bundles")}
    queues = {s["begin"]: s["args"]["line"] for s in rows_of(trace, "DMA engine", "queue")}
    arrows = [(bundles[p[0][1]], queues[p[1][1]], bundles[p[2][1]]) for p in trace.flows.values()]
    assert arrows[:2] == [(7, 7, 8), (6, 6, 10)], arrows
    assert [(a[0], a[2]) for a in sorted(arrows[2:])] == [(13, 15), (14, 15)], arrows
    values = {key[1]: [v["semaphore"] for _, v in points] for key, points in trace.counters.items() if "semaphore" in points[0][1]}
    assert values == {"one[0]": [1, 0, 1, 0], "two[0]": [1, 0, 1, 2, 0]}, values


@test
def regions():
    path = HERE / "regions.tsim"
    path.write_text("nop\n.region outer\nnop\n.loop s1 = 0, 2\n.region inner\nnop\ndelay 5\n.endregion\n.end\n.endregion\nnop\n")
    out, trace = traced(path)
    parts = [(s["name"], s["begin"], s["end"]) for s in rows_of(trace, "core", "regions")]
    bundles = {s["begin"]: s["args"]["line"] for s in rows_of(trace, "core", "bundles")}
    end = next(at for at, line in bundles.items() if line == 11)
    inner = [at for at, line in bundles.items() if line == 6]
    back = [at for at, line in bundles.items() if line == 4 and at > inner[0]]
    assert parts == [("outer", 1, end), ("inner", inner[0], back[0]), ("inner", inner[1], back[1])], (parts, bundles)
    for start, stop in ((3, 9), (inner[0], inner[0] + 1), (0, 1), (1, 2), (back[0], back[0] + 2), (end, end + 1), (2, end)):
        out, trace = traced(path, "--from", start, "--until", stop)
        cut = [(name, max(a, start), min(b, stop)) for name, a, b in parts if a < stop and b > start]
        assert [(s["name"], s["begin"], s["end"]) for s in rows_of(trace, "core", "regions")] == cut, (start, stop, cut)


@test
def a_stream_computes_in_a_region():
    trace = traced("programs/softmax.tsim", "-D", "ROWS=300", "-D", "BLOCK=64")[1]
    blocks = rows_of(trace, "core", "regions")
    assert [s["name"] for s in blocks] == ["softmax"] * 5
    powers = [s for s in rows_of(trace, "core", "eup") if s["name"] == "vexp.f32"]
    assert powers and all(any(b["begin"] <= s["begin"] < b["end"] for b in blocks) for s in powers)
    assert all(s["end"] - s["begin"] == 2 for s in powers)  # eup: occupancy 2


@test
def a_part_of_a_run():
    whole = traced("programs/softmax.tsim", "--exact")[1]
    for start, stop in cases(((0, 1000), (1000, 3000), (2345, 2346), (4000, 10 ** 9)), 2):
        part = traced("programs/softmax.tsim", "--exact", "--from", start, "--until", stop)[1]
        assert min(s["begin"] for row in part.slices.values() for s in row) >= start
        assert max(s["end"] for row in part.slices.values() for s in row) <= stop
        for process, prefix in (("core", "bundles"), ("core", "stalls"), ("core", "valu"), ("core", "mxu"), ("DMA engine", "queue")):
            cut = [(s["name"], max(s["begin"], start), min(s["end"], stop)) for s in rows_of(whole, process, prefix)
                   if s["begin"] < stop and s["end"] > start]
            found = [(s["name"], s["begin"], s["end"]) for s in rows_of(part, process, prefix)]
            assert sorted(found) == sorted(cut), (start, stop, process, prefix)


@release_test
def long_runs_are_sampled():
    out, trace, err = traced("programs/softmax.tsim", "-D", "ROWS=16000", "--time-only", notes=True)
    assert SAMPLING in err and err.endswith("and are summed up in the others\n") and err.count("\n") == 1, err
    assert SAMPLING in trace.about["left_out"]
    first = int(err.split("from cycle ")[1].split(" ")[0].replace(",", ""))
    assert first > 200000 / 12 and len(trace.events) < 700000, (first, len(trace.events))
    assert sums(rows_of(trace, "core", "stalls")) == out["stalls"]
    assert total(rows_of(trace, "core", "bundles")) == out["bundles"]
    rests = [s for row in trace.slices.values() for s in row if "sum_of" in s["args"]]
    assert rests and min(s["begin"] for s in rests) >= first - first % 1024
    assert sum(s["args"].get("sum_of", 1) for s in rows_of(trace, "DMA engine", "queue")) == out["transfers"]


@release_test
def a_million_cycles():
    out, trace = traced("programs/copy.tsim", "-D", "ROWS=30000", "-D", "COLS=2048", "--time-only", "--until", "5000")
    assert out["cycles"] > 1050000 and len(trace.events) < 50000
    assert max(s["end"] for row in trace.slices.values() for s in row) == 5000
    _, trace = traced("programs/copy.tsim", "-D", "ROWS=30000", "-D", "COLS=2048", "--time-only", "--from", "1050000")
    assert trace.slices and min(s["begin"] for row in trace.slices.values() for s in row) >= 1050000


@test
def what_was_asked_for_is_behind_the_end():
    for more in ([], ["--mesh", "2"]):
        cycles = traced("programs/add.tsim", *more)[0]["cycles"]
        note = f"no event begins in the cycles asked for, from {cycles:,} on: the run has {cycles:,}\n"
        _, trace, err = traced("programs/add.tsim", *more, "--from", str(cycles), notes=True)
        assert trace.events == [] and trace.about["left_out"] == note and err.endswith(f"trace.json: {note}"), (trace.events, err)
        assert err.startswith("tilesim: note: "), err
        _, trace = traced("programs/add.tsim", *more, "--from", str(cycles - 1))
        assert trace.slices and trace.about["left_out"] == "", trace.about


@release_test
def recalled_transfers_are_said():
    _, trace, err = traced("programs/matmul.tsim", "-D", "M=8192", "-D", "N=8192", "-D", "K=2048", "--time-only", "--until", "2000", notes=True)
    assert "the time of " in err and " transfers is recalled, and HBM does not show them; --exact simulates all\n" in err, err
    assert "recalled" in trace.about["left_out"]


@test
def one_line():
    path = HERE / "line.tsim"
    path.write_text("nop\n")
    out, trace = traced(path)
    assert [len(row) for row in trace.slices.values()] == [1, 1] and trace.processes == {1: "core"}, trace.events
    _, trace, err = traced(path, "--from", "5", notes=True)
    assert err.endswith("no event begins in the cycles asked for, from 5 on: the run has 1\n"), err
    assert trace.slices == {} and trace.counters == {}
    path.write_text("nop\n\n .tensor x vmem f32[8,128] \nmove_it: vld v0, x[0, 0] ; é\n")
    assert traced(path)[0]["bundles"] == 2


@test
def a_program_that_fails_is_drawn_up_to_there():
    path, trace = HERE / "fault.tsim", HERE / "fault.json"
    path.write_text(".tensor k smem s32[4]\n.region r\n nop\n nop\n smov s1, 9\n sld s2, k[s1]\n.endregion\n")
    code, out, err = run("run", path, "--trace", trace)
    found = check(trace.read_bytes())
    assert code == 3 and found.faults == [] and total(rows_of(found, "core", "bundles")) == 3, (err, found.faults)
    path.write_text("gurgle\n")
    trace.unlink()
    assert run("run", path, "--trace", trace)[0] == 1 and list(HERE.glob("fault.json*")) == []


@test
def options_that_are_wrong():
    softmax = ["run", "programs/softmax.tsim"]
    for words, text in ((["--from", "5"], "--from and --until are of a --trace or a page (--html)"),
                        (["--until", "5"], "--from and --until are of a --trace or a page (--html)"),
                        (["--trace", HERE / "x.json", "--from", "5", "--until", "5"], "--until is 5, expected more than --from, 5"),
                        (["--trace", HERE / "x.json", "--from", "-1"], "--from is -1, expected 0 or more"),
                        (["--trace", HERE / "x.json", "--trace-text"], "--trace and --trace-text are one or the other"),
                        (["--trace", HERE / "x.json", "--break", "1"], "--break does not go with --trace: the run is the debugger's")):
        expect([*softmax, *words], 2, "", f"tilesim: error: {text}\n")
    code, out, err = run(*softmax, "--trace", HERE / "x.json", "--until", "1e3")
    assert code == 2 and out == "" and err.startswith("--until:1:2: error: found '1e3', expected an integer\n"), err
    assert not (HERE / "x.json").exists()


@test
def a_full_disk_is_an_error():
    code, out, err = run("run", "programs/softmax.tsim", "--trace", "/dev/full")
    assert (code, out) == (1, "") and err == "tilesim: error: cannot write '/dev/full': No space left on device\n", (code, err)
    folder = HERE / "full"
    folder.mkdir()

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

    done = subprocess.run([TOOL, "run", "programs/softmax.tsim", "--trace", folder / "t.json"], preexec_fn=limit, capture_output=True)
    assert done.returncode == 1 and b"cannot write" in done.stderr and list(folder.iterdir()) == [], (done, list(folder.iterdir()))


@test
def the_command_of_the_docs():
    words = re.search(r"^\$ tilesim run (.* --trace) \S+ (.*)$", Path("docs/program.md").read_text(), re.M)
    expect(["run", *words.group(1).split(), HERE / "docs.json", *words.group(2).split()], out=None)
    trace = check((HERE / "docs.json").read_bytes())
    assert trace.faults == [] and trace.slices and set(trace.processes.values()) == {"core", "DMA engine", "HBM"}


# ---- The checker ----

def planted(events, change):
    events = copy.deepcopy(events)
    change(events)
    return check(json.dumps({"traceEvents": events, "otherData": {}})).faults


def first(events, **keys):
    return next(e for e in events if all(e.get(key) == value for key, value in keys.items()))


@test
def the_checker_finds_what_is_wrong():
    path = HERE / "good.tsim"
    path.write_text(""".tensor x hbm  f32[64,128]{1,0:T(8,128)} in iota
.tensor a vmem f32[64,128]{1,0:T(8,128)}
.sem    one
.region r
        dma     a <- x, one
.region s
        wait    one
.endregion
.endregion
""")
    good = traced(path)[1].events
    row = first(good, ph="X", name="dma")["tid"]

    def set_(key, value, **keys):
        return lambda events: first(events, **keys).__setitem__(key, value)

    def late(events):
        events.append(dict(first(events, ph="X"), ts=0.0))

    def drop(**keys):
        return lambda events: events.remove(first(events, **keys))

    def line(events):
        first(events, ph="X", name="wait")["args"]["line"] = 10

    rows = [
        (set_("dur", 0.000666, ph="X"), "no duration"), (set_("dur", 9.0, ph="X", name="dma"), "overlaps the one before"),
        (set_("ts", 0.0005, ph="X"), "no whole nanosecond"), (set_("ts", -1.0, ph="X"), "no whole nanosecond"),
        (set_("ts", 1.001, ph="f"), "no whole nanosecond"), (late, "goes back in time"), (drop(ph="s"), "is not paired"), (drop(ph="f"), "is not paired"),
        (set_("ts", 5000.0, ph="f"), "is outside of all slices"), (set_("ts", 5000.0, ph="s"), "goes back in time"),
        (set_("tid", 999, ph="t"), "is outside of all slices"), (drop(ph="E"), "does not end"), (drop(ph="B"), "ends what has not begun"),
        (set_("ts", 0.0, ph="E"), "no duration"), (set_("ts", 5000.0, ph="E"), "goes back in time"),
        (set_("args", {"bytes": -1}, ph="C", name="outstanding"), "negative"),
        (set_("ts", 5000.0, ph="C", name="outstanding"), "goes back in time"),
        (drop(ph="M", name="thread_name", tid=row), "has no name"), (drop(ph="M", name="process_name", pid=2), "has no name"),
        (set_("args", {"name": "bundles"}, ph="M", name="thread_name", tid=row + 1), "have one name"),
        (lambda events: events.append(first(events, ph="M", name="process_name")), "named twice"),
        (line, "there is no line"), (set_("ph", "Q", ph="X"), "unknown phase"),
    ]
    assert planted(good, lambda events: None) == []
    for number, (change, text) in enumerate(rows):
        faults = planted(good, change)
        assert any(text in fault for fault in faults), (number, text, faults[:4])


main()
