"""Traces that were run through Ramulator 2.1 (c5b1c3a) and DRAMsim3 (2981759) as well: the same cycles; and
traces on which DRAMsim3's controller never ends."""
import csv
import json
import lzma
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import main, run, test

TRACES = Path(__file__).parent.parent / "data" / "hbm_traces"
CLOSED = "--map H --window 262144 --set hbm.controller.page=closed --set hbm.controller.page_accesses=2".split()
PER_BANK = ["--set", "hbm.controller.scheduler=per_bank", "--set", "hbm.controller.write_high=100"]


def bill(words, requests):
    """What comes of requests, a line each, from standard input."""
    code, out, err = run("hbm", "-", "--json", *words, stdin=requests)
    assert code == 0, err
    return json.loads(out)


def lines(name):
    return lzma.open(TRACES / name, "rt").read()


@test
def cycles_of_the_simulators():
    with open(TRACES / "rows.tsv", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == 13
    for row in rows:
        cycles = bill(shlex.split(row["arguments"]), lines(row["trace"]))["cycles"]
        assert cycles == int(row["cycles"]), (row, cycles)


@test
def a_row_with_an_active_burst_stays_open():
    """Ramulator closes it, and the burst waits until the row is opened for another: 17157 cycles."""
    assert bill(["-m", "hbm3-reference", *CLOSED], lines("read_then_write_5.xz"))["cycles"] == 16699


@test
def exact_is_the_same():
    for name, words in (("longidle_5.xz", ["-m", "hbm3-reference"]), ("manyrows_4.xz", ["-m", "hbm2-reference"])):
        found = [bill([*words, *more], lines(name)) for more in ([], ["--exact"])]
        for one in found:
            del one["host_seconds"]
        assert found[0] == found[1]


@test
def gaps_go_to_waiting_requests():
    """The buses without requests are idle; of the longest trace on the largest machine as well, whose times can be added up."""
    every = {"stacks": 32, "channels": 64, "pseudo_channels": 4, "banks": 1, "rows": 1024}
    largest = [word for name, count in every.items() for word in ("--set", f"hbm.{name}={count}")]
    for words, buses in (([], 32), (largest + ["--set", "memories.hbm.capacity=16 GiB"], 32 * 64 * 4)):
        for last in (100_000, 2**46 - 1):
            found = bill(words, f"0x0 READ 0\n0x40 READ {last}\n")
            if last == 100_000:
                assert found["limiters"] == bill([*words, "--exact"], f"0x0 READ 0\n0x40 READ {last}\n")["limiters"], words
            assert min(found["limiters"].values()) >= 0 and abs(sum(found["limiters"].values()) - found["cycles"]) < 20, found
            assert 0 < 1 - found["limiters"]["idle"] / found["cycles"] < 2.1 / buses, found
            assert min(found["energy_joules"].values()) >= 0, found


@test
def writes_that_stay_are_written_after_the_last_request():
    """Whether its gap is walked or passed over; 200,123 cycles are DRAMsim3's, told to keep no write then."""
    requests = "".join(f"{address:#x} WRITE 0\n" for address in (0, 1 << 18, 1 << 19)) + "0x40 READ 200000\n"
    for more in ([], ["--exact"]):
        found = bill(["-m", "hbm2-reference", "--set", "hbm.bus.act=1", *PER_BANK, *more], requests)
        assert [found[key] for key in ("cycles", "activations", "row_hits")] == [200123, 4, 4], found


@test
def every_channel_is_refreshed_to_the_end():
    """Two requests to one channel, 39 tREFI apart: 16 pseudo channels have been refreshed 39 times."""
    found = bill(["-m", "hbm2-reference"], "0x0 READ 0\n0x0 READ 152200\n")
    assert found["refreshes"] == 39 * 16, found
    assert bill(["-m", "hbm2-reference"], "0x0 READ 0\n")["refreshes"] == 0


@test
def a_write_that_waits_for_ever():
    """A full write buffer, or a drain that has begun, whose oldest write waits for a read that is not moved."""
    full = "R 0\n" + "".join(f"W {64 * i * 16:#x}\n" for i in range(400))
    drain = "R 0\n" + "".join(f"W {1024 * i:#x}\n" for i in range(9))
    for requests in (full, drain):
        code, out, err = run("hbm", "-", "-m", "hbm2-reference", *PER_BANK, "--set", "hbm.controller.write_low=12",
                             stdin=requests)
        assert code == 4 and out == "" and "stands still for ever from cycle 1 of HBM on" in err, (code, out, err)
    assert bill(["-m", "hbm2-reference", *PER_BANK], "R 0\nW 0\n")["writes"] == 2


main()
