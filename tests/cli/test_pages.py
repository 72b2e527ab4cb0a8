"""--html of every command that has it: one file, well formed, without the network, whatever the input is called."""
import re
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, main, run, test

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
    assert found.tables[0][1:] == [[A, "24,000", "0.0 %", "offset 730"], [B, "36,864", "34.9 %", "offset 1,282"]]
    assert "Where the cycles go" in text
    assert "Cannot be priced: hbm has no axis 'lane'." in page("layout", "f32[8] S[8:1@lane]", "f32[8]")[1]


@test
def audit_of_a_module():
    found, text = page("audit", "tests/data/hlo/step.txt")
    report = expect(["audit", "tests/data/hlo/step.txt", "--all"])
    time = re.search(r"in all +(~ ?)?([\d.]+) us", report)[2]
    assert "jit_step" in text and "tests/data/hlo/step.txt" in text and f"{time} us" in text, (time, text[:400])
    assert any("copy" == row[0] for row in found.tables[0]), found.tables[0]


@test
def choice():
    found, text = page("choose", "programs/softmax.tsim", "--tensor", "x")
    rows = found.tables[0][1:]
    assert len(rows) == 8 and rows[0][2] == "1.00x" and "compiler's rule" in rows[0][5], rows
    page("choose", "f32[1000,64]{1,0}", "--use", "dma:hbm>vmem")


@test
def comparison():
    before, after = HERE / "a.json", HERE / "b.json"
    before.write_text(expect(["run", "programs/add.tsim", "--json"]))
    after.write_text(expect(["run", "programs/add.tsim", "-D", "ROWS=512", "--json"]))
    found, text = page("compare", before, after)
    assert ["params.ROWS", "1,024", "512", "-512", "-50.0 %"] in found.tables[0], found.tables[0]
    assert any(row[0] == "cycles" for row in found.tables[1]) and "microseconds" in text
    assert page("compare", before, before)[0].tables == []


@test
def validation():
    rows = [line for line in Path("tests/data/tpu_measured.csv").read_text().splitlines()
            if line.startswith(("id,", "v4_ss_copy_", "v4_x"))][:6]
    (HERE / "rows.csv").write_text("\n".join(rows) + "\n")
    found, text = page("validate", "--data", HERE / "rows.csv")
    assert found.tables[0][1][0] == "copy-v4" and len(found.tables[1]) == len(rows), found.tables


@test
def names_are_text():
    """What a user names cannot become a tag, an attribute or a script."""
    hostile = HERE / "<script>alert(1)</script>&\"'.txt"
    hostile.parent.mkdir(parents=True, exist_ok=True)
    hostile.write_text(Path("tests/data/hlo/step.txt").read_text().replace("jit_step", "jit_<b>x"))
    found, text = page("audit", hostile)
    assert "<script>alert(1)</script>&\"'.txt" in text and [t for t, _ in found.tags].count("script") == 1


main()
