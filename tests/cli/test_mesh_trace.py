"""tilesim run --mesh --trace: one process a device, its links, and arrows from what is sent to where it arrives."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from chrome_trace import check, rows_of, sums
from cli import cases, expect_json, main, read_json, run, test

FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)
PROGRAMS = sorted(Path("programs/mesh").glob("*.tsim"))
SMALL = ["-m", "tpu-v5p", "-D", "ROWS=16"]
SHORT = {"collective_matmul": ["-D", "K=128"], "ring_attention": ["-D", "HEADS=1"]}  # of bundles, which traces are full of


def traced(program, *words, code=0):
    """A run's JSON, and its trace, in which nothing is wrong."""
    path = HERE / "trace.json"
    found, out, err = run("run", program, "--json", "--trace", path, *words)
    assert found == code, (program, words, err)
    trace = check(path.read_bytes())
    assert trace.faults == [], (program, words, trace.faults[:3])
    return (read_json(out) if code == 0 else err), trace


def arrows(trace):
    """Of each: its points, as process, row and cycle."""
    return [[(trace.processes[row[0]], trace.rows[row], at) for _, at, row in points] for points in trace.flows.values()]


def slices_of(trace, row_name):
    return {trace.rows[row].split(" ", 2)[-1]: slices for row, slices in trace.slices.items() if trace.rows[row].startswith(row_name)}


@test
def links_carry_what_is_counted():
    for path in cases(PROGRAMS, 3):
        out, trace = traced(path, *SMALL, *SHORT.get(path.stem, ()), "--mesh", cases(("2x3", "5"), 1)[0])
        cycle_us = out["microseconds"] / out["cycles"]
        links = slices_of(trace, "link")
        for link in out["mesh"]["links"]:
            slices = links.get(link["link"], [])
            assert sum(s["args"]["bytes"] for s in slices) == link["bytes"], (path, link)
            busy = sum(s["end"] - s["begin"] for s in slices) * cycle_us / out["microseconds"] * 100
            assert abs(busy - link["busy_percent"]) <= 100 * (len(slices) + 1) / out["cycles"], (path, link, busy)


@test
def a_process_is_a_device():
    out, trace = traced("programs/mesh/all_reduce.tsim", *SMALL, "--mesh", "a=2,b=2")
    names = [f"device {d} (a={d // 2}, b={d % 2})" for d in range(4)]
    assert [trace.processes[pid] for pid in sorted(trace.processes)] == names, trace.processes
    for name, device in zip(names, out["mesh"]["devices"]):
        stalls = sums(rows_of(trace, name, "stalls"))
        assert sum(stalls.values()) + sum(s["end"] - s["begin"] for s in rows_of(trace, name, "bundles")) == device["cycles"]
        assert len(rows_of(trace, name, "queue")) == device["transfers"]


@test
def arrows_lead_from_sends_to_arrivals_and_on_to_waits():
    path = HERE / "send.tsim"
    path.write_text(""".tensor x hbm f32[64,128]{1,0:T(8,128)} in iota
.tensor y hbm f32[64,128]{1,0:T(8,128)} out
.sem sent, came, told
  device.id s1
  sxor s2, s1, 1
  dma y <- x, sent, came device=s2
  wait came
  sem.signal told, 2, s2
  smov s3, 2
  wait told, s3
  wait sent
""")
    _, trace = traced(path, "-m", "tpu-v5p", "--mesh", "2")
    lines = {(row[0], s["begin"]): s["args"]["line"] for row, slices in trace.slices.items() if trace.rows[row] == "bundles" for s in slices}
    found = []
    for points in trace.flows.values():
        found.append([(row[0], trace.rows[row].split(" ")[0], lines.get((row[0], at)) if trace.rows[row] == "bundles" else None) for _, at, row in points])
    for own, other in ((1, 2), (2, 1)):
        arrival = (other, "arrivals", None)
        assert [(own, "bundles", 6), (own, "link", None), arrival] in found, found
        assert [(own, "bundles", 8), arrival] in found, found
        assert found.count([arrival, (other, "bundles", 7)]) == 1 and found.count([arrival, (other, "bundles", 10)]) == 1, found
        assert [(own, "bundles", 6), (own, "bundles", 11)] in found, found
    assert len(found) == 2 * 5
    arrived = rows_of(trace, "device 0 (x=0)", "arrivals")
    assert [(s["name"], s["args"]["from"], s["args"]["to"], s["args"]["bytes"]) for s in arrived] == [
        ("y <- x", 1, 0, 64 * 128 * 4), ("signal told[0]", 1, 0, 0)], arrived
    values = [v["semaphore"] for key, points in trace.counters.items() if key == (1, "told[0]") for _, v in points]
    assert values == [2, 0], values


@test
def nothing_arrives_sooner_than_a_hop():
    out, trace = traced("programs/mesh/all_to_all.tsim", *SMALL, "--mesh", "5")
    hop = 1.0 * out["cycles"] / out["microseconds"]  # ici.hop of v5p, in us
    sends = [points for points in arrows(trace) if points[-1][1] == "arrivals"]
    assert len(sends) >= 5 * 4
    for points in sends:
        assert points[-1][2] - points[0][2] >= hop or points[0][0] == points[-1][0], points


@test
def a_trace_changes_nothing_and_threads_do_not_show():
    words = ["programs/mesh/halo.tsim", *SMALL, "--mesh", "2x2"]
    out, trace = traced(*words)
    assert out == expect_json(["run", *words])
    text = (HERE / "trace.json").read_bytes()
    assert traced(*words, "-j", "3")[0] == out and (HERE / "trace.json").read_bytes() == text


@test
def a_part_of_a_run():
    words = ["programs/mesh/all_gather.tsim", *SMALL, "--mesh", "4"]
    out, whole = traced(*words)
    start, stop = out["cycles"] // 3, out["cycles"] // 2
    _, part = traced(*words, "--from", start, "--until", stop)
    for prefix in ("bundles", "stalls", "queue", "link", "arrivals"):
        for pid in whole.processes:
            cut = [(s["name"], max(s["begin"], start), min(s["end"], stop)) for row, slices in whole.slices.items()
                   if row[0] == pid and whole.rows[row].startswith(prefix) for s in slices if s["begin"] < stop and s["end"] > start]
            found = [(s["name"], s["begin"], s["end"]) for row, slices in part.slices.items()
                     if row[0] == pid and part.rows[row].startswith(prefix) for s in slices]
            assert sorted(found) == sorted(cut), (prefix, pid)


@test
def two_cores_have_rows_each():
    path = HERE / "cores.tsim"
    path.write_text(".cores 2\n.sem s\n core.id s1\n device.id s2\n sxor s2, s2, 1\n sem.signal s, 1, s2\n wait s\n")
    _, trace = traced(path, "-m", "tpu-v5p", "--mesh", "2")
    assert {name for name in trace.rows.values() if name.endswith("bundles")} == {"core 0 bundles", "core 1 bundles"}
    assert sum(points[-1][1] == "arrivals" for points in arrows(trace)) == 4


@test
def a_program_that_fails_is_drawn_up_to_there():
    path = HERE / "fault.tsim"
    path.write_text(".sem s\n nop\n device.id s1\n sem.signal s, 1, 9\n")
    err, trace = traced(path, "-m", "tpu-v5p", "--mesh", "2", code=3)
    assert "there is no device 9" in err and rows_of(trace, "device 0 (x=0)", "bundles")


main()
