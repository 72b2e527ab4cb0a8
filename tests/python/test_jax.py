"""tilesim.jax: what is said of a compiled function, against the compiler's own words. Needs `./configure.py jax`."""
import doctest
import functools
import inspect
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
import with_jax  # noqa: F401
import package
from package import raised
from cli import main, test

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.layout import Format, Layout

import tilesim as ts
import tilesim.jax as tj
from tilesim import _aot


def shape(*dims, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(dims, dtype)


def flatten(x):
    return x.reshape(-1)


def flatten_both(x):
    return x.reshape(-1), x.T.reshape(-1)


def attend(q, k, v):
    q, k, v = (t.transpose(0, 2, 1, 3) for t in (q, k, v))
    p = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) / 8, axis=-1)
    return jnp.einsum("bhqk,bhkd->bhqd", p, v).transpose(0, 2, 1, 3)


@test
def every_chip():
    """Sizes of arguments and results are those of their layouts, by our arithmetic and by the compiler's."""
    def f(d, column):
        return {"sum": d["w"] * column, "t": d["w"].T.astype(jnp.bfloat16)}, column.astype(jnp.int8)
    for name in tj.CHIPS:
        compiled = tj.compile(f, {"w": shape(1000, 3), "unused": shape(7)}, shape(1000, 1), chip=name)
        assert list(compiled.arguments) == ["d['w']", "column"] and len(compiled.results) == 3, name
        assert sum(layout.bytes for layout in compiled.arguments.values()) == compiled.memory.arguments, name
        sizes = compiled.compiled.memory_analysis()
        results = sum(layout.bytes for layout in compiled.results)  # and a table of pointers to them
        assert 0 <= sizes.output_size_in_bytes - results <= 1024 and compiled.memory.peak > results, name
        assert [layout.dims for layout in compiled.results] == [(1000, 3), (3, 1000), (1000, 1)], compiled.results
        assert ts.audit(compiled).padded_bytes == compiled.audit().padded_bytes > 0
        assert compiled.machine.name == tj.CHIPS[name].machine and "d['w']" in compiled.report() and "<table>" in compiled._repr_html_()


def compiled_with(f, code, *arguments, name="v5e"):
    """The optimised HLO with what the line of code says."""
    named = {"Format": Format, "Layout": Layout, "sharding": _aot.sharding(name)}
    given = eval(f"dict({code})", named)
    filled = {key: jax.tree.map(lambda one: named["sharding"] if one is None else one, value, is_leaf=lambda one: one is None or isinstance(one, Format))
              for key, value in given.items()}
    return jax.jit(f, **{"in_shardings": named["sharding"], "out_shardings": named["sharding"], **filled}).lower(*arguments).compile().as_text()


def copies(text):
    """Results of copies that change the order of dims, by the text alone."""
    found = re.findall(r"%(\S+) = \w+(\[[\d,]*\])\{([\d,]*):\S* copy\(%(\S+?)\)", text)
    orders = dict(re.findall(r"%(\S+) = \w+\[[\d,]*\]\{([\d,]*)[:}]", text))
    return [name for name, _, order, operand in found if orders.get(operand, order) != order]


@test
def a_fix_is_code_and_the_copy_is_gone():
    arguments = [shape(2, 384, 6, 64, dtype=jnp.bfloat16)] * 3
    found = tj.audit(attend, *arguments)
    assert len(copies(found.compiled.text)) == 2, copies(found.compiled.text)
    line = inspect.getsourcelines(attend)[1] + 3
    fixed = [answer for answer in found.answers if answer.fix]
    assert len(fixed) == 2 and all(f"test_jax.py:{line} in attend" in str(finding.source) for finding, _ in fixed), found.report()
    assert {"v"} <= {finding.source.op for finding, _ in fixed} and all("return jnp.einsum" in answer.lines()[3] for answer in fixed)
    for _, fix in fixed:
        assert fix.gone and len(copies(compiled_with(attend, fix.code, *arguments))) == 1
        assert fix.microseconds[1] < fix.microseconds[0] == found.audit.microseconds
    assert found.best.what == "all of these" and found.best.verdict == "the copy is gone"
    text = compiled_with(attend, found.best.code, *arguments)
    assert copies(text) == [] and ts.audit(text).microseconds == found.best.microseconds[1]
    assert found.best.code in found.report() and found.best.bought() in found.report()
    assert "Format(Layout(" in found._repr_html_() and "test_jax.py" in found._repr_html_()


@test
def what_the_compiler_puts_back_is_said():
    """One argument that is read in both orders: whichever it has, the other needs a copy."""
    found = tj.audit(flatten_both, shape(1000, 784))
    tried = [fix for fix in found.fixes if "argument x" == fix.what]
    assert tried, found.report()
    text = compiled_with(flatten_both, tried[0].code, shape(1000, 784))
    assert tried[0].gone == (copies(text) == []), (tried[0], copies(text))
    assert not tried[0].gone and "put a copy back" in tried[0].verdict and tried[0].verdict in found.report(), found.report()


@test
def what_a_fusion_may_hide_is_lost_at_most():
    found = tj.audit(lambda x, w: x @ w.astype(jnp.bfloat16), shape(64, 256, dtype=jnp.bfloat16), shape(256, 512, dtype=jnp.int4))
    fused = [answer for answer in found.answers if answer.finding.at_most]
    assert fused and all(f"costs at most {answer.finding.microseconds:.3f} us" in found.report() for answer in fused)


@test
def donated_arguments_keep_their_results():
    @functools.partial(jax.jit, donate_argnums=0)
    def step(state, new):
        return jax.lax.dynamic_update_slice(state, new, (0, 3)), jnp.sum(state)
    compiled = tj.compile(step, shape(1024, 512), shape(1024, 1))
    assert compiled.memory.aliased == 1024 * 512 * 4 and compiled.entry.aliases == {0: [0]}
    assert tj.compile(step.__wrapped__, shape(1024, 512), shape(1024, 1)).memory.aliased == 0
    assert tj.compile(step.__wrapped__, shape(1024, 512), shape(1024, 1), donate_argnums=0).memory == compiled.memory
    assert "donated" in compiled.report()
    static = jax.jit(lambda x, n: x * n, static_argnums=1)
    raised(Exception, tj.compile, static, shape(3), 2)


@test
def what_fits():
    def total(x):
        return x.sum(1)
    large = shape(5 * 2 ** 20, 1024)
    refused = tj.fits(total, large, chip="v5e")
    assert not refused and refused.peak_bytes >= 20 * 2 ** 30 > refused.capacity_bytes and refused.memory is None
    assert "does not fit v5e" in refused.report() and "does not fit" in refused._repr_html_()
    error = raised(tj.OutOfMemoryError, tj.compile, total, large)
    assert isinstance(error, ts.Error) and isinstance(error, RuntimeError) and error.kind == "memory"
    assert error.needed_bytes == refused.peak_bytes > error.available_bytes > 15 * 2 ** 30
    assert "does not fit either" in refused.refusal
    held = tj.fits(total, large, chip="7x")
    assert held and held.capacity_bytes == 96 * 2 ** 30 and held.memory.arguments == 20 * 2 ** 30 <= held.peak_bytes < held.capacity_bytes
    padded = tj.fits(flatten, shape(1000, 784))
    layout = ts.Layout("f32[1000,784]{0,1:T(8,128)}")
    assert padded.padding["arguments"] == layout.bytes - layout.logical_bytes
    assert padded.fixes and padded.fixes[0].peak_bytes[1] < padded.peak_bytes and "frees" in padded.report() and padded.fixes[0].code in padded._repr_html_()


@test
def arguments_of_any_kind():
    compiled = tj.compile(lambda x, n, key: x * n + jax.random.normal(key, x.shape), np.ones((3, 5), np.float32), 3, jax.random.key(0), chip="tpu-v5e")
    assert list(compiled.arguments) == ["x", "n", "key"] and compiled.arguments["x"].dims == (3, 5)

    class Layer:
        def __call__(self, x):
            return x + 1

    assert list(tj.compile(functools.partial(lambda n, x: x * n, 3), shape(8)).arguments) == ["args[0]"]
    assert tj.compile(Layer(), shape(8)).name == "Layer"
    assert tj.compile(lambda: jnp.zeros(3)).arguments == {}


@test
def types_of_ml_dtypes():
    """The tests of layouts where ml_dtypes is installed, as it is here, and arrays of its types."""
    import ml_dtypes
    assert ts.dtype("bf16") == ml_dtypes.bfloat16 and ts.dtype("f8e4m3fn") == ml_dtypes.float8_e4m3fn
    values = np.arange(256).astype(ml_dtypes.bfloat16).reshape(2, 128)
    packed = ts.convert(values, to="bf16[2,128]{1,0:T(8,128)(2,1)}")
    back = ts.convert(packed, "bf16[2,128]{1,0:T(8,128)(2,1)}")
    assert back.dtype == ml_dtypes.bfloat16 and (back == values).all() and (ts.convert(packed, "bf16[2,128]{1,0:T(8,128)(2,1)}", to="f32[2,128]{1,0}") == values).all()
    tiles = ts.Converter("bf16[2,128]", to="bf16[2,128]{1,0:T(8,128)(2,1)}")
    assert bytes(tiles(values)) == bytes(tiles(jnp.asarray(values))) == bytes(packed)
    small = np.array([0, 1, -2, 448], ml_dtypes.float8_e4m3fn)
    assert (ts.convert(ts.convert(small, to="f8e4m3fn[4]{0}"), "f8e4m3fn[4]{0}") == small).all()
    nibbles = np.array([-8, 7, 0], ml_dtypes.int4)
    assert ts.convert(ts.convert(nibbles, to="s4[3]{0:E(4)}"), "s4[3]{0:E(4)}").tolist() == [-8, 7, 0]
    done = subprocess.run([sys.executable, str(Path(__file__).parent / "test_layout.py"), sys.argv[1]], capture_output=True, text=True)
    assert done.returncode == 0 and "not ok" not in done.stdout and "skipped" not in done.stdout, done.stdout + done.stderr


@test
def refused():
    error = raised(ts.UsageError, tj.compile, flatten, shape(8), chip="v5f")
    assert error.message == "no chip is called 'v5f', expected v4, v5e, v5p, v6e, 7x; did you mean 'v5p'?"
    raised(TypeError, tj.compile, flatten, "text")
    raised(TypeError, tj.compile, lambda x, y: x @ y, shape(8, 9), shape(8, 9))


@test
def tutorial():
    """All code of docs/jax.md gives what the page says."""
    text = (package.ROOT / "docs" / "jax.md").read_text()
    blocks = re.findall(r"^```pycon\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    examples = "".join(blocks)
    assert text.count("```pycon") == len(blocks) > 4 and examples.count(">>>") > 12
    said = []
    found = doctest.DocTestParser().get_doctest(examples, {}, "docs/jax.md", "docs/jax.md", 0)
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF | doctest.ELLIPSIS)
    runner.run(found, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)


main()
