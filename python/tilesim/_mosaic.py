"""Pallas kernels traced by JAX and lowered to MLIR at vreg level by Mosaic's open passes, on a CPU (jaxlib 0.8.1)."""
from __future__ import annotations

import base64
import contextlib
import dataclasses
import functools
import itertools
import json
import os
import re
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.interpreters import mlir
from jax._src.lib import tpu
from jax._src.pallas.core import semaphore_dtype
from jax._src.pallas.mosaic import lowering
from jax._src.state.discharge import discharge_state
from jax._src.state.types import AbstractRef
from jax.experimental.pallas import tpu as pltpu
from jax.sharding import PartitionSpec as P
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

PINNED = "0.8.1"  # the last jaxlib with the layout passes inside
DEVICE_KINDS = {4: "TPU v4", 5: "TPU v5 lite", 6: "TPU v6 lite", 7: "TPU7x"}  # as the chips have them (v5e, v6e)
SAME = ("with_memory_space_constraint",)  # where an array has to be, which is no other array
INLINED = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat", "checkpoint")
# Without a TPU, JAX lowers for the oldest software of a chip; here it is that of JAX's own date.
lowering.LoweringRuleContext.is_cloud_tpu_older_than = lambda self, year, month, day: False


class LoweringError(Exception):
    """A kernel that JAX or a pass of Mosaic refuses: with the pass and its words."""


class Devices:
    """The mesh of a `shard_map`. What its devices hold is kept as one array, with a first dim for the device."""

    def __init__(self, mesh: Any):
        self.axes: Dict[str, int] = dict(mesh.shape)
        self.count = int(np.prod(list(self.axes.values()), dtype=int))
        self.everywhere = P(tuple(self.axes))  # the first dim is dealt out

    def _mesh(self) -> Any:
        """Of as many devices of the host."""
        hosts = jax.devices("cpu")
        if len(hosts) < self.count:
            raise LoweringError(f"a mesh of {self.count} devices needs as many of the host, JAX was started with {len(hosts)}: "
                                f"jax.config.update('jax_num_cpu_devices', {self.count}) before it is used")
        return jax.sharding.Mesh(np.array(hosts[:self.count]).reshape(tuple(self.axes.values())), tuple(self.axes))

    def each(self, function: Callable, mesh: Any = None) -> Callable:
        """The function on every device, of what each holds."""
        def one(*held):
            """On a device, whose part has a first dim of 1."""
            return tuple(jnp.expand_dims(out, 0) for out in function(*[jnp.squeeze(part, 0) for part in held]))
        return jax.jit(jax.shard_map(one, mesh=mesh or self._mesh(), in_specs=self.everywhere, out_specs=self.everywhere,
                                     check_vma=False))

    def deal(self, whole: Any, spec: Any) -> Any:
        """What the devices hold of an array."""
        return jax.shard_map(lambda part: jnp.expand_dims(part, 0), mesh=self._mesh(), in_specs=spec, out_specs=self.everywhere,
                             check_vma=False)(whole)

    def gather(self, held: Any, spec: Any) -> Any:
        """The array that they hold."""
        return jax.shard_map(lambda part: jnp.squeeze(part, 0), mesh=self._mesh(), in_specs=self.everywhere, out_specs=spec,
                             check_vma=False)(held)

    def spread(self, value: Any) -> np.ndarray:
        """The same on all of them."""
        return np.broadcast_to(np.asarray(value), (self.count, *np.shape(value)))

    def whole_spec(self, rank: int, spec: Any) -> Any:
        """As the array is known outside; else parts follow each other in the first dim, and of scalars all are copies."""
        return spec if spec is not None else self.everywhere if rank > 0 else P()

    def notation(self, dims: Sequence[int], given: Any) -> str:
        """`[32,128] P('x', None)`: the array of which each device has a part of these dims."""
        names = [() if entry is None else (entry,) if isinstance(entry, str) else tuple(entry)
                 for entry in self.whole_spec(len(dims), given)]
        names += [()] * (len(dims) - len(names))
        whole = [dim * int(np.prod([self.axes[name] for name in entry], dtype=int)) for dim, entry in zip(dims, names)]
        words = [f"({', '.join(map(repr, entry))})" if len(entry) > 1 else repr(entry[0]) if entry else "None" for entry in names]
        return f"[{','.join(map(str, whole))}]" + (f" P({', '.join(words)})" if any(names) else "")


@dataclasses.dataclass
class Result:
    """An array that is computed when its values are needed: lowering takes its type alone."""
    shape: Tuple[int, ...]
    dtype: np.dtype
    compute: Callable[[], np.ndarray]

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        return self.compute()


def _is_key(value: Any) -> bool:
    return hasattr(value, "dtype") and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)


def _plain(value: Any) -> Any:
    """An array of NumPy; random keys (`jax.random.key`), which that does not have, stay."""
    return value if _is_key(value) else np.asarray(value)


def _later(compute: Callable[[], Sequence[Any]], types: Sequence[Tuple[Tuple[int, ...], Any]]) -> List[Result]:
    """What a function is going to give, of which these are the types."""
    once = functools.lru_cache(None)(compute)
    return [Result(shape, kind, lambda i=i: _plain(once()[i])) for i, (shape, kind) in enumerate(types)]


def _with_values(value: Any) -> Any:
    return value.compute() if isinstance(value, Result) else value


def _words_of(value: Any) -> np.ndarray:
    """An array of numbers; of random keys those that they consist of."""
    value = _with_values(value)
    return np.asarray(jax.random.key_data(value) if _is_key(value) else value)


def _held(value: Any) -> Any:
    return value if isinstance(value, Result) else _plain(value)


def _stacked(parts: Sequence[Any], axis: int) -> Any:
    arrays = list(map(_with_values, parts))
    return jnp.stack(arrays, axis) if _is_key(arrays[0]) else np.stack(arrays, axis)


def _shape_of_words(shape: Any) -> Any:
    return jax.eval_shape(jax.random.key_data, shape) if _is_key(shape) else shape


@dataclasses.dataclass
class Call:
    """One `pallas_call` of a function: what it was given, and its equation."""
    name: str
    inputs: List[Union[np.ndarray, Result]]  # scalar-prefetch operands, then inputs; of many devices, these are the first dim
    primitive: Any
    params: Dict[str, Any]
    devices: Optional[Devices] = None  # of the shard_map around it
    specs: Sequence[Any] = ()  # then: how operands, results behind them, are parts of arrays; None: that is not known

    def _on_all(self, function: Callable) -> List[np.ndarray]:
        inputs = map(_with_values, self.inputs)
        outs = self.devices.each(function)(*inputs) if self.devices else function(*inputs)
        return [np.asarray(out) for out in outs]

    def _interpreted_by(self, mode: Any) -> List[np.ndarray]:
        params = dict(self.params, interpret=mode)
        return self._on_all(lambda *inputs: self.primitive.bind(*inputs, **params))

    def interpreted(self) -> List[np.ndarray]:
        """The results in JAX's interpret mode for TPUs, or, where what that makes is not valid (of ragged blocks in place, for
        one), in that for any machine, which knows no other devices."""
        try:
            return self._interpreted_by(pltpu.InterpretParams())
        except Exception as error:
            pltpu.reset_tpu_interpret_mode_state()  # JAX keeps it for a look, and the next kernel would begin with it
            if self.devices or "verifier errors" not in str(error):
                raise
        return self._interpreted_by(True)

    def results(self) -> Sequence[Result]:
        """The same, once something reads them."""
        first = (self.devices.count,) if self.devices else ()
        return _later(self.interpreted, [((*first, *aval.shape), aval.dtype) for aval in self.params["out_avals"]])

    def bind(self, *inputs: Any) -> Any:
        """The call again, of other arrays."""
        return self.primitive.bind(*inputs, **self.params)

    @property
    def mesh(self) -> Optional[str]:
        """Of the devices: "x=2,y=4"."""
        return ",".join(f"{name}={extent}" for name, extent in self.devices.axes.items()) if self.devices else None

    def shapes(self) -> List[Any]:
        """Of operands and results, on one device."""
        held = [jax.ShapeDtypeStruct(array.shape[1 if self.devices else 0:], array.dtype) for array in self.inputs]
        return list(map(_shape_of_words, held)) + list(self.params["out_avals"])

    def _spec(self, number: int) -> Any:
        return self.devices.whole_spec(len(self.shapes()[number].shape), self.specs[number])

    def whole_inputs(self) -> List[np.ndarray]:
        """The arrays that all devices hold."""
        if not self.devices:
            return list(map(_words_of, self.inputs))
        return [np.asarray(self.devices.gather(_words_of(held), self._spec(i))) for i, held in enumerate(self.inputs)]

    def whole_results(self, held: Sequence[np.ndarray]) -> List[np.ndarray]:
        """The same of results."""
        if not self.devices:
            return list(held)
        return [np.asarray(self.devices.gather(_with_values(out), self._spec(len(self.inputs) + i)))
                for i, out in enumerate(held)]

    def held_results(self, wholes: Sequence[np.ndarray]) -> List[np.ndarray]:
        """Of arrays what each device holds."""
        if not self.devices:
            return list(wholes)
        return [np.asarray(self.devices.deal(whole, self._spec(len(self.inputs) + i))) for i, whole in enumerate(wholes)]


def _fixed_grid(values: Sequence[Any], params: Dict[str, Any]) -> Tuple[List[Any], Dict[str, Any]]:
    """A grid whose bounds are arguments becomes one of constants: those that this call was given."""
    mapping = params["grid_mapping"]
    bounds = iter(values[:mapping.num_dynamic_grid_bounds])
    inputs = list(values[mapping.num_dynamic_grid_bounds:])
    grid = tuple(dim if isinstance(dim, int) else _one_number(next(bounds)) for dim in mapping.grid)
    return inputs, dict(params, grid_mapping=dataclasses.replace(mapping, grid=grid))


def _one_number(bound: Any) -> int:
    numbers = set(np.ravel(bound).tolist())
    if len(numbers) != 1:
        raise LoweringError(f"a grid that differs from device to device: {sorted(numbers)}")
    return int(numbers.pop())


def _inner(eqn) -> Any:
    return next((eqn.params[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in eqn.params), None)


def _has_kernel(eqn) -> bool:
    return eqn.primitive.name in ("pallas_call", "core_map") or any(
        _has_kernel(inner) for jaxpr in jax.core.jaxprs_in_params(eqn.params) for inner in jaxpr.eqns)


def _has_refs(variables) -> bool:
    return any(isinstance(variable.aval, AbstractRef) for variable in variables)


def _of_arrays(jaxpr, consts) -> Tuple[Any, Sequence[Any]]:
    """Of what reads or writes refs, as kernels do (`pl.kernel`, `core_map`, inside of `run_state`), a jaxpr of arrays, whose
    kernels are `pallas_call`s."""
    if _has_refs(jaxpr.invars) or any(eqn.primitive.name == "core_map" or _has_refs(eqn.invars) for eqn in jaxpr.eqns):
        return discharge_state(jaxpr, consts)
    return jaxpr, consts


class _Evaluation:
    """A jaxpr evaluated equation by equation, so that every kernel is seen with the arrays that it gets."""

    def __init__(self, on_call: Callable[[Call], Sequence[Any]]):
        self.on_call = on_call

    def call(self, eqn, inputs, params) -> Call:
        """A kernel's, for the chip also where it says `interpret=True`."""
        params = dict(params, interpret=False)
        name = params.get("name") or params["jaxpr"].debug_info.func_name
        return Call(name, list(map(_held, inputs)), eqn.primitive, params)

    def bound(self, eqn, values) -> Sequence[Any]:
        """The results of an equation that is no kernel."""
        if eqn.primitive.name == "shard_map":
            return _ShardedEvaluation(self.on_call, eqn).results(values)
        functions, params = eqn.primitive.get_bind_params(eqn.params)
        out = eqn.primitive.bind(*functions, *values, **params)
        return out if eqn.primitive.multiple_results else [out]

    def first_dims(self) -> Tuple[int, ...]:
        """Of everything, before its own."""
        return ()

    def bound_later(self, eqn, values) -> Sequence[Any]:
        """The same, of values that may not be computed yet; then neither are the results."""
        def _compute() -> Sequence[Any]:
            return self.bound(eqn, [_with_values(value) for value in values])
        if eqn.primitive.name == "shard_map" or not any(isinstance(value, Result) for value in values):
            return _compute()
        return _later(_compute, [((*self.first_dims(), *var.aval.shape), var.aval.dtype) for var in eqn.outvars])

    def constant(self, value: Any) -> Any:
        """Of the text."""
        return value

    def equation(self, eqn, values) -> Sequence[Any]:
        """The results of one; a kernel's are those that `on_call` gives."""
        if eqn.primitive.name == "pallas_call":
            return self.on_call(self.call(eqn, *_fixed_grid(values, eqn.params)))
        if eqn.primitive.name in SAME:
            return list(values)
        inner = _inner(eqn)
        if eqn.primitive.name in INLINED and inner is not None:
            closed = hasattr(inner, "consts")
            return self.inlined(eqn, inner.jaxpr if closed else inner, inner.consts if closed else (), values)
        if eqn.primitive.name == "run_state" and _has_kernel(eqn) and all(eqn.params["is_initialized"]):
            return self.jaxpr(inner, (), values)
        control = {"scan": self.scan, "while": self.loop, "cond": self.branch}.get(eqn.primitive.name)
        if control and _has_kernel(eqn):
            return control(eqn.params, list(values), [var.aval for var in eqn.outvars])
        return self.bound_later(eqn, values)

    def closed(self, closed, arguments) -> List[Any]:
        """The results of a function with its constants."""
        return self.jaxpr(closed.jaxpr, closed.consts, arguments)

    def number(self, value) -> int:
        """What decides; on many devices it may differ."""
        if self.first_dims():
            raise LoweringError("a kernel in a while or cond inside of shard_map: devices may go different ways")
        return int(np.asarray(_with_values(value)))

    def scan(self, params, values, avals) -> List[Any]:
        """Step by step: of each row of what is scanned a row of what is stacked."""
        axis, constants, carried = len(self.first_dims()), params["num_consts"], params["num_carry"]
        fixed, state = values[:constants], values[constants:constants + carried]
        scanned = [_plain(_with_values(value)) for value in values[constants + carried:]]
        steps, rows, before = range(params["length"]), [], (slice(None),) * axis
        for step in reversed(steps) if params["reverse"] else steps:
            outs = self.closed(params["jaxpr"], [*fixed, *state, *[array[(*before, step)] for array in scanned]])
            state = outs[:carried]
            rows.append(outs[carried:])
        rows = rows[::-1] if params["reverse"] else rows
        return [*state, *self.stacked(list(zip(*rows)), avals[carried:], axis)]

    def stacked(self, columns, avals, axis) -> List[Any]:
        """What a scan gives of all steps, each of these types."""
        types = [((*self.first_dims(), *aval.shape), aval.dtype) for aval in avals]
        if not columns:
            return list(itertools.starmap(np.zeros, types))
        later = _later(lambda: [_stacked(column, axis) for column in columns], types)
        if any(isinstance(part, Result) for column in columns for part in column):
            return later
        return list(map(_with_values, later))

    def loop(self, params, values, avals) -> List[Any]:
        """While the condition holds."""
        del avals
        first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
        state = values[second:]
        while self.number(self.closed(params["cond_jaxpr"], [*values[:first], *state])[0]):
            state = self.closed(params["body_jaxpr"], [*values[first:second], *state])
        return state

    def branch(self, params, values, avals) -> List[Any]:
        """The one that is chosen."""
        del avals
        branches = params["branches"]
        return self.closed(branches[min(max(self.number(values[0]), 0), len(branches) - 1)], values[1:])

    def inlined(self, eqn, jaxpr, consts, values) -> Sequence[Any]:
        """The results of a function that it calls."""
        del eqn
        return self.jaxpr(jaxpr, consts, values)

    def jaxpr(self, jaxpr, consts, arguments) -> List[Any]:
        """The results of all of them."""
        jaxpr, consts = _of_arrays(jaxpr, consts)
        known = dict(zip(jaxpr.constvars, map(self.constant, consts)))
        known.update(zip(jaxpr.invars, arguments))

        def read(atom):
            """The value of a variable or of a literal."""
            return self.constant(atom.val) if hasattr(atom, "val") else known[atom]

        for eqn in jaxpr.eqns:
            outs = self.equation(eqn, [read(atom) for atom in eqn.invars])
            known.update(zip(eqn.outvars, outs))
        return [read(atom) for atom in jaxpr.outvars]


class _ShardedEvaluation(_Evaluation):
    """What is inside of a `shard_map`: every equation on all devices, before the next."""

    def __init__(self, on_call: Callable[[Call], Sequence[Any]], eqn: Any):
        super().__init__(on_call)
        self.devices, self.body, self.params = Devices(eqn.params["mesh"]), eqn.params["jaxpr"], eqn.params
        self.specs = {id(var): spec for names, variables in (("in_specs", self.body.invars), ("out_specs", self.body.outvars))
                      for var, spec in zip(variables, eqn.params[names])}
        self.types = [(var.aval.shape, var.aval.dtype) for var in eqn.outvars]

    def results(self, values) -> List[Any]:
        """Of the whole arrays, as whole arrays."""
        held = [self.devices.deal(value, spec) for value, spec in zip(values, self.params["in_specs"])]
        outs = self.jaxpr(self.body, (), held)
        specs = self.params["out_specs"]
        if not any(isinstance(out, Result) for out in outs):
            return [self.devices.gather(out, spec) for out, spec in zip(outs, specs)]
        return _later(lambda: [self.devices.gather(_with_values(out), spec) for out, spec in zip(outs, specs)], self.types)

    def first_dims(self) -> Tuple[int, ...]:
        """The devices."""
        return (self.devices.count,)

    def constant(self, value: Any) -> Any:
        """Of the text: the same on each device."""
        return self.devices.spread(value)

    def inlined(self, eqn, jaxpr, consts, values) -> Sequence[Any]:
        """The results of a function that it calls, whose values have the specs of those outside."""
        for outer, inner in (*zip(eqn.invars, jaxpr.invars), *zip(eqn.outvars, jaxpr.outvars)):
            if id(outer) in self.specs:
                self.specs[id(inner)] = self.specs[id(outer)]
        return self.jaxpr(jaxpr, consts, values)

    def call(self, eqn, inputs, params) -> Call:
        """A kernel's, with its devices and the specs of its operands."""
        call = super().call(eqn, inputs, params)
        call.devices = self.devices
        operands = list(eqn.invars)[len(eqn.invars) - len(inputs):]
        call.specs = [self.specs.get(id(var)) for var in (*operands, *eqn.outvars)]
        return call

    def bound(self, eqn, values) -> Sequence[Any]:
        """The results of an equation, device by device."""
        return self.devices.each(lambda *held: _Evaluation.bound(self, eqn, held))(*values)


@dataclasses.dataclass(frozen=True)
class Chips:
    """For what a function is lowered: Mosaic's generation, and the axes of the mesh around it."""
    generation: int
    axes: Dict[str, int] = dataclasses.field(default_factory=dict)


def on_host(chips: Chips) -> Chips:
    """Asks JAX for as many devices of the host, if it is to have fewer; where it has begun already, it has those that it has."""
    count = int(np.prod(list(chips.axes.values()), dtype=int))
    try:
        if chips.axes and jax.config.jax_num_cpu_devices < count:
            jax.config.update("jax_num_cpu_devices", count)
    except RuntimeError:
        pass
    return chips


def _abstract_mesh(chips: Chips) -> Any:
    device = jax.sharding.AbstractDevice(device_kind=DEVICE_KINDS[chips.generation], num_cores=1)
    return jax.sharding.AbstractMesh(tuple(chips.axes.values()), tuple(chips.axes), abstract_device=device)


class _Chip:
    """A device of the host that says it is a chip: kernels ask for its kind, to choose their blocks or whether to run at all."""
    num_cores, core_on_chip = 1, 0

    def __init__(self, device: Any, kind: str, alone: bool):
        self._device, self.device_kind, self.coords = device, kind, (device.id, 0, 0)
        self.platform = "tpu" if alone else device.platform  # JAX lays several out as they lie in the torus

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)


@contextlib.contextmanager
def as_chips(generation: int) -> Iterator[None]:
    """While a kernel is read or traced: `jax.devices()` and `jax.default_backend()` tell of TPUs, as many as the host has."""
    kept = jax.devices, jax.local_devices, jax.default_backend

    def devices(backend: Optional[str] = None) -> List[Any]:
        """Those of another backend are as they are."""
        if backend not in (None, "tpu"):
            return kept[0](backend)
        hosts = kept[0]("cpu")
        return [_Chip(host, DEVICE_KINDS[generation], len(hosts) == 1) for host in hosts]
    try:
        jax.devices, jax.local_devices = devices, lambda process_index=None, backend=None, host_id=None: devices(backend)
        jax.default_backend = lambda: "tpu"
        yield
    finally:
        jax.devices, jax.local_devices, jax.default_backend = kept


@contextlib.contextmanager
def _on_chip(chips: Chips) -> Iterator[None]:
    """While tracing and lowering: what asks for the device is told of a TPU, and `shard_map` of the mesh."""
    with as_chips(chips.generation), jax.sharding.use_abstract_mesh(_abstract_mesh(chips)):
        yield


def _no_values() -> np.ndarray:
    raise TypeError("an argument is a shape, of which values are asked for: expected an array (lower and choose take shapes)")


def _as_traced(value: Any, aval: Any) -> Any:
    """JAX makes numbers of 64 bits those of 32, and so it traced the function; a shape alone has no values."""
    if isinstance(value, jax.ShapeDtypeStruct):
        return Result(aval.shape, aval.dtype, _no_values)
    return np.asarray(value, aval.dtype) if isinstance(value, (np.ndarray, np.generic, bool, int, float, complex)) else value


def evaluate(function: Callable, arrays: Sequence[Any], chips: Chips, on_call: Callable[[Call], Sequence[Any]]) -> List[Any]:
    """The function's results, where each kernel's are what `on_call` gives."""
    with _on_chip(chips):
        closed = jax.make_jaxpr(function)(*arrays)
    flat = map(_as_traced, jax.tree_util.tree_leaves(tuple(arrays)), closed.in_avals)
    return _Evaluation(on_call).jaxpr(closed.jaxpr, closed.consts, list(flat))


def calls(function: Callable, chips: Chips, *arrays: Any) -> List[Tuple[Call, Sequence[Any]]]:
    """Every kernel that the function runs, in order, with the results that interpret mode gives when they are read."""
    found: List[Tuple[Call, Sequence[Any]]] = []

    def on_call(call: Call) -> Sequence[Any]:
        """Keeps it with its results."""
        found.append((call, call.results()))
        return found[-1][1]

    evaluate(function, arrays, chips, on_call)
    return found


def _bodies(module) -> List[bytes]:
    """The serialised Mosaic modules of a StableHLO module."""
    found: List[bytes] = []

    def visit(op):
        """Keeps the module of a kernel's call."""
        if op.name == "stablehlo.custom_call" and ir.StringAttr(
                op.attributes["call_target_name"]).value == "tpu_custom_call":
            config = json.loads(ir.StringAttr(op.attributes["backend_config"]).value)
            found.append(base64.b64decode(config["custom_call_config"]["body"]))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def passes(generation: int) -> List[str]:
    """Mosaic's passes from its input to vreg level; MXU sizes and scratch as jax 0.6.0 gives them."""
    shape = f"hardware-generation={generation} sublane-count=8 lane-count=128"
    mxu = 128 if generation < 6 else 256
    return [
        f"func.func(tpu-infer-memref-layout{{{shape}}})", "canonicalize", "cse",
        f"func.func(tpu-canonicalize-mosaic{{hardware-generation={generation} compatibility-mode=true}})",
        "canonicalize", "cse",  # as libtpu does: parts of constants, which matrices in batches make, end the process below
        f"func.func(tpu-infer-vector-layout{{{shape}}})",
        f"func.func(tpu-relayout-insertion{{{shape}}})",
        f"func.func(tpu-apply-vector-layout{{{shape} mxu-contracting-size={mxu} mxu-noncontracting-size={mxu}"
        " max-sublanes-in-scratch=72})", "canonicalize{top-down=false}", "cse",  # from the top: quadratic in unrolled vregs
    ]


LARGE_TILES = {8: 32, 4: 64, 2: 128}  # rows, by bits: arrays whose rows they divide, on all chips (dumps of libtpu 0.0.42)


def _tile_arguments(module) -> None:
    """Arguments of few bits get the tiles that XLA gives such arrays, which the passes are told by libtpu."""
    i32 = ir.IntegerType.get_signless(32)
    main = next(op for op in module.body.operations if ir.StringAttr(op.attributes["sym_name"]).value == "main")
    sizes = []
    for argument in main.regions[0].blocks[0].arguments:
        rows = 0
        if isinstance(argument.type, ir.MemRefType) and argument.type.rank > 1:
            rows = LARGE_TILES.get(getattr(argument.type.element_type, "width", 0), 0)
        sizes.append(rows if rows > 0 and argument.type.shape[-2] % rows == 0 else 0)
    if any(sizes):
        main.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [ir.DictAttr.get({"leading_tile_rows": ir.IntegerAttr.get(i32, rows)} if rows else {}) for rows in sizes])


def _words(error: ir.MLIRError) -> str:
    """Each error with the innermost line of Python, of its many, and without the operation's text."""
    lines = []
    for said in error.error_diagnostics:
        place = re.search(r'"([^"\n]+)":(\d+):', str(said.location))
        lines.append((f"{place[1]}:{place[2]}: " if place else "") + said.message)
    return "\n".join(lines) or str(error)


def _run_pass(module, name: str) -> None:
    try:
        PassManager.parse(f"builtin.module({name})").run(module.operation)
    except ir.MLIRError as error:
        raise LoweringError(f"{name.split('{')[0].replace('func.func(', '')}: {_words(error)}") from error


def _tensor(array) -> str:
    """An operand's type: Mosaic's own integers have no sign, the arrays of a user have; booleans are 32 bits."""
    dtype = np.dtype(array.dtype)
    element = mlir.dtype_to_ir_type(np.dtype(np.int32) if dtype == np.bool_ else dtype)
    text = re.sub(r"^si", "i", str(element))
    return "tensor<" + "".join(f"{dim}x" for dim in array.shape) + text + ">"


def _annotate(module, types: Sequence[str], results: int, generation: int, more: Dict[str, Any]) -> None:
    """What the module does not say of itself: its whole operands, in the order of main; optionally aliases and fills."""
    attributes = module.operation.attributes
    i64 = ir.IntegerType.get_signless(64)
    attributes["tilesim.operands"] = ir.Attribute.parse("[" + ", ".join(types) + "]")
    attributes["tilesim.results"] = ir.IntegerAttr.get(i64, results)
    if more.get("aliases"):
        attributes["tilesim.aliases"] = ir.DenseI64ArrayAttr.get([end for pair in more["aliases"] for end in pair])
    if more.get("mesh"):
        attributes["tilesim.mesh"] = ir.StringAttr.get(more["mesh"])
        attributes["tilesim.arrays"] = ir.ArrayAttr.get([ir.StringAttr.get(array) for array in more["arrays"]])
    if more.get("fills"):
        attributes["tilesim.fills"] = ir.ArrayAttr.get([ir.StringAttr.get(fill) for fill in more["fills"]])
    if "stable_mosaic.version" in attributes:
        del attributes["stable_mosaic.version"]
    attributes["tilesim.generation"] = ir.IntegerAttr.get(i64, generation)


_PLACE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')


def _short(path: str, root: str) -> str:
    relative = os.path.relpath(path, root)
    return path if relative.startswith("..") else relative


def plain_locations(text: str, root: Optional[str] = None) -> str:
    """Locations as `loc("file.py":line:column)` of the innermost Python frame, each once; paths relative to `root`."""
    aliases: Dict[str, str] = dict(re.findall(r"^#(loc\d*) = loc\((.*)\)$", text, re.M))
    root = root or os.getcwd()

    def place(body: str, depth: int = 0) -> str:
        """The innermost of a location's frames."""
        here = _PLACE.search(body)
        inner = re.search(r"#(loc\d*)", body)
        if here and (not inner or here.start() < inner.start()):
            return f'"{_short(here[1], root)}":{here[2]}:{here[3]}'
        return place(aliases[inner[1]], depth + 1) if inner and depth < 64 else "unknown"

    names: Dict[str, str] = {}
    chosen = {name: names.setdefault(place(body), f"loc{len(names)}") for name, body in aliases.items()}
    lines = [line for line in text.splitlines() if not re.match(r"#loc\d* = ", line)]
    body = re.sub(r"loc\(#(loc\d*)\)", lambda found: f"loc(#{chosen[found[1]]})", "\n".join(lines))
    used = set(re.findall(r"loc\(#(loc\d+)\)", body))
    return body.strip() + "\n" + "".join(f"#{name} = loc({where})\n" for where, name in names.items() if name in used)


def _parsed(text: Union[bytes, str]):
    """A module, in a context of its own that knows Mosaic's ops."""
    context = mlir.make_ir_context()
    tpu.register_dialect(context)
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        return ir.Module.parse(text)


def _printed(module, root: Optional[str]) -> str:
    return plain_locations(module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True), root)


def _lowered(call: Call, generation: int) -> Any:
    """As StableHLO, with the kernel in it; of many devices as `shard_map` has it."""
    chips = Chips(generation, call.devices.axes if call.devices else {})
    structs = [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in call.inputs]
    with _on_chip(chips):
        function = call.devices.each(call.bind, _abstract_mesh(chips)) if call.devices else jax.jit(call.bind)
        try:
            return function.trace(*structs).lower(lowering_platforms=("tpu",)).compiler_ir()
        except ir.MLIRError as error:
            raise LoweringError(f"'{call.name}': {_words(error)}") from error


def _body(call: Call, generation: int) -> bytes:
    """The serialised Mosaic module of a kernel, of those that can be one alone."""
    if any(jax.dtypes.issubdtype(shape.dtype, semaphore_dtype) for shape in call.shapes()):
        raise LoweringError(f"'{call.name}' is given a semaphore, or gives one: a copy that one kernel starts and another awaits "
                            "is not modelled, start it and wait for it in the same kernel")
    bodies = _bodies(_lowered(call, generation))
    if not bodies:
        raise LoweringError(f"'{call.name}' gives nothing, and JAX leaves out what gives nothing: expected an out_shape")
    return bodies[0]


def lower(call: Call, generation: int, root: Optional[str] = None, fills: Sequence[str] = ()) -> str:
    """The kernel as generic MLIR at vreg level, with attributes that say what its operands are and what fills them."""
    body = _body(call, generation)
    module = _parsed(body)
    more: Dict[str, Any] = {"aliases": call.params["input_output_aliases"], "fills": fills}
    if call.devices:
        more["mesh"] = call.mesh
        more["arrays"] = [call.devices.notation(shape.shape, spec) for shape, spec in zip(call.shapes(), call.specs)]
    with module.context, ir.Location.unknown():
        _run_pass(module, "mosaic-serde{serialize=false}")
        _tile_arguments(module)
        for name in passes(generation):
            _run_pass(module, name)
        _annotate(module, [_tensor(shape) for shape in call.shapes()], len(call.params["out_avals"]), generation, more)
    return _printed(module, root)


OF_KERNELS = ("window_params", "iteration_bounds", "scalar_prefetch")  # attributes; one without a grid has the last alone
DUMPS = "post-apply-vector-layout-simplify"  # the pass of --xla_mosaic_dump_to whose module is at vreg level


# Ops of newer releases, which the dialect of this one does not read as they print them: they pass through it by another name.
_NEWER = re.compile(r"^(\s*%\w+ = )tpu\.(pack_vmsk|uitofp|fptoui) ([%\w#, ]+) (\{[^\n]*\} )?: ([^\n]*?) -> (\S+)", re.MULTILINE)


# libtpu 0.0.52 has other names, says of a memory whose it is, and of a reduction of which kind of numbers.
_RENAMED = ((r"(?<![\w.])xir\.", "tpu."), (r"(#tpu\.memory_space<\w+), \w+>", r"\1>"),
            (r"\btpu\.enqueue_transfer\b", "tpu.enqueue_dma"), (r"(#tpu\.reduction_kind<m\w\w)(f|si)>", r"\1>"))


def _dump(text: str) -> Any:
    for newer, older in _RENAMED:
        text = re.sub(newer, older, text)
    return _parsed(_NEWER.sub(r'\1"newer.\2"(\3) \4: (\5) -> \6', text))


def _unread(path: str, text: str, error: ir.MLIRError) -> str:
    """Which line of a dump the dialect of this release does not read, and why."""
    place = re.search(r'error: "-":(\d+):\d+: (.*)', str(error))
    if not place:
        return f"{path}: {error}"
    line = text.splitlines()[int(place[1]) - 1].strip()
    return f"{path}:{place[1]}: {place[2]}: jaxlib {PINNED} does not read this line:\n{line[:160]}{' ..' * (len(line) > 160)}"


def from_dump(path: str, types: Sequence[str], results: int, generation: int) -> str:
    """What a compiler wrote with --xla_mosaic_dump_to, in generic form; `types` are its whole operands, results last.

    Its places are lines of the dump: dumps have none of Python.
    """
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        module = _dump(text)
    except ir.MLIRError as error:
        raise LoweringError(_unread(path, text, error)) from error
    with module.context, ir.Location.unknown():
        _annotate(module, types, results, generation, {})
        main = next((op for op in module.body.operations if any(name in op.attributes for name in OF_KERNELS)), None)
        if main is None:
            raise LoweringError(f"{path}: no function of it is a kernel, with one of {', '.join(OF_KERNELS)}")
        main.attributes["sym_name"] = ir.StringAttr.get("main")
    return _printed(module, None).replace('loc("-":', f'loc("{path}":').replace('"newer.', '"tpu.')
