"""tilesim run: ports of VMEM that the core shares with DMA, and who wins them."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, test

FOLDER = tempfile.TemporaryDirectory()
PATH = Path(FOLDER.name) / "a.tsim"
ISSUE = 225  # cycles of dma.issue on v5e
EVERY = 4    # cycles for 4 KiB at 1024 bytes a cycle, dma.rate.copy on v5e


def stalls(direction, body, count, winner):
    """Stalls of so many bundles, the first of them in the cycle in which the transfer first takes a port."""
    source, target = ("x", "b") if direction == "in" else ("b", "x")
    PATH.write_text(f"""
.tensor x hbm  f32[4096,128]{{1,0:T(8,128)}} inout zeros
.tensor b vmem f32[4096,128]{{1,0:T(8,128)}}
.tensor c vmem f32[8,128]{{1,0:T(8,128)}}
.sem s
        dma   {target} <- {source}, s
        delay {ISSUE - 1}
.for I = 0, {count}
        {body}
.end
        wait  s
""")
    out = expect_json(["run", PATH, "--set", f"vmem.winner={winner}"])
    assert out["bundles"] + sum(out["stalls"].values()) == out["cycles"]
    assert expect_json(["run", PATH, "--set", f"vmem.winner={winner}", "--time-only"])["cycles"] == out["cycles"]
    return out["stalls"].get("vmem_port", 0)


STORE, LOAD = "vst c[0, 0], v0", "vld v[I % 8], c[0, 0]"
LOADS = "{ vld v[(3 * I) % 48], c[0, 0] ; vld v[(3 * I + 1) % 48], c[0, 0] ; vld v[(3 * I + 2) % 48], c[0, 0] }"


@test
def a_dma_takes_every_fourth_cycle_of_the_store_port():
    for count in range(1, 10):
        # cycle 0 is taken, then three stores, then another is taken: one wait for every three stores
        assert stalls("in", STORE, count, "dma") == (count + EVERY - 2) // (EVERY - 1), count
        assert stalls("in", STORE, count, "core") == 0


@test
def loads_wait_only_where_they_need_all_ports():
    assert stalls("in", LOADS, 9, "dma") == 0
    assert stalls("out", LOAD, 9, "dma") == 0
    assert stalls("out", LOADS, 9, "dma") == 3
    assert stalls("out", LOADS, 9, "core") == 0
    assert stalls("out", STORE, 9, "dma") == 0


@test
def the_reason_has_a_name():
    stalls("in", STORE, 9, "dma")
    text = expect(["run", PATH, "--set", "vmem.winner=dma"])
    assert "vmem    VMEM port busy: a DMA" in text, text


main()
