"""tilesim audit on text as it comes: cut, wrapped, out of logs, of several dialects. What cannot be understood is listed."""
import csv
import html
import io
import json
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import main, read_json, run, test, TOOL

A = "f32[8,128]{1,0:T(8,128)}"
B = "f32[8,128]{0,1:T(8,128)}"
P = f"%a = {A} parameter(0)\n"
NO_OPERAND = "a move whose operand is not in the text: not priced"
CUT = "instructions that are cut off"
EARLY = "an instruction that ends before its opcode"
LOOPS = Path(__file__).parents[1] / "data/hlo/loops"


def audit(text, *options):
    code, out, err = run("audit", "-", "--json", *options, stdin=text)
    assert code == 0 and not err, (text[:200], err)
    return read_json(out)


def check(text, buffers, moves=(), kinds=(), options=(), **fields):
    """buffers: shape to how many; moves: (first, changes, runs); kinds: what is not understood, to how often."""
    result = audit(text, *options)
    assert {b["shape"]: b["count"] for b in result["buffers"]} == buffers, (text[:300], result["buffers"])
    assert sorted((m["first"], m["changes"], m["runs"]) for m in result["moves"]) == sorted(moves), (text[:300], result["moves"])
    assert {k["kind"]: k["count"] for k in result["not_understood"]} == dict(kinds), (text[:300], result["not_understood"])
    for key, value in fields.items():
        assert result[key] == value, (text[:300], key, result[key])
    return result


@test
def cut_within_an_opcode():
    """'cop' may be a copy, or no copy: neither a buffer nor a move is guessed."""
    for word in ("cop", "copy", "bitcast"):
        check(P + f"%b = {A} {word}", {A: 1}, kinds={EARLY: 1, CUT: 1}, instructions=2)


@test
def cut_within_a_layout():
    for end in ("f32[16,128]{1,0:T(8,1", "f32[16,128]{1", "f32[16,12", "f32", "(f32[8,128]{1,0:T(8,128)}, f3"):
        result = audit(P + f"%b = {end}")
        assert result["all"]["buffers"] == 1 and 1 <= len(result["not_understood"]) <= 2, (end, result["not_understood"])


@test
def cut_within_a_string():
    """The next instruction is one again."""
    check(P[:-1] + ", metadata={op_name=\"jit(f)/x[\\\"a\n" + f"%b = {B} copy(%a)\n", {A: 1, B: 1}, [("b", "order+padding", 1)])


@test
def cut_within_operands():
    check(P + f"%b = {B} copy(%", {A: 1, B: 1}, kinds={CUT: 1, NO_OPERAND: 1})


@test
def behind_times_and_labels_of_logs():
    check("2025-03-04 10:11:12.345678: I xla/service/dump.cc:1] " + P + f"I0304 10:11:12.3 123 x.cc:9] %b = {B} copy({A} %a)\n"
          f"[rank0]: %c = {A} copy(%b)\n(worker pid=12, ip=1.2.3.4) ROOT %d = {B} copy(%c)\n", {A: 2, B: 2},
          [("b", "order+padding", 1), ("c", "order", 1), ("d", "order+padding", 1)])


@test
def tuples_nested_deep():
    check(f"%t = (({A}, (s32[]{{:T(128)}}, (pred[]{{:T(512)}}))), token[], opaque[]) custom-call(), custom_call_target=\"x\"\n",
          {A: 1, "s32[]{:T(128)}": 1, "pred[]{:T(512)}": 1})
    deep = "(" * 60 + A + ")" * 60
    check(f"%t = {deep} custom-call()\n", {A: 1})
    deep = "(" * 3000 + A + ")" * 3000
    check(f"%t = {deep} custom-call()\n", {}, kinds={"tuples nested more than 64 deep": 1})


@test
def dynamic_dims():
    """Of a bound; without one there is no size."""
    result = check("%a = f32[<=4194304]{0:T(1024)} parameter(0)\n%b = f32[<=1000,8]{1,0:T(8,128)} negate(%x)\n"
                   "%c = s32[<=4096]{0:T(8)M(1024)} parameter(1)\n%d = f32[?,8]{1,0} parameter(2)\n",
                   {"f32[<=4194304]{0:T(1024)}": 1, "f32[<=1000,8]{1,0:T(8,128)}": 1, "s32[<=4096]{0:T(8)M(1024)}": 1},
                   kinds={"shape: an unbounded dimension has no size": 1})
    assert result["all"]["padded_bytes"] == 4 * (4194304 + 1000 * 128 + 4096)


@test
def widths_and_spaces():
    shapes = {"pred[64,512]{1,0:T(8,128)E(32)S(1)}": 4 * 64 * 512, "s4[64,256]{1,0:T(64,128)(8,1)E(4)}": 64 * 128,
              "u4[64,200]{1,0:T(8,128)(8,1)E(4)S(5)}": 64 * 128, "s2[16,128]{1,0:T(16,128)(16,1)E(2)}": 16 * 32,
              "s4[64,256]{1,0}": 64 * 256, "u32[]{:S(8)}": 4, "f32[4]{0:T(128)S(6)}": 512}
    result = check("".join(f"%p{i} = {shape} parameter({i})\n" for i, shape in enumerate(shapes)), dict.fromkeys(shapes, 1))
    assert {b["shape"]: b["padded_bytes"] for b in result["buffers"]} == shapes


@test
def every_field_of_a_layout():
    """L() pads the end, SC() sizes the larger part, D() is read and means nothing, '*' merges dims."""
    shapes = {"f32[200001,128]{1,0:T(8)L(1024)}": 25001 * 1024 * 4, "f32[100,200]{1,0:T(8,128)SC(0:40)}": 64 * 256 * 4,
              "f32[8,128]{1,0:D(D,D)T(8,128)}": 4096, "f32[4,2,128]{2,1,0:T(*,8,128)}": 4096, "f32[3,3,128]{2,1,0:T(*,8,128)}": 8192}
    result = check("".join(f"%p{i} = {shape} parameter({i})\n" for i, shape in enumerate(shapes)), dict.fromkeys(shapes, 1))
    assert {b["shape"]: b["padded_bytes"] for b in result["buffers"]} == shapes
    check("%a = f32[3,5]{1,0:T(2,*)} parameter(0)\n" + P, {A: 1},
          kinds={"shape: the last entry of a tile cannot be '*': no dimension is more minor": 1})


@test
def comments_within():
    check(f"%t = ({A}, /*index=1*/{A}, /*index=5*/ {B}) custom-call(%a, /*index=1*/%b) // the end\n", {A: 2, B: 1})


@test
def metadata_that_looks_like_hlo():
    """Quotes, braces, shapes and instructions within strings."""
    check(f"%a = {A} add(%b, %c), metadata={{op_name=\"state[\\'a\\'] {{x: f32[9999999,9]{{1,0}}}} \\\"q\\\" }}\" source_file=\"/a b/{{c}}.py\" "
          "source_line=3}, backend_config={\"x\":\"f32[1]{0}\\n}{ %z = f32[8]{0} copy(%a)\",\"y\":[{\"z\":\"}\"}]}\n", {A: 1})


@test
def constants_of_any_size():
    numbers = ", ".join(["1.5"] * 100000)
    check("%a = f32[100000]{0:T(1024)} constant({" + numbers + "})\n%b = f32[2,3]{1,0:T(2,128)} constant({ { 1, -inf, nan }, {\n 2, 3, 4 } })\n"
          "%c = s32[]{:T(128)} constant(5)\n", {"f32[100000]{0:T(1024)}": 1, "f32[2,3]{1,0:T(2,128)}": 1, "s32[]{:T(128)}": 1})
    check(P + "%b = f32[2,3]{1,0:T(2,128)} constant({ { 1, 2, 3 },\n", {A: 1, "f32[2,3]{1,0:T(2,128)}": 1}, kinds={CUT: 1})


@test
def line_ends_and_bytes():
    """CRLF, NUL bytes, a byte order mark, names in UTF-8."""
    move = [("b", "order+padding", 1)]
    check(f"%a = {A} parameter(0)\r\n%b = {B} copy(%a)\r\n", {A: 1, B: 1}, move)
    check(f"%a = {A} parameter(0)\n\0\0\0%b\0 = {B} copy(%a)\0\n".encode(), {A: 1, B: 1}, move)
    check(f"\ufeff%a = {A} parameter(0), metadata={{op_name=\"gr\u00f6\u00dfe\"}}\n%\u043a\u043b = {B} copy(%a)\n", {A: 1, B: 1},
          [("\u043a\u043b", "order+padding", 1)])


@test
def lines_of_ten_megabytes():
    """Some is left out, which is said; what follows is read."""
    left = {"lines longer than 1 MiB, whose middle was left out": 1}
    check(P[:-1] + ", metadata={op_name=\"" + "x" * 10_000_000 + f"\"}}\n%b = {B} copy(%a)\n", {A: 1, B: 1},
          [("b", "order+padding", 1)], kinds=left)
    check("%t = (" + ", ".join([A] * 200_000) + f") custom-call(%x)\n{P}", {A: 1}, kinds={**left, EARLY: 1, CUT: 1})


@test
def names_used_again():
    """A name is what was last called so, within its computation."""
    check(f"%f.1 (p: f32[8,128]) -> f32[8,128] {{\n  %a = f32[16,128]{{1,0:T(8,128)}} parameter(0)\n  ROOT %b = f32[16,128]{{0,1:T(8,128)}} "
          f"copy(%a)\n}}\n\nENTRY %m (p: f32[8,128]) -> f32[8,128] {{\n  %a = {A} parameter(0)\n  %a = f32[8,256]{{1,0:T(8,128)}} parameter(1)\n"
          " ROOT %c = f32[8,256]{0,1:T(8,128)} copy(%a)\n}\n",
          {A: 1, "f32[8,256]{1,0:T(8,128)}": 1, "f32[8,256]{0,1:T(8,128)}": 1, "f32[16,128]{0,1:T(8,128)}": 1},
          [("b", "order+padding", 1), ("c", "order+padding", 1)], entry=True)


@test
def fusions_loops_and_branches():
    """What is fused has no buffers, and costs at most; loops run so often; branches are taken as run once."""
    result = check(
        f"%fused_computation (p: f32[8,128]) -> f32[8,128] {{\n  %p = {A} parameter(0)\n  ROOT %in = {B} copy(%p)\n}}\n"
        "%cond (p: (s32[], f32[8,128])) -> pred[] {\n  %p = (s32[]{:T(128)}, f32[8,128]{1,0:T(8,128)}) parameter(0)\n"
        "  ROOT %lt = pred[]{:T(512)} compare(%x, %y), direction=LT\n}\n"
        f"%body (p: (s32[], f32[8,128])) -> (s32[], f32[8,128]) {{\n  %p = (s32[]{{:T(128)}}, {A}) parameter(0)\n"
        f"  %g = {A} get-tuple-element(%p), index=1\n  %c = {B} copy(%g)\n  ROOT %t = (s32[]{{:T(128)}}, {B}) tuple(%i, %c)\n}}\n"
        f"%then (p: f32[8,128]) -> f32[8,128] {{\n  %p = {A} parameter(0)\n  ROOT %d = {B} copy(%p)\n}}\n"
        f"ENTRY %m (a: f32[8,128]) -> f32[8,128] {{\n  %a = {A} parameter(0)\n  %f = {B} fusion(%a), kind=kLoop, calls=%fused_computation\n"
        f"  %w = (s32[]{{:T(128)}}, {A}) while(%init), condition=%cond, body=%body, backend_config={{\"known_trip_count\":{{\"n\":\"7\"}}}}\n"
        f"  ROOT %k = {A} conditional(%q, %x, %y), branch_computations={{%then, %then}}\n}}\n",
        {A: 1, B: 3, "pred[]{:T(512)}": 1}, [("in", "order+padding", 1), ("c", "order+padding", 7), ("d", "order+padding", 1)])
    levels = {m["first"]: (m["level"], m["at_most"]) for m in result["moves"]}
    assert levels == {"in": ("fused", True), "c": ("loop or branch", False), "d": ("loop or branch", False)}


S = "s32[]{:T(128)}"
PRED = "pred[]{:T(512)}"
STATED = ", backend_config={\"known_trip_count\":{\"n\":\"7\"}}"


def loop(test, step, begin, attributes="", before="", state=S, init="%z", member=0, order=", condition=%cond, body=%body"):
    """A module whose loop carries a counter, %i, and an array that its body copies; test and step are lines of its computations."""
    types = ", ".join([A if k != member else state for k in range(2)])

    def tuple_of(counter, array):
        return f"({types}) tuple({', '.join([counter if k == member else array for k in range(2)])})"

    head = (f"  %p = ({types}) parameter(0)\n  %i = {state} get-tuple-element(%p), index={member}\n"
            f"  %g = {A} get-tuple-element(%p), index={1 - member}\n")
    return (f"{before}%cond (p: (s32[], f32[8,128])) -> pred[] {{\n{head}{test}}}\n\n%body (p: (s32[], f32[8,128])) -> (s32[], f32[8,128]) {{\n{head}"
            f"{step}  %c = {A} copy(%g)\n  ROOT %t = {tuple_of('%j', '%c')}\n}}\n\nENTRY %m (a: f32[8,128]) -> f32[8,128] {{\n  %a = {A} parameter(0)\n"
            f"{begin}  %init = {tuple_of(init, '%a')}\n  %w = ({types}) while(%init){order}{attributes}\n  ROOT %r = {A} get-tuple-element(%w), "
            f"index={1 - member}\n}}\n")


def runs(text):
    """How often the copy runs; None: the text says that this is not known."""
    result = audit(text)
    move = next(m for m in result["moves"] if m["first"] == "c")
    assert move["level"] == "loop or branch" and move["count"] == 1, move
    return None if move["trips_unknown"] else move["runs"]


def compare(limit, direction="LT", left="%i", right="%n"):
    return f"  %n = {S} constant({limit})\n  ROOT %lt = {PRED} compare({left}, {right}), direction={direction}\n"


def add(step, opcode="add"):
    return f"  %one = {S} constant({step})\n  %j = {S} {opcode}(%i, %one)\n"


def constant(number):
    return f"  %z = {S} constant({number})\n"


@test
def loops_that_count():
    """By a condition that compares a counter with a constant: where it begins, its step, and any direction."""
    for direction, limit, step, begin, rounds in (
            ("LT", 10, 1, 0, 10), ("LT", 10, 3, 0, 4), ("LT", 10, 3, 1, 3), ("LE", 10, 1, 0, 11), ("LE", 10, 5, 0, 3), ("GT", 0, -1, 10, 10), ("GT", 0, -4, 10, 3),
            ("GE", 0, -1, 10, 11), ("NE", 12, 3, 0, 4), ("NE", 12, 5, 0, None), ("NE", -6, -2, 0, 3), ("LT", 0, 1, 5, 0), ("LT", 10, 0, 0, None), ("LT", 10, -1, 0, None),
            ("EQ", 3, 1, 3, 1), ("EQ", 3, 1, 4, 0), ("LT", -2, 2, -8, 3), ("LT", 1 << 30, 1, 0, 1 << 30), ("LT", 1 << 40, 1, 0, None)):
        assert runs(loop(compare(limit, direction), add(step), constant(begin))) == rounds, (direction, limit, step, begin, rounds)
    assert runs(loop(compare(1 << 40), add(1), constant(0)).replace("s32[]", "s64[]")) == 1 << 40
    mirrored = {"LT": "GT", "LE": "GE", "GT": "LT", "NE": "NE"}
    for direction, limit, step, begin, rounds in (("LT", 10, 3, 0, 4), ("LE", 10, 5, 0, 3), ("GT", 0, -4, 10, 3), ("NE", 12, 3, 0, 4)):
        assert runs(loop(compare(limit, mirrored[direction], "%n", "%i"), add(step), constant(begin), member=1)) == rounds
    assert runs(loop(compare(0, "GT"), add(2, "subtract"), constant(9))) == 5
    assert runs(loop(compare(10), f"  %one = {S} constant(1)\n  %j = {S} add(%one, %i)\n", constant(0))) == 10


@test
def loops_of_optimised_modules():
    """Constants and compares within fusions or called computations, copies, converts and barriers on the way, and bounds that are carried."""
    less = f"%less (x: s32[]) -> pred[] {{\n  %x = {S} parameter(0)\n  %k = {S} constant(6)\n  ROOT %l = {PRED} compare(%x, %k), direction=LT\n}}\n\n"
    of_two = f"%less (x: s32[], y: s32[]) -> pred[] {{\n  %y = {S} parameter(1)\n  %x = {S} parameter(0)\n  ROOT %l = {PRED} compare(%x, %y), direction=LT\n}}\n\n"
    more = f"%more (x: s32[]) -> s32[] {{\n  %x = {S} parameter(0)\n  %k = {S} constant(2)\n  ROOT %s = {S} add(%x, %k)\n}}\n\n"
    both = (f"%both (x: s32[], q: s32[]) -> (s32[], s32[]) {{\n  %x = {S} parameter(0)\n  %k = {S} constant(3)\n  %s = {S} add(%x, %k)\n  %u = {S} negate(%x)\n"
            f"  ROOT %o = ({S}, {S}) tuple(%u, %s)\n}}\n\n")
    fused = f"  ROOT %f = {PRED} fusion(%i), kind=kLoop, calls=%less\n"
    assert runs(loop(fused, add(1), constant(0), before=less)) == 6
    assert runs(loop(f"  ROOT %f = {PRED} call(%i), to_apply=%less\n", add(1), constant(2), before=less)) == 4
    assert runs(loop(f"  %n = {S} constant(9)\n  ROOT %f = {PRED} fusion(%i, %n), kind=kLoop, calls=%less\n", add(1), constant(0), before=of_two)) == 9
    assert runs(loop(fused, f"  %j = {S} fusion(%i), kind=kLoop, calls=%more\n", constant(0), before=less + more)) == 3
    assert runs(loop(fused, f"  %b = ({S}, {S}) fusion(%i, %i), kind=kLoop, calls=%both\n  %j = {S} get-tuple-element(%b), index=1\n", constant(0), before=less + both)) == 2
    begin = f"  %k = {S} constant(1)\n  %cs = ({S}, {S}, u32[]{{:S(2)}}) copy-start(%k)\n  %cd = {S} copy-done(%cs)\n  %z = {S} opt-barrier(%cd)\n"
    step = f"  %h = {S} copy(%i)\n  %one = {S} constant(1)\n  %s = {S} add(%h, %one)\n  %j = {S} bitcast(%s)\n"
    test_ = f"  %v = s64[] convert(%i)\n  %n = s64[] constant(9)\n  ROOT %lt = {PRED} compare(%v, %n), direction=LT\n"
    assert runs(loop(test_, step, begin)) == 8
    # The limit is carried, and does not change.
    carried = loop(compare(0).replace("constant(0)", "get-tuple-element(%p), index=2"), add(1), constant(0)).replace(
        f"({S}, {A})", f"({S}, {A}, {S})").replace("tuple(%j, %c)", "tuple(%j, %c, %k)").replace("tuple(%z, %a)", "tuple(%z, %a, %k)").replace(
        "  %c = ", f"  %k = {S} get-tuple-element(%p), index=2\n  %c = ").replace("  %init", f"  %k = {S} constant(5)\n  %init")
    assert runs(carried) == 5
    # Without marks, in short form.
    assert runs(loop(compare(10), add(1), constant(0)).replace("%", "").replace("ROOT ", "")) == 10


def called(*callers, entry=""):
    """A module whose @f copies; callers are names of computations, entry the lines of the entry behind its parameter."""
    def one(name, root):
        return f"%{name} (p: f32[8,128]) -> f32[8,128] {{\n  %p = {A} parameter(0)\n  ROOT {root}\n}}\n\n"

    return (one("f", f"%c = {B} copy(%p)") + "".join(one(name, f"%k = {B} call(%p), to_apply=%f") for name in callers) +
            f"ENTRY %m (a: f32[8,128]) -> f32[8,128] {{\n  %a = {A} parameter(0)\n{entry}}}\n")


@test
def computations_that_are_called():
    """At the level of what calls them, as often as all of that does."""
    def moves(text):
        return [(m["level"], m["runs"], m["trips_unknown"]) for m in audit(text)["moves"] if m["opcode"] == "copy"]

    def use(number, operation):
        return f"  %x{number} = {B} {operation}\n"

    def branches(number):
        return use(number, "conditional(%q, %a, %a), branch_computations={%f, %f}")

    loop_ = use(8, "while(%a), condition=%g, body=%h")
    call = "call(%a), to_apply=%"
    assert moves(called(entry=use(1, call + "f"))) == [("entry", 1, False)]
    assert moves(called("g", entry=use(1, call + "g"))) == [("entry", 1, False)]
    assert moves(called(entry=use(1, call + "f") + use(2, call + "f") + use(3, call + "f"))) == [("entry", 3, False)]
    assert moves(called("g", entry=use(1, call + "g") + use(2, call + "f") + use(3, call + "g"))) == [("entry", 3, False)]
    assert moves(called("g", entry=use(1, "fusion(%a), kind=kLoop, calls=%g"))) == [("fused", 1, False)]
    assert moves(called(entry=branches(1))) == [("loop or branch", 1, False)]
    assert moves(called(entry=branches(1) + branches(2))) == [("loop or branch", 2, False)]
    assert moves(called("h", entry=loop_.replace("%h\n", "%h" + STATED + "\n") + use(1, call + "f"))) == [("loop or branch", 8, False)]
    assert moves(called("h", entry=use(1, call + "f") + loop_)) == [("loop or branch", 2, True)]
    assert moves(called("g")) == [("level unknown", 1, False)]
    around = called("g", entry=use(1, call + "g")).replace("copy(%p)", f"copy(%p)\n  %d = {A} call(%p), to_apply=%g")
    assert moves(around) == [("entry", 1, False)], moves(around)


@test
def branches_of_conditionals():
    """All count, and what is in them is told apart: what they call and loop over too, in HLO and StableHLO."""
    def moves(text):
        return {(m["in_branch"], m["count"], m["runs"]) for m in audit(text)["moves"] if m["opcode"] == "copy"}

    taken = f"  %x = {B} conditional(%q, %a, %a), true_computation=%g, false_computation=%h\n"
    assert moves(called("g", "h", entry=f"{taken}  %e = {B} copy(%a)\n")) == {(True, 1, 2), (False, 1, 1)}
    assert moves(called("g", entry=f"  %x = {B} call(%a), to_apply=%g\n")) == {(False, 1, 1)}
    looped = called("g", "h", entry=taken).replace("call(%p), to_apply=%f", "while(%p), condition=%z, body=%f" + STATED)
    assert moves(looped) == {(True, 1, 14)}
    for form in (".mlir", "_generic.mlir", ".hlo"):
        for name, branch in (("branches", True), ("scan", False)):
            found = audit((LOOPS / f"{name}{form}").read_text())["moves"]
            assert {m["in_branch"] for m in found if m["opcode"] == "transpose"} == {branch}, (name, form, found)
    text = called("g", "h", entry=taken)
    out = subprocess.run([TOOL, "audit", "-"], input=text.encode(), capture_output=True).stdout.decode()
    assert ", in a branch" in " ".join(out.split()) and " 1 move in branches: all count, but a conditional runs one" in out, out


@test
def loops_that_do_not_say():
    """Neither a condition that can be read nor a stated number: once, which is said."""
    assert runs(loop(compare(10), add(1), f"  %z = {S} parameter(1)\n")) is None
    assert runs(loop(compare(10), f"  %j = {S} multiply(%i, %i)\n", constant(1))) is None
    assert runs(loop(f"  ROOT %x = {PRED} custom-call(%i), custom_call_target=\"x\"\n", add(1), constant(0))) is None
    assert runs(loop(compare(10), add(1), f"  %z = {S} parameter(1)\n", attributes=STATED)) == 7
    assert runs(loop(compare(7), add(1), constant(0), attributes=STATED.replace(":", ": "))) == 7
    text = loop(compare(10), add(1), f"  %z = {S} parameter(1)\n")
    out = subprocess.run([TOOL, "audit", "-"], input=text.encode(), capture_output=True).stdout.decode()
    assert "in a loop of unknown length" in " ".join(out.split()) and "1 move is in a loop whose rounds are not known: counted once" in out, out
    result = audit(loop(compare(10), add(1), constant(0), attributes=STATED))
    assert result["not_understood"][0]["kind"] == "a loop whose condition says another number than known_trip_count"


@test
def loops_over_lines():
    """Wherever the line is broken between words, before or behind a comma."""
    whole = loop(compare(10), add(1), constant(0))
    for order in (",\n  condition=%cond, body=%body", "\n , condition=%cond, body=%body", "\n  condition=%cond, body=%body", ", condition=%cond,\n body=%body",
                  ", condition=%cond\n , body=%body", ", condition=\n %cond, body=%body", ", condition=%cond, body=\n %body", "\n , condition=%cond\n , body=%body",
                  ", condition=%cond, body=%body\n , metadata={op_name=\"x\"}", ", condition=%cond, body=%body,\n metadata={op_name=\"x\"}"):
        check(whole.replace(", condition=%cond, body=%body", order), {A: 2, S: 4, PRED: 1}, [("c", "nothing", 10)])
    for old, new in ((" while(", "\n while("), ("while(%init)", "while(\n%init)"), ("while(%init)", "while\n (%init)"), ("%w = (", "%w =\n (")):
        check(whole.replace(old, new), {A: 2, S: 4, PRED: 1}, [("c", "nothing", 10)])


@test
def what_is_asynchronous():
    """Of async-start, copy-start and their ends only one buffer each, and one move."""
    check("%async_computation.21 (p: s32[256]) -> s32[256] {\n  %param = s32[256]{0:T(256)} parameter(0)\n  ROOT %sort = s32[256]{0:T(256)} "
          "sort(%param), dimensions={0}, to_apply=%cmp\n}\nENTRY %m () -> () {\n  %a = s32[256]{0:T(256)} parameter(0)\n"
          "  %as = ((s32[256]{0:T(256)}), s32[256]{0:T(256)}, u32[]{:S(8)}) async-start(%a), async_execution_thread=\"sparsecore\", "
          "calls=%async_computation.21\n  %au = ((s32[256]{0:T(256)}), s32[256]{0:T(256)}, u32[]{:S(8)}) async-update(%as)\n"
          "  %ad = s32[256]{0:T(256)} async-done(%au)\n}\n", {"s32[256]{0:T(256)}": 2})
    near = A[:-1] + "S(1)}"
    check(P + f"%copy-start   = ({near}, {A}, u32[]{{:S(2)}}) copy-start(%a), cross_program_prefetch_index=0\n"
          f"%copy-done = {near} copy-done(%copy-start)\n", {A: 1, near: 1}, [("copy-start", "space", 1)])


@test
def a_header_alone():
    """The parameters of entry_computation_layout, and tables of places, which hold no buffers."""
    check(f"HloModule jit_f, is_scheduled=true, input_output_alias={{ {{0}}: (0, {{}}, may-alias), {{1}}: (1, {{}}, must-alias) }}, "
          f"entry_computation_layout={{({A}, s32[]{{:T(128)}})->({A}, {B})}}, buffer_donor={{ (2, {{}}) }}, num_partitions=32\n\n"
          "FileNames\n1 \"/a/f32[8]{0}.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n1 {file_name_id=1 function_name_id=1 line=3 end_line=3 "
          "column=4 end_column=9}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n", {A: 1, "s32[]{:T(128)}": 1}, module="jit_f")


@test
def sources_of_findings():
    """The user's line, by tables of stack frames or by source_file; of what has none, that of what reads it."""
    tables = ("HloModule jit_f\n\nFileNames\n1 \"/a/model.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n"
              "1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=4 end_column=9}\n"
              "2 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=4 end_column=9}\n\nStackFrames\n"
              "1 {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=2 parent_frame_id=1}\n\n")
    small, turned = "f32[1024,3]{1,0:T(8,128)}", "f32[1024,3]{0,1:T(4,128)}"
    start = tables + f"ENTRY %m (p: f32[1024,3]) -> f32[1024,3] {{\n  %p = {small} parameter(0), metadata={{op_name=\"d[\\'b\\']\"}}\n"
    named, placed = "metadata={op_name=\"d[\\'b\\']\"}", "metadata={op_name=\"jit(f)/sin\" stack_frame_id=2}"
    file = {"op": "x", "file": "b.py", "function": "", "line": 12, "of": "own"}
    read = {"op": "d['b']", "file": "/a/model.py", "function": "f", "line": 7, "of": "reader"}
    for body, source, text in (
            (f"  %c = {turned} copy(%p), {placed}\n", {**read, "op": "jit(f)/sin", "of": "own"},
             "source: /a/model.py:7 in f: jit(f)/sin"),
            (f"  %c = {turned} copy(%p), metadata={{op_name=\"x\" source_file=\"b.py\" source_line=12}}\n", file, "source: b.py:12: x"),
            (f"  %c = {turned} copy(%p), {named}\n  %d = {turned} sine(%c), {placed}\n", read, "source: d['b'], read at /a/model.py:7 in f"),
            (f"  %c = {turned} copy(%p), {named}\n  %b = {turned} bitcast(%c)\n  %o = {turned} negate(%p)\n  %e = {turned} add(%o, {turned} %b), {placed}\n"
             f"  %f = {turned} cosine(%c), metadata={{stack_frame_id=1}}\n", read, "read at /a/model.py:7 in f"),
            (f"  %c = {turned} copy(%p)\n  %d = {turned} sine(%c), {placed}\n", {**read, "op": ""}, "source: read at /a/model.py:7 in f"),
            (f"  %c = {turned} copy(%p), {named}\n}}\n\nENTRY %other {{\n  %d = {turned} sine(%c), {placed}\n",
             {**read, "file": None, "function": None, "line": 0, "of": "own"}, "source: d['b']\n"),
            (f"  %d = {small} sine(%p), {placed}\n  %c = {turned} copy(%d)\n  %e = {turned} cosine(%c), metadata={{stack_frame_id=1}}\n",
             {**read, "op": "", "of": "maker"}, "source: made at /a/model.py:7 in f"),
            (f"  %c = {turned} copy(%p)\n", None, "")):
        finding = next(f for f in audit(start + body + "}\n")["findings"] if f["first"] == "c")
        assert finding["source"] == source, (body, finding["source"])
        printed = run("audit", "-", stdin=start + body + "}\n")[1]
        assert text in printed and (source or "source: read" not in printed), printed
    long = "metadata={op_name=\"" + "x" * 100 + "/end\"}"
    finding = next(f for f in audit(start + f"  %c = {turned} copy(%p), {long}\n}}\n")["findings"] if f["first"] == "c")
    assert finding["source"]["op"] == ".." + "x" * 49 + "/end"
    many = "".join(f"  %c{i} = f32[{1024 + i},3]{{0,1:T(4,128)}} copy(f32[{1024 + i},3]{{1,0:T(8,128)}} %p)\n" for i in range(65))
    reads = "".join(f"  %d{i} = f32[] sine(%c{i}), {placed}\n" for i in range(65))
    found = {f["first"]: f["source"] for f in audit(start + many + reads + "}\n")["findings"] if f["what"].startswith("copy")}
    assert found["c0"] is None and all(found[f"c{i}"]["line"] == 7 for i in range(1, 65)), found


@test
def shardings_are_no_layouts():
    check(P[:-1] + ", sharding={devices=[1,4,8]<=[8,4]T(1,0) last_tile_dim_replicate}, frontend_attributes={_xla_x=\"f32[8]{0:T(8)}\"}\n", {A: 1})


@test
def collectives_are_listed():
    result = audit(P + f"%ag = f32[32,128]{{1,0:T(8,128)}} all-gather(%a), channel_id=1, replica_groups=[8,4]<=[32], dimensions={{0}}\n"
                   f"%ar = {A} all-reduce(%a), replica_groups={{{{0,1}},{{2,3}}}}, to_apply=%add\n"
                   f"%cp = ({A}, {A}, u32[]{{:S(2)}}, u32[]{{:S(2)}}) collective-permute-start(%a), source_target_pairs={{{{0,1}},{{1,0}}}}\n"
                   f"%cd = {A} collective-permute-done(%cp)\n%aa = {A} all-to-all(%a), replica_groups={{{{0,1}}}}, dimensions={{0}}\n")
    assert result["collectives"] == 4 and result["collective_bytes"] == (4 + 1 + 1 + 1) * 4096 and result["not_understood"] == []
    assert all(m["not_priced"] == "collectives need the devices: a mesh" for m in result["moves"]) and result["all"]["buffers"] == 5


@test
def transposes_that_cannot_be_read():
    """Cut off, or without dims: counted as such, never free."""
    unread = "a transpose whose dimensions cannot be read: not priced"
    for end, kinds in (("", {}), (", dimensions={1,", {}), (", dimensions={1,1}", {}), (", dimensions={0}", {}), (", dim", {})):
        result = audit(P + f"%t = f32[128,8]{{1,0:T(8,128)}} transpose(%a){end}\n%b = {A} add(%a, %a)\n")
        assert {k["kind"]: k["count"] for k in result["not_understood"]}.get(unread) == 1 and result["free_moves"] == 0, (end, result)
        assert result["moves"][0]["not_priced"] == "its dimensions cannot be read", (end, result["moves"])
    result = audit("%a = f32[8,128,4]{2,1,0:T(8,128)} parameter(0)\n%t = f32[128,8]{1,0:T(8,128)} transpose(%a), dimensions={1,0}\n")
    assert result["moves"][0]["changes"] == "dims" and result["free_moves"] == 0, result["moves"]
    for dims in ("dims=[1,0]", "dims =[1, 0]", "dims = [1,0]"):
        check(f"func.func @main(%arg0: tensor<4x8xf32>) -> tensor<8x4xf32> {{\n  %0 = stablehlo.transpose %arg0, {dims} : (tensor<4x8xf32>) -> "
              "tensor<8x4xf32>\n  return %0 : tensor<8x4xf32>\n}\n", {"f32[4,8]{1,0:T(4,128)}": 1, "f32[8,4]{0,1:T(4,128)}": 1},
              [("0", "nothing", 1)], options=["-m", "tpu-v4"])


@test
def spaces_of_every_number():
    """Scalars' memory is a memory; the host's and flags are said to be what they are."""
    def move(space, machine="tpu-v5e"):
        return audit(P + f"%b = {A[:-1]}S({space})}} copy(%a)\n", "-m", machine)

    assert move(6)["moves"][0]["microseconds"] > 0 and move(6)["spaces"][1]["space"] == 6
    assert move(5)["moves"][0]["not_priced"] == "transfers to and from the host are not modelled"
    for space, why in ((2, "transfers of flags are not modelled"), (3, "the machine has no such memory space"), (7, "the machine has no such memory space"),
                       (99999, "the machine has no such memory space")):
        assert move(space)["moves"][0]["not_priced"] == why, space
    assert move(3, "tpu-v4")["moves"][0]["microseconds"] > 0


@test
def kernels_that_pin_layouts():
    result = check(f"%a = {B} parameter(0)\n%k = {A} custom-call(%a), custom_call_target=\"tpu_custom_call\", operand_layout_constraints="
                   f"{{f32[8,128]{{1,0}}}}, backend_config={{\"custom_call_config\": {{\"body\": \"TUzvUg==\"}}}}\n%c = {B} copy(%k)\n",
                   {A: 1, B: 2}, [("c", "order+padding", 1)])
    assert any("keep the source's layout {1,0:T(8,128)}" in f["fix"] for f in result["findings"])


@test
def stablehlo_and_mhlo():
    """No layouts: those of the rule."""
    check("module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n  func.func public @main(%arg0: tensor<16x12x64xbf16> {mhlo.sharding = "
          "\"{replicated}\"}, %arg1: tensor<f32>) -> (tensor<12x16x64xbf16> {jax.result_info = \"\"}) {\n    %0 = stablehlo.transpose %arg0, "
          "dims = [1, 0, 2] : (tensor<16x12x64xbf16>) -> tensor<12x16x64xbf16>\n    return %0 : tensor<12x16x64xbf16>\n  }\n}\n",
          {"bf16[16,12,64]{2,0,1:T(8,128)(2,1)}": 1, "bf16[12,16,64]{2,1,0:T(8,128)(2,1)}": 1, "f32[]{:T(128)}": 1}, [("0", "nothing", 1)],
          tiles_assumed=True)
    check("func.func @main(%arg0: tensor<4x8xf32>) -> tensor<8x4xf32> {\n  %0 = \"mhlo.transpose\"(%arg0) {permutation = dense<[1, 0]> : "
          "tensor<2xi64>} : (tensor<4x8xf32>) -> tensor<8x4xf32>\n  return %0 : tensor<8x4xf32>\n}\n",
          {"f32[4,8]{1,0:T(4,128)}": 1, "f32[8,4]{0,1:T(4,128)}": 1}, [("0", "nothing", 1)], options=["-m", "tpu-v4"])


@test
def the_rule_of_each_generation():
    """From v4 on tiles of one row (two of bf16), and scalars alike; before, another order of dims pads less. Tall tiles of bytes, not of bf16."""
    types = "64x1x256xbf16", "64x1x256xf32", "64x3x256xf32", "64x64xbf16", "64x64xi8", "1000xf32", "i1"
    text = ("func.func @main(" + ", ".join(f"%a{i}: tensor<{t}>" for i, t in enumerate(types)) + ") -> tensor<i1> {\n"
            "  return %a6 : tensor<i1>\n}\n")
    for machine, tiles in (("tpu-v3", ("T(8,128)(2,1)", "T(8,128)", "T(8,128)", "T(8,128)(2,1)", "T(32,128)(4,1)", "T(1024)", "T(1024)")),
                           ("tpu-v4", ("T(8,128)(2,1)", "T(1,128)", "T(8,128)", "T(8,128)(2,1)", "T(32,128)(4,1)", "T(1024)", "T(512)")),
                           ("tpu-v6e", ("T(8,128)(2,1)", "T(1,128)", "T(8,128)", "T(8,128)(2,1)", "T(32,128)(4,1)", "T(1024)", "T(512)"))):
        found = {b["first"]: b["shape"].split(":")[1][:-1] for b in audit(text, "-m", machine)["buffers"]}
        assert found == {f"a{i}": tile for i, tile in enumerate(tiles)}, (machine, found)


@test
def loops_of_stablehlo():
    """In either form what is within one whose text does not say counts once; what follows runs once."""
    turn = "stablehlo.transpose %{}, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
    pretty = ("    %1:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, tensor<8x8xf32>\n     cond {\n      %5 = stablehlo.compare LT, %iterArg, "
              "%c_1 : (tensor<i32>, tensor<i32>) -> tensor<i1>\n      stablehlo.return %5 : tensor<i1>\n    } do {\n      %6 = " + turn.format("arg0") +
              "      stablehlo.return %iterArg, %6 : tensor<i32>, tensor<8x8xf32>\n    }\n")
    generic = ("    %1:2 = \"stablehlo.while\"(%c, %arg0) ({\n    ^bb0(%a: tensor<i32>, %b: tensor<8x8xf32>):\n      %5 = stablehlo.compare LT, %a, %c_1 : "
               "(tensor<i32>, tensor<i32>) -> tensor<i1>\n      stablehlo.return %5 : tensor<i1>\n    }, {\n    ^bb0(%a: tensor<i32>, %b: tensor<8x8xf32>):\n"
               "      %6 = " + turn.format("arg0") + "      stablehlo.return %a, %6 : tensor<i32>, tensor<8x8xf32>\n    }) : (tensor<i32>, tensor<8x8xf32>) -> "
               "(tensor<i32>, tensor<8x8xf32>)\n")
    for form in (pretty, generic):
        result = audit("func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {\n    %0 = " + turn.format("arg0") + form + "    %9 = " +
                       turn.format("arg0") + "    return %9 : tensor<8x8xf32>\n}\n")
        assert sum(m["count"] for m in result["moves"] if m["opcode"] == "transpose") == 3, result["moves"]
        assert {m["level"]: (m["count"], m["runs"], m["trips_unknown"]) for m in result["moves"]} == {
            "entry": (2, 2, False), "loop or branch": (1, 1, True)}, result["moves"]
        inner = audit("func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {\n" + form + "    %9 = stablehlo.reverse %arg0, dims = [0] : "
                      "tensor<8x8xf32>\n    return %9 : tensor<8x8xf32>\n}\n")
        assert {m["opcode"]: m["trips_unknown"] for m in inner["moves"]} == {"transpose": True, "reverse": False}, (form, inner["moves"])


@test
def loops_that_jax_lowers():
    """Each of tests/oracle/loops.py runs as often in its three texts: what is called from one too, and from two places."""
    for name, count, rounds, unknown in (("scan", 2, 14, False), ("nested", 1, 16, False), ("steps", 1, 3, False), ("branches", 2, 12, False),
                                         ("until", 1, 1, True)):
        for form in (".mlir", "_generic.mlir", ".hlo"):
            moves = audit((LOOPS / f"{name}{form}").read_text())["moves"]
            found = {(m["level"], m["count"], m["runs"], m["trips_unknown"]) for m in moves if m["opcode"] == "transpose"}
            assert found == {("loop or branch", count, rounds, unknown)}, (name, form, moves)


@test
def modules_with_the_same_names():
    """What follows a function or computation of the same name is another module, whose calls are its own."""
    for form in (".mlir", "_generic.mlir", ".hlo"):
        text = (LOOPS / f"nested{form}").read_text()
        text = text.split("\n\n", 1)[1] if form == ".hlo" else text  # without the header, which says so too
        moves = audit(text + "\n" + text)["moves"]
        assert [(m["count"], m["runs"]) for m in moves if m["opcode"] == "transpose"] == [(2, 32)], (form, moves)


def rounds_of(test="LT, %i, %n", step="add %i, %k", first=0, limit=10, by=1, change=lambda text: text):
    """How often a loop of StableHLO runs its transpose; None: the text says that this is not known."""
    number = "%{} = stablehlo.constant dense<{}> : tensor<i32>\n"
    text = ("func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {\n" + number.format("z", first) + number.format("n", limit) +
            "%1:2 = stablehlo.while(%i = %z, %x = %arg0) : tensor<i32>, tensor<8x8xf32> attributes {a = \"} do {\"}\ncond {\n"
            f"%5 = stablehlo.compare {test}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %5 : tensor<i1>\n}} do {{\n" +
            number.format("k", by) + f"%5 = stablehlo.{step} : tensor<i32>\n"
            "%6 = stablehlo.transpose %x, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
            "stablehlo.return %5, %6 : tensor<i32>, tensor<8x8xf32>\n}\nreturn %1#1 : tensor<8x8xf32>\n}\n")
    move, = audit(change(text))["moves"]
    assert move["level"] == "loop or branch" and move["count"] == 1, move
    return None if move["trips_unknown"] else move["runs"]


@test
def loops_of_stablehlo_that_count():
    """Begin, limit, step and direction, and what none of them is."""
    assert rounds_of() == 10 and rounds_of(first=4) == 6 and rounds_of(limit=25) == 25 and rounds_of(by=3) == 4
    assert rounds_of("LE, %i, %n") == 11 and rounds_of("GT, %n, %i") == 10 and rounds_of("NE, %i, %n", by=5) == 2
    assert rounds_of("GT, %i, %z", "subtract %i, %k") == 0 and rounds_of("GE, %i, %k", "add %i, %k", by=-2) is None
    assert rounds_of("LT, %i, %z") == 0 and rounds_of("LT, %i, %arg0") is None and rounds_of("LT, %n, %i") == 0
    assert rounds_of(step="multiply %i, %k") is None and rounds_of(limit="[10]") is None and rounds_of(limit="0xFF") is None
    # A name that the condition gave to a comparison stands for what the body makes of it.
    assert rounds_of(change=lambda text: text.replace("%5 = stablehlo.add %i, %k : tensor<i32>", "%5 = func.call @f() : () -> tensor<i32>")) is None
    assert rounds_of(change=lambda text: text.replace("return %5, %6", "return %i, %6")) is None
    assert rounds_of(change=lambda text: text.replace("SIGNED", "UNSIGNED").replace("} do {\n", "}\ndo {\n")) == 10
    # What an outer loop counts is no number.
    outer = "%2 = stablehlo.while(%o = %z) : tensor<i32>\ncond {\nstablehlo.return %q : tensor<i1>\n}} do {{\n{}stablehlo.return %o : tensor<i32>\n}}\n"
    def in_another(begin):
        return lambda text: text.replace("%1:2", outer.split("{}")[0].replace("}}", "}").replace("{{", "{") + "%1:2").replace("%i = %z", f"%i = {begin}").replace(
            "}\nreturn", "}\n" + outer.split("{}")[1].replace("}}", "}") + "return")
    assert rounds_of(change=in_another("%z")) is None and rounds_of(change=in_another("%o")) is None


@test
def deep_loops_of_stablehlo():
    """More within each other than are kept: the innermost count once, which is said, and what follows as it should."""
    for depth, unknown in ((31, False), (32, False), (33, True), (70, True)):
        text = "func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {\n%z = stablehlo.constant dense<0> : tensor<i32>\n"
        turn = " = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
        for i in range(depth):
            text += (f"%w{i} = stablehlo.while(%i{i} = %z) : tensor<i32>\ncond {{\n%l = stablehlo.constant dense<{1 + (i == 1)}> : tensor<i32>\n"
                     f"%c = stablehlo.compare LT, %i{i}, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %c : tensor<i1>\n}} do {{\n"
                     f"%k{i} = stablehlo.constant dense<1> : tensor<i32>\n")
        text += "%t" + turn
        for i in reversed(range(depth)):
            text += f"%n{i} = stablehlo.add %i{i}, %k{i} : tensor<i32>\nstablehlo.return %n{i} : tensor<i32>\n}}\n"
        moves = audit(text + "%b = stablehlo.reverse %arg0, dims = [0] : tensor<8x8xf32>\nreturn %b : tensor<8x8xf32>\n}\n")["moves"]
        found = {m["opcode"]: (m["level"], m["runs"], m["trips_unknown"]) for m in moves}
        assert found == {"transpose": ("loop or branch", 2, unknown), "reverse": ("entry", 1, False)}, (depth, found)


@test
def shardy():
    """A constraint is its operand; what runs on shards is the function's own."""
    check("#loc1 = loc(\"x\")\nmodule @m {\n  sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n  func.func public @main(%arg0: tensor<16x64xf32> "
          "{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>} loc(\"a\")) -> tensor<16x64xf32> {\n    %0 = sdy.sharding_constraint %arg0 "
          "<@mesh, [{\"x\"}, {\"y\"}]> : tensor<16x64xf32>\n    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{\"x\"}, {}]>] "
          "out_shardings=[<@mesh, [{\"x\"}, {}]>] manual_axes={\"x\"} (%arg1: tensor<4x64xf32>) {\n      %2 = stablehlo.add %arg1, %arg1 : "
          "tensor<4x64xf32>\n      sdy.return %2 : tensor<4x64xf32>\n    } : (tensor<16x64xf32>) -> tensor<16x64xf32>\n"
          "    return %1 : tensor<16x64xf32> loc(#loc1)\n  }\n}\n", {"f32[16,64]{1,0:T(8,128)}": 1, "f32[4,64]{1,0:T(4,128)}": 1},
          options=["-m", "tpu-v4"])


@test
def bounded_tensors():
    check("func.func @main(%arg0: tensor<?x4xf32, #stablehlo.bounds<8, ?>>, %arg1: tensor<?x4xf32>) -> tensor<?x4xf32> {\n  %0 = stablehlo.add "
          "%arg0, %arg0 : tensor<?x4xf32, #stablehlo.bounds<8, ?>>\n  return %0 : tensor<?x4xf32>\n}\n", {"f32[<=8,4]{0,1:T(4,128)}": 2},
          kinds={"shape: an unbounded dimension has no size": 1})


@test
def every_type():
    shapes = {"f8e4m3fn[32,128]{1,0:T(32,128)(4,1)}": 4096, "f8e5m2[32,128]{1,0:T(8,128)(4,1)}": 4096, "c64[8,128]{1,0:T(8,128)}": 8192,
              "f4e2m1fn[64,128]{1,0:T(64,128)(8,1)E(4)}": 4096, "c128[4]{0}": 64, "f8e8m0fnu[32]{0}": 32, "u16[16,128]{1,0:T(8,128)(2,1)}": 4096}
    result = check("".join(f"%p{i} = {shape} parameter({i})\n" for i, shape in enumerate(shapes)), dict.fromkeys(shapes, 1))
    assert {b["shape"]: b["padded_bytes"] for b in result["buffers"]} == shapes
    check("func.func @main(%a: tensor<32x128xf8E4M3FN>, %b: tensor<8xcomplex<f32>>, %c: tensor<8xui8>, %d: tensor<8xi1>, %e: tensor<16xi4>, "
          "%t: !stablehlo.token, %tt: tuple<tensor<8xf32>, tensor<i32>>) -> tensor<8xi1> {\n  return %d : tensor<8xi1>\n}\n",
          {"f8e4m3fn[32,128]{1,0:T(32,128)(4,1)}": 1, "c64[8]{0:T(128)}": 1, "u8[8]{0:T(512)(128)(4,1)}": 1,
           "pred[8]{0:T(512)(128)(4,1)}": 1, "s4[16]{0:T(1024)(128)(8,1)E(4)}": 1, "f32[8]{0:T(128)}": 1, "s32[]{:T(128)}": 1},
          options=["-m", "tpu-v5e"])


@test
def wrapped_and_short_forms():
    check(f"  ROOT %a = {A}\n    fusion({A} %x,\n    {A} %y), kind=kLoop,\n    calls=%fused_computation\n%b = {B} copy(%a)\n", {A: 1, B: 1},
          [("b", "order+padding", 1)])
    check(f"HloModule m\nadd {{\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT r = f32[] add(x, y)\n}}\nENTRY main {{\n  p0 = {A} "
          f"parameter(0)\n  z = f32[]{{:T(128)}} constant(0)\n  s = f32[8]{{0:T(128)}} reduce(p0, z), dimensions={{1}}, to_apply=add\n  c = {B} "
          "copy(p0)\n  ROOT t = f32[128,8]{1,0:T(8,128)} transpose(c), dimensions={1,0}\n}\n",
          {A: 1, B: 1, "f32[]{:T(128)}": 1, "f32[8]{0:T(128)}": 1, "f32[128,8]{1,0:T(8,128)}": 1},
          [("c", "order+padding", 1), ("t", "nothing", 1)], free_moves=1)


@test
def out_of_memory_messages():
    """Sizes of one allocation, of an old report, of vmem, and of a tuple's table; summaries are no buffers."""
    big = "bf16[8192,65536]{1,0:T(8,128)(2,1)}"
    text = ("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Attempting to allocate 4.00G. That was not possible. There are 2.21G free.\n"
            f"Allocation (size=1073741824) would exceed memory (size=17179869184) :: #allocation5 [shape = '{big}', space=hbm, size = 0x40000000]\n")
    result = check(text, {big: 1})
    assert [(f["name"], f["reported"]) for f in result["memory"]] == [("asked for", "4.00G"), ("free", "2.21G"), ("asked for", "1073741824"),
                                                                       ("capacity", "17179869184")]
    assert [(r["reported"], r["equal"]) for r in result["reported"]] == [("1073741824", True)]
    kernel = "bf16[8,2048,128]{2,1,0:T(16,128)(2,1)}"
    result = check(f"RESOURCE_EXHAUSTED: Ran out of memory in memory space vmem while allocating on stack for %my.1 = {kernel} custom-call({kernel} "
                   "%x). Scoped allocation with size 17.00M and limit 16.00M exceeded scoped vmem limit by 1.00M.\n", {kernel: 1})
    assert result["reported"] == []
    remat = "f32[16,16,1024,1024]{1,3,2,0:T(8,128)}"
    result = check("Ran out of memory in memory space hbm. Used 20.00G of 15.48G hbm. Exceeded hbm capacity by 4.52G.\n\n  1. Size: 8.00G\n"
                   f"     Operator: op_name=\"jit(f)/transpose[permutation=(0, 1)]\"\n     Shape: {remat}\n     Unpadded size: 1.00G\n"
                   "     Extra memory due to padding: 7.00G (8.0x expansion)\n     XLA label: copy.remat = copy(Arg_0.1)\n     Allocation type: HLO temp\n"
                   f"     ==========================\n\n  2. Size: 4.0K\n     Shape: ({A}, u32[]{{:S(2)}})\n     Unpadded size: 4.0K\n"
                   f"     XLA label: %while = ({A}, ...(+6)) while(%tuple), condition=...\n     ==========================\n", {remat: 1},
                   kinds={NO_OPERAND: 1, "members of a tuple that the text leaves out": 1})
    assert [(r["reported"], r["computed"], r["equal"]) for r in result["reported"]] == [("8.00G", "8.00G", True), ("4.0K", None, False)]


@test
def where_memory_went():
    """An out-of-memory message read whole: every figure, and allocations under a heading lie in its memory."""
    shape = "f32[1024,1024]{1,0:T(8,128)}"
    result = check(
        "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 20.00G of 15.48G hbm. Exceeded hbm "
        "capacity by 4.52G.\n\nTotal hbm usage >= 20.52G:\n    reserved        530.00M \n    program          15.13G \n    arguments         4.87G \n\n"
        "Output size 2.43G; shares 2.43G with arguments.\n\nProgram hbm requirement 15.13G:\n    global           276.0K\n    scoped             2.0M\n"
        "    HLO temp         15.13G (98.9% utilization: Unpadded (7.43G) Padded (7.51G), 50.4% fragmentation (7.62G))\n\n"
        f"  Largest program allocations in hbm:\n\n  1. Size: 4.00M\n     Shape: {shape}\n     Unpadded size: 4.00M\n     XLA label: copy.1 = copy(x)\n"
        "     Allocation type: HLO temp\n     ==========================\n\nRan out of memory in memory space vmem. Used 17.20M of 16.00M vmem. Exceeded "
        f"vmem capacity by 1.20M.\n\n  Largest program allocations in vmem:\n\n  1. Size: 4.00M\n     Shape: {shape}\n     Unpadded size: 4.00M\n"
        "     Allocation type: scoped\n     ==========================\n\n  2. Size: 29.66K\n     XLA label: register allocator spill slots\n"
        "     Allocation type: scoped\n     ==========================\n", {shape: 1}, kinds={NO_OPERAND: 1, "reported allocations without a shape": 1})
    figures = [(f["name"], f["space"], f["reported"]) for f in result["memory"]]
    assert figures == [("used", 0, "20.00G"), ("capacity", 0, "15.48G"), ("exceeded by", 0, "4.52G"), ("in all, at least", 0, "20.52G"),
                       ("reserved", 0, "530.00M"), ("program", 0, "15.13G"), ("arguments", 0, "4.87G"), ("output", 0, "2.43G"),
                       ("output that shares arguments", 0, "2.43G"), ("program", 0, "15.13G"), ("global", 0, "276.0K"), ("scoped", 0, "2.0M"),
                       ("HLO temp", 0, "15.13G"), ("HLO temp, unpadded", 0, "7.43G"), ("HLO temp, padded", 0, "7.51G"), ("HLO temp, fragmentation", 0, "7.62G"),
                       ("used", 1, "17.20M"), ("capacity", 1, "16.00M"), ("exceeded by", 1, "1.20M")], figures
    assert [(s["space"], s["buffers"]) for s in result["spaces"]] == [(0, 1), (1, 1)], result["spaces"]
    assert [(a["reported"], a["space"], a["name"], a["shape"]) for a in result["allocations"]] == [
        ("4.00M", 0, "HLO temp", shape), ("4.00M", 1, "scoped", shape), ("29.66K", 1, "scoped", None)], result["allocations"]
    assert result["memory"][0]["bytes"] == 20 << 30 and result["allocations"][0]["bytes"] == 4 << 20


@test
def usage_of_a_program():
    """A compiler's log of a program that fits: used, and of how much, in each memory; not every "program" with a size."""
    result = check("I0714 10:02:11.123456 12 tpu_compile.cc:12] XLA::TPU program HBM usage: 3.51G / 15.75G\nXLA::TPU program VMEM usage: 96.0K\n", {},
                   kinds={})
    assert [(f["name"], f["space"], f["reported"]) for f in result["memory"]] == [
        ("used", 0, "3.51G"), ("capacity", 0, "15.75G"), ("used", 1, "96.0K")], result["memory"]
    code, _, err = run("audit", "-", stdin="XLA::TPU program disk usage: 3.51G / 15.75G\n")
    assert code == 1 and "holds no instruction or shape in 1 line" in err, (code, err)


def files_of(text):
    """The rows of the CSV and the page that the audit of `text` writes."""
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder, "audit." + kind) for kind in ("csv", "html")]
        assert run("audit", "-", "--csv", str(names[0]), "--html", str(names[1]), stdin=text)[0] == 0
        return list(csv.DictReader(io.StringIO(names[0].read_text()))), names[1].read_text()


@test
def memory_in_files():
    """The CSV and the page have the figures and allocations that the JSON has; a text without any has no section."""
    shape = "f32[1024,1000]{1,0:T(8,128)}"
    text = ("Total bytes used: 16781312 (16.00MiB)\n\n"
            f"allocation 6: size 4194304, preallocated-temp:\n value: <9 a @0> (size=4194304,offset=0): {shape}\n value: <8 b @0> (size=4194304,offset=0): {shape}\n"
            "  Live ranges at 2 (peak):\n    a: 4194304 bytes (cumulative: 4194304 bytes)\n"
            "Ran out of memory in memory space hbm. Used 20.00G of 15.48G hbm.\n\n"
            f"  Largest program allocations in hbm:\n\n  1. Size: 4.00M\n     Shape: {shape}\n     Unpadded size: 3.91M\n     Allocation type: HLO <temp>\n"
            "     ==========================\n\n  2. Size: 29.66K\n     XLA label: spill\n     Allocation type: \"scoped\"\n     ==========================\n")
    rows, page = files_of(text)
    result = audit(text)
    assert len(result["memory"]) == 3 and [a["at_peak"] for a in result["allocations"]] == [False, False, False, True], result["allocations"]
    assert [list(row.values()) for row in rows if row["kind"] == "memory"] == [
        ["memory", f["name"], str(f["line"]), "", "", "", str(f["space"]) if f["space"] >= 0 else "", "", str(f["bytes"]), *[""] * 6]
        for f in result["memory"]]
    assert [list(row.values()) for row in rows if row["kind"] in ("allocation", "peak")] == [
        ["peak" if a["at_peak"] else "allocation", a["name"], str(a["line"]), "", "", a["shape"] or "", str(a["space"]) if a["space"] >= 0 else "",
         str(a["logical_bytes"]) if a["shape"] else "", str(a["bytes"]), "", str(a["values"] or ""), *[""] * 4]
        for a in result["allocations"]]
    section = page.split("<h2>Memory that the text reports</h2>")[1].split("<h2>")[0]
    at = {one["name"]: one["line"] for one in result["memory"] + result["allocations"]}
    quoted = '"scoped"'  # how the text names it
    rows_of = [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall("<td.*?</td>", row)]
               for row in re.findall("<tr><td.*?</tr>", section)]
    for wanted in ([at["used"], "20.00G", "hbm", "used"], [1, "16781312", "", "all allocations"],
                   [at["HLO <temp>"], "4.00M", "3.91M", "hbm", "HLO <temp>", "", shape],
                   [at[quoted], "29.66K", "", "hbm", quoted, "", ""],
                   [3, "4194304", "", "hbm", "preallocated-temp", "2", ""],
                   [7, "4194304", "", "", "live at the peak: a", "", ""]):
        assert [str(cell) for cell in wanted] in rows_of, (wanted, rows_of)
    assert section.count("<table ") == section.count("</table>") == 2
    rows, page = files_of(P)
    assert {row["kind"] for row in rows} == {"buffer"} and "Memory that the text" not in page
    many, page = files_of("".join(f"allocation {k}: size 4096, parameter {k}, shape |f32[8,128]| at ShapeIndex {{}}:\n" for k in range(203)))
    assert sum(row["kind"] == "allocation" for row in many) == 203 and page.count("<td>parameter ") == 200 and "<p>And 3 more.</p>" in page
    assert page.split("<h2>Memory")[1].split("<h2>")[0].count("<table ") == 1


@test
def usage_reports():
    """Sizes with units are sizes, allocations that are listed twice count once, and tiles are those that explain the size."""
    text = ("Total bytes used: 16779264 (16.00MiB)\n\nAllocations sorted by size:\n\ncumulative_size; total_size - cumulative_size; allocation\n"
            "------------------------------------------------------------------------------\n   8.00MiB( 50%);    8.00MiB; allocation 5: size 8.00MiB, parameter 0, "
            "shape |f32[1024,2048]| at ShapeIndex {}:\n   16.00MiB(100%);     2.0KiB; allocation 6: size 8.00MiB, preallocated-temp:\n"
            "   16.00MiB(100%);         0B; allocation 1: size 2.0KiB, output shape is |f32[8,3]|, maybe-live-out:\n\n\n"
            "Allocations sorted by size with their values:\nallocation 6: size 8388608, preallocated-temp:\n"
            " value: <9 copy.1 @0> (size=8388608,offset=0): f32[1024,2048]{0,1:T(8,128)}\n value: <12 copy.2 @0> (size=512,offset=0): f32[128]{0:T(128)}\n")
    result = check(text, {"f32[1024,2048]{1,0:T(8,128)}": 1, "f32[8,3]{0,1:T(4,128)}": 1, "f32[1024,2048]{0,1:T(8,128)}": 1, "f32[128]{0:T(128)}": 1})
    assert [(r["reported"], r["equal"]) for r in result["reported"]] == [("8388608", True), ("512", True), ("8.00M", True), ("2.0K", True)], result["reported"]
    assert [(f["name"], f["bytes"]) for f in result["memory"]] == [("all allocations", 16779264)]
    assert [(a["index"], a["bytes"], a["name"], a["values"]) for a in result["allocations"]] == [
        (5, 8 << 20, "parameter 0", 0), (6, 8 << 20, "preallocated-temp", 2), (1, 2048, "output", 0)], result["allocations"]


@test
def usage_by_memory():
    """A table a memory: its colour is the space, a value that has an allocation alone says its tiles, others share."""
    rule = "  cumulative_size;       size;       offset; used_by_n_values; shapes_list\n  " + "-" * 60 + "\n"
    text = ("Memory Space: default (color=0)\nTotal bytes: 3212288 (3.06MiB)\n" + rule
            + "    3.06MiB(100%);    3.06MiB;            0;                1; f32[1000,784]\n\n" + rule
            + "       512B(100%);       512B;            0;                1; (f32[512,512], s32[512,512])\n\n" + rule
            + "       512B(100%);       512B;            0;                2; 2×(s32[], f32[512,512])\n\n\n"
            "Memory Space: vmem (color=1)\nTotal bytes: 16384 (16.0KiB)\n" + rule
            + "     8.0KiB( 50%);     8.0KiB;         4096;                3; f32[8,128], 2×f32[16,128]\n"
            "    20.0KiB(100%);    12.0KiB;        12288;                1; f32[24,24]\n\n\n"
            "Memory Space: color_6 (color=6)\nTotal bytes: 16 (16B)\n" + rule + "         4B( 25%);         4B;            0;                2; 2×u32[]\n")
    result = audit(text)
    assert result["not_understood"] == [], result["not_understood"]
    assert [(f["space"], f["bytes"]) for f in result["memory"]] == [(0, 3212288), (1, 16384), (6, 16)], result["memory"]
    wide, tall = "f32[1000,784]{0,1:T(8,128)}", "f32[24,24]{1,0:T(8,128)}"
    assert [(r["reported"], r["shape"], r["equal"]) for r in result["reported"]] == [("3.06M", wide, True), ("512B", None, False), ("12.0K", tall, True)], result["reported"]
    assert [(a["line"], a["space"], a["bytes"], a["name"], a["values"], a["shape"]) for a in result["allocations"] if not a["at_peak"]] == [
        (5, 0, 3208642, "at byte 0", 1, wide), (21, 1, 12288, "at byte 12288", 1, tall), (20, 1, 8192, "at byte 4096", 3, None),
        (9, 0, 512, "at byte 0", 1, None), (13, 0, 512, "at byte 0", 2, None), (28, 6, 4, "at byte 0", 2, None)], result["allocations"]
    assert [(s["space"], s["buffers"]) for s in result["spaces"]] == [(0, 1), (1, 4), (6, 2)], result["spaces"]
    for cut in range(len(text) - 90, len(text), 7):  # in the middle of a row
        audit(text[:cut])


@test
def what_lives_at_the_peak_alone():
    """A file of live ranges, and the message of a compiler that names no list."""
    text = ("HloLiveRange (max 9):\n  InstructionSequence:\n    0:a.1\n  BufferLiveRange:\n    a.1{}:0-9\n  Live ranges at 7 (peak):\n"
            "    a.1{}: 3584000 bytes (cumulative: 3584000 bytes)\n    c{}: 96 bytes (cumulative: 3584096 bytes)\n"
            "  Stack trace breakdown for peak usage: 3 584 096 bytes\n    main.1 (100.0%, total: 3 584 096 bytes, current: 0 bytes)\n")
    assert [(a["name"], a["bytes"], a["at_peak"]) for a in audit(text)["allocations"]] == [("a.1{}", 3584000, True), ("c{}", 96, True)]
    text = "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries (128.00T) exceeds available HBM (15.75G).\n"
    assert [(f["name"], f["space"], f["bytes"]) for f in audit(text)["memory"]] == [("HLO temp", 0, 128 << 40), ("capacity", 0, 63 << 28)]


@test
def buffer_assignments():
    """A tuple's size is its table's; instructions that each value repeats count once; what lives at the peak."""
    near = A[:-1] + "S(1)}"
    start = f"%s = ({near}, {A}, u32[]{{:S(2)}}) copy-start({A} %p0)"
    text = (f"BufferAssignment:\nallocation 0: size 4096, parameter 0, shape |f32[8,128]| at ShapeIndex {{}}:\n value: <1 p0 @0> (size=4096,offset=0): {A}\n"
            f"allocation 1: size 32, thread-local:\n value: <3 s{{}} @0> (size=32,offset=0): ({near}, {A}, u32[]{{:S(2)}})\n"
            f"allocation 2: size 4096, color 1, preallocated-temp:\n value: <4 s{{0}} @1> (size=4096,offset=0): {near}\n"
            "allocation 3: size 4, color 2:\n value: <5 s{2} @0> (size=4,offset=0): u32[]{:S(2)}\n value: <6 t{2} @0> (size=4,offset=0): u32[]{:S(2)}\n"
            f"\nTotal bytes used: 8228 (8.0KiB)\n\nUsed values:\n<1 p0 @0>\n positions:\n  p0\n  s {{1}}\n uses:\n  s, operand 0\n from instruction: %p0 = {A} "
            f"parameter(0)\n" + "".join(f"<{k} s{{{k}}} @0>\n positions:\n  s {{{k}}}\n  d\n uses:\n  d, operand 0 {{{k}}}\n from instruction: {start}\n" for k in (0, 1, 2))
            + "\nHloLiveRange (max 3):\n  InstructionSequence:\n    0:p0\n    1:s\n  BufferLiveRange:\n    p0{}:0-3\n    s{0}:1-3\n  Live ranges at 2 (peak):\n"
            "    s{0}: 4096 bytes (cumulative: 4096 bytes)\n    p0: 4096 bytes\n")
    result = check(text, {A: 1, near: 1, "u32[]{:S(2)}": 2}, [("s", "space", 1)])
    assert [(r["reported"], r["shape"], r["equal"]) for r in result["reported"]] == [
        ("4096", A, True), ("32", None, False), ("4096", near, True), ("4", "u32[]{:S(2)}", True), ("4", "u32[]{:S(2)}", True)], result["reported"]
    assert [(a["name"], a["bytes"]) for a in result["allocations"] if a["at_peak"]] == [("s{0}", 4096), ("p0", 4096)], result["allocations"]
    # Behind its module nothing of it counts again.
    module = f"HloModule m\n\nENTRY %m (p0: f32[8,128]) -> f32[8,128] {{\n  %p0 = {A} parameter(0)\n  {start}\n  ROOT %d = {near} copy-done(%s)\n}}\n\n"
    assert [(m["first"], m["runs"]) for m in audit(module + text)["moves"]] == [("s", 1)]


def without_lines(value):
    """What a report says, but for where."""
    if isinstance(value, dict):
        return {key: without_lines(item) for key, item in value.items() if "line" not in key and (key != "bytes" or isinstance(value.get("shape"), str))}
    return [without_lines(item) for item in value] if isinstance(value, list) else value


def wrapped(line, random):
    """Broken behind commas, "=" and "->", and before ":", "->" and values, as people do."""
    places = [m.end() for m in re.finditer(r", (?![ {])|[=>] (?! )| (?=: |-> |%)", line)
              if line[:m.end()].count('"') % 2 == 0 and line[:m.end()].strip() and line[m.end() - 2:m.end()] != "> "]
    places += [m.end() for m in re.finditer(r"-> ", line)]
    for place in sorted(set(places), reverse=True):
        if random.random() < 0.3:
            line = line[:place] + "\n        " + line[place:]
    return line


@test
def broken_by_hand_and_quoted_in_mail():
    """Texts of compilers, with StableHLO's statements over several lines, and behind the marks of a mail."""
    random = Random(7)
    for path in sorted(Path("tests/data/hlo").rglob("*.mlir")) + sorted(Path("tests/data/hlo").rglob("*.hlo")):
        lines = path.read_text().splitlines()
        expected = without_lines(audit("\n".join(lines) + "\n"))
        for mark in ("> ", ">> ", "> > "):
            quoted = "".join((mark + line).rstrip() + "\n" for line in lines)
            assert without_lines(audit(quoted)) == expected, (path, mark)
        if path.suffix == ".mlir":
            broken = [wrapped(line, random) if re.match(r" *(%[\w:#, %]+ =|func.func|return) ", line) else line for line in lines]
            for text in ("\n".join(broken), "\n".join("> " + line for line in "\n".join(broken).split("\n"))):
                assert without_lines(audit(text + "\n")) == expected, (path, text)


@test
def modules_without_their_lines():
    """As chats and tables leave them: what was a line, and a computation, is found again."""
    for path in sorted(Path("tests/data/hlo").rglob("*.hlo")):
        text = path.read_text()
        expected = without_lines(audit(text))
        for width in (60, 100):
            filled = textwrap.fill(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False)
            assert without_lines(audit(filled)) == expected, (path, width)
        result = audit(" ".join(text.split()))  # where nothing but the line tells which is first, another may be
        assert all(result[key] == expected[key] for key in ("instructions", "computations", "all", "not_understood")), path
        assert sorted(m["runs"] for m in result["moves"]) == sorted(m["runs"] for m in expected["moves"]), path


@test
def behind_numbers_and_marks_of_diffs():
    """Lines with numbers are what is behind these; a diff is its new side, and says how much of the old one is left out."""
    old = f"HloModule m\n\nENTRY %main (a: f32[8,128]) -> f32[8,128] {{\n  {P}  ROOT %b = {A} copy(%a)\n}}\n"
    new = old.replace(f"ROOT %b = {A} copy(%a)", f"%b = {B} copy(%a),\n    metadata={{op_name=\"f\"}}\n  ROOT %c = {B} negate(%b)")
    expected = without_lines(audit(new))
    lines = new.split("\n")[:-1]
    for form in ("{:6}\t{}", "{}:{}", "{:3} {}", "{:5} | {}", "{:4}   \u2502 {}", "{:3}: {}"):
        assert without_lines(audit("".join(form.format(i + 1, line) + "\n" for i, line in enumerate(lines)))) == expected, form
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("old", "new")]
        for path, text in zip(paths, (old, new)):
            path.write_text(text)
        for options, old_lines in (([], 2), (["-u"], 1), (["-U0"], 1), (["-c"], 6), (["-C0"], 2)):
            diff = subprocess.run(["diff", *options, *paths], capture_output=True, text=True).stdout
            result = audit(diff)
            counts = {b["shape"]: b["count"] for b in result["buffers"]}
            assert counts == ({A: 1, B: 2} if options in (["-u"], ["-c"]) else {B: 2}), (options, counts)
            left = {k["kind"]: k["count"] for k in result["not_understood"]}
            assert left["lines of a diff's old side"] == old_lines, (options, left)
    fenced = "See\n```diff\n" + "".join("  " + line + "\n" for line in lines) + "-  %d = f32[9,128]{1,0:T(8,128)} copy(%a)\n```\n"
    assert {b["shape"] for b in audit(fenced)["buffers"]} == {A, B}


@test
def comments_of_several_lines():
    check(P + "/* as it was:\n" + P + "*/\n" + f"%b = {A} negate(%a)\n", {A: 2})
    check(P + "/* as it was:\n" + P, {A: 1}, kinds=[("a comment that does not end, and all behind it", 1)])


@test
def nothing_to_audit():
    """No table of zeros, which would pass a limit in CI."""
    example = ", expected HLO text, such as '%a = f32[8,128]{1,0:T(8,128)} parameter(0)'\n"
    binary = "is binary and holds no instruction or shape, expected HLO as text (XLA_FLAGS=--xla_dump_hlo_as_text)\n"
    for text, err in ((b"", "is empty, expected a module as text\n"), (b"\n\n\n", "holds no instruction or shape in 3 lines" + example),
                      (b"hello world\n", "holds no instruction or shape in 1 line" + example), (bytes(range(256)) * 40, binary),
                      (b"\n\x05jit_f\x12\x04main" + bytes(500), binary)):
        done = subprocess.run([TOOL, "audit", "-", "--fail-over", "1.5x"], input=text, capture_output=True)
        assert (done.returncode, done.stdout, done.stderr.decode()) == (1, b"", "tilesim: error: standard input " + err), done


main()
