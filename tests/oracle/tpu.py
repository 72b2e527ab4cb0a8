"""The TPU compiler without a TPU: JAX with libtpu compiles ahead of time for a chip that is only described.

Nothing here runs in CI. An environment that has both is found by `enter`:

    python3 -m venv build/venv-jax && build/venv-jax/bin/pip install 'jax[tpu]==0.10.2'

or the one that --venv names. libtpu allows one process at a time.
"""
import math
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
VENV = ROOT / "build" / "venv-jax"

# topology, chip_config_name (first the one that JAX's own tests use, then what live hosts set), chips per host
CHIPS = {
    "v4": ("v4:2x2x1", ["megacore"], (2, 2, 1)),
    "v5e": ("v5e:1x1", ["default"], (1, 1, 1)),
    "v5p": ("v5:2x2x1", ["megacore", "megachip_tccontrol"], (2, 2, 1)),
    "v6e": ("v6e:1x1", ["default", "megachip_tccontrol"], (1, 1, 1)),
    "v7x": ("tpu7x:1x1x1", ["default"], (1, 1, 1)),
}

# XLA's name of a type and NumPy's or ml_dtypes'
TYPES = {
    "f32": "float32", "bf16": "bfloat16", "s8": "int8", "u8": "uint8", "pred": "bool", "s32": "int32",
    "u32": "uint32", "s16": "int16", "u16": "uint16", "f16": "float16", "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2", "f8e4m3b11fnuz": "float8_e4m3b11fnuz", "f8e8m0fnu": "float8_e8m0fnu",
    "s4": "int4", "u4": "uint4", "s2": "int2", "u2": "uint2", "f4e2m1fn": "float4_e2m1fn", "c64": "complex64",
    "s64": "int64", "u64": "uint64", "f64": "float64", "c128": "complex128",
}


def enter(venv=None):
    """Goes on in the environment's interpreter; ends the process where there is none."""
    python = Path(venv or VENV) / "bin" / "python"
    if Path(sys.prefix).resolve() == python.parent.parent.resolve():
        return
    if not python.exists():
        sys.exit(f"{python} is not there; make it, or name another environment with --venv:\n"
                 f"    python3 -m venv {VENV}\n    {VENV}/bin/pip install 'jax[tpu]==0.10.2'")
    os.execv(python, [str(python), *sys.argv])


class Chip:
    """A chip that programs are compiled for."""

    def __init__(self, name, config=None):
        os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost",
                          JAX_ENABLE_COMPILATION_CACHE="false")
        os.environ.setdefault("ALLOW_MULTIPLE_LIBTPU_LOAD", "1")
        import jax
        import numpy
        from jax.experimental import topologies
        from jax.sharding import Mesh, NamedSharding, PartitionSpec
        jax.config.update("jax_enable_x64", True)
        topology, configs, host = CHIPS[name]
        found = topologies.get_topology_desc(
            topology_name=topology, platform="tpu", chip_config_name=config or configs[0],
            chips_per_host_bounds=host, num_slices=1, wrap=(False,) * 3)
        self.jax = jax
        self.place = NamedSharding(Mesh(numpy.array(found.devices[:1]), ("x",)), PartitionSpec())

    def lower(self, function, arguments, automatic=False, keep_unused=False):
        """What `function` lowers to; arguments are pairs of type and dims. automatic: Layout.AUTO everywhere."""
        from jax.experimental.layout import Format, Layout
        form = Format(Layout.AUTO, self.place) if automatic else self.place
        specs = [self.jax.ShapeDtypeStruct(dims, dtype(type_name)) for type_name, dims in arguments]
        return self.jax.jit(function, in_shardings=form, out_shardings=form,
                            keep_unused=keep_unused).lower(*specs)


def dtype(name):
    """NumPy's type of XLA's name."""
    import jax.numpy
    import ml_dtypes
    found = getattr(jax.numpy, TYPES[name], None) or getattr(ml_dtypes, TYPES[name])
    return jax.numpy.dtype(found)


SHAPE = re.compile(r"(\w+)\[([\d,]*)\](?:\{([^}]*)\})?")


def entry_shapes(text):
    """(type, dims, layout) of each parameter, and of each result, of a module's text."""
    begin = text.index("entry_computation_layout={") + len("entry_computation_layout=")
    depth, end = 0, begin
    while True:
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
        if depth == 0:
            break
    parameters, results = text[begin:end].split(")->", 1)
    return [SHAPE.findall(part) for part in (parameters, results)]


def bits(type_name):
    """Of an element as it is stored; E() says otherwise."""
    known = {"pred": 8}
    return known.get(type_name) or int(re.match(r"[a-z]+(\d+)", type_name).group(1))


def padded_bytes(type_name, dims, layout):
    """Of an array whose layout is printed so: the dims rounded up to the first tile (XLA, ShapeUtil::ArraySize)."""
    order, tile, packed = re.fullmatch(r"([\d,]*)(?::(?:T\(([\d,]+)\)[()\d,]*)?(?:E\((\d+)\))?)?", layout).groups()
    physical = [dims[int(d)] for d in reversed(order.split(","))] if order else []
    steps = [int(t) for t in tile.split(",")] if tile else []
    physical = [1] * (len(steps) - len(physical)) + physical
    steps = [1] * (len(physical) - len(steps)) + steps
    elements = math.prod(-(-d // s) * s for d, s in zip(physical, steps))
    return -(-elements * int(packed or bits(type_name)) // 8)


def memory(compiled):
    """Bytes of arguments, results, temporaries and at most at once, as the compiler states them."""
    m = compiled.memory_analysis()
    names = ("argument_size_in_bytes", "output_size_in_bytes", "temp_size_in_bytes", "peak_memory_in_bytes")
    return [getattr(m, name, -1) for name in names]
