"""tilesim relayout: its report, its refusals in Mosaic's words, and cycles that follow the machine."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, run, test


def value(layout, shape="f32[16,256]"):
    return f'{shape} vpad<"{layout}">'


NATIVE = value("32,{0,0},(8,128)")


@test
def rows_are_rotated():
    out = expect(["relayout", NATIVE, value("32,{3,0},(8,128)")], out=None)
    lines = out.splitlines()
    assert lines[2:8] == ["vregs      4 to 6", "how        rotate rows", "               12 tpu.rotate", "                1 tpu.create_mask",
                          "                2 arith.select", "ops        15"], out
    assert lines[8].endswith("more than to load and store the vregs alone, on TPU v5e"), out


@test
def figures_are_in_json():
    found = expect_json(["relayout", NATIVE, value("32,{0,3},(8,128)")], how="rotate columns", src_vregs=4, dst_vregs=6,
                        schema="tilesim.relayout")
    assert found["ops"] == {"tpu.rotate": 4, "tpu.create_mask": 1, "arith.select": 2, "tpu.unpack_subelements": 0, "tpu.pack_subelements": 0}
    assert found["cycles"] > 0


@test
def free_takes_nothing():
    for source, target in (("32,{0,0},(8,128)", "32,{0,0},(8,128)"), ("32,{*,*},(8,128)", "32,{3,1},(4,128)")):
        expect_json(["relayout", value(source), value(target)], how="free", cycles=0)


@test
def packed_values_are_unpacked_and_packed():
    shape = "bf16[64,256]"
    found = expect_json(["relayout", value("16,{0,0},(8,128)", shape), value("16,{0,0},(16,128)", shape), "-m", "tpu-v6e"], how="unpack and pack")
    assert (found["ops"]["tpu.unpack_subelements"], found["ops"]["tpu.pack_subelements"]) == (16, 8) and found["cycles"] > 0


@test
def refusals_say_why():
    def refused(source, target, code, words):
        found, out, err = run("relayout", source, target)
        assert (found, out) == (code, "") and words in err, (found, err)
    refused(NATIVE, value("32,{0,*},(8,128)"), 1, "Non-singleton logical dimension is replicated in destination but not in source")
    refused(NATIVE, value("32,{0,0},(1,128)"), 4, "a relayout between these tiles is not modelled")
    refused(NATIVE, value("32,{0,0},(8,128),-1"), 4, "between implicit dims is not modelled")
    refused(value("8,{0,0},(32,128)", "s8[64,128]"), value("8,{0,0},(16,128)", "s8[64,128]"), 4, "between these tiles is not modelled")
    refused(value("32,{0,*},(8,128)"), NATIVE, 4, "replicated along one dim is not modelled")
    refused(NATIVE, value("32,{0,0},(8,128)", "f32[16,255]"), 1, "different types or dims")
    refused("f32[16,256]", NATIVE, 1, "the source is no value in vregs")
    refused(value("32,{0,0},(8,128)", "f32[8,1073741824]"), value("32,{1,0},(8,128)", "f32[8,1073741824]"), 4, "more than 8192 vregs")


main()
