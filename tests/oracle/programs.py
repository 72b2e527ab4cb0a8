"""Random programs of one or two operations, as functions for JAX to lower: what their layouts do is asked of the compiler."""
import math

MOST_ELEMENTS = 1 << 18
INTEGERS = ("s8", "u8", "s32", "u32", "s16", "u16")
FLOATS = ("f32", "bf16", "f16")


def small_dim(rng):
    kind = rng.random()
    if kind < 0.3:
        return rng.choice([1, 2, 3, 4, 5, 7, 8])
    if kind < 0.6:
        return 1 << rng.randint(3, 10)
    return rng.randint(2, 300) if kind < 0.9 else rng.randint(300, 3000)


def small_dims(rng):
    """Of an array of 0 to 5 dims; one with any has 64 elements at the least."""
    while True:
        rank = rng.choices(range(6), [1, 2, 6, 6, 3, 1])[0]
        dims = tuple(small_dim(rng) for _ in range(rank))
        if rank == 0 or 64 <= math.prod(dims) <= MOST_ELEMENTS:
            return dims


def image_dims(rng):
    """Of what a convolution takes: images, one to three dims of space, and features."""
    while True:
        space = [rng.choice([3, 4, 7, 8, 14, 16, 28, 32, 56, 100]) for _ in range(rng.choice([1, 2, 2, 2, 3]))]
        dims = (small_dim(rng), *space, rng.choice([1, 3, 4, 8, 16, 64, 96, 128, 256]))
        if math.prod(dims) <= MOST_ELEMENTS:
            return dims


def refold(rng, dims):
    """Other dims of as many elements: two neighbours as one, one as two, both, or all as one."""
    dims = list(dims)
    kind = rng.choice(["merge", "split", "flat", "unit", "both"])
    if kind == "flat":
        return (math.prod(dims),)
    if kind in ("merge", "both") and len(dims) > 1:
        at = rng.randrange(len(dims) - 1)
        dims[at:at + 2] = [dims[at] * dims[at + 1]]
    if kind in ("split", "both"):
        at = rng.randrange(len(dims))
        factors = [f for f in (2, 3, 4, 5, 7, 8, 16, 32, 64, 128, 256) if dims[at] % f == 0]
        if factors:
            factor = rng.choice(factors)
            dims[at:at + 1] = [dims[at] // factor, factor]
    if kind == "unit":
        dims.insert(rng.randrange(len(dims) + 1), 1)
    return tuple(dims)


def operations(jax):
    """name: (what makes its parameters of the operand's dims, what applies it). None: not for such dims."""
    import jax.numpy as jnp
    lax = jax.lax

    def axis(rng, dims):
        return {"axis": rng.randrange(len(dims))}

    def permutation(rng, dims):
        return {"permutation": tuple(rng.sample(range(len(dims)), len(dims)))} if len(dims) > 1 else None

    def second(rng, dims):
        return {"extra": [dims]}

    def joined(rng, dims):
        at = rng.randrange(len(dims))
        other = list(dims)
        other[at] = small_dim(rng)
        return {"axis": at, "extra": [tuple(other)]}

    def contracted(rng, dims):
        if len(dims) < 2:
            return None
        at, batch = rng.choice([len(dims) - 1, len(dims) - 2, rng.randrange(len(dims))]), ()
        if len(dims) > 2 and rng.random() < 0.6:
            batch = tuple(range(rng.randint(1, len(dims) - 2)))
        if at in batch:
            return None
        other = [dims[k] for k in batch] + [dims[at]]
        other.insert(len(batch) + rng.randrange(2), small_dim(rng))
        contract = len(batch) + (0 if other[len(batch)] == dims[at] else 1)
        return {"numbers": (((at,), (contract,)), (batch, batch)), "extra": [tuple(other)]}

    def convolved(rng, dims):
        if not 3 <= len(dims) <= 5:
            return None
        space = "DHW"[5 - len(dims):]
        numbers = (rng.choice([f"N{space}C", f"NC{space}"]), rng.choice([f"{space}IO", f"OI{space}"]),
                   rng.choice([f"N{space}C", f"NC{space}"]))
        kernel = {"I": dims[numbers[0].index("C")], "O": rng.choice([1, 8, 16, 64, 100, 128])}
        kernel.update({c: rng.choice([1, 3, 3, 5]) for c in space})
        return {"numbers": numbers, "strides": [rng.choice([1, 1, 2]) for _ in space],
                "extra": [tuple(kernel[c] for c in numbers[1])]}

    def gathered(rng, dims):
        return {"axis": rng.randrange(len(dims)), "extra": [(rng.choice([3, 8, 10, 100]),)], "types": ["s32"]}

    def sliced(rng, dims):
        begin = [rng.randint(0, d // 2) for d in dims]
        return {"begin": begin, "end": [rng.randint(b + 1, d) for b, d in zip(begin, dims)]}

    def padded(rng, dims):
        return {"by": [(rng.choice([0, 1, 3]), rng.choice([0, 2, 8]), 0) for _ in dims]}

    def spread(rng, dims):
        return {"at": rng.randrange(len(dims) + 1), "by": small_dim(rng)}

    def some_axes(rng, dims):
        return {"axes": tuple(sorted(rng.sample(range(len(dims)), rng.randint(1, len(dims)))))}

    return {
        "negate": (lambda r, d: {}, lambda p, a: -a),
        "double": (lambda r, d: {}, lambda p, a: a + a),
        "cast_f32": (lambda r, d: {}, lambda p, a: a.astype(jnp.float32)),
        "cast_bf16": (lambda r, d: {}, lambda p, a: a.astype(jnp.bfloat16)),
        "cast_s8": (lambda r, d: {}, lambda p, a: a.astype(jnp.int8)),
        "compare": (second, lambda p, a, b: a < b),
        "add": (second, lambda p, a, b: a + b),
        "sum": (some_axes, lambda p, a: a.sum(p["axes"])),
        "max": (axis, lambda p, a: a.max(p["axis"])),
        "transpose": (permutation, lambda p, a: lax.transpose(a, p["permutation"])),
        "reshape": (lambda r, d: {"to": refold(r, d)}, lambda p, a: lax.reshape(a, p["to"])),
        "broadcast": (spread, lambda p, a: lax.broadcast_in_dim(
            a, a.shape[:p["at"]] + (p["by"],) + a.shape[p["at"]:],
            [k + (k >= p["at"]) for k in range(a.ndim)])),
        "dot": (contracted, lambda p, a, b: lax.dot_general(a, b, p["numbers"])),
        "conv": (convolved, lambda p, a, b: lax.conv_general_dilated(
            a, b, p["strides"], "SAME", dimension_numbers=p["numbers"])),
        "concat": (joined, lambda p, a, b: lax.concatenate([a, b], p["axis"])),
        "slice": (sliced, lambda p, a: lax.slice(a, p["begin"], p["end"])),
        "pad": (padded, lambda p, a: lax.pad(a, jnp.zeros((), a.dtype), p["by"])),
        "gather": (gathered, lambda p, a, i: jnp.take(a, i, p["axis"], mode="clip")),
        "reverse": (axis, lambda p, a: lax.rev(a, (p["axis"],))),
        "loop": (lambda r, d: {}, lambda p, a: lax.fori_loop(0, 10, lambda i, x: x + x, a)),
    }


WEIGHTS = {"transpose": 4, "reshape": 4, "dot": 4, "sum": 2, "concat": 2, "gather": 2, "conv": 2, "slice": 2}
NEED_DIMS = {"sum", "max", "concat", "gather", "reverse", "reshape"}


def random_chain(rng, jax, table, length, type_name):
    """Arguments and a function of `length` operations on the first of them, with their names; None: none fits."""
    names = rng.choices(list(table), [WEIGHTS.get(n, 1) for n in table], k=length)
    dims = image_dims(rng) if names[0] == "conv" else small_dims(rng)
    arguments, steps = [(type_name, dims)], []
    now = jax.ShapeDtypeStruct(dims, "float32")
    for name in names:
        make, apply = table[name]
        if len(now.shape) == 0 and name in NEED_DIMS:
            return None
        made = make(rng, now.shape)
        if made is None:
            return None
        extra = made.pop("extra", [])
        types = made.pop("types", [type_name] * len(extra))
        first = len(arguments)
        arguments += [(t, tuple(d)) for t, d in zip(types, extra)]
        steps.append((name, made, apply, first, len(extra)))
        fixed = [jax.ShapeDtypeStruct(d, "int32" if t == "s32" and name == "gather" else "float32")
                 for t, d in arguments[first:]]
        now = jax.eval_shape(lambda *a: apply(made, *a), jax.ShapeDtypeStruct(now.shape, "float32"), *fixed)
        if math.prod(now.shape) > MOST_ELEMENTS:
            return None

    def function(*a):
        value = a[0]
        for name, made, apply, first, count in steps:
            others = [x.astype(value.dtype) if name != "gather" else x for x in a[first:first + count]]
            value = apply(made, value, *others)
        return value
    return arguments, function, [step[0] for step in steps]


TYPES = ["f32", "f32", "f32", "bf16", "bf16", "bf16", "s8", "u8", "s32", "pred", "f8e4m3fn", "s4"]


def random_programs(rng, jax, count):
    table = operations(jax)
    made = 0
    while made < count:
        chain = random_chain(rng, jax, table, rng.choice([1, 1, 2]), rng.choice(TYPES))
        if chain is not None:
            made += 1
            yield chain
