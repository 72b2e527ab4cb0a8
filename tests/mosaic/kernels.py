"""Pallas kernels of our own, small, of the kinds that TPU code is made of; make_kernels.py lowers them to kernels/*.mlir."""
import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

FAR = -1e30  # a score that is masked


def _shape(shape, dtype):
    return jax.ShapeDtypeStruct(shape, dtype)


def _rows(block, columns):
    return pl.BlockSpec((block, columns), lambda i: (i, 0))


# Elementwise

def _elementwise(*refs, function):
    *inputs, out = refs
    out[...] = function(*[ref[...] for ref in inputs]).astype(out.dtype)


def elementwise(*arrays, function, block):
    """A function of each element, a block of rows at a time; the last block may be cut."""
    spec = _rows(block, arrays[0].shape[1])
    return pl.pallas_call(functools.partial(_elementwise, function=function), grid=(pl.cdiv(arrays[0].shape[0], block),),
                          in_specs=[spec] * len(arrays), out_specs=spec,
                          out_shape=_shape(arrays[0].shape, arrays[0].dtype))(*arrays)


def add(a, b, block=16):
    return elementwise(a, b, function=jnp.add, block=block)


def gelu(x, block=16):
    return elementwise(x, function=lambda v: jax.nn.gelu(v.astype(jnp.float32)), block=block)


def clamp_select(a, b, block=16):
    return elementwise(a, b, function=lambda x, y: jnp.where(x > y, jnp.minimum(x * 3, 50), (y << 1) - (x & 7)), block=block)


def _add_line(a, b, o):
    o[...] = a[...] + b[...]


def add_line(a, b):
    """Arrays of one dim, whole."""
    return pl.pallas_call(_add_line, out_shape=_shape(a.shape, a.dtype))(a, b)


def update(x, y, block=16):
    """The result lies where y was."""
    def body(x, y, o):
        o[...] = y[...] * 2.0 + x[...]
    spec = _rows(block, x.shape[1])
    return pl.pallas_call(body, grid=(x.shape[0] // block,), in_specs=[spec, spec], out_specs=spec,
                          out_shape=_shape(y.shape, y.dtype), input_output_aliases={1: 0})(x, y)


# Matrix products

def _matmul(x, y, *rest, steps, precision, transposed, finish):
    *extra, o, acc = rest

    @pl.when(pl.program_id(2) == 0)
    def _():
        acc[...] = jnp.zeros_like(acc)

    contract = ((1,), (1 if transposed else 0,))
    acc[...] += lax.dot_general(x[...], y[...], (contract, ((), ())), precision=precision, preferred_element_type=acc.dtype)

    @pl.when(pl.program_id(2) == steps - 1)
    def _():
        o[...] = finish(acc[...], *[ref[...] for ref in extra]).astype(o.dtype)


def matmul(x, y, *extra, blocks=(128, 128, 128), out=None, acc=jnp.float32, precision=None, transposed=False,
           finish=lambda value: value):
    """x @ y (or x @ y.T), accumulated in scratch along the last grid dim; `finish` is fused, `extra` are rows of its columns."""
    bm, bn, bk = blocks
    m, k = x.shape
    n = y.shape[0 if transposed else 1]
    kernel = functools.partial(_matmul, steps=k // bk, precision=precision, transposed=transposed, finish=finish)
    y_spec = pl.BlockSpec((bn, bk), lambda i, j, k: (j, k)) if transposed else pl.BlockSpec((bk, bn), lambda i, j, k: (k, j))
    return pl.pallas_call(
        kernel, grid=(pl.cdiv(m, bm), pl.cdiv(n, bn), k // bk),
        in_specs=[pl.BlockSpec((bm, bk), lambda i, j, k: (i, k)), y_spec] + [pl.BlockSpec((1, bn), lambda i, j, k: (0, j)) for _ in extra],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j, k: (i, j)), scratch_shapes=[pltpu.VMEM((bm, bn), acc)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
        out_shape=_shape((m, n), out or x.dtype))(x, y, *extra)


def matmul_highest(x, y, **options):
    return matmul(x, y, precision=lax.Precision.HIGHEST, **options)


def matmul_int8(x, y, **options):
    return matmul(x, y, acc=jnp.int32, out=jnp.int32, **options)


def matmul_f32_out(x, y, **options):
    return matmul(x, y, out=jnp.float32, **options)


def matmul_bias_gelu(x, y, bias, **options):
    return matmul(x, y, bias, finish=lambda value, row: jax.nn.gelu(value + row), **options)


def matmul_relu_transposed(x, y, **options):
    return matmul(x, y, transposed=True, finish=lambda value: jnp.maximum(value, 0.0), **options)


def quantised(x, y, scale, **options):
    """int8 by int8 with a scale for each column."""
    return matmul(x, y, scale, acc=jnp.int32, out=jnp.float32, finish=lambda value, row: value.astype(jnp.float32) * row, **options)


def _weights_int8(x, y, scale, o):
    product = jnp.dot(x[...], y[...].astype(jnp.float32).astype(jnp.bfloat16), preferred_element_type=jnp.float32)
    o[...] = (product * scale[...]).astype(o.dtype)


def weights_int8(x, y, scale, block=64):
    """bf16 by int8 weights, made bf16 in the kernel."""
    m, k = x.shape
    n = y.shape[1]
    return pl.pallas_call(_weights_int8, grid=(m // block,), in_specs=[_rows(block, k), pl.BlockSpec((k, n), lambda i: (0, 0)),
                          pl.BlockSpec((1, n), lambda i: (0, 0))], out_specs=_rows(block, n), out_shape=_shape((m, n), x.dtype))(x, y, scale)


# Reductions of rows

def _by_rows(function, *arrays, block):
    """`function` of a block of rows of the first array and of the others, which are one row each."""
    columns = arrays[0].shape[1]

    def kernel(*refs):
        refs[-1][...] = function(*[ref[...].astype(jnp.float32) for ref in refs[:-1]]).astype(refs[-1].dtype)

    one = pl.BlockSpec((1, columns), lambda i: (0, 0))
    return pl.pallas_call(kernel, grid=(pl.cdiv(arrays[0].shape[0], block),), in_specs=[_rows(block, columns)] + [one] * (len(arrays) - 1),
                          out_specs=_rows(block, columns), out_shape=_shape(arrays[0].shape, arrays[0].dtype))(*arrays)


def softmax(x, block=16):
    def function(v):
        e = jnp.exp(v - jnp.max(v, axis=-1, keepdims=True))
        return e / jnp.sum(e, axis=-1, keepdims=True)
    return _by_rows(function, x, block=block)


def layernorm(x, weight, bias, block=16):
    def function(v, w, b):
        centred = v - jnp.mean(v, axis=-1, keepdims=True)
        return centred * lax.rsqrt(jnp.mean(centred * centred, axis=-1, keepdims=True) + 1e-5) * w + b
    return _by_rows(function, x, weight, bias, block=block)


def rmsnorm(x, weight, block=16):
    return _by_rows(lambda v, w: v * lax.rsqrt(jnp.mean(v * v, axis=-1, keepdims=True) + 1e-6) * w, x, weight, block=block)


def _column_sums(x, o):
    @pl.when(pl.program_id(0) == 0)
    def _():
        o[...] = jnp.zeros_like(o)
    o[...] += jnp.sum(x[...], axis=0, keepdims=True)


def column_sums(x, block=16):
    """Sums down the rows: one block of the result, visited by every step."""
    n = x.shape[1]
    return pl.pallas_call(_column_sums, grid=(x.shape[0] // block,), in_specs=[_rows(block, n)],
                          out_specs=pl.BlockSpec((1, n), lambda i: (0, 0)), out_shape=_shape((1, n), x.dtype))(x)


# Attention

def _attend(s, v, m, l, acc):
    """One block of scores into the running maximum, sum and product."""
    old = m[...]
    new = jnp.maximum(old, jnp.max(s, axis=1, keepdims=True))
    alpha = jnp.exp(old - new)
    p = jnp.exp(s - new[:, :1])
    l[...] = alpha * l[...] + jnp.sum(p, axis=1, keepdims=True)
    acc[...] = acc[...] * alpha[:, :1] + jnp.dot(p.astype(v.dtype), v, preferred_element_type=jnp.float32)
    m[...] = new


def _scores(q, k):
    return lax.dot_general(q, k, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)


def _start(m, l, acc):
    m[...] = jnp.full_like(m, FAR)
    l[...] = jnp.zeros_like(l)
    acc[...] = jnp.zeros_like(acc)


def _positions(shape, row, column):
    return row + lax.broadcasted_iota(jnp.int32, shape, 0), column + lax.broadcasted_iota(jnp.int32, shape, 1)


def _state(rows, columns):
    return [pltpu.VMEM((rows, 128), jnp.float32), pltpu.VMEM((rows, 128), jnp.float32), pltpu.VMEM((rows, columns), jnp.float32)]


def _flash(q, k, v, o, m, l, acc, *, causal, bq, bk):
    i, j = pl.program_id(1), pl.program_id(2)
    pl.when(j == 0)(lambda: _start(m, l, acc))

    @pl.when(j * bk < (i + 1) * bq if causal else j >= 0)
    def _():
        s = _scores(q[0], k[0])
        if causal:
            row, column = _positions(s.shape, i * bq, j * bk)
            s = jnp.where(row >= column, s, FAR)
        _attend(s, v[0], m, l, acc)

    @pl.when(j == pl.num_programs(2) - 1)
    def _():
        o[0] = (acc[...] / l[:, :1]).astype(o.dtype)


def flash(q, k, v, causal=True, bq=64, bk=128):
    """Attention of one query block with one key block a step."""
    heads, n, d = q.shape
    q_spec = pl.BlockSpec((1, bq, d), lambda h, i, j: (h, i, 0))
    k_spec = pl.BlockSpec((1, bk, d), lambda h, i, j: (h, j, 0))
    return pl.pallas_call(functools.partial(_flash, causal=causal, bq=bq, bk=bk), grid=(heads, n // bq, k.shape[1] // bk),
                          in_specs=[q_spec, k_spec, k_spec], out_specs=q_spec, scratch_shapes=_state(bq, d),
                          out_shape=_shape(q.shape, q.dtype))(q, k, v)


def _ragged(lengths, q, k, v, o, m, l, acc, *, bk):
    h, j = pl.program_id(0), pl.program_id(1)
    pl.when(j == 0)(lambda: _start(m, l, acc))

    @pl.when(j * bk < lengths[h])
    def _():
        s = _scores(q[0], k[0])
        _, column = _positions(s.shape, 0, j * bk)
        _attend(jnp.where(column < lengths[h], s, FAR), v[0], m, l, acc)

    @pl.when(j == pl.num_programs(1) - 1)
    def _():
        o[0] = (acc[...] / l[:, :1]).astype(o.dtype)


def ragged_flash(lengths, q, k, v, bk=128):
    """Sequences of different lengths: what lies behind an end is masked, and its blocks are not fetched."""
    batch, n, d = q.shape
    whole = pl.BlockSpec((1, n, d), lambda h, j, lengths: (h, 0, 0))
    part = pl.BlockSpec((1, bk, d), lambda h, j, lengths: (h, jnp.minimum(j, (lengths[h] - 1) // bk), 0))
    grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(batch, k.shape[1] // bk), in_specs=[whole, part, part],
                                        out_specs=whole, scratch_shapes=_state(n, d))
    return pl.pallas_call(functools.partial(_ragged, bk=bk), grid_spec=grid, out_shape=_shape(q.shape, q.dtype))(lengths, q, k, v)


def _splash(blocks, kinds, q, k, v, o, m, l, acc, *, bq, bk):
    i, j = pl.program_id(1), pl.program_id(2)
    pl.when(j == 0)(lambda: _start(m, l, acc))
    kind = kinds[i, j]

    @pl.when(kind != 0)
    def _():
        s = _scores(q[0], k[0])
        row, column = _positions(s.shape, i * bq, blocks[i, j] * bk)
        seen = jnp.logical_or(row >= column, kind == 2)
        _attend(jnp.where(seen, s, FAR), v[0], m, l, acc)

    @pl.when(j == pl.num_programs(2) - 1)
    def _():
        o[0] = (acc[...] / l[:, :1]).astype(o.dtype)


def splash(blocks, kinds, q, k, v, bq=64, bk=128):
    """Block-sparse attention: a table says which key block a step takes, and whether it is skipped, causal or full."""
    heads, n, d = q.shape
    q_spec = pl.BlockSpec((1, bq, d), lambda h, i, j, blocks, kinds: (h, i, 0))
    k_spec = pl.BlockSpec((1, bk, d), lambda h, i, j, blocks, kinds: (h, blocks[i, j], 0))
    grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=2, grid=(heads, n // bq, blocks.shape[1]), in_specs=[q_spec, k_spec, k_spec],
                                        out_specs=q_spec, scratch_shapes=_state(bq, d))
    return pl.pallas_call(functools.partial(_splash, bq=bq, bk=bk), grid_spec=grid, out_shape=_shape(q.shape, q.dtype))(blocks, kinds, q, k, v)


def _paged(lengths, pages, q, k, v, o, m, l, acc, *, page):
    b, j = pl.program_id(0), pl.program_id(1)
    pl.when(j == 0)(lambda: _start(m, l, acc))

    @pl.when(j * page < lengths[b])
    def _():
        s = _scores(q[0], k[0])
        _, column = _positions(s.shape, 0, j * page)
        _attend(jnp.where(column < lengths[b], s, FAR), v[0], m, l, acc)

    @pl.when(j == pl.num_programs(1) - 1)
    def _():
        o[0] = (acc[...] / l[:, :1]).astype(o.dtype)


def paged(lengths, pages, q, k, v):
    """One new token of each sequence, its keys in pages found by a table (by index maps)."""
    batch, heads, d = q.shape
    page = k.shape[1]
    row = pl.BlockSpec((1, heads, d), lambda b, j, lengths, pages: (b, 0, 0))
    part = pl.BlockSpec((1, page, d), lambda b, j, lengths, pages: (pages[b, j], 0, 0))
    grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=2, grid=(batch, pages.shape[1]), in_specs=[row, part, part],
                                        out_specs=row, scratch_shapes=_state(heads, d))
    return pl.pallas_call(functools.partial(_paged, page=page), grid_spec=grid, out_shape=_shape(q.shape, q.dtype))(lengths, pages, q, k, v)


def _paged_dma(lengths, pages, q, k, v, o, k_buffer, v_buffer, ready, m, l, acc, *, page):
    b = pl.program_id(0)
    steps = pl.cdiv(lengths[b], page)
    _start(m, l, acc)

    def copies(j):
        slot = lax.rem(j, 2)
        return [pltpu.make_async_copy(source.at[pages[b, j]], buffer.at[slot], ready.at[slot, n])
                for n, (source, buffer) in enumerate([(k, k_buffer), (v, v_buffer)])]

    for copy in copies(0):
        copy.start()

    @pl.loop(0, steps)
    def _(j):
        @pl.when(j + 1 < steps)
        def _():
            for copy in copies(j + 1):
                copy.start()
        for copy in copies(j):
            copy.wait()
        s = _scores(q[0], k_buffer[lax.rem(j, 2)])
        _, column = _positions(s.shape, 0, j * page)
        _attend(jnp.where(column < lengths[b], s, FAR), v_buffer[lax.rem(j, 2)], m, l, acc)

    o[0] = (acc[...] / l[:, :1]).astype(o.dtype)


def paged_dma(lengths, pages, q, k, v):
    """The same, its pages fetched by the kernel's own DMAs, one ahead."""
    batch, heads, d = q.shape
    page = k.shape[1]
    row = pl.BlockSpec((1, heads, d), lambda b, lengths, pages: (b, 0, 0))
    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    buffers = [pltpu.VMEM((2, page, d), k.dtype), pltpu.VMEM((2, page, d), v.dtype), pltpu.SemaphoreType.DMA((2, 2))]
    grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=2, grid=(batch,), in_specs=[row, anywhere, anywhere], out_specs=row,
                                        scratch_shapes=buffers + _state(heads, d))
    return pl.pallas_call(functools.partial(_paged_dma, page=page), grid_spec=grid, out_shape=_shape(q.shape, q.dtype))(lengths, pages, q, k, v)


# Grouped products

def _grouped(groups, tiles, starts, x, y, o, *, bm):
    step = pl.program_id(1)
    group, tile = groups[step], tiles[step]
    row = tile * bm + lax.broadcasted_iota(jnp.int32, o.shape, 0)
    mine = jnp.logical_and(row >= starts[group], row < starts[group + 1])
    product = jnp.dot(x[...], y[0], preferred_element_type=jnp.float32).astype(o.dtype)
    first = jnp.logical_or(step == 0, tiles[jnp.maximum(step - 1, 0)] != tile)

    @pl.when(first)
    def _():
        o[...] = jnp.where(mine, product, jnp.zeros_like(product))

    @pl.when(jnp.logical_not(first))
    def _():
        o[...] = jnp.where(mine, product, o[...])


def grouped(groups, tiles, starts, x, y, bm=64, bn=128):
    """Rows sorted by group, each group with its own matrix; a tile on a border is visited by both, and masked."""
    (m, k), n = x.shape, y.shape[2]
    grid = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=3, grid=(n // bn, groups.shape[0]),
        in_specs=[pl.BlockSpec((bm, k), lambda j, s, groups, tiles, starts: (tiles[s], 0)),
                  pl.BlockSpec((1, k, bn), lambda j, s, groups, tiles, starts: (groups[s], 0, j))],
        out_specs=pl.BlockSpec((bm, bn), lambda j, s, groups, tiles, starts: (tiles[s], j)))
    return pl.pallas_call(functools.partial(_grouped, bm=bm), grid_spec=grid, out_shape=_shape((m, n), x.dtype))(groups, tiles, starts, x, y)


# Pipelines and DMAs of the kernel's own

ANYWHERE = pl.BlockSpec(memory_space=pl.ANY)


def pipeline_scale(x, block=16):
    """emit_pipeline over rows."""
    def inner(x, o):
        o[...] = x[...] * 2.0 + 1.0

    def kernel(x, o):
        spec = _rows(block, x.shape[1])
        pltpu.emit_pipeline(inner, grid=(x.shape[0] // block,), in_specs=[spec], out_specs=[spec])(x, o)
    return pl.pallas_call(kernel, in_specs=[ANYWHERE], out_specs=ANYWHERE, out_shape=_shape(x.shape, x.dtype))(x)


def pipeline_matmul(x, y, bm=64, bk=128):
    """emit_pipeline of a product, accumulated in the result's buffer."""
    def inner(x, y, o):
        @pl.when(pl.program_id(1) == 0)
        def _():
            o[...] = jnp.zeros_like(o)
        o[...] += jnp.dot(x[...], y[...], preferred_element_type=jnp.float32)

    (m, k), n = x.shape, y.shape[1]

    def kernel(x, y, o):
        pltpu.emit_pipeline(inner, grid=(m // bm, k // bk),
                            in_specs=[pl.BlockSpec((bm, bk), lambda i, j: (i, j)), pl.BlockSpec((bk, n), lambda i, j: (j, 0))],
                            out_specs=[pl.BlockSpec((bm, n), lambda i, j: (i, 0))])(x, y, o)
    return pl.pallas_call(kernel, in_specs=[ANYWHERE, ANYWHERE], out_specs=ANYWHERE, out_shape=_shape((m, n), jnp.float32))(x, y)


def copy_hbm(x):
    """One DMA, HBM to HBM."""
    def kernel(x, o, done):
        copy = pltpu.make_async_copy(x, o, done)
        copy.start()
        copy.wait()
    return pl.pallas_call(kernel, in_specs=[ANYWHERE], out_specs=ANYWHERE, scratch_shapes=[pltpu.SemaphoreType.DMA],
                          out_shape=_shape(x.shape, x.dtype))(x)


def gather_rows(index, x, rows=8):
    """Row groups that a table names, each fetched by a DMA, two in flight."""
    n = index.shape[0]

    def kernel(index, x, o, buffer, ready):
        def copy(j):
            return pltpu.make_async_copy(x.at[pl.ds(index[j] * rows, rows)], buffer.at[lax.rem(j, 2)], ready.at[lax.rem(j, 2)])
        copy(0).start()

        @pl.loop(0, n)
        def _(j):
            @pl.when(j + 1 < n)
            def _():
                copy(j + 1).start()
            copy(j).wait()
            o[pl.ds(j * rows, rows)] = buffer[lax.rem(j, 2)] * 2.0

    grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(1,), in_specs=[ANYWHERE],
                                        out_specs=pl.BlockSpec((n * rows, x.shape[1]), lambda i, index: (0, 0)),
                                        scratch_shapes=[pltpu.VMEM((2, rows, x.shape[1]), x.dtype), pltpu.SemaphoreType.DMA((2,))])
    return pl.pallas_call(kernel, grid_spec=grid, out_shape=_shape((n * rows, x.shape[1]), x.dtype))(index, x)


def handshake(x):
    """Two halves through VMEM: DMAs in, work, DMAs out, ordered by a counting semaphore."""
    half = x.shape[0] // 2

    def kernel(x, o, buffer, moved, count):
        for i in range(2):
            pltpu.make_async_copy(x.at[pl.ds(i * half, half)], buffer.at[i], moved.at[i]).start()
        for i in range(2):
            pltpu.make_async_copy(x.at[pl.ds(i * half, half)], buffer.at[i], moved.at[i]).wait()
            pltpu.semaphore_signal(count, 1)
        pltpu.semaphore_wait(count, 2)
        buffer[...] = buffer[...] + 1.0
        out = [pltpu.make_async_copy(buffer.at[1 - i], o.at[pl.ds(i * half, half)], moved.at[i]) for i in range(2)]
        for copy in out:
            copy.start()
        for copy in out:
            copy.wait()
    return pl.pallas_call(kernel, in_specs=[ANYWHERE], out_specs=ANYWHERE, out_shape=_shape(x.shape, x.dtype),
                          scratch_shapes=[pltpu.VMEM((2, half, x.shape[1]), x.dtype), pltpu.SemaphoreType.DMA((2,)),
                                          pltpu.SemaphoreType.REGULAR])(x)


# Moves inside the core

def transpose(x, block=128):
    def kernel(x, o):
        o[...] = x[...].T
    m, n = x.shape
    return pl.pallas_call(kernel, grid=(m // block, n // block), in_specs=[pl.BlockSpec((block, block), lambda i, j: (i, j))],
                          out_specs=pl.BlockSpec((block, block), lambda i, j: (j, i)), out_shape=_shape((n, m), x.dtype))(x)


def rotate_halves(x, cos, sin, block=16):
    """Rotary positions: the halves of a row change places, one with its sign turned."""
    width = x.shape[1]

    def kernel(x, cos, sin, o):
        value = x[...]
        lane = lax.broadcasted_iota(jnp.int32, value.shape, 1)
        turned = jnp.where(lane < width // 2, -1.0, 1.0) * pltpu.roll(value, width // 2, 1)
        o[...] = value * cos[...] + turned * sin[...]
    spec = _rows(block, width)
    return pl.pallas_call(kernel, grid=(x.shape[0] // block,), in_specs=[spec] * 3, out_specs=spec, out_shape=_shape(x.shape, x.dtype))(x, cos, sin)


def unpack_halves(x, block=16):
    """bf16 in, the sum of neighbouring row pairs in f32 out: every second row by strided loads."""
    def kernel(x, o, wide):
        wide[...] = x[...].astype(jnp.float32)
        o[...] = wide[pl.ds(0, block // 2, stride=2), :] + wide[pl.ds(1, block // 2, stride=2), :]
    m, n = x.shape
    return pl.pallas_call(kernel, grid=(m // block,), in_specs=[_rows(block, n)], out_specs=_rows(block // 2, n),
                          scratch_shapes=[pltpu.VMEM((block, n), jnp.float32)], out_shape=_shape((m // 2, n), jnp.float32))(x)


# Functions of elements that take more than an instruction, and types that are narrower than a word

def _whole(function, out, *arrays):
    """`function` of whole arrays, its results row by row below each other."""
    def kernel(*refs):
        refs[-1][...] = jnp.concatenate([value.astype(out) for value in function(*[ref[...] for ref in refs[:-1]])], axis=0)
    shapes = jax.eval_shape(function, *arrays)
    rows = sum(shape.shape[0] for shape in shapes)
    return pl.pallas_call(kernel, out_shape=_shape((rows, *shapes[0].shape[1:]), out))(*arrays)


def functions(x):
    return _whole(lambda v: [jnp.ceil(v), jnp.trunc(v), jnp.log1p(jnp.abs(v) * 0.01), jnp.log1p(v * 0.2), jnp.tan(v), jnp.sign(v), jnp.exp2(v),
                             jnp.power(jnp.abs(v) + 0.01, v), jnp.power(v, 3.0), lax.round(v), jnp.isfinite(v / jnp.floor(v)), jax.nn.softplus(v), 2 / (v + 9), jnp.power(v, jnp.floor(v * 0.4))],
                  jnp.float32, x)


def functions_bf16(x):
    return _whole(lambda v: [jnp.sign(v), jnp.abs(v), -v, jnp.floor(v), jnp.sqrt(jnp.abs(v)), jnp.where(v > 0.5, v, 0), jax.nn.softmax(v, axis=-1)],
                  jnp.bfloat16, x)


def integers(x, y):
    """Quotients and remainders, toward 0 and down, of all signs; values without sign."""
    def function(a, b):
        u, v = lax.bitcast_convert_type(a, jnp.uint32), lax.bitcast_convert_type(b, jnp.uint32)
        apart = jnp.where(b == 0, 3, b)
        signless = [jnp.maximum(u, v), jnp.minimum(u, v), jnp.where(u < v, u, v), u // 8, u % 16]
        return [lax.div(a, apart), lax.rem(a, apart), lax.div(a, apart >> 20 | 1), lax.rem(a, apart >> 20 | 1), a // 8, a % 8, a // 7, lax.div(a, 16),
                jnp.abs(b)] + [lax.bitcast_convert_type(value, jnp.int32) for value in signless]
    return _whole(function, jnp.int32, x, y)


def integers_narrow(x, y):
    return _whole(lambda a, b: [a + b, jnp.where(a > b, a, b), jnp.maximum(a, b), a & b, a - b, lax.broadcasted_iota(jnp.int16, a.shape, 0)], jnp.int16, x, y)


def conversions(e4m3, e5m2, nibbles, small):
    return _whole(lambda a, b, c, d: [a.astype(jnp.float32), b.astype(jnp.float32), c.astype(jnp.int8).astype(jnp.float32),
                                      c.astype(jnp.bfloat16).astype(jnp.float32), d.astype(jnp.bfloat16).astype(jnp.float32)],
                  jnp.float32, e4m3, e5m2, nibbles, small)


def to_narrow(x):
    """bf16 and f32 to 8 bits, and back."""
    return _whole(lambda v: [(v * 60).astype(jnp.int8).astype(jnp.float32), (v * 300).astype(jnp.int32).astype(jnp.int16).astype(jnp.float32),
                             (v * 3).astype(jnp.int32).astype(jnp.int4).astype(jnp.float32), (v * 90).astype(jnp.int16).astype(jnp.int8).astype(jnp.float32)], jnp.float32, x)


def to_fp8(x):
    return _whole(lambda v: [v.astype(jnp.float8_e4m3fn).astype(jnp.float32), v.astype(jnp.float8_e5m2).astype(jnp.float32),
                             (v * 0.00001).astype(jnp.float8_e5m2).astype(jnp.float32), (v * 0.00001).astype(jnp.float8_e4m3fn).astype(jnp.float32)], jnp.float32, x)


def mixed_products(x, bf16, fp8, s8, s4):
    """Right sides of other types than the left one's."""
    def function(a, *others):
        return [jnp.dot(a, b, preferred_element_type=jnp.float32) for b in others] + \
            [jnp.dot(a.astype(jnp.bfloat16), others[1], preferred_element_type=jnp.float32),
             jnp.dot(a, others[0], precision=lax.Precision.HIGHEST, preferred_element_type=jnp.float32)]
    return _whole(function, jnp.float32, x, bf16, fp8, s8, s4)


def product_fp8(x, y):
    return _whole(lambda a, b: [jnp.dot(a, b, preferred_element_type=jnp.float32)], jnp.float32, x, y)


# Reductions to places, and rows that change theirs

def places(x):
    """argmax and argmin of rows and columns; among 128 lanes a NaN is the largest and the smallest."""
    def kernel(x, o):
        value = x[...]
        few = jnp.where(value > 0.97, jnp.nan, value)[:, :128]
        for i, (find, of, axis) in enumerate([(jnp.argmax, value, 1), (jnp.argmin, value, 1), (jnp.argmax, value, 0), (jnp.argmax, few, 1), (jnp.argmin, few, 1)]):
            o[i] = jnp.broadcast_to(jnp.expand_dims(find(of, axis=axis).astype(jnp.int32), axis), x.shape)
    return pl.pallas_call(kernel, out_shape=_shape((5, *x.shape), jnp.int32))(x)


def swap_rows(x):
    """The first two dims change places."""
    def kernel(x, o):
        o[...] = jnp.swapaxes(x[...], 0, 1)
    return pl.pallas_call(kernel, out_shape=_shape((x.shape[1], x.shape[0], x.shape[2]), x.dtype))(x)


def reshape(x):
    def kernel(x, o):
        o[...] = x[...].reshape(o.shape)
    return pl.pallas_call(kernel, out_shape=_shape((x.shape[0] // 2, x.shape[1] * 2), x.dtype))(x)


def along_rows(line, x, index):
    """A line along the sublanes, lanes by a table, a rotation that differs from row to row."""
    def kernel(line, x, index, o):
        o[...] = jnp.broadcast_to(line[...][:, None], x.shape) + jnp.take_along_axis(x[...], index[...], axis=1) + \
            pltpu.roll(x[...], 3, 1, stride=2, stride_axis=0)
    return pl.pallas_call(kernel, out_shape=_shape(x.shape, x.dtype))(line, x, index)


def odd_rows(x):
    """Rows of packed values that begin within a word."""
    def kernel(x, o):
        o[...] = x[...]
        o[3:8, :] = x[5:10, :]
        o[8:16, :] = x[3:11, :]
    return pl.pallas_call(kernel, out_shape=_shape(x.shape, x.dtype))(x)


def transpose_narrow(x, y):
    def kernel(x, y, o, p):
        o[...] = x[...].T
        p[...] = y[...].T
    return pl.pallas_call(kernel, out_shape=[_shape(x.shape[::-1], x.dtype), _shape(y.shape[::-1], y.dtype)])(x, y)


# Scalars

def scalars(table, x, v):
    """Narrow integers and floats in SMEM, arithmetic of both, and what they decide."""
    def kernel(table, x, v, o, p):
        @pl.loop(0, 8)
        def _(i):
            p[0, i] = x[0, i] * 2.0 + jnp.exp(x[1, i]) / 3.0
            p[1, i] = jnp.maximum(x[0, i], x[1, i]) - table[i % 3, i].astype(jnp.float32)
        step = table[1, 2].astype(jnp.int32)
        o[...] = lax.cond(x[0, 1] > x[1, 1], lambda a: a * x[0, 2], lambda a: a + step.astype(jnp.float32), v[...])

        def body(state):
            return state[0] + 1, state[1] * 0.5 + o[...]
        count, last = lax.while_loop(lambda state: jnp.logical_and(state[0] < 10, jnp.max(state[1]) < v[0, 0] + 40), body, (0, o[...]))
        o[...] = last + count.astype(jnp.float32)
    smem = pl.BlockSpec(memory_space=pltpu.SMEM)
    return pl.pallas_call(kernel, in_specs=[smem, smem, pl.BlockSpec(memory_space=pltpu.VMEM)], out_specs=[pl.BlockSpec(memory_space=pltpu.VMEM), smem],
                          out_shape=[_shape(v.shape, v.dtype), _shape(x.shape, x.dtype)])(table, x, v)


def table_of_bytes(kinds, x):
    """A prefetched table of 8 bits: which block a step takes, and what it is multiplied by."""
    def kernel(kinds, x, o):
        o[...] = x[...] * kinds[1, pl.program_id(0)].astype(jnp.float32)
    grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(4,), in_specs=[pl.BlockSpec((8, 128), lambda i, kinds: (kinds[0, i].astype(jnp.int32), 0))],
                                        out_specs=pl.BlockSpec((8, 128), lambda i, kinds: (i, 0)))
    return pl.pallas_call(kernel, grid_spec=grid, out_shape=_shape((32, 128), x.dtype))(kinds, x)


def batched(x, y):
    """A product for each of the first dim."""
    def kernel(x, y, o):
        o[...] = jnp.einsum("bij,bjk->bik", x[...], y[...], preferred_element_type=o.dtype)
    return pl.pallas_call(kernel, out_shape=_shape((*x.shape[:2], y.shape[2]), jnp.float32))(x, y)


def saturated(x):
    """f32 to 8 bits, also of what is beyond them."""
    return _whole(lambda v: [v], jnp.int8, x)


def scalars_bf16(x):
    """Scalars of bf16, which are constants of the kernel: rounded from f32, and computed with."""
    return _whole(lambda v: [jnp.clip(v, 0.3, 1), jnp.log2(v), v ** 2.5], x.dtype, x)


def divisions(numbers, x, y):
    """Quotients and remainders without sign, of narrow integers, and of scalars of all signs."""
    def kernel(numbers, x, y, o, p):
        u, v = lax.bitcast_convert_type(x[...], jnp.uint32), lax.bitcast_convert_type(y[...], jnp.uint32) | 1
        shorts, others = (x[...] >> 16).astype(jnp.int16), (y[...] >> 20).astype(jnp.int16) | 1
        for i, value in enumerate([lax.div(u, v), lax.rem(u, v), u // 10, u % 1000, lax.div(u, v >> 20 | 1), lax.rem(u, v >> 9 | 1)]):
            o[i] = lax.bitcast_convert_type(value, jnp.int32)
        for i, value in enumerate([lax.div(shorts, others), lax.rem(shorts, others), lax.clz(shorts)], 6):
            o[i] = value.astype(jnp.int32)
        for i in range(5):
            a, b = numbers[i, 0], numbers[i, 1]
            u, v = a.astype(jnp.uint32), b.astype(jnp.uint32) & 0x7fffffff
            for j, value in enumerate([lax.div(a, b), lax.rem(a, b), a // b, a % b, lax.div(u, v), lax.rem(u, v), u // 7, u % 8]):
                p[i, j] = value.astype(jnp.int32)
    smem, vmem = pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pltpu.VMEM)
    return pl.pallas_call(kernel, in_specs=[smem, vmem, vmem], out_specs=[vmem, smem],
                          out_shape=[_shape((9, *x.shape), x.dtype), _shape((5, 8), jnp.int32)])(numbers, x, y)


def _ragged_copies(parts, x, before, o, whole, buffer, ready):
    del before
    o[...] = jnp.zeros_like(o)

    @pl.loop(0, parts.shape[0])
    def _(i):
        start, count, columns = parts[i, 0], parts[i, 1], pl.multiple_of(parts[i, 2], 128)
        rows = pltpu.make_async_copy(x.at[pl.ds(start, count)], buffer.at[pl.ds(0, count)], ready)
        rows.start()
        rows.wait()
        one = pltpu.make_async_copy(buffer.at[pl.ds(0, count)], o.at[i, pl.ds(0, count)], ready)
        part = pltpu.make_async_copy(x.at[pl.ds(start, count), pl.ds(0, columns)], whole.at[i, pl.ds(start, count), pl.ds(0, columns)], ready)
        one.start()
        part.start()
        one.wait()
        part.wait()


def ragged_copies(parts, x, before):
    """DMAs of as many rows, and of as many columns, as a table says; none of some."""
    smem, vmem, anywhere = [pl.BlockSpec(memory_space=space) for space in (pltpu.SMEM, pltpu.VMEM, pl.ANY)]
    return pl.pallas_call(_ragged_copies, in_specs=[smem, anywhere, anywhere], out_specs=[vmem, anywhere], input_output_aliases={2: 1},
                          scratch_shapes=[pltpu.VMEM(x.shape, x.dtype), pltpu.SemaphoreType.DMA],
                          out_shape=[_shape(before.shape, x.dtype), _shape(before.shape, x.dtype)])(parts, x, before)


def _views(starts, x, words, o, p, buffer, ready):
    rows, groups = x.reshape(x.shape[0] * x.shape[1], x.shape[2]), p.reshape(p.shape[0] // 8, 8, p.shape[1])

    @pl.loop(0, starts.shape[0])
    def _(i):
        fetch = pltpu.make_async_copy(rows.at[pl.ds(starts[i], 8)], o.at[i], ready)
        bits = pltpu.make_async_copy(words.bitcast(jnp.int32).at[pl.ds(i * 8, 8)], buffer.at[i % 2].bitcast(jnp.int32), ready)
        fetch.start()
        bits.start()
        fetch.wait()
        bits.wait()
        store = pltpu.make_async_copy(buffer.at[i % 2].reshape(2, 8, 128), groups.at[pl.ds(2 * i, 2)], ready)
        store.start()
        store.wait()


def views(starts, x, words):
    """DMAs between memrefs seen as other dims, and as another type of the same bytes."""
    smem, anywhere = pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pl.ANY)
    count = starts.shape[0]
    return pl.pallas_call(_views, in_specs=[smem, anywhere, anywhere], out_specs=[anywhere, anywhere],
                          scratch_shapes=[pltpu.VMEM((2, 16, 128), words.dtype), pltpu.SemaphoreType.DMA],
                          out_shape=[_shape((count, 8, 128), x.dtype), _shape((16 * count, 128), words.dtype)])(starts, x, words)


def views_expected(starts, x, words):
    """Interpret mode does not know memrefs that are reshaped."""
    return [x.reshape(-1, 128)[start:start + 8] for start in starts], words[:16 * len(starts)]


def _halves(x, o, ready):
    copy = pltpu.make_async_copy(x.reshape(2, 32, 256).at[pl.ds(1, 1)], o, ready)
    copy.start()
    copy.wait()


def views_narrow(x):
    """A view of tiles of 32 rows, which the array does not have in HBM."""
    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    return pl.pallas_call(_halves, in_specs=[anywhere], out_specs=anywhere, scratch_shapes=[pltpu.SemaphoreType.DMA],
                          out_shape=_shape((1, 32, 256), x.dtype))(x)


def views_narrow_expected(x):
    return (x.reshape(2, 32, 256)[1:],)


def update_refs(x, y, block=16):
    """The same as `update`, as a kernel of a mesh of cores that is given refs and pipelines its blocks itself."""
    def step(x, y, o):
        o[...] = y[...] * 2.0 + x[...]

    @pl.run_state
    def updated(refs):
        @pl.core_map(pltpu.create_tensorcore_mesh("core", num_cores=1))
        def _():
            x, y = refs
            spec = _rows(block, x.shape[1])
            pltpu.emit_pipeline(step, grid=(x.shape[0] // block,), in_specs=[spec, spec], out_specs=[spec])(x, y, y)
    return updated((x, y))[1]


def remainders(x, y):
    """fmod: of small and of large quotients, of what is smaller, by 0, of and by what is infinite or NaN."""
    def function(a, b):
        inf = jnp.asarray(jnp.inf, a.dtype)
        some = [lax.rem(a, b), lax.rem(a * 3e4, b * 1e-3), lax.rem(a, jnp.where(b > 0, 0, inf))]
        more = [jnp.remainder(a, b), lax.rem(b, a), lax.rem(a, jnp.full_like(a, 0.7)), lax.rem(a * 1e30, b * 1e30), lax.rem(a * 1e-30, b * 1e-30),
                lax.rem(jnp.where(a > 0, inf, a - a), b), lax.rem(a * 3e38, b * 1e38)]
        return some + more if a.dtype == jnp.float32 else some
    return _whole(function, x.dtype, x, y)


def narrow_constants(x):
    """Constants whose bits are written in hexadecimal: infinity and NaN of narrow floats."""
    def kernel(x, first, second):
        e5m2, e4m3 = jnp.asarray(jnp.inf, jnp.float8_e5m2), jnp.asarray(jnp.nan, jnp.float8_e4m3fn)
        first[...] = jnp.where(x[...] > 0, e5m2, x[...].astype(jnp.float8_e5m2)).astype(jnp.float32)
        second[...] = jnp.where(x[...] > 0, e4m3, x[...].astype(jnp.float8_e4m3fn)).astype(jnp.float32)
    return pl.pallas_call(kernel, out_shape=[_shape(x.shape, jnp.float32)] * 2)(x)


def copy_ragged(line, x):
    """Whole arrays that are no multiples of a tile, from HBM to VMEM and back: a DMA for each."""
    def kernel(line, x, p, q, row, ready):
        copies = [pltpu.make_async_copy(line, row, ready), pltpu.make_async_copy(x, q, ready), pltpu.make_async_copy(row, p, ready)]
        for copy in copies[:2]:
            copy.start()
        for copy in copies[:2]:
            copy.wait()
        copies[2].start()
        copies[2].wait()
    vmem = pl.BlockSpec(memory_space=pltpu.VMEM)
    return pl.pallas_call(kernel, in_specs=[ANYWHERE] * 2, out_specs=[ANYWHERE, vmem], out_shape=[_shape(v.shape, v.dtype) for v in (line, x)],
                          scratch_shapes=[pltpu.VMEM(line.shape, line.dtype), pltpu.SemaphoreType.DMA])(line, x)


def table_of_nibbles(kinds):
    """Scalars of 4 bits in SMEM."""
    def kernel(kinds, o):
        @pl.loop(0, kinds.shape[1])
        def _(j):
            o[0, j] = kinds[1, j].astype(jnp.int32) * 3
    smem = pl.BlockSpec(memory_space=pltpu.SMEM)
    return pl.pallas_call(kernel, in_specs=[smem], out_specs=smem, out_shape=_shape((1, kinds.shape[1]), jnp.int32))(kinds)


def table_of_nibbles_expected(kinds):
    """Interpret mode reads them as other numbers."""
    return (kinds[1:2].astype("int32") * 3,)


def copy_blocks(x):
    """Blocks of 128, the last of which ends in the padding of the array: what `emit_pipeline` does, too."""
    def kernel(x, o, buffer, ready):
        @pl.loop(0, pl.cdiv(x.shape[0], 128))
        def _(i):
            part = pl.ds(i * 128, 128)
            for copy in (pltpu.make_async_copy(x.at[part], buffer, ready), pltpu.make_async_copy(buffer, o.at[part], ready)):
                copy.start()
                copy.wait()
    return pl.pallas_call(kernel, in_specs=[ANYWHERE], out_specs=ANYWHERE, scratch_shapes=[pltpu.VMEM((128,), x.dtype), pltpu.SemaphoreType.DMA],
                          out_shape=_shape(x.shape, x.dtype))(x)


def copy_blocks_expected(x):
    """Interpret mode knows no padding."""
    return (x,)


def two_bits(x):
    """Integers of 2 bits, with a sign and without."""
    def kernel(x, o, p, signed, unsigned):
        signed[...] = x[...].astype(jnp.int2)
        unsigned[...] = x[...].astype(jnp.uint2)
        o[...] = signed[...].astype(jnp.int32)
        p[...] = unsigned[...].astype(jnp.int32)
    return pl.pallas_call(kernel, out_shape=[_shape(x.shape, jnp.int32)] * 2,
                          scratch_shapes=[pltpu.VMEM(x.shape, jnp.int2), pltpu.VMEM(x.shape, jnp.uint2)])(x)


def two_bits_expected(x):
    return x << 30 >> 30, x & 3


def steps_before(sizes, x):
    """Of a table in SMEM, the entry before that of the step: before the first there is none, and what is read is not used."""
    def kernel(sizes, x, o, kept):
        kept[0] = sizes[pl.program_id(0)]
        before = sizes[pl.program_id(0) - 1]
        o[...] = x[...] * jnp.where(pl.program_id(0) > 0, before, kept[0]).astype(jnp.float32)
    grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(4,), in_specs=[pl.BlockSpec((8, 128), lambda i, sizes: (i, 0))],
                                        out_specs=pl.BlockSpec((8, 128), lambda i, sizes: (i, 0)), scratch_shapes=[pltpu.SMEM((1,), jnp.int32)])
    return pl.pallas_call(kernel, grid_spec=grid, out_shape=_shape(x.shape, x.dtype))(sizes, x)
