"""tilesim.relayout beside the command line."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from package import raised
from cli import expect, expect_json, main, test

import tilesim as ts

NATIVE, LOWER = ('f32[16,256] vpad<"32,{0,0},(8,128)">', 'f32[16,256] vpad<"32,{3,0},(8,128)">')


@test
def relayouts_are_the_command_lines():
    found = ts.relayout(NATIVE, ts.Layout(LOWER), machine="tpu-v6e")
    assert found.how == "rotate rows" and found.ops == {"tpu.rotate": 12, "tpu.create_mask": 1, "arith.select": 2} and found.op_count == 15
    assert found.report() == expect(["relayout", NATIVE, LOWER, "-m", "tpu-v6e"], out=None)
    assert found.json() == expect_json(["relayout", NATIVE, LOWER, "-m", "tpu-v6e"], cycles=found.cycles)
    assert repr(found) == f"<Relayout rotate rows, 15 ops, {found.cycles} cycles>" and "tpu.rotate" in found._repr_html_()
    assert found.merged_op_count == 7
    assert ts.relayout(NATIVE, NATIVE).op_count == 0


@test
def refusals_are_errors():
    assert "Non-singleton" in str(raised(ts.InputError, ts.relayout, NATIVE, NATIVE.replace("{0,0}", "{0,*}")))
    assert "Unsupported tiling change" in str(raised(ts.InputError, ts.relayout, NATIVE, NATIVE.replace("(8,128)", "(1,1024)")))
    wide = NATIVE.replace("[16,256]", "[8,1073741824]")
    raised(ts.UnmodelledError, ts.relayout, wide, wide.replace("{0,0}", "{1,0}"))


@test
def pictures_are_the_command_lines():
    found = ts.relayout(NATIVE, LOWER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.svg"
        expect(["relayout", NATIVE, LOWER, "--svg", str(path)], out=None)
        assert found.svg() == path.read_text() and found.svg() in found._repr_html_()


@test
def what_has_no_cycles_says_why():
    found = ts.relayout('u2[16,256] vpad<"2,{0,0},(16,128)">', 'u2[16,256] vpad<"2,{0,0},(1,2048)">')
    assert found.cycles is None and found.op_count > 0 and "ops, cycles not known" in repr(found), found


main()
