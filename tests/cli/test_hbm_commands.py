"""tilesim hbm --commands: the trace keeps to JEDEC's rules as tests/support/jedec.py has them, and has all commands."""
import collections
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
import jedec
from cli import cases, expect, expect_json, main, release_test, run, test

FOLDER = Path(tempfile.mkdtemp())
ONE = {"hbm2-reference": ["hbm.channels=1", "memories.hbm.capacity=1 GiB"],
       "hbm3-reference": ["hbm.channels=1", "memories.hbm.capacity=1 GiB"]}
LINES = (1 << 30) // 64  # of that capacity
HEAD = "cycle,command,channel,pseudo_channel,sid,bank_group,bank,row,column"


def settings(fields):
    return [word for field in fields for word in ("--set", field)]


def requests(seed, count):
    """Runs of a few lines, near each other and far, reads and writes, some after a while."""
    choose, cycle, lines = random.Random(seed), 0, []
    for _ in range(count):
        at, write = choose.randrange(1 << choose.choice((12, 16, 20, 26))), choose.random() < 0.4
        cycle += choose.choice((0, 0, 0, 5, 40, 900))
        lines += [f"{(at + i) % LINES * 64:#x} {'WRITE' if write else 'READ'} {cycle}" for i in range(choose.choice((1, 2, 8)))]
    path = FOLDER / f"requests_{seed}_{count}.trace"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def commands(what, machine, fields):
    """The report of a run and its commands."""
    path = FOLDER / "commands.csv"
    words = ["hbm", what, "-m", machine, *settings(fields)]
    report = expect_json([*words, "--commands", str(path)])
    text = path.read_text()
    assert text.startswith(HEAD + "\n") and text.endswith("\n")
    return words, report, jedec.read_commands(text)


def figures(machine, fields):
    return expect_json(["show", "machine", machine, *settings(fields)])["figures"]


CASES = [(machine, [*ONE[machine], *more]) for machine in ONE for more in (
    [],
    ["hbm.controller.refresh=per_bank"],
    ["hbm.controller.page=closed", "hbm.controller.page_accesses=2"],
    ["hbm.controller.scheduler=frfcfs", "hbm.address_map=H"],
    ["hbm.controller.scheduler=per_bank", "hbm.bus.act=1"],
    ["hbm.controller.scheduler=per_bank", "hbm.bus.act=1", "hbm.controller.page=closed",
     "hbm.controller.refresh=per_bank"])]


@test
def rules():
    for number, (machine, fields) in cases(enumerate(CASES), 4):
        words, report, rows = commands(requests(number, 700), machine, fields)
        is_shared = "hbm.controller.scheduler=per_bank" not in fields
        found = jedec.violations(figures(machine, fields), rows, is_shared)
        assert not found, (machine, fields, found[:5])
        counts = collections.Counter(row["command"] for row in rows)
        assert counts["ACT"] == report["activations"] > 100
        assert counts["RD"] + counts["RDA"] == report["reads"] - report["forwarded"] > 100
        assert counts["WR"] + counts["WRA"] == report["writes"] - report["coalesced"] > 100
        assert counts["REFab"] + counts["REFpb"] == report["refreshes"] > 0
        assert counts["PRE"] + counts["PREA"] + counts["RDA"] + counts["WRA"] == report["precharges"]
        assert ("page=closed" in " ".join(fields)) == (counts["RDA"] + counts["WRA"] > 0), counts
        assert max(row["cycle"] for row in rows) <= report["cycles"]
        for one in (report, plain := expect_json(words)):
            del one["host_seconds"]
        assert plain == report


@test
def order_and_fields():
    rows = commands("d_s4k_512", "hbm2-reference", [])[2]
    keys = [(row["cycle"], row["channel"], row["pseudo_channel"]) for row in rows]
    assert keys == sorted(keys)
    assert {row["channel"] for row in rows} == set(range(0, 8)), "H spreads runs, A does not"


@test
def places():
    """Under map A: column 0 and pc, ch, bg, the other columns, ba, ro from bit 5 on."""
    fields = ["hbm.controller.refresh=none"]
    address = 1 << 5 | 1 << 6 | 5 << 7 | 2 << 10 | 9 << 12 | 3 << 16 | 77 << 18
    path = FOLDER / "one.trace"
    path.write_text(f"R {address - 32:#x}\n")
    rows = commands(str(path), "hbm2-reference", fields)[2]
    place = {"channel": 5, "pseudo_channel": 1, "sid": 0, "bank_group": 2, "bank": 3, "row": 77}
    assert rows == [{"cycle": 1, "command": "ACT", **place, "column": -1},
                    {"cycle": 16, "command": "RD", **place, "column": 18},
                    {"cycle": 20, "command": "RD", **place, "column": 19}], rows


HBM2, HBM3, ONE_BANK = "hbm2-reference", "hbm3-reference", "hbm.controller.refresh=per_bank"
FAULTS = {  # the machine, and what makes the rule the one that binds
    "t_rcd_rd": (HBM2,), "t_rcd_wr": (HBM2,), "t_ccd_l": (HBM2,), "t_ccd_s": (HBM2, "hbm.timing.t_ccd_s=3 ck"),
    "t_ccd_r": (HBM3,), "t_rtw": (HBM2,), "t_wtr_l": (HBM2,), "t_wtr_s": (HBM2,), "t_rp": (HBM2,),
    "t_rc": (HBM2, "hbm.timing.t_rc=60 ck"), "t_faw": (HBM2, "hbm.timing.t_faw=40 ck"), "t_rrd_s": (HBM2,),
    "t_rrd_l": (HBM3,), "t_ras": (HBM2,), "t_rtp": (HBM2, "hbm.timing.t_rtp=30 ck"), "t_wr": (HBM2,), "t_ppd": (HBM3,),
    "t_rfc": (HBM2,), "t_rfc_pb": (HBM2, ONE_BANK), "t_rrefd": (HBM2, ONE_BANK, "hbm.timing.t_rrefd=100 ck"),
}


@release_test
def faults():
    """A simulator whose timing is a CK too short is found out, by the name of that rule."""
    for name, (machine, *more) in FAULTS.items():
        fields = [*ONE[machine], *more]
        right = figures(machine, fields)
        less = f"hbm.timing.{name}={right[f'hbm.timing.{name}']['value'] - 1} ck"
        rows = commands(requests(99, 300), machine, [*fields, less])[2]
        found = {rule for _, rule in jedec.violations(right, rows)}
        assert found == {name}, (name, found)


@test
def moved():
    """And so is a command that is not where it was."""
    machine, fields = CASES[0][0], [*CASES[0][1], "hbm.timing.t_refi=400 ck"]
    right = figures(machine, fields)
    rows = commands(requests(0, 700), machine, fields)[2]
    assert jedec.violations(right, rows) == []
    for command, rule in (("ACT", "row is open"), ("PRE", "bank is closed"), ("REFab", "t_refi")):
        kept = [row for row in rows if row["command"] != command]
        assert rule in {name for _, name in jedec.violations(right, kept)}, command


@test
def standard_output():
    out = expect(["hbm", "k_bankconf", "-m", "hbm2-reference", "--commands", "-"])
    lines = out.splitlines()
    assert lines[0] == HEAD and lines[1] == "1,ACT,0,0,0,0,0,0,-1", lines[:3]
    assert all(line.count(",") == 8 for line in lines)
    code, out, err = run("hbm", "k_bankconf", "--json", "--commands", "-")
    assert code == 2 and HEAD not in out and "both write to standard output" in err, err
    path = requests(1, 3)
    code, _, err = run("hbm", path, "--commands", path)
    assert code == 2 and "would be written over the input" in err, err


main()
