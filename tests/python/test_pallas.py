"""tilesim.pallas as far as it needs no JAX: arguments, comparisons, generations, and what it says where JAX is missing."""
import contextlib
import io
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from package import raised
from cli import main, test

import numpy as np

import tilesim as ts
from tilesim import _fills, pallas


KERNELS = Path(__file__).parent.parent / "mosaic" / "kernels"


def kernel(x: "f32[4,8] iota", y, scale=2.0, **options):
    return x, y, scale, options


@test
def operands_are_texts_with_fills():
    kind, values = _fills.filled("s8[3,5] random(seed=7, lo=-2, hi=2)")
    assert kind == "s8" and values.shape == (3, 5) and set(values.ravel()) == {-2, -1, 0, 1, 2}
    assert (_fills.filled("f32[2,3] iota")[1] == [[0, 1, 2], [3, 4, 5]]).all() and not _fills.filled("f32[9] zeros")[1].any()
    assert (_fills.filled("f32[4]", 3)[1] == _fills.filled("f32[4] random(seed=3, lo=-1, hi=1)")[1]).all()
    assert _fills.filled("f32[] zeros")[1].shape == ()
    assert "is no operand" in str(raised(ValueError, _fills.filled, "f32(4)"))
    assert "is no fill" in str(raised(ValueError, _fills.filled, "f32[4] ones"))


@test
def arguments_are_annotations_or_given():
    x, y = pallas._arguments(kernel, ["y=s32[2] iota"])
    assert x.dtype == np.float32 and x[1, 0] == 8 and y.dtype == np.int32 and y.tolist() == [0, 1]
    x, _ = pallas._arguments(kernel, ["x=s8[2]", "1=u8[2] iota"])
    assert x.dtype == np.int8
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/a.npz", np.arange(3))
        np.savez_compressed(f"{folder}/b.npz", w=np.arange(4), v=np.arange(5))
        x, y = pallas._arguments(kernel, [f"x={folder}/a.npz", f"y={folder}/b.npz:v"])
        assert (x.tolist(), y.tolist()) == ([0, 1, 2], [0, 1, 2, 3, 4])
        for name in ("", ":", ":u"):
            assert "expected the name of an array, one of w, v" in str(
                raised(ValueError, pallas._arguments, kernel, [f"x={folder}/b.npz{name}", "y=u8[2]"])), name
    assert "'y' has no array" in str(raised(ValueError, pallas._arguments, kernel, []))
    assert "-i 'y': expected NAME=OPERAND" in str(raised(ValueError, pallas._arguments, kernel, ["y"]))
    assert "no parameter 'z': expected one of x, y" in str(raised(ValueError, pallas._arguments, kernel, ["y=f32[2]", "z=f32[2]"]))


@test
def meshes_have_axes_of_one_device_and_more():
    assert pallas._axes(None) == {} and pallas._axes("2x4") == {"x": 2, "y": 4} and pallas._axes("a=1,b=8") == {"a": 1, "b": 8}
    for mesh in ("0", "2x0", "a=-1", "q", "1x1x1x1x1"):
        assert f"mesh '{mesh}': expected such as '4x4'" in str(raised(ValueError, pallas._axes, mesh)), mesh


@test
def blocks_are_lists_by_name():
    for blocks in ([8, 16], {"block": 8}, None):
        assert "such as {'block': [8, 16]}" in str(raised(TypeError, pallas.choose, kernel, blocks=blocks)), blocks


@test
def functions_are_of_files_of_python():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "mine.py").write_text("def kernel(x):\n    return x\n")
        assert pallas._function(f"{folder}/mine.py:kernel")(3) == 3
    assert "'os:path': os is no file of Python, expected FILE.py:FUNCTION" in str(raised(ValueError, pallas._function, "os:path"))


@test
def small_floats_may_be_a_step_apart():
    for kind in ("f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz"):
        if ts.dtype(kind).names is None:  # there is ml_dtypes
            bits = np.array([4, 60], np.uint8)
            values, next_ones, third = (array.view(ts.dtype(kind)) for array in (bits, bits + 1, bits + 3))
            assert pallas.Difference(next_ones, values).passed and not pallas.Difference(third, values).passed, kind


@test
def differences_are_shares_of_the_largest_value():
    expected = np.array([64.0, -1.0, 0.0, np.nan], np.float32)
    near = pallas.Difference(expected + np.float32([0.25, 0, 0, 0]), expected)
    assert near.passed and (near.equal, near.count, near.largest, near.allowed) == (3, 4, 0.25, 0.25)
    far = pallas.Difference(expected + np.float32([0.2501, 0, 0, 0]), expected)
    assert not far.passed and "FAILED" in str(far) and "float32[4]: 3 of 4 values equal" in str(far)
    assert not pallas.Difference(np.float32([1.0, 1.0, 0.0, 0.0]), expected).passed  # a number where NaN is expected
    assert not pallas.Difference(np.int32([1]), np.int32([2])).passed  # integers are exact
    assert pallas.Difference(np.int32([]), np.int32([])).passed
    infinite = np.float32([np.inf, -np.inf])
    signalling = np.array([0x7F800001, 0], np.uint32).view(np.float32)  # bits that were no float
    with np.errstate(invalid="raise"):
        assert pallas.Difference(infinite, infinite).passed and not pallas.Difference(infinite, infinite[::-1]).passed
        assert pallas.Difference(signalling, signalling).passed and not pallas.Difference(infinite, signalling).passed


@test
def both_operands_of_f32_products_are_rounded():
    class Call:
        name = "matmul"

    def near(text):
        return pallas.Kernel(Call(), text, None).near["float32"]
    product = '%9 = "tpu.matmul"(%1, %2, %3) <{transpose_lhs = false}> : (vector<256x128x{0}>, vector<128x128x{0}>, vector<256x128xf32>)'
    assert near(product.replace("{0}", "f32")) == 2 * near(product.replace("{0}", "bf16")) == 2 * near('"arith.addf"')
    stated = product.replace("{0}", "f32").replace("<{", "<{precision = #tpu.contract_precision<fp32>, ")
    assert near(stated) == near('"arith.addf"') and near(stated + "\n" + product.replace("{0}", "f32")) == 2 * near(stated)


@test
def what_interpret_mode_says_is_passed_on():
    class Call:
        name = "views"

        def interpreted(self):
            raise RuntimeError("Traceback\nAttributeError: no attribute 'indices'\n")
    said = str(raised(pallas.InterpretError, pallas._interpreted, Call()))
    assert "'views' ran, but not in interpret mode" in said and "no attribute 'indices'\n" in said and "--no-compare" in said


@test
def operands_may_have_no_sign():
    """Mosaic's memrefs have none: the type of the array says so, and the same bits move in the same time."""
    text = (KERNELS / "clamp_select.mlir").read_text()
    bits = np.random.default_rng(1).integers(0, 1 << 32, (24, 130), dtype=np.uint32)
    bare = text.replace("<24x130xi32>", "<24x130xui32>")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.mlir")
        runs = []
        for kernel_text, array in ((text, bits.view(np.int32)), (bare, bits)):
            path.write_text(kernel_text)
            runs.append(ts.run(path, {"0": array, "1": array[::-1]}))
    assert runs[1].outputs["2"].dtype == np.uint32 and (runs[0].outputs["2"].view(np.uint32) == runs[1].outputs["2"]).all()
    assert runs[0].cycles == runs[1].cycles


@test
def random_bits_are_compared_with_none():
    class Call:
        name = "add"
    found = ts.run(KERNELS / "add.mlir")
    drawn = pallas.Kernel(Call(), '%0 = "tpu.prng_random_bits"() : () -> vector<8x128xi32>', found)
    plain = pallas.Kernel(Call(), '%0 = "tpu.load"()', found)
    assert drawn.random and drawn.passed and not plain.random
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert pallas._report(pallas.PallasRun([], [drawn]), None) == 0
    assert "results are not compared with interpret mode" in out.getvalue()


@test
def kernels_have_any_name():
    with tempfile.TemporaryDirectory() as folder:
        names = "add", "attention/forward pass", "../up", "x" * 300, "\u6838" * 100, ""
        paths = [pallas._text_path(folder, name) for name in names]
        for path in paths:
            path.write_text("")
        assert [path.name for path in paths] == ["add.mlir", "attention_forward_pass.mlir", ".._up.mlir", "x" * 100 + ".mlir",
                                                 "_" * 100 + ".mlir", ".mlir"]
        assert all(path.parent == Path(folder) for path in paths)


@test
def operands_are_named_by_numbers():
    x = np.full((32, 256), 3, np.float32)
    assert (ts.run(KERNELS / "softmax.mlir", {0: x}).outputs["1"] == ts.run(KERNELS / "softmax.mlir", {"0": x}).outputs["1"]).all()
    assert "by the names of tensors" in str(raised(TypeError, ts.run, KERNELS / "softmax.mlir", x))


@test
def generations_are_mosaics():
    assert [pallas.generation(name) for name in ("tpu-v4", "tpu-v5e", ts.Machine("tpu-v6e"), "x/tpu-v7x.yaml")] == [4, 5, 6, 7]
    assert "no generation of 'tmem'" in str(raised(ValueError, pallas.generation, "tmem"))


@test
def types_of_dumps_are_mlirs():
    assert [pallas._mlir_type(text) for text in ("f32[2,3]", "s32[4]", "u8[]", "pred[5]", "bf16[1]", "f8e4m3fn[6]")] == \
        ["tensor<2x3xf32>", "tensor<4xi32>", "tensor<ui8>", "tensor<5xi32>", "tensor<1xbf16>", "tensor<6xf8E4M3FN>"]


@test
def without_jax_it_says_what_to_install():
    try:
        import jax  # noqa: F401
    except ImportError:
        assert "jaxlib==0.8.1" in str(raised(ImportError, pallas.run, kernel))
        assert pallas.main(["x.py:f"]) == 1


@test
def several_kernels_have_a_file_each():
    class Call:
        name = "add"
    kernels = [pallas.Kernel(Call(), f"text {i}\n", ts.run(KERNELS / "add.mlir")) for i in range(2)]
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        for many in (1, 2):
            pallas._report(pallas.PallasRun([], kernels[:many]), f"{folder}/{many}.json")
            pallas._save(f"{folder}/{many}.mlir", [each.text for each in kernels[:many]])
        pallas._save(None, ["none"])
        assert sorted(path.name for path in Path(folder).iterdir()) == [
            "1.json", "1.mlir", "2.0.json", "2.0.mlir", "2.1.json", "2.1.mlir"]
        assert Path(folder, "2.1.mlir").read_text() == "text 1\n" and Path(folder, "2.0.json").stat().st_size > 1000
        out.truncate(0)
        out.seek(0)
        pallas._save("-", ["a\n", "b\n"])
    assert out.getvalue() == "a\nb\n"


@test
def what_would_not_count_is_refused():
    for words, said in ((["--block", "b=1", "--check"], "--check does not go with --block"),
                        (["--block", "b=1", "-o", "a.mlir"], "-o does not go with --block"),
                        (["--lower", "--trace", "t.json"], "--trace does not go with --lower")):
        assert str(raised(ValueError, pallas._refuse_unused, pallas._options().parse_args(["f.py:f", *words]))) == said
    pallas._refuse_unused(pallas._options().parse_args(["f.py:f", "--lower", "-o", "a.mlir", "--mesh", "2"]))
    assert str(raised(ValueError, pallas._some, [])) == "the function has no kernel: it calls no pallas_call"
    assert pallas._some([1]) == [1]


@test
def block_sizes():
    """Without JAX: texts in the place of lowering. Kernels of one function are added up; what has no time comes last."""
    texts = {1: ["add"], 2: ["add", "softmax"], 3: ["softmax"]}

    def lower(function, *arrays, machine):
        assert function.func is kernel and arrays == (5,) and machine == "tpu-v5e" and function.keywords["other"] == "x"
        if function.keywords["size"] == 4:
            raise RuntimeError("too large\nfor all")
        if function.keywords["size"] == 5:
            return ["nothing"]
        if function.keywords["size"] == 6:
            return []
        return [(KERNELS / f"{name}.mlir").read_text() for name in texts[function.keywords["size"]]]

    before, pallas.lower = pallas.lower, lower
    try:
        found = pallas.choose(kernel, 5, blocks={"size": [2, 4, 3, 5, 6, 1], "other": ["x"]}, workers=2)
        exact = pallas.choose(kernel, 5, blocks={"size": [2], "other": ["x"]}, exact=True)
    finally:
        pallas.lower = before
    alone = {name: ts.run(KERNELS / f"{name}.mlir", time_only=True) for name in ("add", "softmax")}
    estimated = {size: any(alone[name].json()["estimated"] for name in names) for size, names in texts.items()}
    assert [block.estimated for block in found] == [estimated[block.sizes["size"]] for block in found[:3]] + [False] * 3
    assert [block.estimated for block in exact] == [False] and estimated[2]
    cycles = {size: sum(alone[name].cycles for name in names) for size, names in texts.items()}
    assert [(block.sizes["size"], block.cycles) for block in found[:3]] == sorted(cycles.items(), key=lambda item: item[1])
    assert all(block.error == "" and block.hbm_joules > 0 and block.microseconds > 0 for block in found[:3])
    assert {block.sizes["size"]: block.error for block in found[3:] if block.sizes["size"] != 5} == \
        {4: "too large", 6: "it calls no pallas_call"}
    assert [block.microseconds for block in found[3:]] == [None, None, None] and all(block.error for block in found[3:])


main()
