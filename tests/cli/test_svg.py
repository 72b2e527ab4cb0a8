"""tilesim layout --svg: the figures of XLA's tiled_layout.md as images: cells, padding, frames, and well-formed files."""
import re
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, main, run, test

NAMESPACE = "{http://www.w3.org/2000/svg}"


def draw(shape):
    """(the texts of the cells, the rectangles) of the image."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.svg"
        expect(["layout", shape, "--svg", path], out=None)
        root = xml.parse(path).getroot()
    texts = [t.text for t in root.iter(f"{NAMESPACE}text")]
    return texts, list(root.iter(f"{NAMESPACE}rect"))


def is_cell(rectangle):
    return rectangle.get("fill", "").startswith("hsl") and "share" not in rectangle.get("class", "")


@test
def figure_1():
    texts, rectangles = draw("f32[3,5]{1,0:T(2,2)}")
    assert texts[0] == "f32[3,5]{1,0:T(2,2)}"
    assert texts[1:16] == "0 1 4 5 8 2 3 6 7 10 12 13 16 17 20".split()
    assert texts[16:20] == ["0,0", "0,1", "1,0", "1,1"] and len(texts) == 1 + 15 + 15 + 1
    padding = [r for r in rectangles if r.get("fill") == "url(#padding)"]
    assert len(padding) == 9 + 9 + 1  # of 4 x 6 cells, and of the 24 places in memory, and the bar of all bytes
    assert texts[-1] == "37.5 % padding: 60 of 96 bytes hold elements"
    assert sum(r.get("class") == "tile" for r in rectangles) == 6 + 1  # tiles, and the edge


@test
def figure_2():
    texts, rectangles = draw("bf16[4,8]{1,0:T(2,4)(2,1)}")
    assert texts[1:9] == "0 2 4 6 8 10 12 14".split()
    assert sum(r.get("class") == "inner" for r in rectangles) == 16  # sub-tiles of 2 x 1
    assert sum(r.get("class") == "tile" for r in rectangles) == 4 + 1
    assert len({r.get("fill") for r in rectangles if is_cell(r)}) == 4


@test
def several_axes():
    texts, rectangles = draw("f32[8,16] S[(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)] + R[2:4@warp] + 5@warp")
    assert texts[0].endswith("(lane,reg,warp); beside it lane down, reg across"), texts[0]
    assert texts[1:4] == ["0,0,5", "0,1,5", "1,0,5"] and len(texts) == 1 + 128 + 6 + 256 + 1
    assert [t for t in texts if t.startswith("warp")] == [f"warp {i}" for i in range(5, 11)]
    assert sum(r.get("fill") == "url(#padding)" for r in rectangles) == 2 * 64 + 1  # warps 7 and 8 hold nothing
    fills = {r.get("fill") for r in rectangles if is_cell(r)}
    assert len(fills) == 64  # 32 lanes, two shades of each for the warps
    texts, _ = draw("f32[8,8] S[(2,4,2,4):(1@gpuid,4@m,2@gpuid,1@m)]")
    assert texts[65:67] == ["0,0", "0,1"] and texts[81] == "4,0"  # gpu 0, then gpu 1


@test
def other_notations_have_tiles():
    texts, rectangles = draw("f32[14,10] lambda i, j: [i // 4, j // 4, i % 4, j % 4]")
    assert texts[1:11] == "0 1 2 3 16 17 18 19 32 33".split()
    assert sum(r.get("class") == "tile" for r in rectangles) == 12 + 1
    texts, rectangles = draw("f32[8,8] S[(2,2,2,8):(32,2,16,4)]")  # no tile of the second dimension
    assert sum(r.get("class") == "inner" for r in rectangles) == 4


@test
def large_shapes():
    texts, rectangles = draw("bf16[300,3000]{1,0:T(8,128)(2,1)}")
    assert "a cell is a tile of 8 x 128" in texts[0] and texts[1:3] == ["0", "1024"]
    assert texts[0].endswith("(the beginning, and the last)")
    assert texts[257:260] == ["0", "2", "4"] and len(texts) == 1 + 256 + 128 + 1  # the first tile beside them
    assert texts[16] == str(23 * 1024) and texts[256] == str((37 * 24 + 23) * 1024)  # the last column, the last tile
    texts, _ = draw("f32[100000,100000]{1,0}")
    assert texts[0].endswith("(the beginning, and the last)") and texts[256] == str(10**10 - 1)
    assert len(draw("f32[]")[0]) == 4 and len(draw("f32[0,4]{1,0}")[0]) == 2


def cells(rectangles):
    """The coloured cells, as (x, y, width, height)."""
    return [tuple(int(r.get(key)) for key in ("x", "y", "width", "height")) for r in rectangles
            if is_cell(r)]


@test
def ragged_tiles_are_drawn_ragged():
    """A whole cell is 44 x 26; of the last tiles as much is filled as elements are in them."""
    found = cells(draw("f32[20,300]{1,0:T(8,128)}")[1])[:9]
    assert [c[2:] for c in found] == [(44, 26), (44, 26), (44 * 44 // 128, 26)] * 2 + \
        [(44, 13), (44, 13), (44 * 44 // 128, 13)], found
    for shape, size in (("f32[1000,1]{1,0:T(8,128)}", (3, 26)), ("f32[1,1000]{1,0:T(8,128)}", (44, 3)),
                        ("f32[200,200]{1,0:T(8,100)}", (44, 26))):
        texts, rectangles = draw(shape)
        assert cells(rectangles)[0][2:] == size, (shape, cells(rectangles)[0])
    texts, rectangles = draw("f32[1000,1]{1,0:T(8,128)}")
    assert texts[-1] == "99.2 % padding: 4,000 of 512,000 bytes hold elements"
    bar = [int(r.get("width")) for r in rectangles if "share" in r.get("class", "")]
    assert bar == [220, 2], bar
    assert sum(r.get("fill") == "url(#padding)" for r in rectangles) == 16 + 8 * 15 + 1  # tiles, their cells, the bar
    assert [int(r.get("width")) for r in draw("f32[8,128]{1,0:T(8,128)}")[1] if "share" in r.get("class", "")] == [220, 220]


@test
def scales_and_adapts():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.svg"
        expect(["layout", "f32[3,5]{1,0:T(2,2)}", "--svg", path], out=None)
        text = path.read_text()
    root = xml.fromstring(text)
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert "max-width:100%" in root.get("style") and "prefers-color-scheme: dark" in text


def scheme_colours(styles):
    """(what light and dark say of each selector and property), of a picture."""
    light, dark = styles.split("@media (prefers-color-scheme: dark){")
    return [{(one, name): value for one, name, value in re.findall(r"^[.]picture ([^{,]+)[{]([a-z]+):(#[0-9a-f]{6})}", part, re.M)}
            for part in (light, dark)]


@test
def pictures_of_all_commands_have_both_schemes():
    """Each is drawn in colours that pages have by name, light and dark; none has one of its own but the cells of layouts."""
    names = Path("web/page/style.css").read_text().split("@media (prefers-color-scheme: dark)")
    known = [set(re.findall(r"^ *--[a-z0-9-]+: (#[0-9a-f]{6});", part, re.M)) for part in names[:2]]
    with tempfile.TemporaryDirectory() as folder:
        path, rows = Path(folder) / "x.svg", Path(folder) / "rows.csv"
        measured = Path("tests/data/tpu_measured.csv").read_text().splitlines()
        rows.write_text("\n".join(row for row in measured if row.startswith(("id,", "v4_ss_copy_"))) + "\n")
        for words, least in ((["layout", "f32[3,5]{1,0:T(2,2)}"], {"page", "tile", "hatch", "lines"}),
                             (["choose", "f32[1000,64]{1,0}", "--use", "dma:hbm>vmem"], {"data", "waste"}),
                             (["audit", "tests/data/hlo/attention.mlir"], {"data", "waste"}),
                             (["dma", "--matrix", "f32[64,256]"], {"heat"}),
                             (["validate", "--data", rows], {"model", "roofline", "grid", "equal", "off"})):
            expect([*words, "--svg", path], out=None, err=None)
            root = xml.parse(path).getroot()
            light, dark = scheme_colours(root.find(f"{NAMESPACE}style").text)
            assert light.keys() == dark.keys() and set(light.values()) <= known[0] and set(dark.values()) <= known[1]
            assert all(light[key] != dark[key] for key in light), light
            assert light["text", "fill"] == "#1a2029" and dark["text", "fill"] == "#e7ebf1"
            drawn = {name for one in root.iter() for name in one.get("class", "").split()}
            coloured = {name for selector, _ in light for name in re.findall("[.]([a-z-]+)", selector)}
            assert least <= drawn and least <= coloured, (words, drawn, coloured)
            own = {one.get(name) for one in root.iter() for name in ("fill", "stroke")} - {None, "none", "url(#padding)"}
            assert words[0] == "layout" or own == set(), (words, own)
            assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"


@test
def bad_input():
    code, out, err = run("layout", "f32[4]{0}", "--svg", "/no/such/folder/x.svg")
    assert (code, out) == (1, "") and "/no/such/folder/x.svg" in err, err
    assert run("layout", "f32[?]{0}", "--svg", "x.svg")[0] == 4


@test
def long_offsets_are_as_wide_as_their_cells():
    """What is wider than a cell is made narrower: cells of large arrays ran into each other."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.svg"
        expect(["layout", "f32[1000000,1000000]{1,0:T(8,128)}", "--svg", path], out=None)
        texts = [text for text in xml.parse(path).iter(NAMESPACE + "text") if (text.text or "").isdigit()]
        assert {text.get("textLength") for text in texts if len(text.text) > 8} == {"42"}
        assert {text.get("textLength") for text in texts if len(text.text) < 7} == {None}


main()
