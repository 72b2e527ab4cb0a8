"""Reads Chrome trace events as Perfetto does, and says what is wrong with them."""
from pathlib import Path

from cli import read_json


def nanoseconds(microseconds):
    """What Perfetto makes of a number of JSON: the whole part of 1000 times the double."""
    return int(microseconds * 1000.0)


class Trace:
    """Slices, counters and flows of a trace, each with its times in nanoseconds, which are cycles."""

    def __init__(self, text):
        whole = read_json(text)
        self.events, self.about = whole["traceEvents"], whole["otherData"]
        self.slices, self.counters, self.flows, self.open, self.last_end = {}, {}, {}, {}, {}
        self.processes, self.rows, self.faults = {}, {}, []
        for event in self.events:
            getattr(self, f"take_{event['ph']}", self.take_unknown)(event)

    def fault(self, text, event):
        self.faults.append(f"{text}: {event}")

    def take_unknown(self, event):
        self.fault("unknown phase", event)

    def time(self, event, key="ts"):
        value = nanoseconds(event[key])
        if value < 0 or abs(event[key] * 1000 - value) >= 0.5:
            self.fault(f"{key} is no whole nanosecond", event)
        return value

    def ended(self, event, end):
        """Keeps the latest end of a slice of each row."""
        row = event["pid"], event["tid"]
        self.last_end[row] = max(end, self.last_end.get(row, 0))

    def take_M(self, event):
        named = {"process_name": self.processes, "thread_name": self.rows}.get(event["name"])
        if named is not None:
            key = event["pid"] if named is self.processes else (event["pid"], event["tid"])
            if key in named:
                self.fault("named twice", event)
            named[key] = event["args"]["name"]

    def take_X(self, event):
        begin, cycles = self.time(event), self.time(event, "dur")
        row = self.slices.setdefault((event["pid"], event["tid"]), [])
        if cycles < 1:
            self.fault("no duration", event)
        if row and begin < row[-1]["end"]:
            self.fault("overlaps the one before" if begin >= row[-1]["begin"] else "goes back in time", event)
        row.append({"begin": begin, "end": begin + cycles, "name": event["name"], "args": event.get("args", {})})
        self.ended(event, begin + cycles)

    def take_B(self, event):
        begin = self.time(event)
        row = self.slices.setdefault((event["pid"], event["tid"]), [])
        stack = self.open.setdefault((event["pid"], event["tid"]), [])
        last = row[-1]["end"] or row[-1]["begin"] if row else 0
        if begin < last:
            self.fault("goes back in time", event)
        row.append({"begin": begin, "end": None, "name": event["name"], "args": event.get("args", {})})
        stack.append(row[-1])

    def take_E(self, event):
        end, stack = self.time(event), self.open.get((event["pid"], event["tid"]))
        if not stack:
            self.fault("ends what has not begun", event)
            return
        if end < self.last_end.get((event["pid"], event["tid"]), 0):
            self.fault("goes back in time", event)
        if end <= stack[-1]["begin"]:
            self.fault("no duration", event)
        stack.pop()["end"] = end
        self.ended(event, end)

    def take_C(self, event):
        points = self.counters.setdefault((event["pid"], event["name"]), [])
        at = self.time(event)
        if points and at < points[-1][0]:
            self.fault("goes back in time", event)
        if any(value < 0 for value in event["args"].values()):
            self.fault("negative", event)
        points.append((at, event["args"]))

    def take_flow(self, event):
        self.flows.setdefault(event["id"], []).append((event["ph"], self.time(event), (event["pid"], event["tid"])))

    take_s = take_t = take_f = take_flow


def _is_inside(trace, row, at):
    return any(s["begin"] <= at < (s["end"] or s["begin"]) for s in trace.by_time.get((row, at // 1024), ()))


def _check_flows(trace):
    trace.by_time = {}
    for row, slices in trace.slices.items():
        for s in slices:
            for part in range(s["begin"] // 1024, (s["end"] or s["begin"]) // 1024 + 1):
                trace.by_time.setdefault((row, part), []).append(s)
    for number, points in trace.flows.items():
        if [points[0][0], points[-1][0], *{p[0] for p in points[1:-1]}] not in (["s", "f"], ["s", "f", "t"]):
            trace.faults.append(f"flow {number} is not paired: {points}")
        if any(a[1] > b[1] for a, b in zip(points, points[1:])):
            trace.faults.append(f"flow {number} goes back in time: {points}")
        trace.faults += [f"flow {number} is outside of all slices: {p}" for p in points if not _is_inside(trace, p[2], p[1])]


def _check_names(trace):
    for row in trace.slices:
        if row not in trace.rows:
            trace.faults.append(f"row {row} has no name")
    for process in {key[0] for key in (*trace.slices, *trace.counters)}:
        if process not in trace.processes:
            trace.faults.append(f"process {process} has no name")
        names = [name for row, name in trace.rows.items() if row[0] == process]
        if len(names) != len(set(names)):
            trace.faults.append(f"two rows of process {process} have one name")


def _check_places(trace):
    lines = {}
    for place in {(s["args"]["file"], s["args"]["line"]) for row in trace.slices.values() for s in row if "line" in s["args"]}:
        name = place[0].replace("tilesim:/", "programs/")
        if name not in lines:
            lines[name] = len(Path(name).read_text().splitlines()) if Path(name).exists() else 0
        if not 1 <= place[1] <= lines[name]:
            trace.faults.append(f"there is no line {place}")


def check(text):
    """The trace; its `faults` are empty when all is well."""
    trace = Trace(text)
    for row, stack in trace.open.items():
        trace.faults += [f"row {row} has a slice that does not end: {s}" for s in stack]
    _check_flows(trace)
    _check_names(trace)
    _check_places(trace)
    return trace


def rows_of(trace, process, prefix=""):
    """Slices of the rows of a process whose names begin so."""
    pids = [pid for pid, name in trace.processes.items() if name == process]
    return [s for row, slices in trace.slices.items() if row[0] in pids and trace.rows[row].startswith(prefix) for s in slices]


def sums(slices):
    """Cycles by name."""
    total = {}
    for s in slices:
        total[s["name"]] = total.get(s["name"], 0) + s["end"] - s["begin"]
    return total
