#!/usr/bin/env python3
"""Loops as JAX lowers them: StableHLO, in its short and its generic form, and HLO, into tests/data/hlo/loops.

    python3 tests/oracle/loops.py [DIRECTORY]        # jax of the files that are committed: 0.10.2
"""
import io
import sys
from pathlib import Path

import jax
import jax.numpy as jnp

ROWS = jnp.zeros((7, 256, 256))
HERE = Path(__file__).resolve().parents[2]


def scan(x):
    return jax.lax.scan(lambda carried, row: (carried.T, (carried + row).T), x, ROWS)


@jax.jit
def twice(x):
    return x.T * 2


def nested(x):
    """Five rounds of three, and one call of what the inner ones call."""
    return twice(jax.lax.fori_loop(0, 5, lambda i, y: jax.lax.fori_loop(2, 5, lambda j, z: twice(z), y), x))


def steps(x):
    """A counter that is not the first of what is carried, down to and with 0."""
    return jax.lax.while_loop(lambda s: s[1] >= 0, lambda s: (s[0].T, s[1] - 4), (x, 9))


def until(x):
    """As long as its values say."""
    return jax.lax.while_loop(lambda y: jnp.sum(y) < 3, lambda y: y.T + 1, x)


def branches(x):
    """One of two functions a round; a reduction, whose values are none of the loop's."""
    return jax.lax.fori_loop(0, 6, lambda i, y: jax.lax.cond(jnp.max(y) > 0, lambda z: z.T, lambda z: z.T + 1, y), x)


def main():
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "tests/data/hlo/loops"
    out.mkdir(parents=True, exist_ok=True)
    for function in (scan, nested, steps, until, branches):
        lowered = jax.jit(function).lower(jnp.zeros((256, 256)))
        generic = io.StringIO()
        lowered.compiler_ir("stablehlo").operation.print(file=generic, print_generic_op_form=True)
        for suffix, text in ((".mlir", lowered.as_text()), ("_generic.mlir", generic.getvalue()), (".hlo", lowered.as_text("hlo"))):
            (out / (function.__name__ + suffix)).write_text(text.strip() + "\n")


if __name__ == "__main__":
    main()
