"""What links findings to arguments and results, of a module written by hand: no JAX is needed."""
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
import package  # noqa: F401
from cli import main, test

import tilesim as ts
from tilesim import _hlo

TABLES = """FileNames
1 "{file}"

FunctionNames
1 "f"

FileLocations
1 {{file_name_id=1 function_name_id=1 line=2 end_line=2 column=1 end_column=9}}

StackFrames
1 {{file_location_id=1 parent_frame_id=1}}

"""
MODULE = """HloModule jit_f, is_scheduled=true, input_output_alias={ {1}: (2, {}, may-alias), {0}: (0, {}, must-alias) }, \
entry_computation_layout={(f32[1024,3]{0,1:T(4,128)}, /*index=1*/s32[]{:T(128)}, f32[8,256]{1,0:T(8,128)})->\
(f32[1024,3]{0,1:T(4,128)}, f32[8,256]{1,0:T(8,128)})}, num_partitions=1

TABLES%fused (a: f32[8,256]) -> f32[8,256] {
  %a = f32[8,256]{1,0:T(8,128)} parameter(0)
  ROOT %copy.9 = f32[8,256]{0,1:T(8,128)} copy(%a)
}

ENTRY %main.1 (x.1: f32[1024,3], n.1: s32[], d__b__.1: f32[8,256]) -> (f32[1024,3], f32[8,256]) {
  %x.1 = f32[1024,3]{0,1:T(4,128)} parameter(0), metadata={op_name="x"}
  %n.1 = s32[]{:T(128)} parameter(1), metadata={op_name="n"}
  %d__b__.1 = f32[8,256]{1,0:T(8,128)} parameter(2), metadata={op_name="d[\\'b\\']"}
  %copy-start = (f32[1024,3]{0,1:T(4,128)S(1)}, f32[1024,3]{0,1:T(4,128)}, u32[]{:S(2)}) copy-start(%x.1)
  %copy-done = f32[1024,3]{0,1:T(4,128)S(1)} copy-done(%copy-start)
  %copy.1 = f32[1024,3]{1,0:T(8,128)} copy(f32[1024,3]{0,1:T(4,128)S(1)} %copy-done), metadata={op_name="x"}
  %sine = f32[1024,3]{1,0:T(8,128)} sine(%copy.1), metadata={op_name="jit(f)/sin" stack_frame_id=1}
  %bitcast = f32[256,8]{0,1:T(8,128)} bitcast(%d__b__.1)
  %copy.2 = f32[256,8]{1,0:T(8,128)} copy(%bitcast)
  %fusion = f32[8,256]{0,1:T(8,128)} fusion(%d__b__.1), kind=kLoop, calls=%fused
  %copy.3 = f32[1024,3]{0,1:T(4,128)} copy(%sine)
  ROOT %tuple = (f32[1024,3]{0,1:T(4,128)}, f32[8,256]{1,0:T(8,128)}) tuple(%copy.3, %d__b__.1)
}
"""


def module(file="/nowhere.py"):
    return MODULE.replace("TABLES", TABLES.format(file=file))


@test
def heads_of_modules():
    entry = _hlo.Entry(module())
    assert entry.arguments == ["f32[1024,3]{0,1:T(4,128)}", "s32[]{:T(128)}", "f32[8,256]{1,0:T(8,128)}"]
    assert entry.results == ["f32[1024,3]{0,1:T(4,128)}", "f32[8,256]{1,0:T(8,128)}"] and entry.aliases == {2: [1], 0: [0]}
    one = _hlo.Entry("HloModule m, input_output_alias={ {}: (0, {}, may-alias) }, entry_computation_layout={(f32[8]{0:T(128)})->f32[8]{0:T(128)}}\n\n"
                     "ENTRY main {\n  p = f32[8]{0:T(128)} parameter(0)\n  ROOT c = f32[8]{0:T(128)} copy(p)\n}\n")
    assert (one.arguments, one.results, one.aliases) == (["f32[8]{0:T(128)}"],) * 2 + ({0: [0]},)
    assert one.result_of("c") == 0 and one.parameter_behind("c") == 0 and one.result_of("p") is None
    none = _hlo.Entry("HloModule m, entry_computation_layout={()->()}\n\nENTRY %m () -> () {\n  ROOT %t = () tuple()\n}\n")
    assert (none.arguments, none.results, none.result_of("t")) == ([], [], 0)


@test
def who_reads_what():
    entry = _hlo.Entry(module())
    assert [entry.parameter_behind(name) for name in ("copy.1", "x.1", "copy.2", "sine", "copy.9", "nothing", "n.1")] == [0, 0, None, None, None, None, 1]
    assert entry.parameter_behind("copy.2", _hlo._SAME_BYTES) == 2
    assert [entry.result_of(name) for name in ("copy.3", "d__b__.1", "copy.1", "tuple", "")] == [0, 1, None, 0, None]
    assert entry.name_at(module().split("\n").index("  %copy.2 = f32[256,8]{1,0:T(8,128)} copy(%bitcast)") + 1) == "copy.2"
    assert entry.name_at(0) == entry.name_at(1) == entry.name_at(10 ** 6) == ""


@test
def moves_that_reorder():
    moves = ts.audit(module()).json()["moves"]
    found = _hlo.reordering(moves)
    assert sorted(move["first"] for move in found) == ["copy.1", "copy.2", "copy.3"]
    assert [_hlo.time_of(move) for move in found] == sorted(map(_hlo.time_of, found), reverse=True)
    entry = _hlo.Entry(module())
    for parameters, results, names in (([0], [], {"copy.1"}), ([2], [], {"copy.2"}), ([], [0], {"copy.3"}), ([1], [1], set()), ([0, 2], [0], {"copy.1", "copy.2", "copy.3"})):
        assert {move["first"] for move in entry.reorders(moves, parameters, results)} == names
    assert _hlo.time_of({"microseconds": 2.5, "runs": 4}) == 10 and _hlo.time_of({"microseconds": None, "runs": 4}) == 0


@test
def orders():
    for text, order in (("{1,0:T(8,128)}", (0, 1)), ("f32[2,3,4]{0,2,1}", (1, 2, 0)), ("f32[8]{0:T(128)S(1)}", (0,)), ("s32[]{:T(128)}", None), ("f32[8]", None)):
        assert _hlo.major_to_minor(text) == order, text


@test
def findings_have_sources():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.py")
        path.write_text("def f(x, n, d):\n    return jnp.sin(x)\n")
        findings = {finding.what.split(" ")[0] + " " + finding.first: finding for finding in ts.audit(module(path)).findings}
        moved = findings["copy copy.1"]
        assert moved.source == ts.Source("x", str(path), "f", 2, "reader") and moved.microseconds > 0 and moved.layout.startswith("{1,0:")
        shown = os.path.relpath(path) if str(path).startswith(os.getcwd() + os.sep) else path
        assert str(moved.source) == f"x, read at {shown}:2 in f" and moved.source.code == "return jnp.sin(x)"
        made = findings["copy copy.3"].source
        assert str(made) == f"made at {shown}:2 in f"
        assert findings["copy copy.2"].source is None
        where = os.getcwd()
        os.chdir(folder)
        assert str(moved.source) == "x, read at model.py:2 in f"
        os.chdir(where)
    own, argument = ts.Source("jit(f)/sin", "/a.py", "", 3, "own"), ts.Source("d['b']", "", "", 0, "own")
    assert (str(own), own.code, str(argument), argument.code) == ("/a.py:3: jit(f)/sin", "", "d['b']", "")
    assert str(ts.Source("", "/a.py", "g", 3, "own")) == "/a.py:3 in g"


main()
