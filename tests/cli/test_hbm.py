"""tilesim hbm: figures, JSON keys, traces of both simulators, options, and bad input."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import cases, expect, expect_json, main, run, test

ONE = ["--set", "hbm.channels=1", "--set", "hbm.pseudo_channels=1", "--set", "hbm.controller.refresh=none",
       "--set", "hbm.controller.read_entries=32", "--set", "hbm.controller.write_entries=32",
       "--set", "memories.hbm.capacity=512 MiB"]


def trace(lines):
    """A file of those lines; returns its path."""
    file = tempfile.NamedTemporaryFile("w", suffix=".trace", delete=False)
    file.write("".join(line + "\n" for line in lines))
    file.close()
    return file.name


@test
def keys():
    bill = expect_json(["hbm", "k_bankconf", "-m", "hbm2-reference"], schema="tilesim.hbm", machine="hbm2-reference",
                       requests_from="k_bankconf", address_map="A", lookahead_bytes=65536, requests=16384,
                       bytes=1 << 20, cycles=848072, clock_khz=1000000, reads=32768, writes=0)
    assert abs(bill["bandwidth_fraction"] - (1 << 20) / 848072 / 256) < 1e-6
    assert abs(bill["row_hit_rate"] - 0.4967) < 5e-5 and abs(bill["mean_read_latency_cycles"] - 1678.4) < 0.05
    assert bill["host_seconds"] > 0 and len(bill["machine_hash"]) == 16 and bill["version"]


@test
def text():
    lines = expect(["hbm", "k_bankconf", "-m", "hbm2-reference"]).splitlines()
    assert lines[:5] == [
        "requests      k_bankconf: 16,384 of 64 bytes, 1,048,576 bytes",
        "machine       hbm2-reference (HBM2 reference)",
        "address map   A",
        "look-ahead    65,536 bytes",
        "time          848,072 cycles of 1.000 GHz, 848.072 us, 1.2 GB/s, 0.48 % of the peak",
    ], lines
    assert all(len(line) <= 100 for line in lines)
    assert "tpu-v5e (TPU v5e), the default" in expect(["hbm", "k_bankconf"])
    assert "look-ahead    unlimited\n" in expect(["hbm", "k_bankconf", "--window", "unlimited"])


@test
def limiters_add_up():
    for words in cases((["c_copy4k"], ["j_random", "--map", "A", "-m", "hbm3-reference"], ["l_relayout", "-m", "tpu-v5e"]), 1):
        bill = expect_json(["hbm", *words])
        parts = bill["limiters"]
        assert sum(parts.values()) == bill["cycles"] and min(parts.values()) >= 0, parts
        assert abs(parts["data"] / bill["cycles"] - bill["bandwidth_fraction"]) < 1e-3, (parts, bill)
        assert parts["refresh"] > 0 and parts["tRCD"] > 0
        lines = expect(["hbm", *words]).splitlines()
        shares = [float(line.split()[0]) for line in lines if line.startswith("  ") and line.split()[1] == "%"]
        assert abs(sum(shares) - 100) < 0.2 and all(len(line) <= 100 for line in lines), lines


@test
def windows_and_maps():
    def cycles(*options):
        return expect_json(["hbm", "d_s4k_512", "-m", "hbm2-reference", *options])["cycles"]
    assert cycles() == cycles("--window", "65536") == cycles("--exact") == cycles("--map", "A") == 71165
    assert cycles("--window", "0") == 71197
    assert cycles("--map", "H") == 17858 and cycles("--map", "H", "--window", "0") == 17907
    assert cycles("--map", "off co:1 pc ch st bg co ba sid ro") == 71165
    assert cycles("--map", "B") > cycles("--map", "H")


@test
def generations_and_stacks():
    """Every generation streams; stacks that are no power of two share the work."""
    for machine in ("hbm2-reference", "hbm2e-reference", "hbm3-reference", "hbm3e-reference"):
        bill = expect_json(["hbm", "a_seq_rd", "-m", machine, "--map", "H"])
        assert 0.89 < bill["bandwidth_fraction"] < 0.93, (machine, bill["bandwidth_fraction"])
    one, three = (expect_json(["hbm", "a_seq_rd", "-m", "hbm2-reference", "--set", f"hbm.stacks={stacks}"])["cycles"]
                  for stacks in (1, 3))
    assert abs(one / three - 3) < 0.02, (one, three)


@test
def controllers():
    """The other policies: as DRAMsim3 (its run of one pseudo channel), and closed pages."""
    dramsim3 = [*ONE, "--set", "hbm.bus.act=1", "--set", "hbm.controller.scheduler=per_bank",
                "--set", "hbm.controller.write_low=25"]
    eight = trace([f"R {64 * i + 4096 * (i // 4)}" for i in range(8)])
    expect_json(["hbm", eight, "-m", "hbm2-reference", *ONE], cycles=64)
    expect_json(["hbm", eight, "-m", "hbm2-reference", *dramsim3], cycles=69)
    two = trace(["0x0 READ 0", "0x4000 READ 500"])  # another row of the bank: it was closed meanwhile
    closed = ["--set", "hbm.controller.page=closed", "--set", "hbm.controller.page_accesses=1"]
    expect_json(["hbm", two, "-m", "hbm2-reference", *ONE], cycles=549, precharges=1)
    expect_json(["hbm", two, "-m", "hbm2-reference", *ONE, *closed], cycles=536)


@test
def pattern_names():
    lines = expect(["hbm", "--list"]).splitlines()
    assert len(lines) == 14 and lines[0] == "a_seq_rd        reads in order"
    names = [row["name"] for row in expect_json(["hbm", "--list"])["patterns"]]
    assert names == [line.split()[0] for line in lines]
    for words, message in ((["j_random"], "--list takes no operands, found 'j_random'"), (["-m", "nosuch"], "--machine does not go with --list")):
        code, out, err = run("hbm", "--list", *words)
        assert code == 2 and out == "" and message in err, err


@test
def traces_of_both_simulators():
    reads, writes = [64 * i for i in range(8)], [4096 + 64 * i for i in range(8)]
    both = [(False, a) for a in reads] + [(True, a) for a in writes]
    formats = [
        [f"{'ST' if write else 'LD'} {a:#x}" for write, a in both],
        [f"{'W' if write else 'R'} {a}" for write, a in both],
        [f"{a:#x} {'WRITE' if write else 'READ'} 0" for write, a in both],
        [f"{a:#x} {'W' if write else 'R'}" for write, a in both],
        [f"  0X{a:X}\t{'write' if write else 'read'} {0:030}  " for write, a in both],  # not the usual way
        [f"{'P_MEM_WR' if write else 'P_MEM_RD'}   {a:020} " for write, a in both] + ["", "# the end"],
    ]
    bills = []
    for lines in formats:
        bill = expect_json(["hbm", trace(lines), "-m", "hbm2-reference"], requests=16, reads=16, writes=16)
        bills.append({key: value for key, value in bill.items() if key not in ("host_seconds", "requests_from")})
    assert all(bill == bills[0] for bill in bills)
    code, out, _ = run("hbm", "-", "-m", "hbm2-reference", "--json", stdin="\n".join(formats[0]))
    assert code == 0 and f'"cycles": {bills[0]["cycles"]},' in out


@test
def one_pseudo_channel():
    """Exact counts of Ramulator 2.1 and DRAMsim3: one read, two rows of a bank; and a read that comes later."""
    rows = [(["R 0"], 36), (["R 0", "R 0x4000"], 84), (["W 0", "W 0x4000"], 71), (["0x0 READ 1000"], 1036)]
    for lines, cycles in rows:
        expect_json(["hbm", trace(lines), "-m", "hbm2-reference", *ONE], cycles=cycles)
        expect_json(["hbm", trace(["\ufeff" + lines[0], *lines[1:]]), "-m", "hbm2-reference", *ONE], cycles=cycles)


@test
def nothing():
    expect_json(["hbm", "-", "-m", "hbm2-reference"], requests=0, cycles=0, bandwidth_fraction=0, row_hit_rate=0)


@test
def bad_input():
    path = trace(["LD 0x40", "LOAD 0x80"])
    expect(["hbm", path], 1, "", f"{path}:2:1: error: found 'LOAD', expected LD, ST, R, W, READ or WRITE\n"
                                 "LOAD 0x80\n^\n")
    path = trace(["LD 0x40", "LD 0x80", "LD 0x1000000000000"])
    expect(["hbm", path], 1, "", f"{path}:3:4: error: the address is too large, expected one below 0x400000000\n"
                                 "LD 0x1000000000000\n   ^\n")
    small = ["-m", "hbm2-reference", *ONE, "--set", "hbm.rows=4096", "--set", "memories.hbm.capacity=64 MiB"]
    for first, last in (("0x3ffffff READ", "0x4000000 READ"), ("LD 0x3ffffc0", "ST 67108864")):
        expect_json(["hbm", trace([first]), *small], requests=1)
        path, column = trace([first, "# and one more", last]), 1 if last[0] == "0" else 4
        expect(["hbm", path, *small, "--commands", f"{path}.csv"], 1, "",
               f"{path}:3:{column}: error: the address is too large, expected one below 0x4000000\n"
               f"{last}\n{' ' * (column - 1)}^\n")
        assert not Path(f"{path}.csv").exists()
    for pattern, rows in cases((("a_seq_rd", 1024), ("c_copy4k", 16896), ("j_random", 16384), ("k_bankconf", 16384),
                                ("m_unlayout", 16896)), 2):
        def words(rows):
            return ["hbm", pattern, *small, "--set", f"hbm.rows={rows}", "--set", "memories.hbm.capacity=1 MiB"]
        expect(words(rows), out=None)
        expect(words(rows - 1), 1, "", f"tilesim: error: pattern {pattern} has addresses beyond {(rows - 1) * 16384:#x}, "
                                       "where the machine's HBM ends\n")
    expect(["hbm", "a_seq_r"], 1, "", "tilesim: error: found 'a_seq_r', expected a pattern (tilesim hbm --list names them), or the path of a trace (with a "
                                    "'.' or '/'); did you mean 'a_seq_rd'?\n")
    expect(["hbm", "no/such"], 1, "", "tilesim: error: cannot open 'no/such': No such file or directory\n")
    help_ = "`tilesim hbm --help` shows how it is used\n"
    expect(["hbm"], 2, "", f"tilesim hbm: error: too few operands, expected PATTERN|TRACE\n{help_}")
    expect(["hbm", "a_seq_rd", "--window", "-1"], 2, "",
           f"tilesim hbm: error: --window is -1, expected 0 to 1073741824, or unlimited\n{help_}")
    expect(["hbm", "a_seq_rd", "--window", "64K"], 2, "",
           f"--window:1:3: error: found '64K', expected an integer\n64K\n  ^\n{help_}")
    expect(["hbm", "a_seq_rd", "--map", "off co"], 1, "",
           "--set:1:23: error: hbm.address_map: pc has 0 bits, expected 1 to be placed: two addresses would be one place\n"
           f"hbm.address_map=off co\n{22 * ' '}^\n")
    code, _, err = run("hbm", "a_seq_rd", "--set", "hbm.stakcs=4")
    assert code == 1 and "did you mean 'hbm.stacks'" in err, err


main()
