"""Pallas kernels traced by JAX and lowered to MLIR at vreg level by Mosaic's open passes, on a CPU (jaxlib 0.8.1)."""
from __future__ import annotations

import base64
import dataclasses
import json
import os
import re
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import jax
import numpy as np
from jax._src.interpreters import mlir
from jax._src.lib import tpu
from jax.experimental.pallas import tpu as pltpu
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

PINNED = "0.8.1"  # the last jaxlib with the layout passes inside
DEVICE_KINDS = {4: "TPU v4", 5: "TPU v5e", 6: "TPU v6e", 7: "TPU7x"}  # as JAX names them
INLINED = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat", "checkpoint")


class LoweringError(Exception):
    """A kernel that JAX or a pass of Mosaic refuses: with the pass and its words."""


@dataclasses.dataclass
class Call:
    """One `pallas_call` of a function: what it was given, and its equation."""
    name: str
    inputs: List[np.ndarray]  # scalar-prefetch operands, then inputs
    primitive: Any
    params: Dict[str, Any]

    def interpreted(self) -> List[np.ndarray]:
        """The results in JAX's interpret mode for TPUs."""
        params = dict(self.params, interpret=pltpu.InterpretParams())
        return [np.asarray(out) for out in self.primitive.bind(*self.inputs, **params)]

    def bind(self, *inputs: Any) -> Any:
        """The call again, of other arrays."""
        return self.primitive.bind(*inputs, **self.params)


def _fixed_grid(values: Sequence[Any], params: Dict[str, Any]) -> Tuple[List[Any], Dict[str, Any]]:
    """A grid whose bounds are arguments becomes one of constants: those that this call was given."""
    mapping = params["grid_mapping"]
    bounds = iter(values[:mapping.num_dynamic_grid_bounds])
    inputs = list(values[mapping.num_dynamic_grid_bounds:])
    grid = tuple(dim if isinstance(dim, int) else int(next(bounds)) for dim in mapping.grid)
    return inputs, dict(params, grid_mapping=dataclasses.replace(mapping, grid=grid))


def _inner(eqn) -> Any:
    return next((eqn.params[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in eqn.params), None)


class _Evaluation:
    """A jaxpr evaluated equation by equation, so that every kernel is seen with the arrays that it gets."""

    def __init__(self, on_call: Callable[[Call], Sequence[Any]]):
        self.on_call = on_call

    def equation(self, eqn, values) -> Sequence[Any]:
        """The results of one; a kernel's are those that `on_call` gives."""
        if eqn.primitive.name == "pallas_call":
            inputs, params = _fixed_grid(values, eqn.params)
            name = params.get("name") or params["jaxpr"].debug_info.func_name
            call = Call(name, [np.asarray(value) for value in inputs], eqn.primitive, params)
            return self.on_call(call)
        inner = _inner(eqn)
        if eqn.primitive.name in INLINED and inner is not None:
            closed = hasattr(inner, "consts")
            return self.jaxpr(inner.jaxpr if closed else inner, inner.consts if closed else (), values)
        functions, params = eqn.primitive.get_bind_params(eqn.params)
        out = eqn.primitive.bind(*functions, *values, **params)
        return out if eqn.primitive.multiple_results else [out]

    def jaxpr(self, jaxpr, consts, arguments) -> List[Any]:
        """The results of all of them."""
        known = dict(zip(jaxpr.constvars, consts))
        known.update(zip(jaxpr.invars, arguments))

        def read(atom):
            """The value of a variable or of a literal."""
            return atom.val if hasattr(atom, "val") else known[atom]

        for eqn in jaxpr.eqns:
            outs = self.equation(eqn, [read(atom) for atom in eqn.invars])
            known.update(zip(eqn.outvars, outs))
        return [read(atom) for atom in jaxpr.outvars]


def _on_chip(generation: int):
    """While tracing and lowering: what asks for the device is told of a TPU."""
    device = jax.sharding.AbstractDevice(device_kind=DEVICE_KINDS[generation], num_cores=1)
    return jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), (), abstract_device=device))


def evaluate(function: Callable, arrays: Sequence[Any], generation: int,
             on_call: Callable[[Call], Sequence[Any]]) -> List[Any]:
    """The function's results, where each kernel's are what `on_call` gives."""
    with _on_chip(generation):
        closed = jax.make_jaxpr(function)(*arrays)
    flat = jax.tree_util.tree_leaves(tuple(arrays))
    return _Evaluation(on_call).jaxpr(closed.jaxpr, closed.consts, flat)


def calls(function: Callable, generation: int, *arrays: Any) -> List[Tuple[Call, List[np.ndarray]]]:
    """Every kernel that the function runs, in order, with the results that interpret mode gives."""
    found: List[Tuple[Call, List[np.ndarray]]] = []

    def on_call(call: Call) -> List[np.ndarray]:
        """Keeps it with its results."""
        found.append((call, call.interpreted()))
        return found[-1][1]

    evaluate(function, arrays, generation, on_call)
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
        f"func.func(tpu-infer-vector-layout{{{shape}}})",
        f"func.func(tpu-relayout-insertion{{{shape}}})",
        f"func.func(tpu-apply-vector-layout{{{shape} mxu-contracting-size={mxu} mxu-noncontracting-size={mxu}"
        " max-sublanes-in-scratch=72})", "canonicalize", "cse",
    ]


LARGE_TILES = {8: 32, 4: 64}  # rows, by bits: arrays whose rows they divide, on all chips (dumps of libtpu 0.0.42)


def _tile_arguments(module) -> None:
    """Arguments of few bits get the tiles that XLA gives such arrays, which the passes are told by libtpu."""
    i32 = ir.IntegerType.get_signless(32)
    main = next(op for op in module.body.operations if ir.StringAttr(op.attributes["sym_name"]).value == "main")
    attributes = []
    for argument in main.regions[0].blocks[0].arguments:
        rows = 0
        if isinstance(argument.type, ir.MemRefType) and argument.type.rank > 1:
            rows = LARGE_TILES.get(getattr(argument.type.element_type, "width", 0), 0)
        tiled = rows > 0 and argument.type.shape[-2] % rows == 0
        attributes.append(ir.DictAttr.get({"leading_tile_rows": ir.IntegerAttr.get(i32, rows)} if tiled else {}))
    main.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)


def _run_pass(module, name: str) -> None:
    try:
        PassManager.parse(f"builtin.module({name})").run(module.operation)
    except ir.MLIRError as error:
        raise LoweringError(f"{name.split('{')[0].replace('func.func(', '')}: {error}") from error


def _tensor(array) -> str:
    """An operand's type as Mosaic sees it: integers without sign, booleans as 32 bits."""
    dtype = np.dtype(array.dtype)
    element = mlir.dtype_to_ir_type(np.dtype(np.int32) if dtype == np.bool_ else dtype)
    text = re.sub(r"^u?s?i(?=\d)|^ui", "i", str(element))
    return "tensor<" + "".join(f"{dim}x" for dim in array.shape) + text + ">"


def _annotate(module, types: Sequence[str], results: int, generation: int, more: Dict[str, Any]) -> None:
    """What the module does not say of itself: its whole operands, in the order of main; optionally aliases and fills."""
    attributes = module.operation.attributes
    i64 = ir.IntegerType.get_signless(64)
    attributes["tilesim.operands"] = ir.Attribute.parse("[" + ", ".join(types) + "]")
    attributes["tilesim.results"] = ir.IntegerAttr.get(i64, results)
    if more.get("aliases"):
        attributes["tilesim.aliases"] = ir.DenseI64ArrayAttr.get([end for pair in more["aliases"] for end in pair])
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


def lower(call: Call, generation: int, root: Optional[str] = None, fills: Sequence[str] = ()) -> str:
    """The kernel as generic MLIR at vreg level, with attributes that say what its operands are and what fills them."""
    structs = [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in call.inputs]
    with _on_chip(generation):
        lowered = jax.jit(call.bind).trace(*structs).lower(lowering_platforms=("tpu",)).compiler_ir()
    body, = _bodies(lowered)
    module = _parsed(body)
    with module.context, ir.Location.unknown():
        _run_pass(module, "mosaic-serde{serialize=false}")
        _tile_arguments(module)
        for name in passes(generation):
            _run_pass(module, name)
        outs = call.params["out_avals"]
        types = [_tensor(array) for array in (*call.inputs, *outs)]
        _annotate(module, types, len(outs), generation, {"aliases": call.params["input_output_aliases"], "fills": fills})
    return _printed(module, root)


DUMPS = "post-apply-vector-layout-simplify"  # the pass of --xla_mosaic_dump_to whose module is at vreg level


def from_dump(path: str, types: Sequence[str], results: int, generation: int) -> str:
    """What a compiler wrote with --xla_mosaic_dump_to, in generic form; `types` are its whole operands, results last.

    Its places are lines of the dump: dumps have none of Python.
    """
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        module = _parsed(text)
    except ir.MLIRError as error:
        raise LoweringError(f"{path}: {error}") from error
    with module.context, ir.Location.unknown():
        _annotate(module, types, results, generation, {})
        main = next(op for op in module.body.operations
                    if "window_params" in op.attributes or "iteration_bounds" in op.attributes)
        main.attributes["sym_name"] = ir.StringAttr.get("main")
    return _printed(module, None).replace('loc("-":', f'loc("{path}":')
