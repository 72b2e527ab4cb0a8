"""The Pallas kernel whose texts are beside it, one a block of rows, which it norms eight at a time. Writes them, with what
docs/pallas.md says of Python: PYTHONPATH=python build/venv-pallas/bin/python programs/studies/kernels/rmsnorm.py"""
from functools import partial
from pathlib import Path

import jax
import numpy as np
from jax.experimental import pallas as pl
from tilesim.pallas import lower

BLOCKS = 8, 32, 128, 512, 2048
x = np.zeros((2048, 256), np.float32)


def rmsnorm(x, block):
    def kernel(x_ref, y_ref):
        def rows(i, carry):
            at = pl.ds(pl.multiple_of(8 * i, 8), 8)
            value = x_ref[at, :]
            y_ref[at, :] = value * jax.lax.rsqrt((value * value).mean(axis=1, keepdims=True) + 1e-6)
            return carry
        jax.lax.fori_loop(0, block // 8, rows, 0)

    window = pl.BlockSpec((block, x.shape[1]), lambda i: (i, 0))
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(x.shape[0] // block,),
                          in_specs=[window], out_specs=window)(x)


for block in BLOCKS:
    Path(__file__).with_name(f"rmsnorm.{block}.mlir").write_text(lower(partial(rmsnorm, block=block), x)[0])
