"""tilesim run --check: every kind of defect, planted, is reported with both lines; shipped programs are clean."""
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import cases, main, run, test

FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)
PROGRAMS = sorted(Path("programs").glob("*.tsim"))

HEAD = """.tensor x hbm f32[16,100]{1,0:T(8,128)} in iota
.tensor y hbm f32[16,100]{1,0:T(8,128)} out
.tensor xb vmem f32[16,100]{1,0:T(8,128)}
.tensor yb vmem f32[16,100]{1,0:T(8,128)}
.tensor n smem s32[8]
.sem in, out
"""
LOAD = "        dma xb <- x, in\n        wait in\n"
ADD = """        vld v0, xb[0, 0]
        vld v1, xb[8, 0]
        vst yb[0, 0], v0
        vst yb[8, 0], v1
"""
STORE = "        dma y <- yb, out\n        wait out\n"


def check(text, *options):
    path = HERE / "a.tsim"
    path.write_text(HEAD + text)
    return run("run", path, "--check", "--json", *options)


def findings(text, *options, code=3):
    found, out, err = check(text, *options)
    assert found == code, (found, out, err)
    return json.loads(out)["findings"]


def line_of(text, part, nth=1):
    """The line of the nth statement with that text, as the program file counts."""
    found = [i for i, line in enumerate((HEAD + text).split("\n"), 1) if part in line]
    return found[nth - 1]


def one(text, kind, where, other, *options):
    """There is exactly one finding, of that kind, at those statements."""
    found = findings(text, *options)
    assert [f["kind"] for f in found] == [kind], found
    assert found[0]["where"]["line"] == line_of(text, where), found
    assert (found[0]["other"]["line"] if "other" in found[0] else None) == \
        (line_of(text, other) if other else None), found
    return found[0]


@test
def what_is_right_is_clean():
    assert findings(LOAD + ADD + STORE, code=0) == []


@test
def padding_that_reaches_an_output():
    body = "        vld v0, xb[0, 0]\n        vsum.lane.f32 v0, v0\n        vst yb[0, 0], v0\n        vst yb[8, 0], v0\n"
    f = one(LOAD + body + STORE, "undefined_output", "dma y", "vld v0")
    assert f["message"] == "y[0,0] gets an undefined value from 'yb'", f


@test
def padding_that_is_masked_away_is_fine():
    body = """        mlanes m0, 100
        vmov v2, 0
        vld v0, xb[0, 0]
        vmov v2, v0 if m0
        vsum.lane.f32 v2, v2
        vst yb[0, 0], v2
        vst yb[8, 0], v2
"""
    assert findings(LOAD + body + STORE, code=0) == []


@test
def a_word_that_nobody_wrote():
    f = one(LOAD + "        vld v0, xb[0, 0]\n        vst yb[0, 0], v0\n" + STORE, "undefined_output", "dma y", None)
    assert f["message"] == "y[8,0] gets an undefined value from 'yb', where nothing was written", f


@test
def an_output_that_nobody_wrote():
    text = LOAD + ADD + "        dma y[0:8, :] <- yb[0:8, :], out\n        wait out\n"
    f = one(text, "unwritten_output", ".tensor y", None)
    assert f["message"] == "y[8,0] was never written", f


@test
def an_output_is_where_its_file_declares_it():
    """Whatever file its instructions, or other tensors, are of."""
    (HERE / "first.tsim").write_text(" sadd s1, s1, s1\n")
    (HERE / "tensors.tsim").write_text("; one\n.tensor y hbm s32[8] out\n")
    for text, file, line in ((".tensor y hbm s32[8] out\n.include \"first.tsim\"\n", "a.tsim", 1),
                             (";\n;\n.include \"tensors.tsim\"\n sadd s2, s2, s2\n", "tensors.tsim", 2)):
        (HERE / "a.tsim").write_text(text)
        found, out, err = run("run", HERE / "a.tsim", "--check")
        assert found == 3 and err.startswith(f"{HERE / file}:{line}:1: fault at cycle "), err
        assert "y[0] was never written [unwritten_output]\n.tensor y hbm s32[8] out\n^\n" in err, err


@test
def half_a_word_is_told_apart():
    text = """.tensor h hbm bf16[16,128]{1,0:T(8,128)(2,1)} in iota
.tensor o hbm bf16[16,128]{1,0:T(8,128)(2,1)} out
.tensor hb vmem bf16[16,128]{1,0:T(8,128)(2,1)}
        dma hb[0:8, :] <- h[0:8, :], in
        dma hb[9, :] <- h[9, :], in
        wait in, 2
        dma y <- x, in
        wait in
"""
    low = text + """        vld v0, hb[0, 0]
        vst hb[0, 0], v0
        dma o[0:10, :] <- hb[0:10, :], out
        wait out
"""
    found = findings(low)
    assert [f["kind"] for f in found] == ["undefined_output"], found
    assert found[0]["message"].startswith("o[8,0] gets"), found
    assert "o[8," in found[0]["message"]


# v0 has undefined lanes from 100 on, v8 the same turned by one, so that lane 0 of it is undefined; v1 is defined. Is lane 0
# to 99 of v9 defined?
RULES = [
    ("vadd.f32 v9, v0, v1", True),
    ("vadd.f32 v9, v8, v1", False),
    ("vrot.lane v9, v0, 128", True),
    ("vrot.sublane v9, v0, 3", True),
    ("vmax.lane.f32 v9, v0", False),
    ("vmax.sublane.f32 v9, v0", True),
    ("vbcast.lane v9, v0, 99", True),
    ("vbcast.lane v9, v0, 100", False),
    ("vbcast.lane v9, v8, 1", True),
    ("vbcast.sublane v9, v0, 7", True),
    ("vneg.f32 v9, v8", False),
    ("vexp.f32 v9, v8", False),
    ("vand.i32 v9, v8, 0", True),
    ("vand.i32 v9, v8, 1", False),
    ("vor.i32 v9, v8, -1", True),
    ("vor.i32 v9, v8, 1", False),
    ("vxor.i32 v9, v8, v8", False),
    ("vshl.i32 v9, v8, 32", True),
    ("vshl.i32 v9, v8, 31", False),
    ("vshr.i32 v9, v8, 31", False),
    ("mlanes m1, 1\nvsel v9, m1, v1, v0", True),
    ("mlanes m1, 1\nvsel v9, m1, v8, v1", False),
    ("mlanes m1, 0\nvsel v9, m1, v8, v1", True),
    ("vcmp.lt.f32 m1, v8, 0\nvsel v9, m1, v1, 0", False),
    ("vcmp.lt.f32 m1, v8, 0\nvsel v9, m1, v1, v1", True),
    ("vcmp.lt.f32 m1, v8, 0\nmnone m2\nmand m1, m1, m2\nvsel v9, m1, v1, v1", True),
    ("vcmp.lt.f32 m1, v8, 0\nmall m2\nmor m1, m1, m2\nvsel v9, m1, v1, v1", True),
    ("vcmp.lt.f32 m1, v8, 0\nmnot m1, m1\nvmov v9, v1 if m1", False),
    ("vpack.i16 v9, v1, v8\nvunpack.i16 v9, v9, 0", True),
    ("vpack.i16 v9, v1, v8\nvunpack.i16 v9, v9, 1", False),
    ("vpack.bf16 v9, v8, v1\nvunpack.hi.bf16 v9, v9", True),
    ("vpack.bf16 v9, v8, v1\nvunpack.lo.bf16 v9, v9", False),
    ("vpack.rows.bf16 v9, v0, v1", True),
    ("vpack.rows.bf16 v9, v1, v8", False),
    ("vpack.rows.bf16 v9, v1, v8\nvbcast.sublane v9, v9, 3", True),
    ("vpack.i16 v9, v8, v1\nvpack.i8 v9, v1, v9\nvunpack.i8 v9, v9, 2", False),
    ("vpack.i16 v9, v8, v1\nvpack.i8 v9, v1, v9\nvunpack.i8 v9, v9, 3", True),
    ("vpack.i16 v9, v8, v1\nvpack.i8 v9, v1, v9\nvpack.i4 v9, v1, v9\nvunpack.i4 v9, v9, 6", False),
    ("vpack.i16 v9, v8, v1\nvpack.i8 v9, v1, v9\nvpack.i4 v9, v1, v9\nvunpack.i4 v9, v9, 7", True),
    ("vshl.i32 v9, v8, 31\nvsum.sublane.i32 v9, v9\nvshr.u32 v9, v9, 31", False),
    ("vshl.i32 v9, v8, 31\nvsum.sublane.i32 v9, v9\nvshl.i32 v9, v9, 1", True),
    ("v2s s1, v8\nvmov v9, s1", False),
    ("v2s s1, v0\nvmov v9, s1", True),
    ("v2s s1, v8\nsadd s2, s1, 1\nsmov s1, 0\nvmov v9, s2", False),
    ("v2s s1, v8\nsst n[0], s1\nsld s2, n[0]\nvmov v9, s2", False),
    ("viota.lane v7\nvgather.lane v9, v0, v7", True),
    ("viota.lane v7\nvgather.lane v9, v8, v7", False),
    ("vgather.sublane v9, v0, v1", True),
    ("vgather.sublane v9, v1, v8", False),
    ("vmov v9, v8\nvmov v9, v1", True),
    ("vmov v9, v8\nmlanes m1, 1\nvmov v9, v1 if m1", True),
    ("vmov v9, v8\nmlanes m1, 0\nvmov v9, v1 if m1", False),
    ("{ vmov v9, v8 ; vmov v8, v9 }\nvmov v9, v8", True),
    ("vst yb[0, 0], v8\nvld v9, yb[0, 0]", False),
    ("vst yb[0, 0], v8\nmlanes m1, 1\nvst yb[0, 0], v1 if m1\nvld v9, yb[0, 0]", True),
    (".for I = 0, 16\nvtr.push.b32 v1\n.end\nvtr.pop v9", True),
    (".for I = 0, 15\nvtr.push.b32 v1\n.end\nvtr.push.b32 v0\nvtr.pop v9", True),
    (".for I = 0, 15\nvtr.push.b32 v1\n.end\nvtr.push.b32 v8\nvtr.pop v9\nvbcast.lane v9, v9, 120", False),
    (".for I = 0, 15\nvtr.push.b32 v1\n.end\nvtr.push.b32 v8\nvtr.pop v9\nvbcast.lane v9, v9, 119", True),
    (".for I = 0, 16\nmxu.latch.f32 0, v1\n.end\nmxu.swap 0\nmxu.push.f32 0, v1\nmxu.pop v9, 0", True),
    (".for I = 0, 16\nmxu.latch.f32 0, v1\n.end\nmxu.swap 0\nmxu.push.f32 0, v8\nmxu.pop v9, 0", False),
    (".for I = 0, 16\nmxu.latch.f32 0, v0\n.end\nmxu.swap 0\nmxu.push.f32 0, v1\nmxu.pop v9, 0", True),
    (".for I = 0, 16\nmxu.latch.f32 0, v8\n.end\nmxu.swap 0\nmxu.push.f32 0, v1\nmxu.pop v9, 0", False),
    (".for I = 0, 16\nmxu.latcht.f32 0, v0\n.end\nmxu.swap 0\nmxu.push.f32 0, v1\nmxu.pop v9, 0", False),
]


@test
def undefined_bits_go_through_every_kind_of_instruction():
    for code, defined in cases(RULES, 30):
        body = "vld v0, xb[0, 0]\nvmov v1, 1\nvrot.lane v8, v0, 1\n" + code + "\nvst yb[0, 0], v9\nvst yb[8, 0], v1\n"
        kinds = [f["kind"] for f in findings(LOAD + body + STORE, code=0 if defined else 3)]
        assert kinds == ([] if defined else ["undefined_output"]), (code, kinds)


@test
def a_branch_on_padding():
    body = "        vld v0, xb[0, 0]\n        vrot.lane v0, v0, 1\n        v2s s1, v0\n        brnz s1, next\nnext:\n"
    one(LOAD + body + ADD + STORE, "undefined_control", "brnz", "vld v0")


@test
def an_address_and_an_index_from_smem_that_nobody_wrote():
    body = "        sld s1, n[3]\n        smul s1, s1, 8\n        vld v0, xb[s1, 0]\n"
    f = one(LOAD + body + ADD + STORE, "undefined_control", "vld v0, xb[s1", "sld s1")
    assert f["message"] == "vld depends on s1, which is undefined", f
    body = "        sld s1, n[3]\n        dma xb[0, :] <- x[s1, :], in\n        wait in\n"
    one(LOAD + body + ADD + STORE, "undefined_control", "dma xb[0, :]", "sld s1")
    body = "        sst n[3], 0\n" + body
    assert findings(LOAD + body + ADD + STORE, code=0) == []


@test
def a_load_before_the_wait_is_lost():
    text = "        dma xb <- x, in\n        vld v5, xb[0, 0]\n        wait in\n" + ADD + STORE
    f = one(text, "read_race", "vld v5", "dma xb")
    assert f["margin_cycles"] < 0 and f["message"].startswith("vld reads bytes of 'xb' that a DMA writes"), f


@test
def a_load_that_was_only_lucky_is_won():
    text = "        dma xb <- x, in\n        delay 20000\n        vld v5, xb[0, 0]\n        wait in\n" + ADD + STORE
    f = one(text, "read_race", "vld v5", "dma xb")
    assert 0 < f["margin_cycles"] < 20000, f


@test
def a_store_into_a_buffer_that_a_dma_reads():
    text = LOAD + ADD + "        dma y <- yb, out\n        vst yb[8, 0], v0\n        wait out\n"
    f = one(text, "write_race", "vst yb[8, 0], v0", "dma y")
    assert f["margin_cycles"] < 0 and "that a DMA reads" in f["message"], f


@test
def a_store_beside_it_is_fine():
    text = LOAD + ADD + "        dma y[0:8, :] <- yb[0:8, :], out\n        vst yb[8, 0], v0\n        wait out\n" + STORE
    assert findings(text, code=0) == []


@test
def transfers_that_race_with_each_other():
    text = "        dma xb <- x, in\n        dma y <- xb, out\n        wait in\n        wait out\n"
    assert [f["kind"] for f in findings(text)][0] == "read_race"
    text = "        dma xb <- x, in\n        dma xb[8:16, :] <- x[0:8, :], out\n        wait in\n        wait out\n" + ADD + STORE
    one(text, "write_race", "dma xb[8", "dma xb <-")
    text = LOAD + "        dma y <- xb, out\n        dma xb <- x, in\n        wait in\n        wait out\n"
    f = findings(text)
    assert [(k["kind"], k["where"]["line"], k["other"]["line"]) for k in f] == \
        [("write_race", line_of(text, "dma xb", 2), line_of(text, "dma y"))], f


@test
def two_signals_and_one_wait_prove_nothing():
    text = "        dma xb[0:8] <- x[0:8], in\n        dma xb[8:16] <- x[8:16], in\n        wait in\n        vld v5, xb[0, 0]\n        wait in\n"
    one(text + ADD + STORE, "read_race", "vld v5", "dma xb[0:8]")


@test
def what_is_left_at_the_end():
    f = findings("        dma y <- x, out\n")
    assert [(k["kind"], k["where"]["line"]) for k in f] == \
        [("transfer_left", 7), ("semaphore_left", 7)], f
    f = findings("        dma y <- x, out\n        wait out\n        sem.add in, 2\n")
    assert [(k["kind"], k["message"]) for k in f] == \
        [("semaphore_left", "semaphore in[0] is 2 at the end, expected 0: it was added to more often than waited for")], f
    assert f[0]["where"]["line"] == 9 and f[0]["cycle"] > 0, f


@test
def what_is_left_is_blamed_on_who_left_it():
    left = "the last DMA that signals it was not waited for"
    added = "it was added to more often than waited for"
    for text, where, why in (("        dma y <- x, out\n        wait out\n        sem.add out, 2\n", "sem.add", added),
                             ("        sem.add out, 2\n        dma y <- x, out\n        wait out\n", "sem.add", added),
                             ("        sem.set out, 3\n        dma y <- x, out\n        wait out\n", "sem.set", added),
                             ("        sem.add out, 1\n        sem.add out, -1\n        dma y <- x, out\n        wait out\n"
                              "        dma y <- x, out\n        wait out\n        dma y <- x, out\n        delay 9000\n",
                              "dma y", left)):
        f = findings(text)
        lines = (HEAD + text).split("\n")
        assert f[-1]["kind"] == "semaphore_left" and why in f[-1]["message"], (text, f)
        assert where in lines[f[-1]["where"]["line"] - 1], (text, f)


def warnings(text, *options):
    """A program without findings: what it is warned of, as JSON and as text."""
    code, out, err = check(text, *options)
    found = json.loads(out)["warnings"]
    assert code == 0 and json.loads(out)["findings"] == [], (code, out, err)
    code, out, err = run("run", HERE / "a.tsim", "--check", *options)
    assert code == 0 and "sanitizer  clean" in out and err.count(": warning at cycle ") == len(found), (out, err)
    assert out.count("warnings   ") == bool(found), out
    return [(w["kind"], w["where"]["line"], w["other"]["line"] if "other" in w else None, w["message"]) for w in found]


@test
def a_number_that_wraps_to_an_address():
    wrap = "        smov s1, 65536\n        smul s2, s1, 65544\n"        # 2^32 + 2^19 + ...: 524,288 in 32 bits
    use = wrap + "        sdiv s3, s2, 65536\n        vld v0, xb[s3, 0]\n"
    text = LOAD + use + ADD + STORE
    for options in (), ("--time-only",):
        assert warnings(text, *options) == [("wrapped_address", line_of(text, "vld v0, xb[s3"), line_of(text, "smul"),
                                             "vld depends on s3, a number that did not fit in 32 bits: it is 8")]
    for body, where, origin in (
            (wrap + "        ssub s2, s2, 524288\n        dma xb[0:8] <- x[s2:+8], in\n        wait in\n", "dma xb[0:8]", "smul"),
            ("        smov s1, 0x7fffffff\n        sadd s2, s1, 0x7fffffff\n        sadd s2, s2, 2\n        sst n[s2], 1\n",
             "sst", "sadd s2, s1"),
            ("        smov s1, 3\n        sshl s2, s1, 31\n        sshl s3, s2, 1\n        sem.add in[s3], 0\n", "sem.add", "sshl s3"),
            ("        smov s1, -2147483648\n        ssub s2, s1, 1\n        ssub s2, s2, 0x7fffffff\n        sld s4, n[s2]\n",
             "sld", "ssub s2, s1")):
        text = ("        sst n[0], 0\n" if "sld" in body else "") + LOAD + body + ADD + STORE
        found = [w for w in warnings(text) if w[0] == "wrapped_address"]
        assert [w[1:3] for w in found] == [(line_of(text, where), line_of(text, origin))], (body, found)
    for body in ("        smov s1, 65536\n        smul s2, s1, 65544\n        smod s3, s2, 16\n        smul s3, s3, 0\n        vld v0, xb[s3, 0]\n",
                 "        smov s1, 4\n        smul s2, s1, 2\n        vld v0, xb[s2, 0]\n",
                 wrap + "        smov s2, 8\n        vld v0, xb[s2, 0]\n",
                 "        smov s1, 0x7ffffff7\n        sadd s2, s1, 8\n        ssub s2, s2, 0x7ffffff7\n        vld v0, xb[s2, 0]\n"):
        assert warnings(LOAD + body + ADD + STORE) == [], body


@test
def a_dma_that_overwrites_an_input():
    text = LOAD + ADD + STORE + "        dma x <- yb, out\n        wait out\n"
    for options in (), ("--time-only",):
        assert warnings(text, *options) == [("input_overwritten", line_of(text, "dma x <-"), None,
                                             "this DMA writes to 'x', which is an input and not inout")]
    inout = ".tensor z hbm f32[16,100]{1,0:T(8,128)} inout iota\n" + LOAD + ADD + STORE + "        dma z <- yb, out\n        wait out\n"
    assert warnings(inout) == []


@test
def a_store_that_overwrites_an_input():
    """Into VMEM and SMEM; not beside one."""
    head = (".tensor p vmem f32[8,128] in iota\n.tensor q vmem f32[8,128] inout iota\n"
            ".tensor u smem s32[4] in iota\n.tensor w smem s32[4] inout iota\n")
    for body, name in (("vst p[0, 0], v0", "p"), ("vst p[0, 0], v0 if m0", "p"), ("sst u[3], 7", "u"),
                       ("vst q[0, 0], v0", None), ("sst w[0], 7", None)):
        text = head + LOAD + "        vmov v0, 1.0\n        mlanes m0, 8\n        " + body + "\n" + ADD + STORE
        expected = [("input_overwritten", line_of(text, body), None,
                     f"{body[:3]} writes to '{name}', which is an input and not inout")] if name else []
        for options in (), ("--time-only",):
            assert warnings(text, *options) == expected, (body, warnings(text, *options))


@test
def registers_that_nothing_writes():
    for body, line, message in (
            ("        vld v0, xb[s9 * 8, 0]\n", "vld v0, xb[s9", "vld reads s9, which nothing has written: it is 0"),
            ("        vadd.f32 v0, v9, 1.0\n", "vadd", "vadd.f32 reads v9, which nothing has written: it is 0"),
            ("        vmov v0, 1.0 if m3\n", "vmov", "vmov reads m3, which nothing has written: it is 0"),
            ("        dma xb[s9, :] <- x[0, :], in\n        wait in\n", "dma xb[s9",
             "dma reads s9, which nothing has written: it is 0"),
            ("        br.lt s9, 0, next\nnext:   br.lt s9, 0, last\nlast:\n", "br.lt s9, 0, next",
             "br.lt reads s9, which nothing has written: it is 0")):
        text = LOAD + body + ADD + STORE
        assert warnings(text) == [("unwritten_register", line_of(text, line), None, message)], body
    both = LOAD + "        vadd.f32 v0, v8, v9\n" + ADD + STORE
    assert len(warnings(both)) == 2
    for body in ("        mlanes m0, 100\n        vmov v5, 1.0 if m0\n",            # the rest of v5 stays what it was
                 ".loop s1 = 0, 16, 8\n        vld v0, xb[s1, 0]\n.end\n",
                 "again:  sadd s5, s5, 1\n        br.lt s5, 3, again\n"):          # begins at 0, as all do
        assert warnings(LOAD + body + ADD + STORE) == [], body


@test
def two_cores_are_named_where_they_are_the_cause():
    both = """        dma xb[0:8, :] <- x[0:8, :], in
        wait in
        dma y[0:8, :] <- xb[0:8, :], out
        wait out
        dma y[8:16, :] <- xb[0:8, :], out
        wait out
"""
    found = findings(".cores 2\n" + both, "-m", "tpu-v4")
    races = [f for f in found if f["kind"] == "write_race"]
    assert len(races) == 2 and all("of another core" in f["message"] for f in races), found
    assert races[0]["message"].endswith("a DMA of another core writes, with no wait and barrier between them"), races
    code, out, err = run("run", HERE / "a.tsim", "--check", "-m", "tpu-v4")
    assert code == 3 and err.count("note: the DMA of the other core") == 2 and "was not waited for" not in err, err
    left = "        core.id s1\n        brz s1, done\n        sem.add in, 2\ndone:   nop\n"
    found = findings(".cores 2\n" + left + both.replace("y", "yb"), "-m", "tpu-v4", code=3)
    assert found[0]["message"].startswith("semaphore in[0] of core 1 is 2 at the end") or \
        any("of core 1" in f["message"] for f in found), found


@test
def what_is_left_is_a_warning_without_the_option():
    for text, kinds in (("        dma y <- x, out\n", ["transfer_left", "semaphore_left"]),
                        (LOAD + ADD + STORE + "        dma xb <- x, in\n        delay 20000\n", ["semaphore_left"]),
                        (LOAD + ADD + STORE, [])):
        (HERE / "a.tsim").write_text(HEAD + text)
        for options in (), ("--time-only",):
            code, out, err = run("run", HERE / "a.tsim", "--json", *options)
            result = json.loads(out)
            assert code == 0 and "findings" not in result, (code, err)
            assert [w["kind"] for w in result["warnings"]] == kinds, result["warnings"]
            assert err.count(": warning at cycle ") == len(kinds) and ": fault" not in err, err
            code, out, err = run("run", HERE / "a.tsim", *options)
            assert code == 0 and out.count("warnings   ") == bool(kinds), out
            checked = findings(text, *options, code=3 if kinds else 0)
            assert checked == result["warnings"], (checked, result["warnings"])
    code, out, err = run("run", HERE / "a.tsim", "--json", "--check")
    assert json.loads(out)["warnings"] == [], out


@test
def cores_have_their_own_buffers_and_share_hbm():
    own = """        core.id s1
        dma xb[0:8, :] <- x[s1 * 8:+8, :], in
        wait in
        dma y[s1 * 8:+8, :] <- xb[0:8, :], out
        wait out
"""
    assert findings(".cores 2\n" + own, "-m", "tpu-v4", code=0) == []
    both = own.replace("y[s1 * 8:+8, :]", "y[0:8, :]")
    found = findings(".cores 2\n" + both, "-m", "tpu-v4")
    assert [f["kind"] for f in found] == ["write_race", "unwritten_output"], found
    assert found[0]["where"]["line"] == found[0]["other"]["line"] == line_of(".cores 2\n" + both, "dma y"), found
    ordered = """        core.id s1
        dma xb[0:8, :] <- x[s1 * 8:+8, :], in
        wait in
        dma y[s1 * 8:+8, :] <- xb[0:8, :], out
        wait out
        barrier
        sxor s1, s1, 1
        dma xb[0:8, :] <- y[s1 * 8:+8, :], in
        wait in
        sxor s1, s1, 1
        barrier
        dma y[s1 * 8:+8, :] <- xb[0:8, :], out
        wait out
"""
    assert findings(".cores 2\n" + ordered, "-m", "tpu-v4", code=0) == []
    reader = ".cores 2\n" + ordered.replace("        barrier\n", "", 1)
    writer = ".cores 2\n" + "".join(ordered.rsplit("        barrier\n", 1))
    found = findings(reader, "-m", "tpu-v4")
    assert (found[0]["kind"], found[0]["message"]) == \
        ("read_race", "this DMA reads bytes of 'y' that a DMA of another core writes, with no barrier between them"), found
    assert all(findings(writer, *options, "-m", "tpu-v4")[0]["kind"] == "write_race" for options in ((), ("--time-only",)))
    one_waits = own.replace("        wait out\n", "        brnz s1, done\n        wait out\ndone:\n")
    found = findings(".cores 2\n" + one_waits, "-m", "tpu-v4")
    assert [f["kind"] for f in found] == ["transfer_left", "semaphore_left"], found


@test
def the_text_shows_both_lines():
    (HERE / "a.tsim").write_text(HEAD + "        dma xb <- x, in\n        vld v5, xb[0, 0]\n        wait in\n" + ADD + STORE)
    code, out, err = run("run", HERE / "a.tsim", "--check")
    assert code == 3 and "sanitizer  1 finding: " in out, (code, out)
    lines = err.split("\n")
    assert lines[0].startswith(f"{HERE}/a.tsim:8:9: fault at cycle ") and "; it was lost by " in lines[0] \
        and lines[0].endswith(" cycles [read_race]"), lines
    assert lines[1:3] == ["        vld v5, xb[0, 0]", "        ^"], lines
    assert lines[3] == f"{HERE}/a.tsim:7:13: note: the DMA that was not waited for", lines


@test
def time_only_sees_races_and_says_what_it_does_not_see():
    text = "        dma xb <- x, in\n        vld v5, xb[0, 0]\n        wait in\n" + ADD + STORE
    a, b = findings(text), findings(text, "--time-only")
    assert a == b, (a, b)
    assert findings(LOAD + "        vld v0, xb[0, 0]\n        vst yb[0, 0], v0\n" + STORE, "--time-only", code=0) == []
    (HERE / "a.tsim").write_text(HEAD + LOAD + ADD + STORE)
    code, out, err = run("run", HERE / "a.tsim", "--check", "--time-only")
    assert "sanitizer  clean: addresses, waits and semaphores (values are not computed)\n" in out, (code, out, err)


@test
def checking_changes_no_cycle_and_no_value():
    (HERE / "a.tsim").write_text(HEAD + LOAD + ADD + STORE)
    outputs = []
    for option in ([], ["--check"]):
        code, out, err = run("run", HERE / "a.tsim", "--json", "-o", f"y={HERE}/y.npy", *option)
        outputs.append((code, json.loads(out)["cycles"], (HERE / "y.npy").read_bytes()))
    assert outputs[0] == outputs[1]


@test
def shipped_programs_are_clean():
    for path in cases(PROGRAMS, 3):
        code, out, err = run("run", path, "--check")
        assert code == 0 and "sanitizer  clean: undefined" in out, (path, out, err)
        code, out, err = run("run", path, "--json", "--time-only")
        assert code in (0, 4) and "warning" not in err and (code == 4 or json.loads(out)["warnings"] == []), (path, err)


main()
