"""tilesim layout --svg: the figures of XLA's tiled_layout.md as images: cells, padding, frames, and well-formed files."""
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


@test
def figure_1():
    texts, rectangles = draw("f32[3,5]{1,0:T(2,2)}")
    assert texts[0] == "f32[3,5]{1,0:T(2,2)}"
    assert texts[1:16] == "0 1 4 5 8 2 3 6 7 10 12 13 16 17 20".split()
    assert texts[16:20] == ["0,0", "0,1", "1,0", "1,1"] and len(texts) == 1 + 15 + 15
    padding = [r for r in rectangles if r.get("fill") == "url(#padding)"]
    assert len(padding) == 9 + 9  # of 4 x 6 cells, and of the 24 places in memory
    assert sum(r.get("stroke") == "#222" for r in rectangles) == 6 + 1  # tiles, and the edge


@test
def figure_2():
    texts, rectangles = draw("bf16[4,8]{1,0:T(2,4)(2,1)}")
    assert texts[1:9] == "0 2 4 6 8 10 12 14".split()
    assert sum(r.get("stroke") == "#d22" for r in rectangles) == 16  # sub-tiles of 2 x 1
    assert sum(r.get("stroke") == "#222" for r in rectangles) == 4 + 1
    assert len({r.get("fill") for r in rectangles if (r.get("fill") or "").startswith("hsl")}) == 4


@test
def several_axes():
    texts, rectangles = draw("f32[8,16] S[(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)] + R[2:4@warp] + 5@warp")
    assert texts[0].endswith("(lane,reg,warp); beside it lane down, reg across"), texts[0]
    assert texts[1:4] == ["0,0,5", "0,1,5", "1,0,5"] and len(texts) == 1 + 128 + 6 + 256
    assert [t for t in texts if t.startswith("warp")] == [f"warp {i}" for i in range(5, 11)]
    assert sum(r.get("fill") == "url(#padding)" for r in rectangles) == 2 * 64  # warps 7 and 8 hold nothing
    fills = {r.get("fill") for r in rectangles if (r.get("fill") or "").startswith("hsl")}
    assert len(fills) == 64  # 32 lanes, two shades of each for the warps
    texts, _ = draw("f32[8,8] S[(2,4,2,4):(1@gpuid,4@m,2@gpuid,1@m)]")
    assert texts[65:67] == ["0,0", "0,1"] and texts[81] == "4,0"  # gpu 0, then gpu 1


@test
def other_notations_have_tiles():
    texts, rectangles = draw("f32[14,10] lambda i, j: [i // 4, j // 4, i % 4, j % 4]")
    assert texts[1:11] == "0 1 2 3 16 17 18 19 32 33".split()
    assert sum(r.get("stroke") == "#222" for r in rectangles) == 12 + 1
    texts, rectangles = draw("f32[8,8] S[(2,2,2,8):(32,2,16,4)]")  # no tile of the second dimension
    assert sum(r.get("stroke") == "#d22" for r in rectangles) == 4


@test
def large_shapes():
    texts, rectangles = draw("bf16[300,3000]{1,0:T(8,128)(2,1)}")
    assert "a cell is a tile of 8 x 128" in texts[0] and texts[1:3] == ["0", "1024"]
    assert texts[0].endswith("(the beginning)")
    assert texts[257:260] == ["0", "2", "4"] and len(texts) == 1 + 256 + 128  # the first tile beside them
    texts, _ = draw("f32[100000,100000]{1,0}")
    assert texts[0].endswith("(the beginning)")
    assert len(draw("f32[]")[0]) == 3 and len(draw("f32[0,4]{1,0}")[0]) == 1


@test
def bad_input():
    code, out, err = run("layout", "f32[4]{0}", "--svg", "/no/such/folder/x.svg")
    assert (code, out) == (1, "") and "/no/such/folder/x.svg" in err, err
    assert run("layout", "f32[?]{0}", "--svg", "x.svg")[0] == 4


main()
