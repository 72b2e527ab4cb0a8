"""Pallas kernels of our own that run on every device of a mesh, and copy to other devices; make_kernels.py lowers them.

What a function takes and gives are whole arrays: `jax.shard_map` deals them out over the mesh that is around it.
"""
import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.sharding import PartitionSpec as P

ANY = pl.BlockSpec(memory_space=pl.ANY)
DMA, REGULAR = pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.REGULAR
LOGICAL, MESH = pltpu.DeviceIdType.LOGICAL, pltpu.DeviceIdType.MESH


def _sharded(body, inputs, outputs):
    return jax.shard_map(body, in_specs=inputs, out_specs=outputs, check_vma=False)


def _call(kernel, shape, dtype, scratch, grid=(), specs=(ANY, ANY), **compiler):
    grid_spec = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=0, grid=grid, in_specs=[specs[0]], out_specs=specs[1],
                                             scratch_shapes=scratch)
    return pl.pallas_call(kernel, grid_spec=grid_spec, out_shape=jax.ShapeDtypeStruct(shape, dtype),
                          compiler_params=pltpu.CompilerParams(**compiler))


def _neighbours(axis):
    """This device's place in the ring, those of the devices before and behind it, and how many there are."""
    me, count = lax.axis_index(axis), lax.axis_size(axis)
    return me, lax.rem(me + count - 1, count), lax.rem(me + 1, count), count


def _meet(*devices, id_type=MESH):
    """Waits until the neighbours run this kernel too."""
    barrier = pltpu.get_barrier_semaphore()
    for device in devices:
        pltpu.semaphore_signal(barrier, 1, device_id=device, device_id_type=id_type)
    pltpu.semaphore_wait(barrier, len(devices))


# Permute

def _permute(x, o, sent, received):
    _, _, right, _ = _neighbours("x")
    copy = pltpu.make_async_remote_copy(x, o, sent, received, device_id=right, device_id_type=LOGICAL)
    copy.start()
    copy.wait()


def permute(x):
    """Each device's part goes to its right neighbour."""
    return _sharded(lambda part: _call(_permute, part.shape, part.dtype, [DMA, DMA])(part), P(None, "x"), P(None, "x"))(x)


def _swap_rows(x, o, sent, received):
    row, column = lax.axis_index("x"), lax.axis_index("y")
    copy = pltpu.make_async_remote_copy(x, o, sent, received, device_id=(1 - row, column), device_id_type=MESH)
    copy.start()
    copy.wait()


def swap_rows_of_devices(x):
    """On a mesh of two axes: the two rows of devices give each other their parts, which nobody outside of the kernel has."""
    def body(part):
        return _call(_swap_rows, part.shape, part.dtype, [DMA, DMA])(part * 1.0) * 2.0
    return _sharded(body, P(("x", "y")), P(("x", "y")))(x)


# All-gather

def _gather(x, o, local, sent, received, *, axis):
    me, _, right, count = _neighbours(axis)
    step = pl.program_id(0)
    slot = lax.rem(me + count - step, count)

    @pl.when(step == 0)
    def _():
        own = pltpu.make_async_copy(x, o.at[me], local)
        own.start()
        own.wait()

    copy = pltpu.make_async_remote_copy(o.at[slot], o.at[slot], sent, received.at[slot], device_id=(right,), device_id_type=MESH)
    copy.start()
    copy.wait_send()
    came = lax.rem(me + count - step - 1, count)
    arrival = pltpu.make_async_remote_copy(o.at[came], o.at[came], sent, received.at[came], device_id=(right,), device_id_type=MESH)
    arrival.wait_recv()


def all_gather(x, axis="x"):
    """In a ring: a step of the grid sends to the right what came in the step before."""
    def body(part):
        count = lax.axis_size(axis)
        return _call(functools.partial(_gather, axis=axis), (count, *part.shape), part.dtype, [DMA, DMA, DMA((count,))],
                     grid=(count - 1,))(part)
    return _sharded(body, P(axis), P())(x).reshape(x.shape)


def _gather_meeting(x, o, local, sent, received):
    row = lax.axis_index("x")
    me, left, right, count = _neighbours("y")
    _meet((row, left), (row, right))
    own = pltpu.make_async_copy(x, o.at[me], local)
    own.start()
    own.wait()

    @pl.loop(0, count - 1)
    def _(step):
        slot = lax.rem(me + count - step, count)
        copy = pltpu.make_async_remote_copy(o.at[slot], o.at[slot], sent, received.at[step],
                                            device_id=(row, right), device_id_type=MESH)
        copy.start()
        copy.wait()


def all_gather_meeting(x):
    """Along one axis of two: each row of devices is a ring of its own, whose neighbours meet first."""
    def body(part):
        return _call(_gather_meeting, (lax.axis_size("y"), *part.shape), part.dtype, [DMA, DMA, DMA((4,))], collective_id=3)(part)
    return _sharded(body, P("x", "y"), P(None, "x"))(x)


# Sums

def _all_reduce(x, o, buffers, copied, sent, received, room):
    me, left, right, count = _neighbours("x")
    del me
    _meet(left, right, id_type=LOGICAL)
    own = pltpu.make_async_copy(x, buffers.at[0], copied)
    own.start()
    own.wait()
    o[...] = x[...]

    @pl.loop(0, count - 1)
    def _(step):
        now, then = lax.rem(step, 2), lax.rem(step + 1, 2)

        @pl.when(step > 0)
        def _():
            pltpu.semaphore_wait(room, 1)

        copy = pltpu.make_async_remote_copy(buffers.at[now], buffers.at[then], sent.at[now], received.at[then],
                                            device_id=right, device_id_type=LOGICAL)
        copy.start()
        copy.wait()
        o[...] += buffers[then]

        @pl.when(step < count - 2)
        def _():
            pltpu.semaphore_signal(room, 1, device_id=left, device_id_type=LOGICAL)


def all_reduce(x):
    """The sum over devices, in a ring of two buffers: a device sends only when its neighbour has room. Each adds
    in an order of its own."""
    def body(part):
        whole = pl.BlockSpec(memory_space=pltpu.VMEM)
        return _call(_all_reduce, part.shape, part.dtype, [pltpu.VMEM((2, *part.shape), part.dtype), DMA, DMA((2,)), DMA((2,)), REGULAR],
                     specs=(whole, whole), collective_id=0)(part)
    return _sharded(body, P("x"), P("x"))(x)


def _reduce_scatter(x, o, sums, own, copied, sent, received, room):
    me, left, right, count = _neighbours("x")
    step, way = pl.program_id(0), pl.program_id(1)  # way 0: to the right with the first half of the rows
    to, back = jnp.where(way == 0, right, left), jnp.where(way == 0, left, right)
    forth = jnp.where(way == 0, count - 1, 1)
    rows = o.shape[0] // 2
    first = pl.multiple_of(way * rows, rows)
    now, then = lax.rem(step, 2), lax.rem(step + 1, 2)

    @pl.when((step == 0) & (way == 0))
    def _():
        _meet(left, right, id_type=LOGICAL)

    part = lax.rem(me + (step + 1) * forth, count)
    load = pltpu.make_async_copy(x.at[part, pl.ds(first, rows)], own, copied)
    load.start()
    load.wait()

    @pl.when(step == 0)
    def _():
        sums[way, 0] = own[...]

    @pl.when(step > 0)
    def _():
        arrival = pltpu.make_async_remote_copy(sums.at[way, then], sums.at[way, now], sent.at[way, then], received.at[way, now],
                                               device_id=to, device_id_type=LOGICAL)
        arrival.wait()
        pltpu.semaphore_signal(room.at[way], 1, device_id=back, device_id_type=LOGICAL)
        sums[way, now] += own[...]

    @pl.when(step < count - 1)
    def _():
        @pl.when(step > 0)
        def _():
            pltpu.semaphore_wait(room.at[way], 1)

        copy = pltpu.make_async_remote_copy(sums.at[way, now], sums.at[way, then], sent.at[way, now], received.at[way, then],
                                            device_id=to, device_id_type=LOGICAL)
        copy.start()

    @pl.when(step == count - 1)
    def _():
        o[pl.ds(first, rows)] = sums[way, now]
        pltpu.semaphore_wait(room.at[way], 1)


def reduce_scatter(x):
    """Of the sum over devices each gets a part: half of the rows goes round either way, what is sent is two steps deep."""
    def body(addend):
        count, rows, columns = addend.shape
        half = (rows // 2, columns)
        scratch = [pltpu.VMEM((2, 2, *half), addend.dtype), pltpu.VMEM(half, addend.dtype), DMA, DMA((2, 2)), DMA((2, 2)), REGULAR((2,))]
        return _call(_reduce_scatter, (rows, columns), addend.dtype, scratch, grid=(count, 2),
                     specs=(ANY, pl.BlockSpec(memory_space=pltpu.VMEM)), collective_id=1)(addend)
    return _sharded(body, P("x"), P("x"))(x)


# Overlapped with arithmetic

def _gather_product(x, w, o, parts, sent, received):
    me, left, right, count = _neighbours("x")
    _meet((left,), (right,))
    rows = x.shape[0]
    parts[me] = x[...]

    @pl.loop(0, count)
    def _(step):
        slot = lax.rem(me + count - step, count)
        copy = pltpu.make_async_remote_copy(parts.at[slot], parts.at[slot], sent, received.at[slot], device_id=(right,), device_id_type=MESH)

        @pl.when(step > 0)
        def _():
            pltpu.make_async_remote_copy(parts.at[slot], parts.at[slot], sent, received.at[slot], device_id=(right,),
                                         device_id_type=MESH).wait_recv()

        @pl.when(step < count - 1)
        def _():
            copy.start()

        o[pl.ds(pl.multiple_of(slot * rows, rows), rows)] = jnp.dot(parts[slot], w[...], preferred_element_type=jnp.float32)

        @pl.when(step < count - 1)
        def _():
            copy.wait_send()


def gather_product(x, w):
    """x @ w, each device with columns of w: parts of x go round while others are multiplied."""
    def body(part, columns):
        count, (rows, depth) = lax.axis_size("x"), part.shape
        whole = pl.BlockSpec(memory_space=pltpu.VMEM)
        return pl.pallas_call(_gather_product, in_specs=[whole, whole], out_specs=whole,
                              out_shape=jax.ShapeDtypeStruct((count * rows, columns.shape[1]), jnp.float32),
                              scratch_shapes=[pltpu.VMEM((count, rows, depth), part.dtype), DMA, DMA((count,))],
                              compiler_params=pltpu.CompilerParams(collective_id=2))(part, columns)
    return _sharded(body, (P("x"), P(None, "x")), P(None, "x"))(x, w)
