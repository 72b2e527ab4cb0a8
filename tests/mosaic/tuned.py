#!/usr/bin/env python3
"""Tuned block sizes that are public, against the best that is found here: jax's table of its quantised matmul on TPU v6e.

usage: tuned.py [--seed N] [--count N] [--seconds N]    in a Python that has jax 0.8.1, NumPy and cffi (see public.py)

Rows are drawn, each is timed with the block sizes of the table; from there, blocks of one dim are changed to the next
divisors, halves and doubles as long as one is faster. Prints the ratio of the two times, as docs/pallas.md has them. Rows that
end beyond --seconds are left.
"""
import argparse
import functools
import os
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / "build" / "venv-pallas" / "bin" / "python"
sys.path.insert(0, str(ROOT / "python"))

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu
except ImportError:
    jax = None

MACHINE, TILE = "tpu-v6e", 128
# Rows of the batch; then for shapes (outputs, inputs) what the table has for each (jax-ml/jax 40fa95c, ops/tpu/quantized_matmul/
# tuned_block_sizes.py, bf16 with int8 weights): blocks of batch, outputs, inputs.
BATCHES = (16, 32, 64, 128, 256, 512, 1024, 2048)
TABLE = {
    (1280, 8192): ((128, 256, 8192), (128, 256, 8192), (128, 256, 8192), (128, 1280, 2048),
                    (256, 256, 8192), (512, 256, 8192), (1024, 256, 8192), (2048, 256, 8192)),
    (4096, 4096): ((128, 512, 4096), (128, 512, 4096), (128, 512, 4096), (128, 512, 4096),
                    (256, 512, 4096), (512, 1024, 4096), (1024, 512, 4096), (2048, 512, 4096)),
    (4096, 14336): ((128, 4096, 896), (128, 4096, 896), (128, 4096, 896), (128, 4096, 896),
                     (256, 4096, 512), (512, 256, 14336), (1024, 256, 14336), (2048, 4096, 512)),
    (6144, 4096): ((128, 768, 4096), (128, 768, 4096), (128, 768, 4096), (128, 768, 4096),
                    (256, 512, 4096), (512, 1024, 4096), (1024, 768, 4096), (2048, 512, 4096)),
    (7168, 8192): ((128, 256, 8192), (128, 256, 8192), (128, 256, 8192), (128, 256, 8192),
                    (256, 512, 8192), (512, 512, 8192), (1024, 512, 8192), (2048, 256, 8192)),
    (8192, 1024): ((128, 2048, 1024), (128, 2048, 1024), (128, 2048, 1024), (128, 2048, 1024),
                    (256, 2048, 1024), (512, 4096, 1024), (1024, 4096, 1024), (256, 8192, 1024)),
    (8192, 3584): ((128, 1024, 3584), (128, 1024, 3584), (128, 1024, 3584), (128, 8192, 512),
                    (256, 8192, 512), (512, 2048, 3584), (1024, 1024, 3584), (2048, 512, 3584)),
    (28672, 4096): ((128, 28672, 256), (128, 28672, 256), (128, 28672, 256), (128, 28672, 256),
                     (256, 2048, 4096), (512, 2048, 4096), (1024, 2048, 4096), (2048, 1024, 4096)),
}


# ---- The kernel: as jax's, a case of its own for each step that is the first, in the middle, or the last ----

def body(x, w, w_scale, largest, out, sums, kept, kept_scale, *, quantise, first, last):
    """A step: activations to int8, or those that are kept, their product, and at last its scales."""
    if quantise:
        scale = (largest[...] / 127).T
        whole = jnp.round(x[...] / scale).astype(jnp.int8)
        if kept is not None:
            kept[...], kept_scale[...] = whole, scale
    else:
        whole, scale = kept[...], kept_scale[...]
    total = jax.lax.dot_general(whole, w[...], (((1,), (1,)), ((), ())), preferred_element_type=jnp.int32)
    if not first:
        total += sums[...]
    if last:
        out[...] = (total * w_scale[...] * scale).astype(out.dtype)
    else:
        sums[...] = total


def kernel(*refs, steps, keeps):
    """The cases of a step."""
    step = functools.partial(body, *refs)
    if steps > 1:
        i = pl.program_id(2)
        jax.lax.cond(i == 0, lambda: step(quantise=True, first=True, last=False), lambda: jax.lax.cond(
            i == steps - 1, lambda: step(quantise=True, first=False, last=True),
            lambda: step(quantise=True, first=False, last=False)))
    elif keeps:
        jax.lax.cond(pl.program_id(1) == 0, lambda: step(quantise=True, first=True, last=True),
                     lambda: step(quantise=False, first=True, last=True))
    else:
        step(quantise=True, first=True, last=True)


def quantised_matmul(x, w, w_scale, largest, *, sizes):
    """x[m,k] in bf16 by w[n,k] in int8, in blocks of (m, n, k)."""
    (m, k), n, (block_m, block_n, block_k) = x.shape, w.shape[0], sizes
    steps = k // block_k
    keeps = steps == 1 and n > block_n
    return pl.pallas_call(
        functools.partial(kernel, steps=steps, keeps=keeps),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=0, grid=(m // block_m, n // block_n, steps),
            in_specs=[pl.BlockSpec((block_m, block_k), lambda b, o, i: (b, i)), pl.BlockSpec((block_n, block_k), lambda b, o, i: (o, i)),
                      pl.BlockSpec((1, block_n), lambda b, o, i: (0, o)), pl.BlockSpec((1, block_m), lambda b, o, i: (0, b))],
            out_specs=pl.BlockSpec((block_m, block_n), lambda b, o, i: (b, o)),
            scratch_shapes=[pltpu.VMEM((block_m, block_n), jnp.int32) if steps > 1 else None,
                            pltpu.VMEM((block_m, block_k), jnp.int8) if keeps else None,
                            pltpu.VMEM((block_m, 1), jnp.float32) if keeps else None]),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype))(x, w, w_scale, largest)


# ---- Times ----

@functools.lru_cache(None)
def microseconds(shape, sizes):
    """Of the product of a shape (m, n, k) in blocks; None: refused, as that does not fit."""
    from tilesim import Error, pallas, run
    m, n, k = shape
    arrays = np.zeros((m, k), jnp.bfloat16), np.zeros((n, k), np.int8), np.zeros((1, n), np.float32), np.zeros((1, m), np.float32)
    text, = pallas.lower(functools.partial(quantised_matmul, sizes=sizes), *arrays, machine=MACHINE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.mlir")
        path.write_text(text)
        try:
            return run(path, machine=MACHINE, time_only=True).microseconds
        except Error:
            return None


def near(size, whole):
    """Blocks of whole tiles that divide a dim: the next to one of them, half of it and twice of it."""
    tiles = whole // TILE
    sizes = [TILE * count for count in range(1, tiles + 1) if tiles % count == 0]
    at = sizes.index(size)
    return sorted({*sizes[max(at - 1, 0):at + 2], *{size // 2, 2 * size}.intersection(sizes)})


def best_of(shape, sizes, until):
    """The fastest that is found from these sizes on, how many were timed; None: no time is left."""
    seen, best = {sizes}, sizes
    while True:
        around = [best[:dim] + (size,) + best[dim + 1:] for dim in range(3) for size in near(best[dim], shape[dim])]
        for other in sorted(set(around) - seen):
            if time.monotonic() > until:
                return None
            seen.add(other)
            microseconds(shape, other)
        before, best = best, min((s for s in seen if microseconds(shape, s)), key=lambda s: microseconds(shape, s))
        if best == before:
            return best, len(seen)


def main():
    """Draws, times, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=20261123)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=7200)
    options = parser.parse_args()
    rows = sorted((batch, *shape, *sizes) for shape, blocks in TABLE.items() for batch, sizes in zip(BATCHES, blocks))
    drawn = random.Random(options.seed).sample(sorted(rows, key=str), options.count)
    until, found = time.monotonic() + options.seconds, {}
    print(f"Seed {options.seed}, {options.count} of {len(rows)} rows:\n\n"
          "| batch | outputs | inputs | table | us | best | us | timed | ratio |\n|---:|---:|---:|---|---:|---|---:|---:|---:|")
    for batch, n, k, *sizes in sorted(drawn, key=lambda row: (max(row[0], row[3]) * row[4] * row[5], row)):
        shape, sizes = (-(-batch // sizes[0]) * sizes[0], n, k), tuple(sizes)
        best = best_of(shape, sizes, until) if (shape, sizes) not in found else found[shape, sizes]
        if best is None:
            print(f"| {batch} | {n} | {k} | {'x'.join(map(str, sizes))} | not timed |", flush=True)
            continue
        found[shape, sizes] = best
        own, other = microseconds(shape, sizes), microseconds(shape, best[0])
        ratios.append(own / other)
        print(f"| {batch} | {n} | {k} | {'x'.join(map(str, sizes))} | {own:.2f} | {'x'.join(map(str, best[0]))} | {other:.2f} "
              f"| {best[1]} | {own / other:.3f} |", flush=True)
    print(f"\n{len(ratios)} of {options.count} timed: {sum(r <= 1.05 for r in ratios)} within 5 %, "
          f"{sum(r <= 1.10 for r in ratios)} within 10 %, the most {max(ratios, default=1):.3f}")


ratios = []
if jax is None and VENV.exists() and VENV != Path(sys.executable):
    os.execv(VENV, [str(VENV), *sys.argv])
if jax is None:
    print("skipped: no JAX here:\n    python3 -m venv build/venv-pallas && "
          "build/venv-pallas/bin/pip install jax==0.8.1 jaxlib==0.8.1 numpy cffi")
    sys.exit(0)
jax.config.update("jax_platforms", "cpu")
main()
