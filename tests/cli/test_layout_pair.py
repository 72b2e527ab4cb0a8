"""tilesim layout A B, two layouts side by side, and --ansi, the picture for a terminal."""
import re
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, run, test

A, B = "f32[1000,1]{1,0:T(8,128)}", "f32[1000,1]{0,1:T(1,128)}"
HATCHED, COLOUR, END = "\033[2m", "\033[38;5;16;48;5;%dm", "\033[0m"


@test
def side_by_side():
    out = expect(["layout", A, B])
    head, transfer = out.split("\nFrom A to B\n")
    assert head == f"""A  {A}
B  {B}

                                                            A                                B
bytes                                                 512,000                            4,096
                                                    500.0 KiB                          4.0 KiB
of them padding                                        99.2 %                            2.3 %
times the data                                        128.00x                            1.02x
element (999,0) is at                          offset 127,872                       offset 999
""", head
    alone = expect(["dma", A, B, "--alone", "--explain"])
    assert transfer == alone, transfer
    assert "(tpu-v6e" not in out and "TPU v6e" in expect(["layout", A, B, "-m", "tpu-v6e"])
    out = expect(["layout", "f32[3,5]{1,0:T(2,2)}", "f32[3,5]{0,1}", "--at", "1,2"])
    assert re.search(r"element \(1,2\) is at +offset 6 +offset 7\n", out), out
    assert out.count("offset of each element") == 2 and "\n\nB\n" in out, out
    assert "1.0 MiB" in expect(["layout", "s8[1048576]{0}", "s8[1048576]{0:T(1024)}"])


@test
def as_json():
    value = expect_json(["layout", A, B, "--at", "(7,0)", "-m", "tpu-v4"], index=[7, 0], not_priced=None)
    one, other = (expect_json(["layout", shape, "--at", "7,0"]) for shape in (A, B))
    for side, alone in (("a", one), ("b", other)):
        for key, found in value[side].items():
            assert alone[key] == found, (side, key, found, alone[key])
    transfer = expect_json(["dma", A, B, "--alone", "-m", "tpu-v4"])
    assert {k: transfer[k] for k in ("cycles", "microseconds", "estimated")} == \
        {k: value["transfer"][k] for k in ("cycles", "microseconds", "estimated")}
    assert value["transfer"]["gathers"] is False and value["transfer"]["boxes"] == 2, value["transfer"]


@test
def exact():
    """As tilesim dma has it: simulated access by access, without a mark."""
    pair = "f32[5000,5000]{1,0:T(8,128)}", "f32[5000,5000]{1,0}"
    for words, mark in (((), "~"), (("--exact",), "")):
        price = expect_json(["layout", *pair, *words])["transfer"]
        other = expect_json(["dma", *pair, "--alone", *words])
        assert (price["cycles"], price["estimated"]) == (other["cycles"], mark == "~"), (price, other["cycles"])
        assert re.search(rf"^time +{mark}[0-9]", expect(["layout", *pair, *words]), re.M)
        with tempfile.TemporaryDirectory() as folder:
            expect(["layout", *pair, *words, "--html", Path(folder, "a.html")], out=None)
            assert ("Cycles are ~ sampled" in Path(folder, "a.html").read_text()) == (mark == "~")


@test
def without_a_price():
    warps = "f32[8,16] S[(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)] + R[2:4@warp] + 5@warp"
    out = expect(["layout", warps, "f32[8,16]"])
    assert "lane 31, reg 1, warp 6" in out and out.endswith("From A to B\ncannot be priced: hbm has no axis 'lane'\n"), out
    value = expect_json(["layout", warps, "f32[8,16]"], transfer=None, not_priced="hbm has no axis 'lane'")
    assert value["a"]["axes"][0]["name"] == "lane", value
    assert "element" not in expect(["layout", "f32[0,4]{1,0}", "f32[0,4]{0,1}"]).split("From")[0]


@test
def replicas():
    """Copies are no padding: in the text, the picture, the page, beside another layout, as JSON."""
    shape = "f32[4,8] S[(4,8):(8,1)] + R[2:40]"
    text = "11.1 % padding: 256 of 288 bytes hold elements, 128 of them replicas"
    assert expect(["layout", shape, "--ansi"]).splitlines()[1] == text
    assert f">{text}</text>" in expect(["layout", shape, "--svg", "-"])
    page = expect(["layout", shape, "--html", "-"])
    assert re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", page)[2:] == [
        ("padding", "11.1 %"), ("expansion", "2.25x"), ("replicas", "44.4 %")], page
    assert "in dashes are replicas" in page
    out = expect(["layout", shape])
    assert re.search("^  bytes +128 logical, 288 in memory, 128 of them replicas$", out, re.M), out
    assert re.search("^  all .* 32$", out, re.M), out
    value = expect_json(["layout", shape])
    assert (value["padding_percent"], value["replica_bytes"], value["expansion"]) == (11.1111, 128, 2.25), value
    pair = expect(["layout", shape, "f32[4,8]{1,0}"])
    assert re.search("^of them padding +11.1 % +0.0 %\nof them replicas +44.4 % +0.0 %$", pair, re.M), pair
    assert "replicas" not in expect(["layout", A, B]) + expect(["layout", A, "--html", "-"])


@test
def no_elements():
    """What is empty is not as large as its data."""
    empty = "f32[0,4]{1,0:T(8,128)}"
    assert "<dt>expansion</dt><dd>-</dd>" in expect(["layout", empty, "--html", "-"])
    assert re.search("^times the data +- +-$", expect(["layout", empty, "f32[0,4]{1,0}"]), re.M)
    assert ">no elements, 0 bytes</text>" in expect(["layout", empty, "--svg", "-"])
    shared = "f32[4,8] (4,8):(0,2)"
    assert expect(["layout", shared, "--ansi"]).splitlines()[1] == "0.0 % padding: 128 bytes of elements share 60 bytes"
    assert re.search("^  all .* 0$", expect(["layout", shared]), re.M)


@test
def refused():
    for words, code, message in (
            ([A, "f32[1000,2]{1,0}"], 1, "the shapes have different dimensions, expected the same"),
            ([A, "f32[1000]{0}"], 1, "the shapes have different dimensions, expected the same"),
            ([A, "f32[1000,1]{2}"], 1, "second shape:1:13: error"),
            ([A, B, "--inverse", "3"], 2, "--inverse is of one SHAPE, found two"),
            ([A, B, "--as", "axe"], 2, "--as is of one SHAPE, found two"),
            ([A, B, "--equal", A], 2, "--equal is of one SHAPE, found two"),
            ([A, B, "--at", "1000,0"], 1, "index 1000 is outside dimension 0 of 1000"),
            ([A, B, "--machine", "tpu-v9"], 1, "tpu-v9"),
            ([A, B, "--ansi", "--at", "3,0"], 2, "--at does not go with --ansi"),
            ([A, B, A], 2, "")):
        found, out, err = run("layout", *words)
        assert found == code and out == "" and message in err, (words, found, err)


@test
def a_page_beside_the_grids():
    with tempfile.TemporaryDirectory() as folder:
        page, beside = Path(folder, "a.html"), Path(folder, "b.html")
        expect(["layout", A, B, "--html", page], out=None)
        expect(["layout", A, B, "--html", beside, "--ansi"], out=expect(["layout", A, B, "--ansi"]))
        assert page.read_text() == beside.read_text()


@test
def both_as_svg():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.svg"
        expect(["layout", A, B, "--svg", path], out=None)
        root = xml.parse(path).getroot()
        groups = [g for g in root if g.tag.endswith("}g")]
        assert len(groups) == 2
        for group, shape in zip(groups, (A, B)):
            expect(["layout", shape, "--svg", path], out=None)
            alone = [g for g in xml.parse(path).getroot() if g.tag.endswith("}g")]
            assert [e.text for e in alone[0].iter()] == [e.text for e in group.iter()]
        tops = [int(re.search(r"translate\(0 (\d+)\)", g.get("transform"))[1]) for g in groups]
        assert tops[0] == 0 and 100 < tops[1] < int(root.get("height")), tops


def paint(number, width, filled, colour):
    """A cell: `filled` of its characters in a colour, padding hatched."""
    cell = [str(number).rjust(width)[i] for i in range(width)]
    cell = [c if c != " " or i < filled else "/" for i, c in enumerate(cell)]
    rest = "".join(cell[filled:])
    return COLOUR % colour + "".join(cell[:filled]) + ("\033[0;2m" + rest if rest else "") + END


@test
def for_a_terminal():
    palette = [153, 223, 157, 217, 189, 229, 159, 225, 194, 216, 195, 183]
    offsets = [[0, 1, 4, 5, 8], [2, 3, 6, 7, 10], [12, 13, 16, 17, 20]]
    lines = [["" for _ in range(6)] for _ in range(4)]
    for row in range(4):
        for column in range(6):
            lines[row][column] = HATCHED + "///" + END if row == 3 or column == 5 else \
                paint(offsets[row][column], 3, 3, palette[(row // 2 * 7 + column // 2) % 12])
    expect(["layout", "f32[3,5]{1,0:T(2,2)}", "--ansi"],
           out="f32[3,5]{1,0:T(2,2)}\n37.5 % padding: 60 of 96 bytes hold elements\n\n" +
           "".join("  " + "".join(line) + "\n" for line in lines))
    out = expect(["layout", "f32[20,300]{1,0:T(8,128)}", "--ansi"]).split("\n")
    assert out[2] == "a cell is a tile of 8 x 128", out
    assert out[4] == "  " + paint(0, 5, 5, 153) + paint(1024, 5, 5, 223) + paint(2048, 5, 1, 157), repr(out[4])
    assert out[6] == "  " + paint(6144, 5, 2, palette[14 % 12]) + paint(7168, 5, 2, palette[15 % 12]) + \
        paint(8192, 5, 1, palette[16 % 12]), repr(out[6])
    out = expect(["layout", "bf16[300,3000]{1,0:T(8,128)(2,1)}", "--ansi"])
    plain = re.sub("\033\\[[0-9;]*m", "", out).split("\n")
    assert plain[2].endswith("; the beginning, and the last") and len(plain) == 4 + 17 + 1, plain
    assert plain[4].split() == [str(1024 * i) for i in range(12)] + ["..", "23552"], plain[4]
    assert plain[-3] == "  .." and plain[-2].endswith(" ..  932864"), plain
    assert max(map(len, plain)) <= 100
    assert len(expect(["layout", "f32[2,3,3]{2,1,0}", "--ansi"]).split("\n\n")) == 3
    assert expect(["layout", A, B, "--ansi"]) == expect(["layout", A, "--ansi"]) + "\n" + expect(["layout", B, "--ansi"])
    assert expect(["layout", "f32[0,4]{1,0}", "--ansi"]) == "f32[0,4]{1,0}\nno elements, 0 bytes\n"
    assert run("layout", A, "--ansi", "--json")[0] == 2


main()
