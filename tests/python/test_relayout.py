"""tilesim.relayout beside the command line."""
import sys
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
    assert ts.relayout(NATIVE, NATIVE).op_count == 0


@test
def refusals_are_errors():
    assert "Non-singleton" in str(raised(ts.InputError, ts.relayout, NATIVE, NATIVE.replace("{0,0}", "{0,*}")))
    raised(ts.UnmodelledError, ts.relayout, NATIVE, NATIVE.replace("(8,128)", "(1,128)"))


main()
