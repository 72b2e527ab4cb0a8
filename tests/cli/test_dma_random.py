"""What holds for the bill of any transfer: random pairs of layouts on all machines."""
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import cases, expect_json, main, read_json, run, test

MACHINES = ("tpu-v2", "tpu-v3", "tpu-v4", "tpu-v4i", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7x", "trainium2", "tmem")
BITS = {"f32": 32, "s32": 32, "bf16": 16, "f16": 16, "f8e4m3fn": 8, "s8": 8, "pred": 8, "s4": 4}
EXTENTS = (1, 2, 3, 8, 13, 64, 100, 128, 165, 256, 1000, 1024, 2048)
MOST_ELEMENTS = 1 << 21
COUNT = 240
WAITS = {"row_misses": "HBM row misses", "conflicts": "HBM bank and bus conflicts", "refresh": "HBM refresh"}
BYTES = {"useful": "HBM bandwidth", "padding": "HBM bandwidth, taken by padding",
         "burst_waste": "HBM bandwidth, taken by burst waste"}


def random_layout(draw, dtype, rank):
    order = list(range(rank))[::-1]
    if draw.random() < 0.3:
        draw.shuffle(order)
    tile = draw.choice(["", "T(8,128)", "T(4,128)", "T(2,128)", "T(16,128)", "T(128)", "T(256)"])
    if rank < 2 and "," in tile:
        tile = "T(128)"
    if "," in tile and BITS[dtype] < 32 and draw.random() < 0.7:
        tile += f"({32 // BITS[dtype]},1)"
    tile += "E(4)" if BITS[dtype] == 4 else ""
    tile += "S(1)" if draw.random() < 0.15 else ""
    return "{" + ",".join(map(str, order)) + (":" + tile if tile else "") + "}"


def random_pair(draw):
    dims = [draw.choice(EXTENTS) for _ in range(draw.choice((1, 2, 2, 2, 3)))]
    while elements(dims) > MOST_ELEMENTS:
        dims[draw.randrange(len(dims))] = draw.choice((1, 3, 8))
    types = [draw.choice(list(BITS))] * 2
    if draw.random() < 0.25:
        types[1] = draw.choice(list(BITS))
    slices = ""
    if draw.random() < 0.3:
        starts = [draw.randrange(d) for d in dims]
        slices = "[" + ",".join(f"{a}:{draw.randint(a + 1, d)}" for a, d in zip(starts, dims)) + "]"
    shapes = [f"{t}{dims}".replace(" ", "") + random_layout(draw, t, len(dims)) + slices for t in types]
    return [*shapes, "-m", draw.choice(MACHINES)], types[0] == types[1]


def elements(dims):
    total = 1
    for dim in dims:
        total *= dim
    return total


def on_pins(bill):
    """Of what accesses amount to, the part that is not answered by the HBM's queues."""
    return 1 - (bill["forwarded"] + bill["coalesced"]) / max(bill["bursts"], 1)


def agrees(bill):
    """Does what limits it follow from the parts? The rule is in docs/timing.md."""
    parts, limiter = bill["parts"], bill["limiter"]
    largest = [key for key in parts if parts[key] == max(parts.values())]
    if bill["limiter_part"] not in largest:
        return False
    if bill["limiter_part"] == "reordering":
        return limiter == f"{bill['kind']} rate of the DMA engine" if bill["kind"] != "core program" else True
    if bill["limiter_part"] in ("useful", "padding") and bill["kind"] != "core program" and bill["engine_cycles"] >= int(on_pins(bill) * bill["memory_cycles"] + 1e-6):
        return limiter in ("rate of the DMA engine", f"{bill['kind']} rate of the DMA engine")
    if bill["limiter_part"] == "fixed":
        return limiter in ("fixed cost of a transfer", "number of descriptors")
    return limiter == {**WAITS, **BYTES}[bill["limiter_part"]] or (bill["limiter_part"] == "conflicts" and
                                                                   limiter == "rate of the partitions")


def check_runs(words, bill):
    bits = bill["useful_bytes"] * 8 + bill["padding_bytes"] * 4  # the same at both ends
    for key in ("runs_at_both", "src_runs", "dst_runs"):
        least, most = (sum(run["count"] * run[f"{end}_bits"] for run in bill[key]) for end in ("shortest", "longest"))
        assert least <= bits + 7 and bits - 8 <= most, (words, key, least, bits, most)
        assert all(0 < run["shortest_bits"] <= run["longest_bits"] < 2 * run["shortest_bits"] for run in bill[key])


@test
def bills_of_random_pairs():
    draw, priced, programs, limits = random.Random(5), 0, 0, set()
    tries = cases(range(COUNT), 15)
    for _ in tries:
        words, same_type = random_pair(draw)
        code, out, err = run("dma", *words, "--json", "--alone")
        if code != 0:
            assert code in (1, 4) and "error" in read_json(out) and (" bytes at byte " in err or "and no shipped program" in err), (words, err)
            continue
        bill = read_json(out)
        parts = bill["parts"]
        assert sum(parts.values()) == bill["cycles"] and min(parts.values()) >= 0, (words, bill)
        assert parts["fixed"] >= min(bill["fixed_cycles"], bill["cycles"])
        assert 0 <= bill["padding_bytes"] + bill["waste_bytes"] <= bill["moved_bytes"] or bill["kind"] == "core program"
        assert min(bill["hbm_limiters"].values(), default=1) > 0
        assert bill["peak_percent"] <= 100 and bill["row_hits"] <= bill["bursts"]
        assert abs(bill["gb_per_s"] - bill["useful_bytes"] / bill["microseconds"] / 1000) <= 0.001 + 0.001 * bill["gb_per_s"]
        assert abs(bill["peak_percent"] - 100 * on_pins(bill) * bill["memory_cycles"] / bill["cycles"]) < 0.001 + 100 / bill["cycles"]
        assert agrees(bill), (words, bill["limiter"], parts, bill["engine_cycles"], bill["memory_cycles"])
        if same_type and bill["kind"] != "core program":
            check_runs(words, bill)
        priced += 1
        programs += bill["kind"] == "core program"
        limits.add(bill["limiter"])
    assert priced > len(tries) * 0.9 and programs > len(tries) // 24 and len(limits) > len(tries) // 30, (priced, programs, limits)


@test
def the_cheapest_other_layout_is_cheapest():
    draw, cheaper = random.Random(11), 0
    tries = cases(range(12), 2)
    for _ in tries:
        words, _ = random_pair(draw)
        code, out, _ = run("dma", *words, "--json")
        if code != 0:
            continue
        bill = read_json(out)
        for end, key in enumerate(("other_sources", "other_destinations")):
            for other in bill[key][:2]:
                slices = words[end].partition("}")[2]
                there = [*words[:end], other["shape"] + slices, *words[end + 1:]]
                assert expect_json(["dma", *there, "--alone"])["cycles"] == other["cycles"], (words, other)
            cycles = [other["cycles"] for other in bill[key]]
            assert cycles == sorted(cycles)
            cheaper += bool(cycles) and cycles[0] < bill["cycles"]
    assert cheaper >= len(tries) // 4, cheaper


main()
