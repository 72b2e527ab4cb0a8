"""The energy of tilesim hbm: DRAMsim3's for equal commands, and what follows from the currents."""
import csv
import json
import lzma
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import ALL, cases, expect, expect_json, main, run, test

DATA = Path(__file__).parent.parent / "data"
CAUSES = {"act_pJ": "activate", "read_pJ": "read", "write_pJ": "write", "refresh_pJ": "refresh",
          "act_standby_pJ": "active_standby", "pre_standby_pJ": "precharge_standby"}
DRAMSIM3 = ["hbm.channels=16", "hbm.pseudo_channels=1", "hbm.bus.act=1", "hbm.controller.scheduler=per_bank",
            "hbm.controller.read_entries=32", "hbm.controller.write_entries=32", "hbm.controller.write_high=100",
            "hbm.controller.write_low=25"]


def settings(*fields):
    return [word for field in fields for word in ("--set", field)]


def energy(words, requests=""):
    code, out, err = run("hbm", *words, "--json", stdin=requests)
    assert code == 0, err
    found = json.loads(out)
    joules = found["energy_joules"]
    assert abs(joules["total"] - sum(joules[cause] for cause in CAUSES.values())) < 1e-11
    return found, joules


@test
def dramsim3():
    """By cause within 2 %; what it leaves in its write buffer is the difference of the writes."""
    lines = (DATA / "hbm_energy.csv").read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert len(rows) == 5
    for row in rows:
        requests = lzma.open(DATA / "hbm_traces" / row["trace"], "rt").read()
        found, joules = energy(["-", "-m", "hbm2-reference", "--map", row["map"], "--window", row["window_bytes"],
                                *settings(*DRAMSIM3)], requests)
        assert [found[key] for key in ("cycles", "activations", "refreshes")] == \
            [int(row[key]) for key in ("cycles", "activations", "refreshes")], (row, found)
        for column, cause in CAUSES.items():
            of_dramsim3 = float(row[column])
            assert abs(joules[cause] * 1e12 - of_dramsim3) <= 0.02 * of_dramsim3, (row["trace"], cause, joules)


@test
def another_clock():
    """Currents stay what they are, so that a burst costs what it takes in time; scaled with the clock, it costs what it did."""
    above = 390 - 55   # of idd4r over idd3n
    words = ["a_seq_rd", "-m", "tpu-v5e"]
    read = energy(words)[1]["read"]
    assert read > 0
    for scale, fields, factor in ((0.5, [], 2), (2, [], 0.5), (2, [f"hbm.energy.idd4r={55 + 2 * above}"], 1),
                                  (0.2, [f"hbm.energy.idd4r={55 + above // 5}"], 1)):
        found = energy([*words, *settings(f"hbm.bandwidth_scale={scale}", *fields)])[1]["read"]
        assert abs(found / read - factor) < 1e-9, (scale, fields, found, read)


@test
def one_read():
    """By hand: 64 bytes are two bursts of one row, done at 36 ns; the row is open from 1 on, 15 others are not."""
    found, joules = energy(["-", "-m", "hbm2-reference", *settings("hbm.controller.refresh=none")], "R 0\n")
    assert found["cycles"] == 36
    expected = {"activate": 828, "read": 2 * 804, "write": 0, "refresh": 0, "active_standby": 35 * 66,
                "precharge_standby": (16 * 36 - 35) * 48}
    assert {cause: round(joules[cause] * 1e12, 6) for cause in expected} == expected, joules


@test
def currents():
    """Each figure moves the causes that it is of, and those alone."""
    moves = {"vdd": set(CAUSES.values()), "idd0": {"activate"}, "idd4r": {"read"}, "idd4w": {"write"},
             "idd5ab": {"refresh"}, "idd5pb": set(), "idd2n": {"activate", "precharge_standby"},
             "idd3n": {"activate", "read", "write", "refresh", "active_standby"}}
    one = energy(["c_copy4k", "-m", "hbm2-reference"])[1]
    figures = expect_json(["show", "machine", "hbm2-reference"])["figures"]
    for name, causes in moves.items():
        value = figures[f"hbm.energy.{name}"]["value"] + 1
        other = energy(["c_copy4k", "-m", "hbm2-reference", *settings(f"hbm.energy.{name}={value}")])[1]
        assert {cause for cause in CAUSES.values() if one[cause] != other[cause]} == causes, name
    assert min(one[cause] for cause in CAUSES.values()) > 0


@test
def refreshes_of_one_bank():
    found, joules = energy(["c_copy4k", "-m", "hbm2-reference", *settings("hbm.controller.refresh=per_bank")])
    assert abs(joules["refresh"] * 1e12 - found["refreshes"] * 1.2 * (75 - 55) * 160) < 1, joules


@test
def clocks():
    """Of half CKs and of a faster clock, the time counts."""
    def value(path):
        return figures[f"hbm.{path}"]["value"]
    for machine in cases(("hbm3-reference", "hbm3e-reference", "tpu-v5e"), 1):
        found, joules = energy(["l_relayout", "-m", machine, "--map", "H"])
        figures = expect_json(["show", "machine", machine])["figures"]
        seconds, ck = found["cycles"] / found["clock_khz"] / 1e3, 1e-3 / value("clock")
        buses = value("stacks") * value("channels") * value("pseudo_channels")
        standby = joules["active_standby"] / 66e-3 + joules["precharge_standby"] / 48e-3
        assert abs(standby / (buses * seconds) - 1) < 1e-6, (machine, standby, buses, seconds)
        read = 1.2 * (0.390 - 0.055) * value("timing.n_bl") * ck * (found["reads"] - found["forwarded"])
        assert abs(joules["read"] / read - 1) < 1e-6, (machine, joules, read)


@test
def walked_and_passed_over():
    """Gaps between requests that are passed over, with rows open and without, and channels that stand for others."""
    far = f"0x0 READ 0\n0x40 READ 5000000\n0x4000000 WRITE 9000000\n0x8000 READ {700000000 if ALL else 70000000}\n"
    for more in ([], settings("hbm.controller.refresh=none")):
        found = [energy(["-", "-m", "hbm2-reference", *more, *exact], far)[1] for exact in ([], ["--exact"])]
        assert found[0] == found[1]
    waits = [energy(["h_tile_bf16", "-m", "tpu-v5e", *exact])[1] for exact in ([], ["--exact"])]
    assert waits[0] == waits[1]


@test
def transfers():
    """From issue to completion; a sampled one as the walked one."""
    def value(path):
        return figures[f"hbm.{path}"]["value"]
    figures = expect_json(["show", "machine", "tpu-v5e"])["figures"]
    for ends in cases((["f32[2048,1024]{1,0}", "f32[2048,1024]{1,0:T(8,128)}"], ["bf16[4096,2048]{0,1}", "bf16[4096,2048]{1,0}"]), 1):
        waits, exact = (expect_json(["dma", *ends, "-m", "tpu-v5e", "--alone", *more]) for more in ([], ["--exact"]))
        for bill in (waits, exact):
            joules, buses = bill["hbm_energy_joules"], value("stacks") * value("channels") * value("pseudo_channels")
            ticks = -(-bill["cycles"] * value("clock") * value("ticks") // figures["chip.clock.sustained"]["value"]) * buses
            standby = joules["active_standby"] / 66e-3 + joules["precharge_standby"] / 48e-3
            assert abs(standby * value("clock") * 1e3 * value("ticks") / ticks - 1) < 1e-6
            bursts = (joules["read"] / 402 + joules["write"] / 534) * value("clock") * 1e3 / value("timing.n_bl") * 1e3
            assert abs(bursts / bill["bursts"] - 1) < 1e-6 and joules["precharge_standby"] >= 0, (bursts, bill)
        for cause, of_exact in exact["hbm_energy_joules"].items():
            assert abs(waits["hbm_energy_joules"][cause] - of_exact) < 0.02 * exact["hbm_energy_joules"]["total"], cause


def v5e():
    figures = expect_json(["show", "machine", "tpu-v5e"])["figures"]
    return figures, math.prod(figures[f"hbm.{name}"]["value"] for name in ("stacks", "channels", "pseudo_channels"))


@test
def runs():
    """A run's HBM stands by all of its time, whatever part of it was walked; sampled as walked, loops left out as run."""
    figures, buses = v5e()
    for words in cases((["transpose.tsim"], ["softmax.tsim", "-D", "ROWS=8192"], ["matmul.tsim", "-D", "M=1024"],
                        ["matmul.tsim", "-D", "M=4096", "-D", "N=4096", "-D", "K=4096", "--time-only"]), 1):
        words = ["run", f"tilesim:/{words[0]}", *words[1:], "-m", "tpu-v5e"]
        exact, *others = (expect_json([*words, *more]) for more in (["--exact"], [], ["--time-only"]))
        of_exact = exact["hbm_energy_joules"]
        for found in (exact, *others):
            joules, seconds = found["hbm_energy_joules"], found["cycles"] / 1.5e9
            standby = joules["active_standby"] / 66e-3 + joules["precharge_standby"] / 48e-3
            assert abs(standby / (buses * seconds) - 1) < 1e-3, (words, standby, buses * seconds)
            refreshes = joules["refresh"] / (1.2 * 0.195 * 260e-9)
            assert abs(refreshes - buses * seconds / 3900e-9) <= buses, (words, refreshes, buses * seconds / 3900e-9)
            for cause, value in of_exact.items():
                assert abs(joules[cause] - value) <= 0.01 * of_exact["total"], (words, cause, value, joules)
            bursts = joules["write"] / (1.2 * 0.445 * figures["hbm.timing.n_bl"]["value"] / 1.6e9)
            assert abs(bursts * 32 / found["hbm_written_bytes"] - 1) < 0.01, (words, bursts, found["hbm_written_bytes"])


@test
def operations():
    """By hand: bytes and FLOP times femtojoules; what is not stated is null."""
    words = ["run", "tilesim:/matmul.tsim", "-m", "tpu-v5e", *([] if ALL else ["-D", "M=256", "-D", "N=256", "-D", "K=256"])]
    stated = settings("energy.mxu_bf16.femtojoules=500", "energy.dma.femtojoules=1000", "energy.bundle.femtojoules=7")
    found = expect_json([*words, *stated])
    joules = found["op_energy_joules"]
    assert abs(joules["mxu_bf16"] - found["mxu_flops"] * 500e-15) < 1e-15
    assert abs(joules["dma"] - found["moved_bytes"] * 1000e-15) < 1e-15
    assert abs(joules["bundle"] - found["bundles"] * 7e-15) < 1e-15
    assert abs(joules["total"] - joules["mxu_bf16"] - joules["dma"] - joules["bundle"]) < 2e-15
    assert joules["vmem"] is None and joules["vpu_f32"] is None and joules["mxu_int8"] is None
    plain = expect_json(words)
    assert found["cycles"] == plain["cycles"]
    assert set(plain["op_energy_joules"].values()) == {None}
    vmem = settings("energy.vmem.femtojoules=1000000", "energy.dma.femtojoules=0")
    for ends, ratio in ((["f32[64,128]", "f32[64,128]{1,0:S(1)}"], 1), (["f32[64,128]{1,0:S(1)}", "f32[64,128]"], 1),
                        (["f32[64,128]", "f32[64,128]"], 0)):
        found = expect_json(["dma", *ends, "-m", "tpu-v5e", "--alone", *vmem])
        assert abs(found["op_energy_joules"]["vmem"] - ratio * 64 * 512e-9) < 1e-11, (ends, found["op_energy_joules"])
        assert found["op_energy_joules"]["dma"] == 0
    text = expect([*words, *stated])
    assert "           operations mxu_bf16 " in text and " uJ; others not stated\n" in text, text
    assert "           operations not stated\n" in expect(words)
    code, out, err = run("run", "tilesim:/matmul.tsim", *settings("energy.mxu_bf15.femtojoules=1"))
    assert code == 1 and out == "" and "there is no operation 'mxu_bf15'; did you mean 'mxu_bf16'?" in err, err


@test
def choices():
    """Of the time of the slower: what is left of a transfer's is standby."""
    words = ["choose", "f32[1024,1024]{1,0:T(8,128)}", "-m", "tpu-v5e", "--no-moves", "--use"]
    moved, both = (expect_json([*words, use])["candidates"] for use in ("dma:hbm>vmem", "dma:hbm>vmem, reduce:0"))
    alone = expect_json(["dma", "u8[4194304]", "u8[4194304]{0:S(1)}", "--alone", "-m", "tpu-v5e"])
    of_tile = next(c for c in moved if c["now"])
    assert of_tile["cycles"] == alone["cycles"]
    compared = 0
    assert abs(of_tile["hbm_joules"] - alone["hbm_energy_joules"]["total"]) < 1e-11
    for found in both:
        one = next(c for c in moved if c["shape"] == found["shape"])
        if "hbm_joules" in found and "hbm_joules" in one and found["core_cycles"] > found["dma_cycles"]:
            seconds = (found["cycles"] - found["dma_cycles"]) / 1.5e9
            waits = v5e()[1] * seconds * (48e-3 + 1.2 * 0.195 * 260 / 3900)
            assert abs(found["hbm_joules"] - one["hbm_joules"] - waits) < 0.02 * waits, (found, one, waits)
            compared += 1
    assert compared > 0
    run_of = expect_json(["run", "tilesim:/softmax.tsim", "-m", "tpu-v5e", "--time-only"])
    now = next(c for c in expect_json(["choose", "tilesim:/softmax.tsim", "--tensor", "x", "--no-moves", "-m", "tpu-v5e"])
               ["candidates"] if c["now"])
    assert abs(now["hbm_joules"] - run_of["hbm_energy_joules"]["total"]) < 1e-11


@test
def text():
    lines = expect(["hbm", "a_seq_rd", "-m", "hbm2-reference"]).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("energy"))
    total, parts = lines[at].split(), [line.split() for line in lines[at + 1:-1]]
    assert total[2] == "uJ," and total[4] == "W," and total[6:] == ["pJ", "a", "byte"], lines[at]
    assert {part[2] for part in parts} == set(CAUSES.values()) - {"write"}, parts
    assert abs(sum(float(part[0]) for part in parts) - float(total[1])) < 0.004
    assert abs(float(total[1]) * 1e6 / (262144 * 64) - float(total[5])) < 0.01
    assert all(len(line) <= 100 for line in lines)


@test
def bad_currents():
    for field, reason in (("idd4r=54", "hbm.energy.idd4r: found '54', expected at least hbm.energy.idd3n"),
                          ("idd5pb=0", "hbm.energy.idd5pb: found '0', expected at least hbm.energy.idd3n"),
                          ("idd0=50", "hbm.energy.idd0: found '50', expected at least what standby takes in tRC")):
        code, out, err = run("hbm", "a_seq_rd", *settings(f"hbm.energy.{field}"))
        assert code != 0 and out == "" and reason in err, (code, err)


main()
