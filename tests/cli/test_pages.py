"""--html of every command that has it: one file, well formed, without the network, whatever the input is called."""
import json
import re
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, main, release_test, run, test
from modules import small_step

HERE = Path(tempfile.mkdtemp())
VOID = {"meta", "br", "link", "input", "img", "hr"}


class Page(HTMLParser):
    """Tags must nest; keeps tables as rows of cells, and what is where."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.tables, self.text, self.numbers = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag, attributes):
        assert len(dict(attributes)) == len(attributes), (tag, attributes)
        self.tags.append((tag, dict(attributes)))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.open, self.getpos())

    def handle_data(self, data):
        if "script" in self.open or "style" in self.open:
            return
        self.text.append(data)
        if "td" in self.open or "th" in self.open:
            self.tables[-1][-1][-1] += data


def page(*words):
    """The page that a command writes, read; checked for what all pages must be."""
    path = HERE / "page.html"
    path.unlink(missing_ok=True)
    expect([*words, "--html", path], out=None, err=None)
    text = path.read_text(encoding="utf-8")
    found = Page(text)
    found.source = text
    assert text.startswith("<!DOCTYPE html>\n<html lang=\"en\">"), text[:80]
    names = [tag for tag, _ in found.tags]
    assert ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}) in found.tags
    assert names.count("h1") == 1 and names.count("main") == 1 and "prefers-color-scheme: dark" in text
    assert not re.search(r"(?<!xmlns=[\"'])https?://|@import|url\((?!#|\"data:)|<img|<link", text), "asks for other files"
    for tag, attributes in found.tags:
        assert "src" not in attributes and "href" not in attributes, (tag, attributes)
    for table in found.tables:
        assert table and {len(row) for row in table} == {len(table[0])}, table[:2]
        assert all(row != [""] * len(row) for row in table)
    assert not re.search(r"\bnan\b|\binf\b|-nan", "".join(found.text)), "no number"
    return found, "".join(found.text)


A, B = "f32[20,300]{1,0}", "f32[20,300]{1,0:T(8,128)}"


@test
def transfer():
    found, text = page("dma", A, B)
    report = expect(["dma", A, B])
    cycles = re.search(r"time +(~?)([\d,]+) cycles, ([\d.]+) us", report)
    assert cycles[2] in text and f"{cycles[3]} us" in text and "for 128: src += 32, dst += 32" in text
    shares = [float(s) for s in re.findall(r"([\d.]+) %", text[text.index("Where the cycles go"):text.index("The plan")])]
    assert abs(sum(shares) - 100) < 0.5, shares
    others = found.tables[0][1:] + found.tables[1][1:]
    assert len(found.tables) == 2 and all(row[0].startswith("f32[20,300]{") for row in others), others
    widths = [float(a["style"][6:-1]) for t, a in found.tags if t == "span" and a.get("class", "").startswith("kind")]
    assert abs(sum(widths) - 100) < 0.01, widths
    assert len(page("dma", A, B, "--alone")[0].tables) == 0
    large = ["dma", "f32[4096,4096]{1,0}", "bf16[4096,4096]{1,0:T(8,128)(2,1)}", "--alone"]
    price = json.loads(expect([*large, "--json"]))
    assert price["estimated"] and f"~{price['cycles']:,}" in page(*large)[1]
    for words in (["dma", A, B, "--with", f"{A} -> {B}"], ["dma", "--matrix", "f32[8,8]"]):
        code, _, err = run(*words, "--html", HERE / "no.html")
        assert code == 2 and "--html is of one transfer" in err and not (HERE / "no.html").exists()


@test
def layouts():
    found, text = page("layout", B)
    assert "34.9 %" in text and "36,864" in text and "svg" in [t for t, _ in found.tags]
    assert found.tables[0][1:] == [["0", "3", "3072", "m", "d0 / 8"], ["1", "3", "1024", "m", "d1 / 128"],
                                   ["2", "8", "128", "m", "d0 % 8"], ["3", "128", "1", "m", "d1 % 128"]], found.tables
    found, text = page("layout", A, B, "--at", "2,130")
    assert found.tables[0] == [["layout", "bytes", "padding", "element (2,130) is at"], [A, "24,000", "0.0 %", "offset 730"],
                               [B, "36,864", "34.9 %", "offset 1,282"]], found.tables[0]
    assert "Where the cycles go" in text
    assert "Cannot be priced: hbm has no axis 'lane'." in page("layout", "f32[8] S[8:1@lane]", "f32[8]")[1]


@release_test
def audit_of_a_module():
    found, text = page("audit", "tests/data/hlo/step.txt")
    report = expect(["audit", "tests/data/hlo/step.txt", "--all"])
    time = re.search(r"in all +(~ ?)?([\d.]+) us", report)[2]
    assert "jit_step" in text and "tests/data/hlo/step.txt" in text and f"{time} us" in text, (time, text[:400])
    assert any("copy" == row[0] for row in found.tables[0]), found.tables[0]


def module(*lines, before=()):
    entry = ["ENTRY %main (p: f32[8]) -> f32[8] {", *lines, "}"]
    return "\n".join(["HloModule m, is_scheduled=true", *before, *entry, ""])


@test
def audit_says_what_its_text_says():
    A, B, path = "f32[64,128]{1,0:T(8,128)}", "f32[64,128]{0,1:T(8,128)}", HERE / "m.hlo"
    part = [f"%NAME (x: f32[64,128]) -> f32[64,128] {{\n  %x = {A} parameter(0)\n  ROOT %c.NAME = {B} copy(%x)\n}}"]
    before = [one.replace("NAME", name) for name in ("body", "cond", "left", "right") for one in part]
    path.write_text(module(f"%p = {A} parameter(0)", f"%w = {A} while(%p), condition=%cond, body=%body",
                           f"%i = {B} conditional(%p, %p, %p), true_computation=%left, false_computation=%right",
                           f"%g = ({A}, {B}) all-reduce(%p, %i)", before=before))
    found, text = page("audit", path)
    what = [row[5] for row in found.tables[0][1:]]
    assert sorted(what) == ["98304 bytes", "order+padding, by programs/transpose.tsim, in a branch",
                            "order+padding, by programs/transpose.tsim, in a loop of unknown length"], what
    report = expect(["audit", path])
    notes = report[report.index("\nin all"):report.index("\nfindings")].strip("\n")
    assert "2 moves are in loops whose rounds" in notes and "2 moves in branches" in notes and "not priced: 1" in notes, notes
    assert notes in text, (notes, text)
    assert "summed over instructions, not what is live at once" in text


@test
def a_long_name_is_no_wide_page():
    """A module's name is the heading, and has nothing to break at."""
    path = HERE / "m.hlo"
    path.write_text(module("%p = f32[8]{0:T(128)} parameter(0)").replace("HloModule m,", f"HloModule {'m' * 5000},"))
    found, text = page("audit", path)
    assert "m" * 5000 in text and re.search(r"\bheader h1\b[^{}]*\{[^}]*overflow-wrap: anywhere", found.source)


@test
def audit_lists_all_of_it():
    path = HERE / "m.hlo"
    lines = [f"  %p{i} = f32[{i + 8},3]{{1,0:T(8,128)}} parameter({i})" for i in range(40)]
    path.write_text(module(*lines))
    found, text = page("audit", path)
    saved = json.loads(expect(["audit", path, "--json"]))["findings"]
    assert len(saved) == 40 and all(f["what"] in text and f["fix"] in text for f in saved)
    path.write_text("Buffer 1:\n  Size: 1.0K\n  Shape: f32[2,128]{1,0:T(2,128)}\n"
                    "  1. Size: 3.0K\n     Shape: f32[4,128]{1,0:T(4,128)}\n     Allocation type: HLO temp\n     =====\n")
    report = expect(["audit", path])
    assert "sizes that the text reports: 1 of 2 equal" in report, report
    found, text = page("audit", path)
    assert "1 of 2 equal the computed ones" in text
    assert ["4", "3.0K", "", "differs", "2.0K", "", "f32[4,128]{1,0:T(4,128)}"] in sum(found.tables, [])
    path.write_text("""module @m {
  func.func public @main(%arg0: tensor<8x1024x128xf32>, %arg1: tensor<8x128x1024xf32>) -> tensor<8x1024x1024xf32> {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<8x1024x128xf32>) -> tensor<8x128x1024xf32>
    %1 = stablehlo.add %0, %arg1 : tensor<8x128x1024xf32>
    return %1 : tensor<8x128x1024xf32>
  }
}
""")
    copies = json.loads(expect(["audit", path, "--json"]))["copies"]
    found, text = page("audit", path)
    assert copies and "tiles" in text, copies
    rows = sum(found.tables, [])
    for copy in copies:
        assert [copy["value"], copy["from"], copy["to"]] in [[row[0], *row[4:6]] for row in rows]


@test
def choice():
    found, text = page("choose", "programs/softmax.tsim", "--tensor", "x")
    rows = found.tables[0][1:]
    assert len(rows) == 8 and rows[0][2] == "1.00x" and sum("compiler's rule" in row[5] for row in rows) == 1, rows
    assert {"now; as good as the best", "compiler's rule"} <= {row[5] for row in rows}, rows
    notes = {row[5] for row in page("choose", "f32[1024,3]{1,0}", "--use", "stream")[0].tables[0]}
    assert any(note.startswith("as good as the best; core: ") for note in notes), notes


@test
def comparison():
    before, after = HERE / "a.json", HERE / "b.json"
    before.write_text(expect(["run", "programs/add.tsim", "--json"]))
    after.write_text(expect(["run", "programs/add.tsim", "-D", "ROWS=512", "--json"]))
    found, text = page("compare", before, after)
    assert ["params.ROWS", "1,024", "512", "-512", "-50.0 %"] in found.tables[0], found.tables[0]
    assert any(row[0] == "cycles" for row in found.tables[1]) and "microseconds" in text
    assert page("compare", before, before)[0].tables == []
    before.write_text('{"schema": "tilesim.audit", "microseconds": 0, "all": {"padded_bytes": 16444928}}')
    after.write_text('{"schema": "tilesim.audit", "microseconds": 5.5, "all": {"padded_bytes": 1671432192}}')
    text = page("compare", before, after)[1]
    assert "microseconds0 to 5.5\n" in text and "16,444,928 to 1,671,432,192 (+10063.8 %)" in text, text


@test
def validation():
    rows = [line for line in Path("tests/data/tpu_measured.csv").read_text().splitlines()
            if line.startswith(("id,", "v4_ss_copy_", "v4_x"))][:6]
    (HERE / "rows.csv").write_text("\n".join(rows) + "\n")
    found, text = page("validate", "--data", HERE / "rows.csv")
    assert found.tables[0][1][0] == "copy-v4" and len(found.tables[1]) == len(rows), found.tables
    assert f"{HERE / 'rows.csv'}" in text and "published" not in text.split("Groups")[0]
    copy = 'v4,HBM->S(3) copy,"shape=f16[512,1024]{1,0:T(8,128)(2,1)S(3)}"'
    (HERE / "own.csv").write_text("\n".join([rows[0], *(f"{name},{copy},{value},,," for name, value in (
        ("a", "1.9,us"), ("b", "1900000,ps"), ("c", "1.9,\u00b5s"), ("d", "1.9,\u03bcs"), ("e", "3,points")))]) + "\n")
    found, text = page("validate", "--data", HERE / "own.csv")
    assert [row[2:] for row in found.tables[1][1:5]] == 4 * [["1.900", "1.615", "-15.0"]], found.tables
    assert page("validate", "--data", HERE / "own.csv", "-m", "tpu-v4")[0].tables == found.tables and "left out" not in text
    (HERE / "both.csv").write_text((HERE / "own.csv").read_text() + f"f,v5e{copy[2:]},3,points,,,\n")
    other, text = page("validate", "--data", HERE / "both.csv", "-m", "tpu-v5e")
    assert "measurements modelled0 of 1" in text and "And 5 of other chips, which are left out." in text
    assert len(other.tables[1]) == 2, other.tables
    assert found.tables[1][5] == ["e", "v4", "-", "not modelled: it is not a time", "-"], found.tables


def grouped(number):
    return f"{number:,}"


def of_run(words, more=()):
    """The page of a run, its text, the JSON of the same run, and what the timeline's script draws."""
    found, text = page("run", *words, *more)
    report = json.loads(expect(["run", *words, "--json", "--lines"], err=None))
    data = re.search(r'<script type="application/json" id="timeline-data">(.*?)</script>', found.source, re.DOTALL)
    return found, text, report, json.loads(data[1]) if data else None


def table(found, *headings):
    """The rows of the table with these first headings, by heading."""
    rows = next(rows for rows in found.tables if rows[0][:len(headings)] == list(headings))
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def track_events(row):
    """[begin, .., .., ..] of each event, the first absolute."""
    at, events = 0, []
    for i in range(0, len(row["events"]), 4):
        at += row["events"][i]
        events.append([at, *row["events"][i + 1:i + 4]])
    return events


@test
def run_says_what_its_json_says():
    for words in (["programs/softmax.tsim"], ["programs/matmul.tsim", "-D", "M=128"], ["programs/cores.tsim", "-m", "tpu-v4"]):
        found, text, report, data = of_run(words)
        assert grouped(report["cycles"]) in text and f'{report["microseconds"]:.3f} us' in text
        legend = text[text.index("Where the cycles went"):text.index("Roofline")]
        for cycles in [report["bundles"], *report["stalls"].values()]:
            assert grouped(cycles) in legend, (cycles, legend)
        kinds = re.findall(r'<li><i class="kind-(\d+)">', found.source)
        assert len(set(kinds)) == min(len(kinds), 16) > 5, kinds
        assert all(f".kind-{kind} {{" in found.source for kind in kinds), kinds
        bars = [a for t, a in found.tags if t == "div" and a.get("class") == "bar"]
        assert len(bars) == len(report["cores"]), bars
        loops = table(found, "lines", "first line")
        hot = [grouped(loop["own_cycles"]) for loop in report["loops"]]
        assert [row["own cycles"] for row in loops] == hot[:len(loops)] and len(loops) <= 10
        lines = table(found, "line", "% of cycles", "program")
        own = {(line["line"], grouped(line["issued"])) for line in report["lines"] if line["issued"] > 0}
        assert own & {(int(row["line"]), row["issued"]) for row in lines if row["line"] != ".."}, lines[:3]
        transfers = table(found, "line", "transfer")
        assert sum(int(row["times"].replace(",", "")) for row in transfers) == report["transfers"], transfers
        assert sum(int(row["useful bytes"].replace(",", "")) for row in transfers) == report["useful_bytes"]
        assert [row["tensor"] for row in table(found, "tensor", "in")] == [t["name"] for t in report["tensors"]]
        assert [row["wrong"] for row in table(found, "check")] == ["0"] * len(report["checks"])
        assert data["from"] == 0 and data["to"] >= max(core["cycles"] for core in report["cores"])


@test
def timeline_of_a_run_is_whole():
    """Its bundles and stalls are all cycles of the core, and no two events of a row overlap."""
    found, _, report, data = of_run(["programs/softmax.tsim"])
    rows = {(one["row"]["process"], one["row"]["name"]): one["row"] for one in data["tracks"]}
    bundles, stalls = (track_events(rows["core", name]) for name in ("bundles", "stalls"))
    assert sum(cycles for _, cycles, _, _ in bundles) == report["bundles"]
    assert sum(cycles for _, cycles, _, _ in stalls) == sum(report["stalls"].values())
    at = 0
    for begin, cycles, what, _ in sorted(bundles + stalls):
        assert begin == at and 0 <= what < len(data["what"]), (begin, at)
        at = begin + cycles
    assert at == report["cycles"]
    queues = [event for (_, name), row in rows.items() if name.startswith("queue") for event in track_events(row)]
    assert len(queues) == report["transfers"] and {data["what"][e[2]][0] for e in queues} == {"xb <- x", "y <- yb"}
    assert len(data["arrows"]) == 6 * report["transfers"], len(data["arrows"])
    said = {(row["of"], row["row"]): row for row in table(found, "of", "row")}
    assert said["core", "bundles"]["cycles busy"] == grouped(report["bundles"]) and len(said) == len(rows)


@test
def pictures_of_many_tensors():
    """A picture a shape; those that have no room are counted."""
    for count, said in ((16, None), (17, "1 more picture is left out here: tilesim layout 'SHAPE' --svg FILE"), (20, "4 more pictures are left out here")):
        tensors = "".join(f".tensor t{i} hbm f32[8,{128 + i}]{{1,0:T(8,128)}}\n.tensor u{i} hbm f32[8,{128 + i}]{{1,0:T(8,128)}}\n" for i in range(count))
        (HERE / "many.tsim").write_text(tensors + "halt\n")
        found, text = page("run", HERE / "many.tsim")
        assert [tag for tag, _ in found.tags].count("figure") == min(count, 16), count
        assert said in text if said else "left out here" not in text, text[-500:]


@test
def part_of_a_timeline():
    _, _, _, data = of_run(["programs/softmax.tsim"], ["--from", "2000", "--until", "3000"])
    begins = [event[0] for one in data["tracks"] if not one["row"]["series"] for event in track_events(one["row"])]
    assert min(begins) >= 2000 and max(begins) < 3000 and (data["from"], data["to"]) == (2000, 3000)


@release_test
def large_runs_have_small_pages():
    words = ["programs/softmax.tsim", "-D", "ROWS=40000", "--time-only"]
    found, text, report, data = of_run(words)
    assert len(found.source) < 5 << 20 and "are summed up in the others" in data["notes"]
    for name in ("bundles", "stalls"):
        row = next(one["row"] for one in data["tracks"] if one["row"]["name"] == name)
        cycles = report["bundles"] if name == "bundles" else sum(report["stalls"].values())
        assert sum(event[1] for event in track_events(row)) == cycles


@test
def trace_and_page_of_one_run():
    trace, path = HERE / "t.json", HERE / "both.html"
    expect(["run", "programs/add.tsim", "--trace", trace, "--html", path])
    events = [e for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X"]
    data = json.loads(re.search(r'id="timeline-data">(.*?)</script>', path.read_text(), re.DOTALL)[1])
    assert sum(len(one["row"]["events"]) // 4 for one in data["tracks"] if not one["row"]["series"]) == len(events)
    expect(["run", "programs/add.tsim", "--trace", HERE / "alone.json"])
    assert trace.read_bytes() == (HERE / "alone.json").read_bytes()


@test
def short_programs():
    (HERE / "one.tsim").write_text("halt\n")
    found, text = page("run", HERE / "one.tsim")
    assert "no floating-point operations" in text and "Transfers" not in text and "Tensors" not in text


@test
def pages_are_of_one_run():
    for words, why in ((["-D", "ROWS=8,16"], "--html is of one run"), (["--break", "3"], "--break does not go with --html"),
                       (["--trace-text"], "--html and --trace-text")):
        code, _, err = run("run", "programs/softmax.tsim", *words, "--html", HERE / "no.html")
        assert code == 2 and why in err and not (HERE / "no.html").exists(), err
    report = expect(["run", "programs/add.tsim"])
    assert expect(["run", "programs/add.tsim", "--html", HERE / "a.html"]) == report
    assert expect(["run", "programs/add.tsim", "--html", HERE / "a.html", "--json"]) == expect(["run", "programs/add.tsim", "--json"])


@test
def names_are_text():
    """What a user names cannot become a tag, an attribute or a script."""
    hostile = HERE / "<script>alert(1)</script>&\"'.txt"
    hostile.parent.mkdir(parents=True, exist_ok=True)
    hostile.write_text(small_step(HERE / "step.txt").read_text().replace("jit_step", "jit_<b>x"))
    found, text = page("audit", hostile)
    assert "<script>alert(1)</script>&\"'.txt" in text and [t for t, _ in found.tags].count("script") == 1
    program = HERE / "<script>alert(2)</script>&\"'.tsim"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(Path("programs/add.tsim").read_text().replace(".macro", ".macro tag\n; </script><b>\n.end\n.macro", 1))
    found, text = page("run", program)
    assert "<script>alert(2)</script>" in text and [t for t, _ in found.tags].count("script") == 3
    assert "alert(2)</script" not in found.source


main()
