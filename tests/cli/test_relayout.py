"""tilesim relayout: its report, its refusals in Mosaic's words, and cycles that follow the machine."""
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, run, test


def value(layout, shape="f32[16,256]"):
    return f'{shape} vpad<"{layout}">'


NATIVE = value("32,{0,0},(8,128)")


@test
def rows_are_rotated():
    out = expect(["relayout", NATIVE, value("32,{3,0},(8,128)")], out=None)
    lines = out.splitlines()
    assert lines[2] == "machine    tpu-v5e (TPU v5e), the default", out
    assert lines[3:9] == ["vregs      4 to 6", "how        rotate rows", "                2 arith.select",
                          "                1 tpu.create_mask",
                          "               12 tpu.rotate", "ops        15, 7 when those that are the same are merged"], out
    assert lines[9].endswith("more than to load and store the vregs alone") and len(lines) == 10, out


@test
def figures_are_in_json():
    found = expect_json(["relayout", NATIVE, value("32,{0,3},(8,128)")], how="rotate columns", src_vregs=4, dst_vregs=6, op_count=7,
                        merged_op_count=7, scratch_sublanes=0, schema="tilesim.relayout")
    assert found["ops"] == {"tpu.rotate": 4, "tpu.create_mask": 1, "arith.select": 2}
    assert found["cycles"] > 0


@test
def free_takes_nothing():
    for source, target in (("32,{0,0},(8,128)", "32,{0,0},(8,128)"), ("32,{*,*},(8,128)", "32,{3,1},(4,128)")):
        expect_json(["relayout", value(source), value(target)], how="free", cycles=0, ops={})


@test
def packed_values_are_unpacked_and_packed():
    shape = "bf16[64,256]"
    found = expect_json(["relayout", value("16,{0,0},(8,128)", shape), value("16,{0,0},(16,128)", shape), "-m", "tpu-v6e"], how="unpack, pack")
    assert (found["ops"]["tpu.unpack_subelements"], found["ops"]["tpu.pack_subelements"]) == (16, 8) and found["cycles"] > 0


@test
def the_machine_decides_the_ops():
    source, target = value("32,{0,0},(8,128)"), value("32,{0,0},(2,128)")
    ways = {"tpu-v4": "through scratch memory", "tpu-v5e": "rotate and select tiles", "tpu-v6e": "combine halves of vregs"}
    for machine, how in ways.items():
        found = expect_json(["relayout", source, target, "-m", machine], how=how)
        assert found["cycles"] > 0 and found["scratch_sublanes"] == (64 if machine == "tpu-v4" else 0), found
    assert "scratch    64 sublanes\n" in expect(["relayout", source, target, "-m", "tpu-v4"], out=None)


@test
def what_has_no_cycles_says_why():
    shape = "u2[16,256]"
    source, target = value("2,{0,0},(16,128)", shape), value("2,{0,0},(1,2048)", shape)
    why = "vregs of elements of less than 4 bits are not modelled"
    found = expect_json(["relayout", source, target], how="unpack, pack, unpack, pack, unpack, pack", unpriced=why)
    assert "cycles" not in found, found
    assert f"cycles     not known: {why}\n" in expect(["relayout", source, target], out=None)


@test
def what_does_not_fit_is_told_without_the_kernel():
    expect(["relayout", NATIVE, value("32,{3,0},(8,128)"), "--set", "memories.vmem.capacity=4 KiB"], 1, "",
           "tilesim: error: a kernel that loads and stores the vregs, to price their ops: the kernel takes 40,960 bytes of vmem, "
           "tpu-v5e has 4,096 (36,864 too many): window_1 24,576, window_0 16,384\n")


@test
def refusals_say_why():
    def refused(source, target, code, words):
        found, out, err = run("relayout", source, target)
        assert (found, out) == (code, "") and words in err, (found, err)
    refused(NATIVE, value("32,{0,*},(8,128)"), 1, "Non-singleton logical dimension is replicated in destination but not in source")
    refused(NATIVE, value("32,{0,0},(1,1024)"), 1, "Not implemented: Unsupported tiling change")
    refused(value("32,{0,0},(4,256)"), value("32,{0,0},(4,256),-1"), 1, "Not implemented: Rows within tile span multiple sublanes")
    refused(value("32,{0,0},(8,128),-2,-1"), NATIVE, 1, "Not implemented: Double implicit dimensions")
    refused(NATIVE, value("32,{0,0},(8,128)", "f32[16,255]"), 1, "different types or dims")
    refused(value("32,{0,0},(8,128)", "pred[16,256]"), value("16,{0,0},(16,128)", "pred[16,256]"), 1, "Can't change bitwidth during a relayout")
    for none in ("f32[0,256]", "f32[16,0]", "f32[0,16,256]"):
        refused(value("32,{0,0},(8,128)", none), value("32,{3,0},(8,128)", none), 1, "the array has no elements")
    refused("f32[16,256]", NATIVE, 1, "the source is no value in vregs")
    refused(value("32,{0,0},(8,128)", "f32[8,1073741824]"), value("32,{1,0},(8,128)", "f32[8,1073741824]"), 4, "more than 8192 vregs")


@test
def pictures_show_both_sides():
    with tempfile.TemporaryDirectory() as folder:
        svg, page = Path(folder) / "a.svg", Path(folder) / "a.html"
        expect(["relayout", NATIVE, value("32,{3,40},(8,128)"), "--svg", str(svg), "--html", str(page)], out=None)
        root = ElementTree.fromstring(svg.read_text())
        texts = [element.text for element in root.iter() if element.tag.endswith("text")]
        assert texts[:3] == ["from, 4 vregs", "vreg 0, first element (0,0)", "vreg 1, first element (0,128)"], texts
        assert texts[5:7] == ["to, 9 vregs", "vreg 0, first element (0,0)"] and texts[-1] == "and 3 more", texts
        places = [element.get("fill") for element in root.iter() if element.tag.endswith("rect") and element.get("fill", "").startswith("hsl")]
        assert len(set(places)) == 4  # the source's vregs
        assert "cycles more than to load and store the vregs" in page.read_text()  # as the text says
        assert "A relayout" in page.read_text() and "<svg" in page.read_text() and "tpu.rotate" in page.read_text()
        assert expect(["relayout", NATIVE, value("32,{3,40},(8,128)"), "--svg", "-"], out=None) == svg.read_text()  # without the report


main()
