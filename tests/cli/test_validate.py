"""tilesim validate: docs/accuracy.md is what it writes; its JSON; bad input."""
import json
import re
import sys
import tempfile
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import ALL, LONG, cases, expect, main, release_test, run, test

ROOT = Path(__file__).parent.parent.parent
HEADER = "id,chip,workload description,parameters,measured value,unit,timing\n"


def section(title):
    """A section of docs/accuracy.md."""
    text = (ROOT / "docs/accuracy.md").read_text()
    start = text.index(f"## {title}\n")
    end = text.find("\n## ", start)
    return (text[start:] if end < 0 else text[start:end]).rstrip("\n") + "\n"


@release_test
def accuracy_of_hbm_time():
    """Where no figure differs, the tables of differences are of zeros alone. JSON: tests/report/test_hbm_accuracy.c, too."""
    assert expect(["validate", "hbm", "--markdown"], err=None) == section("HBM time"), "run: tests/update.py"
    if not LONG:
        return
    figures = json.loads(expect(["validate", "hbm", "--json"], err=None))
    assert figures["schema"] == "tilesim.validate" and len(figures["sequences"]) == 16 and len(figures["runs"]) == 291
    for run in figures["sequences"] + figures["runs"]:
        assert run["cycles"] == run["reference_cycles"], run


@test
def bad_input():
    help_ = "`tilesim validate --help` shows how it is used\n"
    expect(["validate", "hbn"], 2, "",
           f"tilesim validate: error: found 'hbn', expected [hbm]; did you mean 'hbm'?\n{help_}")
    expect(["validate", "--set", "hbm.stacks=4"], 2, "",
           f"tilesim validate: error: --set changes one machine, expected -m too\n{help_}")
    expect(["validate", "-m", "tpu-v4", "--set", "hbm.stack=4"], 1, "",
           "--set:1:5: error: unknown key 'hbm.stack'; did you mean 'hbm.stacks'?\nhbm.stack=4\n    ^\n")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "t.csv")
        table.write_text("id,chip,workload description,parameters,measured value,unit\na,v4,w,p,-1,us\n")
        expect(["validate", "--data", str(table)], 1, "",
               f"{table}:2:10: error: found '-1', expected a number above 0\na,v4,w,p,-1,us\n         ^\n")
        table.write_text(HEADER)
        expect(["validate", "--data", table], 1, "", f"{table}:1:1: error: a table without rows\n{HEADER}^\n")
        table.write_text(HEADER + "a,v4,w,p,1,us,\n")
        of_v4 = "expected a machine whose title is TPU v4"
        expect(["validate", "--data", table, "-m", "tpu-v5e"], 1, "", f"tilesim: error: no row is of a TPU v5e, {of_v4}\n")
        mine = Path(folder, "mine.yaml")
        mine.write_text("base: tpu-v4\ntitle: mine\n")
        expect(["validate", "--data", table, "-m", mine], 1, "", f"tilesim: error: no row is of a mine, {of_v4}\n")
        table.write_text(HEADER + "a,v4,w,p,1,us,\nb,v5e,w,p,1,us,\nc,v4,w,p,1,us,\nd,v6e,w,p,1,us,\n")
        expect(["validate", "--data", table, "-m", mine], 1, "", f"tilesim: error: no row is of a mine, {of_v4}, TPU v5e or TPU v6e\n")


@test
def the_clock_of_products():
    """Random data slow the clock, never speed it up: a lower sustained clock is that of products too."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "t.csv")
        table.write_text(HEADER + "a,v5e,Pallas matmul,M=N=K=1024 dtype=bf16 bm=512 bk=1024 bn=1024 grid_steps=2,0.127,ms,\n")

        def simulated(**clocks):
            sets = [word for name, clock in clocks.items() for word in ("--set", f"chip.clock.{name}={clock}")]
            return json.loads(expect(["validate", "--data", table, "-m", "tpu-v5e", *sets, "--json"]))["rows"][0]["simulated_us"]

        slow = simulated(sustained="750 MHz", matrix="750 MHz")
        assert slow == simulated(sustained="750 MHz") == simulated(sustained="750 MHz", matrix="1 GHz")
        assert simulated() < simulated(matrix="1 GHz") < slow


@release_test
def accuracy_of_tpu_times():
    code, out, err = run("validate", "--markdown", "-j", 2)  # of more threads it takes too short to be told
    assert (code, out) == (0, section("TPU times")), "run: tests/update.py"
    assert re.fullmatch(r"note: \d+ measurements take some \d+ seconds\n", err), err


@release_test
def how_long_it_takes_is_said():
    """Rows that cost nothing are not counted: those of v4 have no products."""
    code, out, err = run("validate", "-m", "tpu-v4")
    assert (code, err) == (0, ""), err
    groups = [line.split()[:3] for line in out.split("\n\n")[1].splitlines()[2:]]  # other chips' rows do not count
    assert [g[0] for g in groups] == ["copy-v4", "gemm-large-wall", "small-v4", "elementwise-v4"], out
    assert all(rows == modelled for _, rows, modelled in groups) and " v5e_" not in out, out


@test
def a_table_for_people():
    """What the Markdown says, in columns."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "t.csv")
        table.write_text(ROWS)
        words = ["validate", "--data", table, "--rows"]
        text, markdown = expect(words), expect([*words, "--markdown"])
    lines = text.splitlines()
    assert "|" not in text.replace("|simulated / measured - 1|", "") and "`" not in text and "**" not in text, text
    assert not any(line.endswith(" ") for line in lines)
    assert max(map(len, lines)) <= 100 and lines[0].startswith("errors     |simulated / measured - 1|"), text
    rows = [re.split(r" *\| *", line.strip("| ")) for line in markdown.splitlines() if line.startswith("| ")]
    plain = re.sub(r"\s+", " ", text)
    for row in rows:
        if row[0] not in ("group", "rows", "row"):
            assert " ".join(cell.replace("`", "") for cell in row) in plain, (row, text)
    head = next(i for i, line in enumerate(lines) if line.startswith("group"))
    group = next(line for line in lines[head:] if line.startswith("copy-v4"))
    assert "roofline:" in lines[head] and "median" in lines[head + 1] and group.split()[1] == "1", lines[head:head + 4]
    assert group.endswith(" x ours"), group  # on one line


ROWS = """id,chip,workload description,parameters,measured value,unit
copy,v4,HBM->S(3) copy,"bytes=9 shape=f16[512,1024]{1,0:T(8,128)(2,1)S(3)}",1.5,us
add,v4,f16 elementwise sub 2D,"shape=(64,64)",1.03,us
two,v5e x8,all_reduce,n=1,5,us
odd,v9,copy from HBM,shape=[4;4],5,us
rate,v4,f16 activation relu,n=5,7,GB/s
"""


@test
def what_is_estimated_is_marked():
    """~ before a time and `estimated` in JSON; --exact leaves none, and times that are near."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "t.csv")
        table.write_text(HEADER + 'large,v4,HBM->S(3) copy,"shape=f16[8192,1024]{1,0:T(8,128)(2,1)S(3)}",20,us,\n'
                         'small,v4,HBM->S(3) copy,"shape=f16[64,128]{1,0:T(8,128)(2,1)S(3)}",2,us,\n'
                         "many,v5e,HBM copy,size=128 MiB,350,us,\nproduct,v5e,Pallas matmul,M=N=K=1024 dtype=bf16 bm=128 bk=128 bn=128,0.1,ms,\n")
        words = ["validate", "--data", table]
        quick, exact = (json.loads(expect([*words, "--json", *more])) for more in ((), ("--exact",)))
        assert [row["estimated"] for row in quick["rows"]] == [True, False, True, True, True] and quick["estimated"], quick
        assert not any(row["estimated"] for row in exact["rows"]) and not exact["estimated"], exact
        for a, b in zip(quick["rows"], exact["rows"]):
            assert abs(a["simulated_us"] / b["simulated_us"] - 1) < (0.05 if a["estimated"] else 1e-12), (a, b)
        text = expect([*words, "--rows"])
        assert "\ntimes      ~ sampled or extended; --exact" in text and "~" not in expect([*words, "--rows", "--exact"]), text
        assert len(re.findall(r"^(?:large|many|product) .* ~[0-9.]+ ", text, re.M)) == 4 and "us measured, ~" in text, text
        expect([*words, "--html", Path(folder, "a.html")], out=None)
        assert Path(folder, "a.html").read_text().count(">~") == 4
        words = ["calibrate", ROOT / "tests/data/calibrate.csv", "-m", "tpu-v4", "--fit", "chip.launch"]
        quick, exact = (json.loads(expect([*words, "--json", *more])) for more in ((), ("--exact",)))
        assert quick["estimated"] and not exact["estimated"]
        after = [result["figures"][0]["after"] for result in (quick, exact)]
        assert abs(after[0] / after[1] - 1) < 0.02, after
        assert "\ntimes      ~ sampled" in expect(words) and "~" not in expect([*words, "--exact"])
        # Products as they are, not their blocks side by side, which are more bytes.
        table.write_text(HEADER + "a,v5e,gemm,M=N=K=4096,1,ms,\n")
        words = ["validate", "--data", table, "-m", "tpu-v5e", "--set", "memories.hbm.capacity=128 MiB", "--json"]
        row, quick = (json.loads(expect([*words, *more]))["rows"][0] for more in (["--exact"], []))
        assert not row["estimated"] and abs(quick["simulated_us"] / row["simulated_us"] - 1) < 0.01, (row, quick)
    expect(["validate", "hbm", "--exact"], 2, "", "tilesim validate: error: --exact does not go with hbm\n"
           "`tilesim validate --help` shows how it is used\n")


@test
def groups_of_its_own():
    """A table of groups beside one of rows: a group that tilesim does not have, and a goal that is another."""
    with tempfile.TemporaryDirectory() as folder:
        rows, groups = Path(folder, "rows.tsv"), Path(folder, "groups.tsv")
        rows.write_text("id\tgroup\tmeasured_us\tworkload\n" + "".join(
            f"r{size}\tmine\t{4 + size / 100}\t{json.dumps({'s': size << 10})}\n" for size in (512, 1024, 2048))
            + "c\tcopy-v7x\t3\t{\"s\": 2097152}\n")
        expect(["validate", "--data", rows, "--json"])
        assert ask_tables(rows)["rows"][0]["reason"] == "a group that is not known"
        groups.write_text("group\treads\tchip\tgoal_median\tgoal_p90\tmeaning\tmiss\n"
                          "mine\tcopy\tv5e\t0.001\t0.002\tcopies of mine\tit is made up\n"
                          "copy-v7x\tcopy\tv7x\t99\t99\tcopies\t\n")
        for files in ((rows, groups), (groups, rows)):
            known = ask_tables(*files)
            assert [g["group"] for g in known["groups"]] == ["copy-v7x", "mine"], known["groups"]
            copy, mine = known["groups"]
            assert (copy["goal_median_percent"], copy["goal_met"], mine["modelled"], mine["goal_met"]) == (99, True, 3, False)
            assert all(row["machine"] == "tpu-v5e" and row["simulated_us"] > 0 for row in known["rows"][:3])
        markdown = expect(["validate", "--data", rows, "--data", groups, "--markdown"])
        assert "- **mine**: copies of mine; programs/copy.tsim. Worst: " in markdown, markdown
        assert " Missed: it is made up.\n" in markdown, markdown
        groups.write_text("group\treads\nmine\tcopi\n")
        expect(["validate", "--data", groups], 1, "",
               f"{groups}:2:6: error: found 'copi' as reads; did you mean 'copy'?\nmine copi\n     ^\n")


def ask_tables(*tables):
    """The report of these tables."""
    return json.loads(expect(["validate", "--json", *(word for table in tables for word in ("--data", table))]))


@test
def several_tables():
    """Their rows are all compared, in the order of the files."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "a.csv"), Path(folder, "b.tsv")
        first.write_text(ROWS)
        second.write_text('id\tgroup\tmeasured_us\tworkload\nmine\tcopy-v4\t3\t{"b": 3}\n')
        assert [row["id"] for row in ask_tables(second, first)["rows"]] == ["mine", "copy", "add", "two", "odd", "rate"]


@test
def another_table():
    with tempfile.TemporaryDirectory() as folder:
        table, picture = Path(folder, "t.csv"), Path(folder, "t.svg")
        table.write_text(ROWS)
        result = json.loads(expect(["validate", "--data", str(table), "--json", "--svg", str(picture)]))
        rows = {row["id"]: row for row in result["rows"]}
        assert [row["group"] for row in result["rows"]] == ["copy-v4", "small-v4", "ici-allreduce", None, "small-v4"]
        for name in ("copy", "add"):
            row = rows[name]
            assert abs(row["error_percent"] / 100 - row["simulated_us"] / row["measured_us"] + 1) < 1e-3
            assert abs(row["error_percent"]) < 10 and 0 < row["roofline_us"] < row["simulated_us"]
        assert rows["two"]["reason"] == "it does not state the bytes and the devices"
        assert rows["two"]["simulated_us"] is None
        assert rows["odd"]["reason"] == "there is no machine of that chip"
        assert rows["rate"]["reason"] == "it is not a time"
        groups = {group["group"]: group for group in result["groups"]}
        assert groups["small-v4"]["rows"] == 2 and groups["small-v4"]["modelled"] == 1
        assert groups["small-v4"]["simulated"]["worst_percent"] == 100
        assert picture.read_text().startswith("<svg")
        # a machine of one's own: only the rows of its chip, and only with its figures
        mine = json.loads(expect(["validate", "--data", str(table), "--json", "-m", "tpu-v4", "--set", "dma.issue=1us"]))
        assert mine["rows"][0]["simulated_us"] > rows["copy"]["simulated_us"] + 0.5
        other = json.loads(expect(["validate", "--data", str(table), "--json", "-m", "tpu-v6e"]))
        assert {row["reason"] for row in other["rows"][:3]} == {"it is of another chip than the machine"}
        assert other["groups"] == [], other["groups"]


ATTENTION = {
    "csv": """id,chip,workload description,parameters,measured value,unit
a,v6e,JAXBench 1p_Flash_Attention Pallas bf16,"batch: 1, seq_len: 2048, num_heads: 8, head_dim: 128, out=[1, 8, 2048, 128]",1,ms
b,v6e,JAXBench 2p_GQA_Attention optimized,"batch: 1, seq_len: 2048, num_query_heads: 8, num_kv_heads: 1, head_dim: 128",1,ms
c,v6e,JAXBench 6p_Paged_Attention Pallas bf16,"batch: 1, num_q_heads: 8, head_dim: 128",1,ms
d,v6e,JAXBench 1p_Flash_Attention XLA bf16,"batch: 1, seq_len: 2048, num_heads: 8, head_dim: 128",1,ms
""",
    "tsv": """id\tgroup\tmeasured_us\tworkload
a\tflash-v6e\t1000\t{"B": 1, "D": 128, "H": 8, "S": 2048}
b\tflash-v6e\t1000\t{"B": 2, "D": 128, "H": 4, "Hkv": 1, "S": 2048}
c\tattention-v6e\t1000\t{"B": 1, "D": 128, "H": 8, "S": 2048}
d\tflash-v6e\t1000\t{"B": 1, "D": 128, "H": 8, "S": 2048, "Skv": 4096}
""",
}


@test
def attention_in_one_kernel():
    with tempfile.TemporaryDirectory() as folder:
        for suffix, text in cases(ATTENTION.items(), 1):
            table = Path(folder, f"t.{suffix}")
            table.write_text(text)
            rows = json.loads(expect(["validate", "--data", str(table), "--json"]))["rows"]
            assert [row["simulated_us"] is None for row in rows] == [False, False, True, True], rows
            assert rows[0]["simulated_us"] == rows[1]["simulated_us"] > 4 * rows[0]["roofline_us"] - 4, rows
            assert {row["group"] for row in rows[:2]} == {"flash-v6e"}, rows


def ask(rows):
    """Of rows (chip, words, parameters, value, unit): what the JSON says of each."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "t.csv")
        table.write_text(HEADER + "".join(f'{i},{chip},"{words}","{parameters}",{value},{unit},device\n'
                                          for i, (chip, words, parameters, value, unit) in enumerate(rows)))
        found = json.loads(expect(["validate", "--data", str(table), "--json"], err=None))["rows"]
        return [row for row in found if row["group"] != "pallas-kernels-v5e"]  # rows of another group, run as kernels too


@test
def pairs_in_the_wrong_order():
    """Of a group, measured over 5 % apart, simulated the other way round; not equal times, nor rows without a model."""
    random = Random(1)
    times = [(random.choice(("v5e", "v7x")), random.choice((64, 128, 256, 512, 1024)), random.choice((5, 5.2, 5.25, 6, 7, 8, 9)))
             for _ in range(90)]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "t.csv")
        table.write_text(HEADER + "".join(f"{i},{chip},HBM copy,{'size=%d KiB' % size if i else 'size=? KiB'},{us},us,device\n"
                                          for i, (chip, size, us) in enumerate(times)))
        report = ask_tables(table)
    for group in report["groups"]:
        rows = [(row["measured_us"], row["simulated_us"]) for row in report["rows"]
                if row["group"] == group["group"] and row["simulated_us"] is not None]
        pairs = sum(a[0] * 1.05 < b[0] and a[1] > b[1] for a in rows for b in rows)
        assert pairs > 100 and group["pairs_out_of_order"] == pairs, (pairs, group)
    assert len(report["groups"]) == 2, report["groups"]


@test
def the_same_in_other_words():
    alike = [
        [("v7x (1 of 2 TC)", "bf16 GEMM, one device", "M=N=K=512 bf16", 105, "TFLOP/s"),
         ("TPU v7x", "Pallas GEMM", "m=512 n=512 k=512", 105e3, "GFLOP/s"),
         ("Ironwood", "bf16 matmul", "M: 512, N: 512, K: 512", 2.5565, "us"),
         ("v7x-1", "Matmul", "512x512x512", 2556.5, "ns"),
         ("V7X", "XLA gemm", "shape=[512,512,512]", 105, "TFLOPS")],
        [("v7x", "HBM copy", "size=8388608 B", 2246.13, "GB/s"), ("v7x", "hbm copy", "size=8,388,608", 2246.13, "GB/s"),
         ("tpu7x", "copy inside HBM", "bytes: 8 MiB", 2.24613, "TB/s")],
        [("v5e", "Pallas matmul", "M=N=K=512 bm=128 bk=128 bn=128", 0.3, "ms"),
         ("TPU v5 lite", "Pallas matmul, fused relu", "n=512 bm=128 bk=128 bn=128", 300, "us")],
        [("v6e", "JAXKernelBench level1 19_ReLU", "dim=2 out=((4096, 4096), dtype(float32))", 1, "ms"),
         ("Trillium", "JAXKernelBench level1 31_ELU", "out=((4096, 4096), dtype(float32))", 0.001, "s")],
    ]
    answers = iter(ask([row for rows in alike for row in rows]))
    for rows in alike:
        mine = [next(answers) for _ in rows]
        assert len({row["group"] for row in mine}) == 1 and mine[0]["simulated_us"] > 0, mine
        for row in mine:
            assert row["simulated_us"] == mine[0]["simulated_us"], (row, mine[0])
            assert abs(row["measured_us"] / mine[0]["measured_us"] - 1) < 1e-3, (row, mine[0])


@test
def collectives():
    rows = ask([("v7x 2x2x1", "all_gather f32[n,8,128] -> f32[4n,8,128]", "n=64 topology=2x2x1 transferred=0.0015 GB",
                 72, "GB/s"), ("v7x 2x2x4", "all-reduce f32[n,8,128], p50", "n=512", 124, "us"),
                ("v5p x8", "one-hop ppermute latency", "bytes=64 MiB", 782, "us"),
                ("v5p x8", "one-hop ppermute latency", "bytes=1-3 KiB", 5, "us")])
    assert [row["group"] for row in rows] == ["ici-allgather", "ici-allreduce", "ici-permute", "ici-permute"]
    # by hand: 9.9 us and two hops of 1.65, and 3 shards of 262,144 bytes for each of two devices over two links of 90 GB/s;
    # 62 steps, and 2 * 31 / 32 of 2 MiB over four links, of which half of the steps stay on the chip; a link of 86.4 GB/s
    wanted = [9.9 + 3.3 + 3 * 262144 / 90e3, 9.9 + 62 * 1.65 + 62 / 32 * 2097152 / 4 / 90e3, 4.8 + 67108864 / 86.4e3,
              4.8 + 2048 / 86.4e3]
    for row, us in zip(rows, wanted):
        assert abs(row["simulated_us"] - us) < 0.01, (row, us)


@test
def what_is_not_modelled_says_why():
    rows = {
        ("v5e x8", "Pallas matmul", "M=N=K=1024"): "it is of several chips, and no collective",
        ("v4-8", "f16 elementwise add 1D", "n=64"): "it is of several chips, and no collective",
        ("v7x", "fp8 GEMM", "M=N=K=1024"): "a product of 8-bit values",
        ("v7x", "GEMM", "M=N=K=1024 dtype=c64"): "a product of another type than f32, bf16 and f16",
        ("v7x", "GEMM", ""): "it does not state M, N and K",
        ("v7x", "GEMM", "M=0 N=K=4"): "it does not state M, N and K",
        ("v7x", "HBM copy", "size=-3"): "it states no size",
        ("v6e", "NTT as matmul", "batch=1"): "integers of several words",
        ("v6e", "sorting", "n=1"): "words that are not known",
        ("v9", "GEMM", "M=N=K=8"): "there is no machine of that chip",
    }
    for row, (words, reason) in zip(ask([(*words, 1, "us") for words in rows]), rows.items()):
        assert row["reason"] == reason, (words, row)


@release_test
def products_of_any_shape():
    """Neighbours take about the same, larger ones more; few rows cost what they move, not what they pad."""
    def times(shapes):
        rows = ask([("v7x", "bf16 GEMM", "M={} N={} K={}".format(*shape), 1, "us") for shape in shapes])
        return [row["simulated_us"] / row["roofline_us"] for row in rows], [row["simulated_us"] for row in rows]
    squares = cases((256, 384, 700, 1000, 1024, 1500, 2048, 2100), 0, 4)
    _, rising = times([(n, n, n) for n in squares])
    assert all(a < 1.05 * b for a, b in zip(rising, rising[1:])), rising
    ratios, thin = times([(1, 2048, 2048), (17, 2048, 2048), (2048, 17, 2048), (300, 2048, 2048), (2048, 2048, 1),
                          (32768, 128, 128), (4105, 2961, 1475)])
    assert max(ratios) < 3.2 and thin[1] == thin[2], ratios


def ask_groups(rows):
    """The same of rows (group, parameters)."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "t.tsv")
        table.write_text("id\tgroup\tmeasured_us\tworkload\n" + "".join(
            f"{i}\t{group}\t100\t{json.dumps(parameters)}\n" for i, (group, parameters) in enumerate(rows)))
        return json.loads(expect(["validate", "--data", str(table), "--json"]))["rows"]


@test
def figures_of_any_size():
    """No row stops at an assertion of a program, and what is larger takes longer."""
    blocks = [[128, 128, 128], [64, 64, 64], [100, 100, 100], [192, 192, 192], [256, 512, 512], [1, 2, 3, 4], [7]]
    blocks = blocks if ALL else [blocks[0], *blocks[-3:]]  # those that are compared
    rows = ask_groups([("pallas-blocks-v5e", {"n": 1024 if ALL else 512, "blk": block}) for block in blocks])
    assert all(row["simulated_us"] > row["roofline_us"] for row in rows), rows
    small, *_, large, short, long = (row["simulated_us"] for row in rows[:len(blocks)])  # some are rows of another group, too
    assert small > large > short == long, rows
    size = 1 << 26
    rows = ask_groups([("stream-v6e", {"R": 4, "W": size}), ("stream-v6e", {"R": size, "W": 4}),
                       ("stream-v6e", {"R": size, "W": size}), ("stream-v6e", {"R": 1, "W": 1})])
    one, other, both, least = (row["simulated_us"] - 90 for row in rows)
    assert least < 2 and abs(one / other - 1) < 0.1 and 1.8 < both / one < 2.2, rows
    rows = ask_groups([("gemm-v6e", {"M": 512, "N": 512, "K": 512, "nb": n}) for n in (1, 512)])
    assert rows[1]["simulated_us"] > 10 * rows[0]["simulated_us"] and rows[1]["simulated_us"] > rows[1]["roofline_us"], rows
    rows = ask_groups([("small-v4", {"nin": n, "sh": [1, 4096]}) for n in (1, 2, 3, 4)])
    assert all(a["simulated_us"] < b["simulated_us"] for a, b in zip(rows, rows[1:])), rows
    for group, parameters, reason in (
            ("gemm-v6e", {"M": 8, "N": 8, "K": 8, "eup": 17}, "too many transcendental functions"),
            ("gemm-v6e", {"M": 8, "N": 8, "K": 8, "bin": 9}, "its elements are of more than eight bytes"),
            ("gemm-v6e", {"M": 2**40, "N": 2**3, "K": 2**3, "nb": 2**40}, "its matrices are too many"),
            ("flash-v6e", {"B": 1, "H": 1, "S": 64, "D": 256}, "heads of more than 128 are not modelled"),
            ("elementwise-v4", {"nin": 5, "sh": [8]}, "it has more than four inputs")):
        row, = ask_groups([(group, parameters)])
        assert row["reason"] == reason, row


@test
def nine_rows_of_ten_are_modelled():
    rows = re.findall(r"^\| [a-z0-9-]+ \| (\d+) \| (\d+) \|", section("TPU times"), re.M)
    assert len(rows) == 15
    for all_, modelled in rows:
        assert int(modelled) >= 0.9 * int(all_), rows


def fitted(chip):
    """The figures of a chip's file that its comments call fitted."""
    path, figures = [], []
    for line in (ROOT / f"configs/tpu-{chip}.yaml").read_text().splitlines():
        if re.match(r" *[a-z_]+:", line):
            indent = (len(line) - len(line.lstrip())) // 4
            path[indent:] = [line.split(":")[0].strip()]
        if "# derived (fit" in line:
            figures.append(".".join(path))
    return sorted(figures)


@test
def fitted_figures_are_few_and_told():
    chips = [line.split(",")[1].split()[0] for line in (ROOT / "tests/data/tpu_measured.csv").read_text().splitlines()[1:]]
    told = re.findall(r"^\| (v\w+) \| (`[^|]*`) \| [^|]* \| (\d+) \|$", (ROOT / "docs/timing.md").read_text(), re.M)
    assert {chip for chip, _, _ in told} == {c.stem[4:] for c in (ROOT / "configs").glob("tpu-*.yaml") if fitted(c.stem[4:])}
    for chip, figures, rows in told:
        assert re.findall("`([^`]*)`", figures) == fitted(chip), chip
        links = {figure for figure in fitted(chip) if figure.startswith("ici.")}
        assert links <= {"ici.efficiency", "ici.hop", "ici.launch"}, chip  # a chip's, for all collectives and topologies
        assert int(rows) == chips.count(chip) > 10 * (len(fitted(chip)) - len(links)), chip


main()
