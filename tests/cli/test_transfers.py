"""Several transfers at once: who goes first."""
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, main, run, test

PROGRAM = """\
.tensor x hbm  f32[4096,1024]{1,0:T(8,128)} in zeros
.tensor a vmem f32[4096,1024]{1,0:T(8,128)}
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
        return [next(e["args"]["cycles"] for e in events if e["name"] == name) for name in ("a <- x", "b <- x")]


@test
def policies():
    rows = [  # with an engine that is narrower than the memory: does the small one wait for the large one?
        ("priority", "priority=1", False), ("priority", "", True), ("first_ready", "priority=1", True),
        ("round_robin", "", False), ("in_order", "priority=1", True),
    ]
    for policy, priority, waits in rows:
        large, small = cycles_of(priority, "--set", f"dma.arbitration={policy}", "--set", "dma.rate.copy=128")
        assert large >= 4096 * 1024 * 4 // 128
        assert small > large - 2100 if waits else small < 2000, (policy, large, small)
    large, small = cycles_of("priority=1", "--set", "dma.rate.copy=128")  # the machines that are shipped
    assert small < 1000 and large > 131072


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


main()
