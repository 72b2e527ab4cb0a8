"""Public Pallas kernels, those that JAX ships, lowered, run and compared with interpret mode: `ninja test-pallas`.

usage: public.py [NAME..]    in a Python that has jax 0.8.1, NumPy and cffi (tilesim.pallas says how to make one)
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / "build" / "venv-pallas" / "bin" / "python"
sys.path.insert(0, str(ROOT / "python"))

try:
    import jax
    import numpy
except ImportError:
    jax = None

# What is not run, and why, in the words of who refuses it.
REFUSED: dict = {}
TUTORIAL = re.compile(r"^    build/venv-pallas/bin/python (-m tilesim.pallas .*)$", re.MULTILINE)


def floats(seed, *dims, dtype="bfloat16"):
    import jax.numpy as jnp
    return jax.random.uniform(jax.random.key(seed), dims, jnp.float32, -1, 1).astype(dtype)


def integers(seed, *dims):
    return jax.random.randint(jax.random.key(seed), dims, -128, 128, "int8")


def matmul(dtype, *blocks):
    from jax.experimental.pallas.ops.tpu import matmul as module
    x, y = (integers(1, 256, 512), integers(2, 512, 256)) if dtype == "int8" else \
        (floats(1, 256, 512, dtype=dtype), floats(2, 512, 256, dtype=dtype))
    out = {"int8": "int32", "bfloat16": "float32"}.get(dtype, dtype)
    return lambda x, y: module.matmul(x, y, block_shape=blocks[:2], block_k=blocks[2], out_dtype=out), (x, y)


def flash(causal, length):
    from jax.experimental.pallas.ops.tpu import flash_attention as module
    arrays = [floats(seed, 1, 2, length, 128) for seed in (1, 2, 3)]
    return lambda q, k, v: module.flash_attention(q, k, v, causal=causal), arrays


def flash_gradient(length):
    """The kernels of the gradients, and the forward one that keeps what they need."""
    from jax.experimental.pallas.ops.tpu import flash_attention as module
    arrays = [floats(seed, 1, 1, length, 128) for seed in (1, 2, 3)]
    return jax.grad(lambda q, k, v: module.flash_attention(q, k, v, causal=True).sum(), argnums=(0, 1, 2)), arrays


def flash_segments(length):
    from jax.experimental.pallas.ops.tpu import flash_attention as module
    import jax.numpy as jnp
    arrays = [floats(seed, 1, 2, length, 128) for seed in (1, 2, 3)]
    ids = module.SegmentIds(*[jnp.repeat(jnp.arange(2, dtype=jnp.int32), length // 2)[None]] * 2)
    bias = floats(4, 1, 2, length, length, dtype="float32")
    return lambda q, k, v: module.flash_attention(q, k, v, ab=bias, segment_ids=ids), arrays


def splash(length, mask=None, heads=2, gradient=False, dtype="bfloat16", kind="mha", **options):
    from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as kernel
    from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks
    one = mask(masks, (length, length)) if mask else masks.CausalMask((length, length))
    made = getattr(kernel, f"make_splash_{kind}_single_device")(mask=masks.MultiHeadMask([one] * heads), **options)
    shapes = [(heads, length, 128)] + [(heads, length, 128) if kind == "mha" else (length, 128)] * 2
    arrays = [floats(seed, *shape, dtype=dtype) for seed, shape in zip((1, 2, 3), shapes)]
    return jax.grad(lambda q, k, v: made(q, k, v).sum(), argnums=(0, 1, 2)) if gradient else made, arrays


def paged(quantised=False, **options):
    from jax.experimental.pallas.ops.tpu import paged_attention as module
    from jax.experimental.pallas.ops.tpu.paged_attention import quantization_utils
    import jax.numpy as jnp
    pages = [floats(seed, 1, 16, 16, 128) for seed in (2, 3)]
    if quantised:
        pages = [quantization_utils.quantize_to_int8(page) for page in pages]
    arrays = (floats(1, 2, 8, 128), *pages, jnp.array([37, 100], jnp.int32),
              jax.random.permutation(jax.random.key(4), 16).astype(jnp.int32).reshape(2, 8))
    return lambda *given: module.paged_attention(*given, pages_per_compute_block=4, **options), arrays


def ragged_paged(dtype="bfloat16"):
    """Compared with JAX's reference: its interpret mode does not know reshaped references."""
    from jax.experimental.pallas.ops.tpu.ragged_paged_attention import ragged_paged_attention, ref_ragged_paged_attention
    import jax.numpy as jnp
    tables = (jnp.array([40, 70], jnp.int32), jnp.arange(16, dtype=jnp.int32).reshape(2, 8), jnp.array([0, 8, 24], jnp.int32),
              jnp.array([2], jnp.int32))
    arrays = (floats(1, 24, 8, 128, dtype=dtype), floats(2, 16, 16, 4, 128, dtype=dtype), *tables)
    return (lambda *given: ragged_paged_attention(*given, num_kv_pages_per_block=4, num_queries_per_block=8)), arrays, \
        ref_ragged_paged_attention


def grouped(dtype="bfloat16", **options):
    from jax.experimental.pallas.ops.tpu.megablox import gmm
    import jax.numpy as jnp
    return (lambda x, y, sizes: gmm(x, y, sizes, jnp.float32, (128, 128, 128), **options)), \
        (floats(1, 256, 128, dtype=dtype), floats(2, 3, 128, 128, dtype=dtype), jnp.array([40, 150, 66], jnp.int32))


def grouped_gradient():
    """Products with the transposed right side, and tgmm."""
    function, (x, y, sizes) = grouped()
    return jax.grad(lambda x, y: function(x, y, sizes).sum(), argnums=(0, 1)), (x, y)


def bits(module):
    import importlib
    import jax.numpy as jnp
    module = importlib.import_module(f"jax.experimental.pallas.ops.tpu.random.{module}")
    key = jnp.array([1, 2], jnp.uint32)
    if hasattr(module, "philox_random_bits"):
        return lambda key: module.philox_random_bits(key, 32, (256, 256)), (key,)
    return lambda key: module.plthreefry_random_bits(key, 32, (256, 256)), (key,)


def double(make=lambda *dims: floats(1, *dims, dtype="float32")):
    from jax.experimental.pallas.ops.tpu import example_kernel
    return example_kernel.double, (make(16, 256),)


def placed():
    """Of an array that has to be in HBM, on one device and on four."""
    from jax.experimental.pallas import tpu
    from jax.experimental.pallas.ops.tpu import example_kernel
    mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("x")

    def function(x):
        return example_kernel.double(tpu.with_memory_space_constraint(x, tpu.HBM))
    return lambda x: function(jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)(x)), \
        (floats(1, 64, 128, dtype="float32"),), lambda x: 4 * x


def interpreted():
    """Written for a host without a TPU: the chip's is run all the same."""
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    def body(x, o):
        o[...] = 2 * x[...]

    def function(x):
        for how in (True, pltpu.InterpretParams()):
            x = pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=how)(x)
        return x
    return function, (floats(1, 16, 256, dtype="float32"),)


def of_refs():
    """Kernels without results, that write into refs of `run_state`."""
    import jax.numpy as jnp
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    def copy(x, y, index, ready):
        moved = pltpu.make_async_copy(x.at[index[0]], y, ready)
        moved.start()
        moved.wait()

    def function(x):
        def inner(refs):
            x, y = refs
            grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, scratch_shapes=[pltpu.SemaphoreType.DMA])
            for index in (0, 1):
                pl.pallas_call(lambda i, ready: copy(x, y, i, ready), grid_spec=grid, out_shape=[])(jnp.array([index]))
        return pl.run_state(inner)((x, jnp.zeros_like(x[0])))[1] + 1
    return jax.jit(function), (floats(1, 2, 16, 128, dtype="float32"),), lambda x: x[1] + 1


def within_run_state():
    """Refs around a kernel: read for it and written behind it, of a jitted function, of a loop, and of a branch."""
    import jax.numpy as jnp
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu
    from jax.experimental.pallas.ops.tpu import example_kernel

    def copy(x, y):
        def body(ready):
            moved = pltpu.make_async_copy(x, y, ready)
            moved.start()
            moved.wait()
        pl.pallas_call(body, scratch_shapes=[pltpu.SemaphoreType.DMA], out_shape=[])()

    def function(x):
        def inner(refs):
            x, jitted, looped, chosen = refs
            x[...] = example_kernel.double(x[...])
            jax.jit(copy)(x, jitted)
            jax.lax.fori_loop(0, 2, lambda i, _: copy(x, looped), None)
            pl.when(x[0, 0] < 1e9)(lambda: copy(x, chosen))
        return pl.run_state(inner)((x, *[jnp.zeros_like(x)] * 3))
    return function, (floats(1, 16, 256, dtype="float32"),), lambda x: (2 * x,) * 4


def in_place():
    """Blocks that do not fill the array, written where they were read: JAX's interpret mode for TPUs does not know how."""
    from jax.experimental import pallas as pl

    def body(x, o):
        o[...] = x[...] + 1
    block = pl.BlockSpec((16, 128), lambda i, j: (i, j))
    return lambda x: pl.pallas_call(body, grid=(3, 2), in_specs=[block], out_specs=block, input_output_aliases={0: 0},
                                    out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x), (floats(1, 43, 200),)


def rounded_products():
    """Squares of what bf16 rounds most, all to one side: of f32 without a stated precision."""
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    def body(x, y, o):
        o[...] = jnp.dot(x[...], y[...], preferred_element_type=jnp.float32)
    x = jnp.full((8, 128), 1 + 2 ** -8 - 2 ** -20, jnp.float32)
    return lambda x, y: pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct((8, 8), jnp.float32))(x, y), (x, x.T)


def part_as_halves():
    """A DMA of rows and columns of words, seen as halves; interpret mode does not know it."""
    import jax.numpy as jnp
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    def body(x, o, ready):
        copy = pltpu.make_async_copy(x.at[3:9, :, 128:].bitcast(jnp.int16), o, ready)
        copy.start()
        copy.wait()

    anywhere, words = pl.BlockSpec(memory_space=pl.ANY), jnp.arange(16 * 256, dtype=jnp.int32).reshape(16, 1, 256) * 77777
    return pl.pallas_call(body, in_specs=[anywhere], out_specs=anywhere, out_shape=jax.ShapeDtypeStruct((6, 2, 128), jnp.int16),
                          scratch_shapes=[pltpu.SemaphoreType.DMA]), (words,), \
        lambda x: jax.lax.bitcast_convert_type(x[3:9, :, 128:], jnp.int16).swapaxes(2, 3).reshape(6, 2, 128)


def draw(key):
    """Numbers of a random key, which is an operand."""
    import jax.numpy as jnp
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    def body(key, o):
        o[...] = jax.random.uniform(key[...], o.shape)
    return pl.pallas_call(body, in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM)],
                          out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(pltpu.to_pallas_key(key))


def keys_of(seeds):
    return jax.vmap(lambda seed: jax.random.key(seed, impl="rbg"))(seeds)


def keys():
    """Equal ones draw the same, others do not, and nothing lies outside of 0 to 1."""
    import jax.numpy as jnp

    def function(seeds):
        first, same, other = (draw(jax.random.key(seed, impl="rbg")) for seed in seeds)
        return jnp.stack([(first == same).all(), (first != other).mean() > 0.9, ((first >= 0) & (first < 1)).all()])
    return function, (jnp.array([7, 7, 8]),), lambda seeds: jnp.ones(3, bool)


def keys_in_turn():
    """The same keys one after another and each on its device: they draw the same."""
    import jax.numpy as jnp
    mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("x")

    def function(seeds):
        scanned, same = jax.lax.scan(lambda _, key: (None, (draw(key), key)), None, keys_of(seeds))[1]
        dealt = jax.shard_map(lambda keys: draw(keys[0])[None], mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)(same)
        return (scanned == dealt).all((1, 2)), (scanned != scanned[0]).mean((1, 2)) > 0.9
    return function, (jnp.arange(4),), lambda seeds: (jnp.ones(4, bool), seeds > 0)


def controlled():
    """A kernel that scan, while and cond run."""
    import jax.numpy as jnp
    from jax.experimental.pallas.ops.tpu import example_kernel

    def function(x, rows):
        scanned, sums = jax.lax.scan(lambda state, row: (example_kernel.double(state) + row, state.sum()), x, rows, reverse=True)
        count, looped = jax.lax.while_loop(lambda state: state[0] < 2, lambda state: (state[0] + 1, example_kernel.double(state[1])), (0, scanned))
        return jax.lax.cond(count > 1, example_kernel.double, lambda v: v, looped), sums

    def reference(x, rows):
        sums = []
        for row in rows[::-1]:
            sums.insert(0, x.sum())
            x = 2 * x + row
        return 8 * x, jnp.array(sums)
    return function, (floats(1, 16, 256, dtype="float32"), floats(2, 3, dtype="float32")), reference


def gather(dims=(4,), axes=("x",), memory="VMEM"):
    """Several devices: the reference is the array itself. Interpret mode may swap copies that are under way to one semaphore."""
    from jax.experimental.pallas import tpu
    from jax.experimental.pallas.ops.tpu import all_gather as module
    mesh = jax.make_mesh(dims, axes, axis_types=(jax.sharding.AxisType.Auto,) * len(axes))
    space = getattr(tpu.MemorySpace, memory)
    return lambda x: module.all_gather(x, mesh=mesh, axis_name=axes[-1], memory_space=space), [floats(1, 64, 128)], lambda x: x


def casts():
    """As JAX lowers for software of its own date: for older, bf16 and 8 bits go through f32, or are refused."""
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    def body(x, narrow, wide):
        narrow[...] = x[...].astype(narrow.dtype)
        wide[...] = narrow[...].astype(wide.dtype) * 2
    types = jnp.float8_e4m3fn, jnp.bfloat16

    def reference(x):
        return x.astype(types[0]), 2 * x.astype(types[0]).astype(types[1])
    return lambda x: pl.pallas_call(body, out_shape=[jax.ShapeDtypeStruct(x.shape, kind) for kind in types])(x), \
        (floats(1, 64, 256),), reference


def tuned():
    """Kernels that ask for which chip they are, as public ones do for their tables of block sizes, or run on TPUs alone."""
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    def function(x):
        kinds = {device.device_kind for device in (*jax.devices(), *jax.local_devices())}
        assert kinds == {"TPU v5 lite"} and jax.default_backend() == "tpu" and jax.devices("cpu")[0].device_kind == "cpu", kinds
        mesh = pltpu.create_tensorcore_mesh("core", devices=jax.devices()[:1])

        def body(x, o):
            pltpu.emit_pipeline(lambda x, o: o.__setitem__(..., 2 * x[...]), grid=(2,), in_specs=[block], out_specs=block)(x, o)
        block = pl.BlockSpec((8, 128), lambda i: (i, 0))
        return pl.kernel(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), mesh=mesh)(x)
    return function, (floats(1, 16, 128, dtype="float32"),), lambda x: 2 * x


KERNELS = {
    "matmul bf16 128,128,256": lambda: matmul("bfloat16", 128, 128, 256),
    "matmul bf16 256,256,512": lambda: matmul("bfloat16", 256, 256, 512),
    "matmul f32 128,256,128": lambda: matmul("float32", 128, 256, 128),
    "matmul int8 128,256,256": lambda: matmul("int8", 128, 256, 256),
    "flash_attention 256": lambda: flash(False, 256),
    "flash_attention causal 256": lambda: flash(True, 256),
    "flash_attention gradients 256": lambda: flash_gradient(256),
    "flash_attention bias, segments": lambda: flash_segments(256),
    "splash_attention causal 256": lambda: splash(256),
    "splash_attention full 256": lambda: splash(256, lambda masks, shape: masks.FullMask(shape)),
    "splash_attention local 256": lambda: splash(256, lambda masks, shape: masks.LocalMask(shape, (64, 64), 0)),
    "splash_attention mqa": lambda: splash(256, kind="mqa"),
    "splash_attention gradients": lambda: splash(256, heads=1, gradient=True),
    "paged_attention": paged,
    "paged_attention by sequence": lambda: paged(inline_seq_dim=False),
    "paged_attention int8": lambda: paged(quantised=True),
    "ragged_paged_attention": ragged_paged,
    "megablox gmm": grouped,
    "megablox gmm f32": lambda: grouped("float32"),
    "megablox gmm gradients": grouped_gradient,
    "all_gather": gather,
    "all_gather in HBM": lambda: gather(memory="ANY"),
    "all_gather along one axis": lambda: gather((2, 2), ("x", "y")),
    "random philox": lambda: bits("philox"),
    "random threefry": lambda: bits("threefry"),
    "random keys": keys,
    "random keys in turn": keys_in_turn,
    "double": double,
    "double of float64, which JAX makes float32": lambda: double(lambda *dims: numpy.ones(dims)),
    "double of int64": lambda: double(lambda *dims: numpy.arange(dims[0] * dims[1]).reshape(dims)),
    "double in HBM": placed,
    "double in scan, while and cond": controlled,
    "double in interpret mode": interpreted,
    "copies of refs": of_refs,
    "refs around kernels": within_run_state,
    "copy of a part as halves": part_as_halves,
    "ragged blocks in place": in_place,
    "f32 products rounded to one side": rounded_products,
    "casts of bf16 to fp8 and back": casts,
    "a kernel that asks for its chip": tuned,
}


def compared(name, made, machine):
    """The run, and its differences: from interpret mode, or from a reference."""
    from tilesim import pallas
    function, arrays, *reference = made
    found = pallas.run(function, *arrays, machine=machine, compare=not reference)
    if reference:
        expected = jax.tree_util.tree_leaves(reference[0](*arrays))
        apart = [pallas.Difference(result[:len(want)], want) for result, want in zip(found.outputs, expected)]
        return found, apart
    return found, [difference for kernel in found.kernels for difference in kernel.differences]


def result(name, machine):
    """(how it ended, what is said of it)."""
    from tilesim import UnmodelledError
    start = time.monotonic()
    try:
        found, differences = compared(name, KERNELS[name](), machine)
    except UnmodelledError as error:
        return "refused", str(error).split("\n")[0].split("not modelled: ", 1)[-1]
    except Exception as error:
        return "failed", f"{type(error).__name__}: {str(error)[:300]}"
    passed = all(difference.passed for difference in differences)
    return "ran" if passed else "failed", f"{found.cycles:,} cycles, {time.monotonic() - start:.1f} s; {'; '.join(map(str, differences))}"


def tutorial(words):
    """A command of docs/pallas.md: it must end well."""
    done = subprocess.run([sys.executable, *shlex.split(words)], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": "python"})
    return "ran" if done.returncode == 0 else "failed", (done.stdout + done.stderr).strip().split("\n")[-1]


# Without a grid, and with ops that jaxlib 0.8.1 does not know: of one of several results, and without attributes.
DUMP = """module {
  func.func @floats(%arg0: IN, %arg1: OUT) attributes {scalar_prefetch = 0 : i64, scratch_operands = 0 : i64} {
    %c0 = arith.constant 0 : index
    %0 = tpu.load %arg0[%c0, %c0] sublanes [ALL] : IN, vector<8x128xi32>
    %r = tpu.roll_vectors %0, %0 : vector<8x128xi32>, vector<8x128xi32> -> vector<16x128xi32>
    %u:2 = tpu.unroll_vectors %r : vector<16x128xi32> -> vector<8x128xi32>, vector<8x128xi32>
    %1 = tpu.uitofp %u#1 {rounding_mode = #tpu.rounding_mode<to_nearest_even>} : vector<8x128xi32> -> vector<8x128xf32>
    %2 = tpu.fptoui %1 : vector<8x128xf32> -> vector<8x128xi32>
    %3 = tpu.uitofp %2 {rounding_mode = #tpu.rounding_mode<to_nearest_even>} : vector<8x128xi32> -> vector<8x128xf32>
    tpu.store %arg1[%c0, %c0], %3 sublanes [ALL] : OUT, vector<8x128xf32>,
    return
  }
}
"""


# As libtpu 0.0.52 names things.
RENAMED = """module attributes {stable_mosaic.version = 15 : i64} {
  func.func @largest(%arg0: IN, %arg1: OUT, %arg2: OUT, %arg3: SEM {llo.passthrough_operand}) attributes {scalar_prefetch = 0 : i64, scratch_operands = 2 : i64, xir.core_type = #xir.core_type<tc>, xir.main} {
    %c0 = arith.constant 0 : index
    xir.enqueue_transfer source(%arg0 : IN) target(%arg2 : OUT) target_semaphore(%arg3 : SEM)
    xir.wait_dma2 semaphore(%arg3 : SEM) src(%arg0 : IN) dst(%arg2 : OUT)
    %0 = xir.load %arg2[%c0, %c0] sublanes [ALL] : OUT, vector<8x128xf32>
    %1 = xir.all_reduce %0 {dim = 1 : i64, kind = #xir.reduction_kind<maxf>} : vector<8x128xf32> -> vector<8x128xf32>
    xir.store %arg1[%c0, %c0], %1 sublanes [ALL] : OUT, vector<8x128xf32>,
    return
  }
}
"""


def renamed(folder):
    """Of a compiler that calls Mosaic's ops by other names."""
    import tilesim
    from tilesim import _mosaic
    memref = "memref<8x128xf32, #xir.tiled<(8,128),[1,1]>, #xir.memory_space<PLACE>>"
    words = {"IN": memref.replace("PLACE", "hbm"), "OUT": memref.replace("PLACE", "vmem, tc"), "ALL": ", ".join(["true"] * 8),
             "SEM": "memref<!xir.dma_semaphore, #xir.tiled<,[]>, #xir.memory_space<semaphore_mem, tc>>"}
    Path(folder, "dump.txt").write_text(re.sub("|".join(words), lambda found: words[found[0]], RENAMED))
    kernel = Path(folder, "dump.mlir")
    kernel.write_text(_mosaic.from_dump(str(Path(folder, "dump.txt")), ["tensor<8x128xf32>"] * 2, 1, 5))
    values = numpy.sin(numpy.arange(1024, dtype=numpy.float32)).reshape(8, 128)
    found = tilesim.run(kernel, {"0": values}, check=True)
    good = found.passed and (found.outputs["1"] == values.max(1, keepdims=True)).all()
    return "ran" if good else "failed", f"{found.cycles:,} cycles"


def dumped(folder):
    """Of a compiler whose ops are newer."""
    import tilesim
    from tilesim import _mosaic
    memref = "memref<8x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>"
    text = DUMP.replace("IN", memref).replace("OUT", memref.replace("i32", "f32")).replace("ALL", ", ".join(["true"] * 8))
    Path(folder, "dump.txt").write_text(text)
    kernel = Path(folder, "dump.mlir")
    kernel.write_text(_mosaic.from_dump(str(Path(folder, "dump.txt")), ["tensor<8x128xi32>", "tensor<8x128xf32>"], 1, 5))
    values = numpy.arange(1024, dtype=numpy.uint32).reshape(8, 128) * 4194319
    found = tilesim.run(kernel, {"0": values.view(numpy.int32)}, check=True)
    good = found.passed and (found.outputs["1"] == values.astype(numpy.float32)).all()
    return "ran" if good else "failed", f"{found.cycles:,} cycles"


def unread(folder):
    """An op that is too new is refused with its line; operands without a sign are those of the text."""
    from tilesim import _mosaic, pallas
    text = DUMP.replace("tpu.fptoui", "tpu.to_come %1,").replace("IN", "memref<8x128xi32>").replace("OUT", "memref<8x128xf32>")
    path = Path(folder, "dump.txt")
    path.write_text(text.replace("ALL", ", ".join(["true"] * 8)))
    bytes_ = jax.ShapeDtypeStruct((32, 128), "uint8")
    [kernel] = pallas.lower(copied, bytes_)
    try:
        _mosaic.from_dump(str(path), ["tensor<8x128xi32>", "tensor<8x128xf32>"], 1, 5)
    except _mosaic.LoweringError as error:
        number = text[:text.index("tpu.to_come")].count("\n") + 1
        good = re.match(rf"{path}:{number}: .*jaxlib 0.8.1 does not read this line:\n%2 = tpu.to_come %1", str(error))
        good = good and "tilesim.operands = [tensor<32x128xui8>, tensor<32x128xui8>]" in kernel
        return "ran" if good else "failed", str(error).splitlines()[0]
    return "failed", "nothing was refused"


def copied(x):
    from jax.experimental import pallas as pl
    return pl.pallas_call(lambda x, o: o.__setitem__(..., x[...]), out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def of_shapes():
    """Lowering takes shapes, running does not."""
    from tilesim import pallas
    function, arrays = double()
    shapes = jax.tree_util.tree_map(lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype), arrays)
    try:
        pallas.run(function, *shapes)
    except TypeError as error:
        texts = [pallas.lower(lambda x: function(function(x).T).T, *given) for given in (shapes, arrays)]
        good = len(texts[0]) == 2 and texts[0] == texts[1] and "expected an array" in str(error)
        return "ran" if good else "failed", f"two kernels of shapes alone, and {error}"
    return "failed", "shapes were run"


DEVICES = """import jax
from tilesim import _mosaic
jax.config.update("jax_num_cpu_devices", {set})
_mosaic.on_host(_mosaic.Chips(5, {{"x": 3}}))
assert len(jax.devices("cpu")) == {expected}"""


def devices():
    """JAX keeps as many as it was told to have, and gets what a mesh needs."""
    for set_, expected in ((6, 6), (1, 3)):
        subprocess.run([sys.executable, "-c", DEVICES.format(set=set_, expected=expected)], cwd=ROOT, check=True,
                       env={**os.environ, "PYTHONPATH": "python", "JAX_PLATFORMS": "cpu"})
    return "ran", "6 stay, of 1 there are 3"


def copy_blocks(x, steps, block):
    """Blocks of rows, in the order that a function of the step gives."""
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    def body(x, o):
        o[...] = x[...]
    spec = pl.BlockSpec((8, 128), lambda i: (block(i), 0))
    return pl.pallas_call(body, grid=(steps,), in_specs=[spec], out_specs=spec,
                          out_shape=jax.ShapeDtypeStruct(x.shape, jnp.float32))(x)


ON_A_CHIP = """import jax
from jax.experimental import pallas as pl
assert jax.devices()[0].device_kind == "TPU v6 lite" and jax.devices()[0].platform == jax.default_backend() == "tpu"

def double(x: "f32[8,128]"):
    return pl.pallas_call(lambda x, o: o.__setitem__(..., 2 * x[...]), out_shape=x)(x)
"""


def file_that_asks(folder):
    """For its chip, when it is read."""
    path = Path(folder, "asks.py")
    path.write_text(ON_A_CHIP)
    return tutorial(f"-m tilesim.pallas {path}:double -m tpu-v6e")


def after_a_refusal():
    """What interpret mode does not run (a block that is left and written again) leaves nothing behind for the next kernel."""
    from tilesim import pallas
    x = floats(1, 16, 128, dtype="float32")
    try:
        pallas.run(lambda x: copy_blocks(x, 3, lambda i: i % 2), x)
    except pallas.InterpretError as error:
        [kernel] = pallas.run(lambda x: copy_blocks(x, 2, lambda i: 1 - i), x).kernels
        return "ran" if kernel.passed else "failed", f"behind {str(error).splitlines()[0]}"
    return "failed", "interpret mode runs a block twice"


def keys_without_values():
    """Kernels of random keys, which interpret mode does not know, of a key that a kernel gives, and in a scan."""
    import jax.numpy as jnp
    from jax.experimental.pallas.ops.tpu import example_kernel
    from tilesim import pallas

    def function(x):
        key = jax.random.key(example_kernel.double(x)[0, 0].astype(int), impl="rbg")
        return jax.lax.scan(lambda key, _: (jax.random.split(key)[0], draw(key)), key, None, length=3)[1]
    found = pallas.run(function, jnp.ones((8, 128)), time_only=True)
    return "ran" if len(found.kernels) == 4 else "failed", f"{found.cycles:,} cycles"


def no_kernel_alone():
    """What is no kernel by itself is refused in words that say what to do."""
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu
    from tilesim import _mosaic, pallas
    x = floats(1, 16, 128, dtype="float32")

    def start(x, o, ready):
        pltpu.make_async_copy(x, o, ready).start()
    spaces = [pl.BlockSpec(memory_space=space) for space in (pl.ANY, pltpu.SEMAPHORE)]
    said = []
    for function in (
            lambda x: pl.pallas_call(lambda x: None, out_shape=[])(x),
            lambda x: pl.pallas_call(start, in_specs=spaces[:1], out_specs=spaces,
                                     out_shape=[jax.ShapeDtypeStruct(x.shape, x.dtype), pltpu.SemaphoreType.DMA])(x),
            lambda x: pl.pallas_call(lambda x, o: o.__setitem__(..., x[...]), out_shape=x[:0])(x[:0])):
        try:
            pallas.run(function, x)
        except _mosaic.LoweringError as error:
            said.append(str(error))
    good = len(said) == 3 and "expected an out_shape" in said[0] and "in the same kernel" in said[1] and \
        re.search(r"public.py:\d+: vector types must have positive constant sizes but got 0, 128$", said[2])
    return "ran" if good else "failed", "; ".join(said)


def outcomes():
    """(name, how it ended, what is said of it) of every test."""
    for name in [name for name in KERNELS if name in sys.argv] if len(sys.argv) > 1 else KERNELS:
        yield name, *result(name, "tpu-v5e")
    if len(sys.argv) == 1 or "a dump" in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            yield "a dump", *dumped(folder)
            yield "a dump with other names", *renamed(folder)
            yield "a dump of a later release", *unread(folder)
            yield "a file that asks for its chip", *file_that_asks(folder)
    if len(sys.argv) == 1 or "shapes" in sys.argv:
        yield "shapes", *of_shapes()
    if len(sys.argv) == 1 or "devices" in sys.argv:
        yield "devices", *devices()
    if len(sys.argv) == 1 or "refusal" in sys.argv:
        yield "refusal", *after_a_refusal()
    if len(sys.argv) == 1 or "no kernel alone" in sys.argv:
        yield "no kernel alone", *no_kernel_alone()
    if len(sys.argv) == 1 or "random keys without values" in sys.argv:
        yield "random keys without values", *keys_without_values()
    for words in TUTORIAL.findall((ROOT / "docs" / "pallas.md").read_text()):
        yield words, *tutorial(words)


def main():
    """Prints TAP."""
    ended = []
    for number, (name, how, said) in enumerate(outcomes(), 1):
        expected = "refused" if name in REFUSED else "ran"
        good = how == expected and REFUSED.get(name, "") in said
        ended.append(how)
        print(f"{'ok' if good else 'not ok'} {number} - {name}: {how}: {said}", flush=True)
    print(f"# {', '.join(f'{ended.count(how)} {how}' for how in ('ran', 'refused', 'failed'))}")


if jax is None and VENV.exists() and VENV != Path(sys.executable):
    os.execv(VENV, [str(VENV), *sys.argv])
if jax is None:
    print("ok 1 - skipped: no JAX here:\n#   python3 -m venv build/venv-pallas && "
          "build/venv-pallas/bin/pip install jax==0.8.1 jaxlib==0.8.1 numpy cffi")
    sys.exit(0)
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_num_cpu_devices", 4)
main()
