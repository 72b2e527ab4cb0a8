"""tilesim.reshard beside the command line."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from package import raised
from cli import expect, expect_json, main, test

import tilesim as ts


@test
def reshardings_are_the_command_lines():
    pair = ["bf16[64,64] P('x', unreduced={'y'})", "bf16[64,64] P(None, 'x')"]
    found = ts.reshard(*pair, mesh="4x4", machine="tpu-v4")
    words = ["reshard", *pair, "--mesh", "4x4", "-m", "tpu-v4"]
    assert found.report() == expect(words, out=None)
    assert found.json() == expect_json(words) and found.proved
    assert [step["kind"] for step in found.plan] == ["reduce-scatter", "point-to-point"]
    assert abs(sum(step["microseconds"] for step in found.plan) - found.microseconds) < 0.01
    assert 0 < found.bound_microseconds < found.microseconds and sum(found.links.values()) > 0
    assert "point-to-point" in repr(found) and "reduce-scatter" in found._repr_html_()
    slow = ts.reshard(*pair, mesh="4x4", machine=ts.Machine("tpu-v4", {"ici.hop": "9 us"}), proof=False)
    assert slow.microseconds > found.microseconds and not slow.proved


@test
def meshes_and_failed_links():
    pair = ["bf16[64,64] P('x', 'y')", "bf16[64,64]"]
    for mesh, words, more in (("v5e-16", [], {}), ("4x4", ["-m", "tpu-v4", "--fail-link", "(0,0)->(0,1)", "--fail-link", "(1,0)->(0,0)"],
                                                   {"machine": "tpu-v4", "failed_links": ["(0,0)->(0,1)", "(1,0)->(0,0)"]})):
        found = ts.reshard(*pair, mesh=mesh, **more)
        assert found.report() == expect(["reshard", *pair, "--mesh", mesh, *words])
        assert found.json() == expect_json(["reshard", *pair, "--mesh", mesh, *words])
    one = [ts.reshard(*pair, "4x4", failed_links=links).json() for links in ("(0,0)->(0,1)", ["(0,0)->(0,1)"], [])]
    assert one[0] == one[1] != one[2]


@test
def refusals():
    assert "no axis 'q'" in str(raised(ts.InputError, ts.reshard, "f32[8] P('q')", "f32[8]", "4x4"))
    pair = [f"f32[12] {{devices=[{cut}]<=[6] last_tile_dims={{unreduced}}}}" for cut in ("2,3", "3,2")]
    raised(ts.UnmodelledError, ts.reshard, *pair, "6")
    raised(ValueError, ts.reshard, "f32[8] P('x')", "f32[8]", "4x4", failed_links=["(0,0)->(0,1)\0"])  # was read up to there


main()
