"""tilesim validate: docs/accuracy.md is what it writes; its JSON; bad input."""
import json
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import BUILD, expect, main, test

ROOT = Path(__file__).parent.parent.parent
SLOW = "asan" in str(BUILD)  # the same figures, 20 times slower


def section(title):
    """A section of docs/accuracy.md."""
    text = (ROOT / "docs/accuracy.md").read_text()
    start = text.index(f"## {title}\n")
    end = text.find("\n## ", start)
    return (text[start:] if end < 0 else text[start:end]).rstrip("\n") + "\n"


@test
def accuracy_of_hbm_time():
    if SLOW:
        return
    assert expect(["validate", "hbm"]) == section("HBM time"), "run: tilesim validate hbm"
    figures = json.loads(expect(["validate", "hbm", "--json"]))
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
           "--set:1:5: error: unknown key 'hbm.stack'; did you mean 'stacks'?\nhbm.stack=4\n    ^\n")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "t.csv")
        table.write_text("id,chip,workload description,parameters,measured value,unit\na,v4,w,p,-1,us\n")
        expect(["validate", "--data", str(table)], 1, "",
               f"{table}:2:10: error: found '-1', expected a number above 0\na,v4,w,p,-1,us\n         ^\n")


@test
def accuracy_of_tpu_times():
    if SLOW:
        return
    assert expect(["validate"]) == section("TPU times"), "run: tests/update.py"


ROWS = """id,chip,workload description,parameters,measured value,unit
copy,v4,HBM->S(3) copy,"bytes=9 shape=f16[512,1024]{1,0:T(8,128)(2,1)S(3)}",1.5,us
add,v4,f16 elementwise sub 2D,"shape=(64,64)",1.03,us
two,v5e x8,all_reduce,n=1,5,us
odd,v9,copy from HBM,shape=[4;4],5,us
rate,v4,f16 activation relu,n=5,7,GB/s
"""


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
        assert rows["two"]["reason"] == "there are no links between chips" and rows["two"]["simulated_us"] is None
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
        assert {row["reason"] for row in other["rows"][:2]} == {"it is of another chip than the machine"}


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
        for suffix, text in ATTENTION.items():
            table = Path(folder, f"t.{suffix}")
            table.write_text(text)
            rows = json.loads(expect(["validate", "--data", str(table), "--json"]))["rows"]
            assert [row["simulated_us"] is None for row in rows] == [False, False, True, True], rows
            assert rows[0]["simulated_us"] == rows[1]["simulated_us"] > 4 * rows[0]["roofline_us"] - 4, rows
            assert {row["group"] for row in rows[:2]} == {"flash-v6e"}, rows


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
        assert int(rows) == chips.count(chip) > 10 * len(fitted(chip)), chip


main()
