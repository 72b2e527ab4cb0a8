"""tilesim.run, choose, audit and the builder: values against NumPy, figures against the command line."""
import html
import json
import os
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from package import interrupt, lets_others_go_on, raised
from cli import expect, expect_json, main, test

import numpy as np

import tilesim as ts
from tilesim.program import At, Builder

SOFTMAX = "programs/softmax.tsim"


def softmax(x):
    terms = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return terms / terms.sum(axis=1, keepdims=True)


# ---- run ----

@test
def values_are_numpys_and_figures_the_command_lines():
    x = np.random.default_rng(1).uniform(-8, 8, (64, 300)).astype(np.float32)
    params = {"ROWS": 64, "COLS": 300}
    run = ts.run(SOFTMAX, {"x": x}, machine=ts.Machine("tpu-v6e", {"hbm.clock": "3.2 GHz"}), params=params)
    assert run.passed and list(run.outputs) == ["y"]
    assert np.abs(run.outputs["y"] - softmax(x)).max() < 1e-6
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", x)
        found = expect_json(["run", SOFTMAX, "-i", f"x={folder}/x.npy", "-D", "ROWS=64", "-D", "COLS=300", "-m", "tpu-v6e",
                             "--set", "hbm.clock=3.2 GHz", "-o", f"y={folder}/y.npy"])
        assert (np.load(f"{folder}/y.npy") == run.outputs["y"]).all()
    assert (run.cycles, run.stalls, run.passed) == (found["cycles"], found["stalls"], found["passed"])
    assert abs(run.microseconds - found["microseconds"]) < 1e-5
    for name in ("bundles", "hbm_read_bytes", "transfers"):
        assert run.counter(name) == found[name]
    raised(KeyError, run.counter, "bundle")
    assert run.json()["cycles"] == run.cycles and "caller's array" in run.report()


@test
def a_report_says_what_was_found():
    """What the command line has on stderr: which rule was broken where, and the first element that a check did not expect."""
    text = (".tensor x hbm f32[8,128]{1,0:T(8,128)} in iota\n.tensor b vmem f32[8,128]{1,0:T(8,128)}\n.sem s\n"
            " dma b <- x, s\n vld v0, b[0,0]\n%s halt\n")
    raced = ts.run(ts.Program.assemble(text % " wait s\n"), check=True)
    assert not raced.passed and "1 finding: " in raced.report()
    assert ":5:2: fault at cycle 1: vld reads bytes of 'b' that a DMA writes, without waiting for it" in raced.report()
    assert "note: the DMA that was not waited for" in raced.report()
    left = ts.run(ts.Program.assemble(text % ""))
    assert left.passed and "warning at cycle 398: semaphore s[0] is 1 at the end" in left.report()
    wrong = ts.run(ts.Program.assemble(".tensor y hbm f32[8,128]{1,0:T(8,128)} inout zeros\n.check y == 1\n halt\n"))
    assert not wrong.passed and "check failed: 1024 of 1024 elements; at [0,0] found 0, expected 1" in wrong.report()


@test
def ways_to_run():
    whole = ts.run("tilesim:/add.tsim")
    timed = ts.run("tilesim:/add.tsim", time_only=True)
    assert timed.cycles == whole.cycles and timed.outputs == {} and whole.outputs.keys() == {"y"}
    read = ts.Program.read("tilesim:/add.tsim", "tpu-v4")
    again = ts.Program.assemble(read.text, "tpu-v4")
    assert ts.run(again).cycles == ts.run(read).cycles == ts.run(Path("programs/add.tsim"), machine="tpu-v4").cycles
    assert ts.run("tilesim:/add.tsim", check=True).passed
    fault = raised(ts.FaultError, ts.run, "tilesim:/add.tsim", max_cycles=100)
    assert fault.kind == "fault" and "100" in fault.message
    raised(TypeError, ts.run, read, machine="tpu-v5e")


@test
def arrays_of_any_kind():
    """Two unnamed bytes are bf16, as .npy files have them; a mask would be lost."""
    x = np.random.default_rng(1).standard_normal((8, 128)).astype(np.float32)
    words = (x.view(np.uint32) >> 16).astype(np.uint16)
    b = Builder("copy")
    tensors = [b.tensor(name, space, "bf16[8,128]{1,0:T(8,128)(2,1)}", role)
               for name, space, role in (("x", "hbm", "in"), ("k", "vmem", "scratch"), ("y", "hbm", "out"))]
    done = b.semaphore("done")
    for source, destination in zip(tensors, tensors[1:]):
        b.dma(destination, source, done)
        b.wait(done)
    program = b.end()
    for given in (words.view("V2"), words.view([("bf16", "<u2")])):
        assert (ts.run(program, {"x": given}).outputs["y"].view(np.uint16) == words).all()
    masked = np.ma.masked_array(x, mask=x > 0)
    assert "masked" in str(raised(TypeError, ts.run, "tilesim:/add.tsim", {"x": list(masked)}, params={"ROWS": 8, "COLS": 128}))
    assert "masked" in str(raised(TypeError, ts.run, "tilesim:/add.tsim", {"x": masked}, params={"ROWS": 8, "COLS": 128}))


@test
def refused():
    text = ".tensor x vmem f32[8,128]{1,0:T(8,128)} in\n vad.f32 v0, v0, v0\n"
    error = raised(ts.InputError, ts.Program.assemble, text)
    assert (error.file, error.line) == ("program", 2) and "vadd.f32" in error.message
    assert " vad.f32 v0, v0, v0\n ^" in str(error)
    raised(ts.FileError, ts.run, "nowhere.tsim")
    assert (raised(ts.InputError, ts.run, SOFTMAX, {"x": np.zeros((512, 1000))}).message
            == "input x: the array holds f64, the tensor is f32; convert rounds the values")
    nothing = ts.Program.assemble(".tensor x hbm f32[8] in\n halt\n")
    assert raised(ts.UsageError, ts.run, nothing).message == "the tensor 'x' has no values, expected input x"
    assert ts.run(SOFTMAX, {"x": np.zeros((512, 1000))}, convert=True).outputs["y"][0, 0] == np.float32(0.001)
    assert "not an input" in raised(ts.UsageError, ts.run, SOFTMAX, {"y": np.zeros((512, 1000), np.float32)}).message


@test
def truths_are_numbers():
    text = ".param A = 2\n.assert A == 1, \"not 1\"\n nop\n"
    assert ts.run(ts.Program.assemble(text, params={"A": True})).cycles == 1
    assert "not 1" in raised(ts.InputError, ts.Program.assemble, text, params={"A": False}).message


@test
def values_of_another_type_are_named():
    rows = "f32[8]"
    for found, function, *arguments in (
            ("expected a text, found None", ts.Layout(rows).translate, None),
            ("expected a text, found 3", ts.run("tilesim:/add.tsim", time_only=True).counter, 3),
            ("exact cannot be None", lambda: ts.price(rows, rows, exact=None)), ("exact cannot be 'no'", lambda: ts.price(rows, rows, exact="no")),
            ("exact cannot be None", lambda: ts.audit(MODULE, exact=None)), ("mesh cannot be 4", lambda: ts.run("tilesim:/add.tsim", mesh=4)),
            ("source cannot be 3", ts.Program.assemble, 3), ("overrides are values", ts.Machine, "tpu-v4", ["hbm.clock=2 GHz"]),
            ("a layout is a text, not ndarray", ts.price, np.zeros(8), rows), ("a layout is a text, not int", ts.price, rows, 3),
            ("a layout is a text, not NoneType", ts.relayout, None, rows), ("a layout is a text, not list", ts.choose, [rows]),
            ("params are values", lambda: ts.run("tilesim:/add.tsim", params=[64])),
            ("(f32[2]{0}, s32[3]{0}) has no layout", ts.Layout("(f32[2], s32[3])").offset, 0)):
        text = str(raised(TypeError, function, *arguments))
        assert text.startswith(found), text
    assert str(raised(OverflowError, lambda: ts.run("tilesim:/add.tsim", max_cycles=1 << 63))) == f"max_cycles cannot be {1 << 63}"


@test
def traces_are_the_command_lines():
    run = ts.run("tilesim:/add.tsim")
    with tempfile.TemporaryDirectory() as folder:
        run.trace(f"{folder}/a.json")
        expect(["run", "tilesim:/add.tsim", "--trace", f"{folder}/b.json"], out=None, err=None)
        assert Path(folder, "a.json").read_bytes() == Path(folder, "b.json").read_bytes()
        assert len(json.loads(Path(folder, "a.json").read_text())["traceEvents"]) > 20
    raised(ts.FileError, run.trace, "/nowhere/a.json")


@test
def runs_in_threads():
    wanted = {name: ts.run(f"tilesim:/{name}.tsim") for name in ("add", "softmax")}
    wrong = []

    def work(name):
        for _ in range(3):
            run = ts.run(f"tilesim:/{name}.tsim")
            if run.cycles != wanted[name].cycles or (run.outputs["y"] != wanted[name].outputs["y"]).any():
                wrong.append(name)

    workers = [threading.Thread(target=work, args=(name,)) for name in wanted]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


@test
def other_threads_go_on():
    """While a run works, Python does other things: the lock is not held for all of it."""
    program = ts.Program.read("tilesim:/softmax.tsim")
    assert lets_others_go_on(lambda: ts.run(program))


# ---- the builder ----

def scaled(rows, cols, factor, machine="tpu-v5e"):
    """y = factor * x + 1, where x is not negative; else x."""
    b = Builder("scaled", machine)
    shape = f"f32[{rows},{cols}]{{1,0:T(8,128)}}"
    x, y = b.tensor("x", "hbm", shape, "in", "iota"), b.tensor("y", "hbm", shape, "out")
    xb = b.tensor("xb", "vmem", shape)
    done, again = b.semaphore("done"), b.label()
    b.dma(xb, x, done)
    b.wait(done)
    with b.packed():
        b.place(again)
        for j in range(cols // 128):
            v, at = b.v(j), xb[At(1), 128 * j]
            b.add("vld", v, at)
            b.add("vcmp.ge.f32", b.m(1), v, 0.0)
            b.add("vmul.f32", v, v, float(factor), mask=1)
            b.add("vadd.f32", v, v, 1.0, mask=1)
            b.add("vst", at, v)
        b.add("sadd", b.s(1), b.s(1), 8)
        b.add("br.lt", b.s(1), rows, again)
    b.dma(y, xb, done)
    b.wait(done)
    return b.end()


@test
def kernels_made_here():
    program = scaled(64, 256, 3)
    x = np.random.default_rng(2).integers(-50, 50, (64, 256)).astype(np.float32)
    run = ts.run(program, {"x": x}, check=True)
    assert run.passed and (run.outputs["y"] == np.where(x >= 0, 3 * x + 1, x)).all()
    assert ts.run(ts.Program.assemble(program.text), {"x": x}).cycles == run.cycles
    assert "{ " in program.text


@test
def parts_and_bundles():
    b = Builder("parts")
    x = b.tensor("x", "hbm", "f32[16,128]{1,0:T(8,128)}", "in")
    y = b.tensor("y", "hbm", "f32[8,128]{1,0:T(8,128)}", "out")
    xb = b.tensor("xb", "vmem", "f32[8,128]{1,0:T(8,128)}")
    done = b.semaphore("done")
    b.dma(xb, x.box([8, 0], [8, 128]), done)
    b.wait(done)
    with b.bundle():
        b.add("vadd.f32", b.v(0), b.v(0), 1.0)
        b.add("sadd", b.s(1), b.s(1), 1)
    b.dma(y, xb, done)
    b.wait(done)
    program = b.end()
    values = np.arange(16 * 128, dtype=np.float32).reshape(16, 128)
    run = ts.run(program, {"x": values})
    assert (run.outputs["y"] == values[8:]).all() and "{ vadd.f32" in program.text


@test
def devices_send_to_each_other():
    """Every device sends its copy, with its number added, to the next one."""
    def build():
        b = Builder("ring", "tpu-v5p")
        x = b.tensor("x", "hbm", "f32[8,128]{1,0:T(8,128)}", "in", "iota")
        got, mine = (b.tensor(name, "vmem", "f32[8,128]{1,0:T(8,128)}") for name in ("got", "mine"))
        y = b.tensor("y", "hbm", "f32[8,128]{1,0:T(8,128)}", "out")
        sent, received, done = (b.semaphore(name) for name in ("sent", "received", "done"))
        b.dma(mine, x, done)
        b.wait(done)
        b.add("device.id", b.s(1))
        b.add("sxor", b.s(2), b.s(1), 1)
        b.dma(got, mine, sent, received, At(2))
        b.wait(received)
        b.wait(sent)
        b.dma(y, got, done)
        b.wait(done)
        return b
    b = build()
    b.check("y == x")
    program = b.end()
    assert "dma got[0:+8, 0:+128] <- mine[0:+8, 0:+128], sent[0], received[0] device=s2" in program.text, program.text
    alone, both = (ts.run(program, mesh="2", threads=n) for n in (1, 2))
    assert both.passed and both.json() == alone.json() and len(both.json()["mesh"]["devices"]) == 2
    assert (both.outputs["y"] == np.arange(1024, dtype=np.float32).reshape(8, 128)).all()
    assert "there is no device 1, expected 0 to 0" in raised(ts.FaultError, ts.run, program).message
    b = build()
    z, w = b.tensor("z", "hbm", "f32[8,128]"), b.tensor("w", "hbm", "f32[8,128]")
    raised(TypeError, b.dma, z, w, b.semaphore("t"), device=1)


@test
def shardings_are_of_a_mesh():
    """What the library carries, and a text, for devices; arrays are whole."""
    found = ts.run("tilesim:/mesh/all_reduce.tsim", machine="tpu-v5p", mesh="2x2", params={"ROWS": 16})
    words = ["run", "tilesim:/mesh/all_reduce.tsim", "-m", "tpu-v5p", "--mesh", "2x2", "-D", "ROWS=16", "--json"]
    assert found.passed and found.cycles == expect_json(words)["cycles"]
    x = np.random.default_rng(3).uniform(-8, 8, (4, 4, 1, 8, 128)).astype(np.float32)
    program = ts.Program.read("tilesim:/mesh/all_reduce.tsim", "tpu-v5p", {"ROWS": 8, "COLS": 128}, mesh="a=2,b=2")
    sums = ts.run(program, {"x": x}).outputs["x"]
    assert sums.shape == x.shape and np.abs(sums - x.astype(np.float64).sum(axis=0)).max() < 1e-5
    text = ".tensor y hbm s32[4,128]{1,0} P('x', None) out\n nop\n"
    assert ts.run(ts.Program.assemble(text, "tpu-v5p", mesh="4"), time_only=True).json()["mesh"]["axes"] == {"x": 4}
    assert "a sharding needs a mesh" in raised(ts.InputError, ts.Program.assemble, text, "tpu-v5p").message
    assert "with other axes than '4'" in raised(ts.UsageError, ts.run, program, mesh="4").message
    raised(TypeError, ts.Program.assemble, text, "tpu-v5p", mesh=4)


@test
def a_mesh_file_says_what_machine():
    small = {"program": "tilesim:/softmax.tsim", "params": {"ROWS": 8}, "time_only": True}
    words = ["run", "tilesim:/softmax.tsim", "-D", "ROWS=8", "--time-only"]
    found = ts.run(**small, mesh="v6e-256")
    assert found.program.machine == ts.Machine("tpu-v6e") and found.cycles == expect_json([*words, "--mesh", "v6e-256"])["cycles"]
    other = ts.run(**small, machine="tpu-v5e", mesh="v6e-256")
    assert other.cycles == expect_json([*words, "--mesh", "v6e-256", "-m", "tpu-v5e"])["cycles"] != found.cycles
    assert ts.Program.assemble("nop\n", mesh="v5p-64").machine.name == "tpu-v5p"
    assert ts.reshard("f32[64]", "f32[64]", "v4-64").machine.name == "tpu-v4"


@test
def builders_say_what_is_wrong():
    b = Builder("wrong")
    b.add("vadd.f23", b.v(0), b.v(1))
    b.add("vadd.f24", b.v(0), b.v(1))
    error = raised(ts.InputError, b.end)
    assert error.message == "unknown instruction 'vadd.f23'; did you mean 'vadd.f32'?"
    raised(ValueError, b.end)
    b = Builder("wrong")
    x = b.tensor("x", "vmem", "f32[8,128]{1,0:T(8,128)}")
    raised(TypeError, lambda: x[0])
    raised(TypeError, x.box, [0, 0], [8])
    raised(ValueError, b.add, "vmov", Builder("other").v(0), 1.0)
    done, foreign = b.semaphore("s"), Builder("other").tensor("z", "vmem", "f32[8,128]{1,0:T(8,128)}")
    for end in (foreign, foreign.box([0, 0], [8, 128])):
        assert "the tensor is of another builder" in str(raised(ValueError, b.dma, end, x, done))
    b.tensor("z", "vmm", "f32[8,128]{1,0:T(8,128)}")
    assert "did you mean 'vmem'?" in raised(ts.InputError, b.end).message
    assert "has ended" in str(raised(ValueError, b.add, "halt"))


@test
def numbers_of_numpy_are_operands():
    b = Builder("numbers")
    b.add("vadd.f32", b.v(0), b.v(1), np.float32(1.5))
    b.add("vadd.f32", b.v(0), b.v(1), np.float64(0.25))
    b.add("sadd", b.s(0), b.s(1), np.int32(-3))
    assert b.end().text.split() == "vadd.f32 v0, v1, 1.5 vadd.f32 v0, v1, 0.25 sadd s0, s1, -3".split()
    b = Builder("numbers")
    b.add("sadd", b.s(0), b.s(1), np.float32(1.5))
    assert "operand 3: found f32 number" in raised(ts.InputError, b.end).message
    raised(TypeError, Builder("numbers").add, "sadd", np.bytes_(b"1"))
    b = Builder("numbers")
    for value in (float("inf"), np.float32("-inf"), np.nan):
        b.add("vadd.f32", b.v(0), b.v(1), value)
    for value in (1e39, np.float64(-1e39)):
        raised(OverflowError, b.add, "vadd.f32", b.v(0), b.v(1), value)
    text = b.end().text
    assert [line.split()[-1] for line in text.splitlines()] == ["inf", "-inf", "nan"], text
    assert ts.Program.assemble(text).text == text


# ---- choose and audit ----

@test
def choices_are_the_command_lines():
    shape, uses = "f32[1024,3]{1,0}", "dma:hbm>vmem,reduce:1"
    for machine, words in (("tpu-v5e", []), (ts.Machine("tpu-v4", {"hbm.clock": "1 GHz"}), ["-m", "tpu-v4", "--set", "hbm.clock=1 GHz"])):
        choice = ts.choose(shape, uses, machine=machine)
        assert ts.choose(shape, uses=uses.split(","), machine=machine).json() == choice.json()
        assert ts.choose(shape, iter(uses.split(",")), machine).json() == choice.json()
        found = expect_json(["choose", shape, "--use", uses, "--no-moves", *words])["candidates"]
        assert [(c.layout, c.bytes) for c in choice.candidates] == [(row["shape"], row["bytes"]) for row in found]
        assert choice.candidates[0].cycles == found[0]["cycles"] and choice.best.text == found[0]["shape"]
        assert choice.json()["candidates"] == found and choice.best.text in choice._repr_html_()
    of_program = ts.choose(program="tilesim:/add.tsim", tensor="x", params={"ROWS": 8})
    assert len(of_program.candidates) > 1 and of_program.best.type == "bf16"
    assert [ts.choose("f32[4096,4096]{1,0}", exact=exact).json()["estimated"] for exact in (False, True)] == [True, False]
    raised(ts.UsageError, ts.choose)
    raised(ts.UsageError, ts.choose, shape, params={"ROWS": 8})  # as the command line has it
    assert "expected str instance, int found" in str(raised(TypeError, ts.choose, shape, uses=["dma", 1]))
    assert "expected a use" in raised(ts.InputError, ts.choose, shape, uses=["dma", ""]).message
    assert raised(ts.InputError, ts.choose, shape, uses=[]).message == raised(ts.InputError, ts.choose, shape, uses="").message


MODULE = """HloModule m

ENTRY %main (p: f32[1024,3]) -> f32[1024,3] {
  %p = f32[1024,3]{1,0:T(8,128)} parameter(0)
  ROOT %c = f32[1024,3]{0,1:T(4,128)} copy(f32[1024,3]{1,0:T(8,128)} %p)
}
"""


@test
def audits_are_the_command_lines():
    class Compiled:
        def as_text(self):
            return MODULE

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.hlo")
        path.write_text(MODULE)
        found = expect_json(["audit", path, "-m", "tpu-v4"])
        with open(path) as opened:
            audits = [ts.audit(module, machine="tpu-v4") for module in (MODULE, MODULE.encode(), path, str(path), opened, Compiled())]
    assert [ts.audit(MODULE, exact=exact).json()["estimated"] for exact in (False, True)] == [True, False]
    for audit in audits:
        assert (audit.logical_bytes, audit.padded_bytes) == (2 * 1024 * 3 * 4, 1024 * 128 * 4 + 1024 * 4 * 4)
        assert audit.fixes == [row["fix"] for row in found["findings"]] and len(audit.fixes) > 0
        assert [finding.at_most for finding in audit.findings] == [row["at_most"] for row in found["findings"]]
        assert audit.microseconds > 0 and audit.json()["findings"] == found["findings"]
    assert "<table>" in audits[0]._repr_html_() and "copy" in audits[0].report()
    raised(FileNotFoundError, ts.audit, "nowhere.hlo")
    with open(os.devnull) as opened:
        raised(TypeError, ts.audit, opened.fileno())  # which open() would read, and close
        os.fstat(opened.fileno())
    assert raised(ts.InputError, ts.audit, "no\nmodule\n").message.startswith("the module holds no instruction or shape in 2 lines")


@test
def notebooks():
    run = ts.run("tilesim:/softmax.tsim", time_only=True)
    with tempfile.TemporaryDirectory() as folder:
        expect(["run", "tilesim:/softmax.tsim", "--time-only", "--html", f"{folder}/a.html"], out=None, err=None)
        assert run.html() == Path(folder, "a.html").read_text()
    shown = run._repr_html_()
    assert shown.startswith('<iframe srcdoc="') and shown.count('"') < 10 and html.unescape(shown.split('"')[1]) == run.html()
    assert "Timeline" in run.html() and f"{max(run.stalls.values()):,}" in run.html()


LONG_RUN = """program = ts.Program.assemble('.loop s0 = 0, 2000000000\\n    vadd.f32 v0, v0, v1\\n.end\\nhalt\\n', mesh={mesh!r})
print("begun", flush=True)
ts.run(program)
"""
LARGE = "'f32[65536,32768]{1,0}', 'f32[65536,32768]{1,0:T(8,128)}'"
COPY = """HloModule m

ENTRY e {
  p = f32[65536,32768]{1,0:T(8,128)} parameter(0)
  ROOT c = f32[65536,32768]{0,1:T(8,128)} copy(p)
}
"""
LONG_CALLS = (f"ts.price({LARGE}, exact=True)",
              "ts.choose('f32[65536,65536]', 'dma:hbm>hbm', exact=True)",
              f"ts.audit({COPY!r}, exact=True)")


@test
def interrupts_are_heard():
    """Ctrl-C ends what would take minutes: a run, of one device and of a mesh, a price, a choice, an audit."""
    for mesh in (None, "2x2"):
        interrupt(LONG_RUN.format(mesh=mesh))
    for call in LONG_CALLS:
        interrupt(f"print('begun', flush=True)\n{call}")


main()
