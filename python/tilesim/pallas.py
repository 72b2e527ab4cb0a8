"""Pallas kernels as they are: traced and lowered by JAX on a CPU, run on a machine, compared with JAX's interpret mode.

usage: python3 -m tilesim.pallas FILE.py:FUNCTION [-m MACHINE] [--mesh AXES] [-i NAME=OPERAND].. [-o FILE.mlir] [--no-compare]
       python3 -m tilesim.pallas FILE.py:FUNCTION --block bm=128,256 --block bk=128,256 [-m MACHINE] [-j N]
       python3 -m tilesim.pallas --from-dump FILE --operands TYPE.. --results N [-m MACHINE] -o FILE.mlir

Needs jax and jaxlib 0.8.1, the last with Mosaic's layout passes; text that was written runs without (`tilesim run FILE.mlir`).
"""
from __future__ import annotations

import argparse
import functools
import importlib.util
import inspect
import itertools
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _fills
from .arrays import dtype
from .errors import Error, UnmodelledError
from .machine import DEFAULT, Machine, as_machine
from .runs import Run
from .runs import run as run_text
from .sweeps import sweep

GENERATIONS = {"tpu-v4": 4, "tpu-v4i": 4, "tpu-v5e": 5, "tpu-v5p": 5, "tpu-v6e": 6, "tpu-v7x": 7}
INSTALL = ("python3 -m venv build/venv-pallas && "
           "build/venv-pallas/bin/pip install jax==0.8.1 jaxlib==0.8.1 numpy cffi")
NO_KERNEL = "it calls no pallas_call"
# How far a value may be from interpret mode's, as a share of the largest: a few roundings of the type, or one to bf16.
# Of 8 bits it is a step: JAX on a CPU rounds to them by way of 16 bits.
NEAR = {"bfloat16": 2.0 ** -6, "float16": 2.0 ** -9, "float32": 2.0 ** -8,
        "float8_e4m3fn": 2.0 ** -3, "float8_e4m3b11fnuz": 2.0 ** -3, "float8_e5m2": 2.0 ** -2}
# f32 products state no precision unless asked to: both operands may then be rounded to bf16, by a share of 2^-8 each.
NEAR_PRODUCTS = {**NEAR, "float32": 2.0 ** -7}
_F32_PRODUCT = re.compile(r'"tpu\.matmul"(?!.*contract_precision<fp32>).*: \(vector<[0-9x]*f32>')


def _lowering():
    try:
        from . import _mosaic
    except ImportError as error:
        raise ImportError(f"{error}: Pallas kernels are lowered by jax and jaxlib 0.8.1:\n    {INSTALL}") from error
    if _mosaic.jax.__version__ != _mosaic.PINNED:
        raise ImportError(f"jax is {_mosaic.jax.__version__}; {_mosaic.PINNED} is the last with Mosaic's layout passes:"
                          f"\n    {INSTALL}")
    return _mosaic


def generation(machine: Union[str, Machine]) -> int:
    """Mosaic's number of the chip that a machine is; of a machine that is none of them, an error."""
    name = machine.name if isinstance(machine, Machine) else os.fspath(machine)
    stem = Path(name).stem
    if stem not in GENERATIONS:
        raise ValueError(f"Mosaic has no generation of '{name}': expected one of {', '.join(GENERATIONS)}")
    return GENERATIONS[stem]


class InterpretError(Exception):
    """What JAX's interpret mode says of a kernel that it does not run."""


class Difference:
    """How far a result is from what interpret mode computes."""

    def __init__(self, result: np.ndarray, expected: np.ndarray, near: Mapping[str, float] = NEAR):
        self.type, self.shape = str(expected.dtype), expected.shape
        with np.errstate(invalid="ignore"):  # of signalling NaNs, and of what is infinite on both sides
            wide = [np.asarray(array).astype(np.float64) for array in (result, expected)]
            same = (wide[0] == wide[1]) | (np.isnan(wide[0]) & np.isnan(wide[1]))
            apart = np.where(same, 0.0, np.abs(wide[0] - wide[1]))
        self.equal, self.count = int(same.sum()), same.size
        self.largest = float(np.nan_to_num(apart, nan=np.inf).max(initial=0.0))
        scale = float(np.abs(wide[1][np.isfinite(wide[1])]).max(initial=0.0))
        self.allowed = near.get(self.type, 0.0) * scale
        self.passed = self.largest <= self.allowed

    def __str__(self) -> str:
        verdict = "ok" if self.passed else "FAILED"
        dims = ",".join(map(str, self.shape))
        return (f"{self.type}[{dims}]: {self.equal:,} of {self.count:,} values equal, largest difference {self.largest:.3g} "
                f"(allowed {self.allowed:.3g}): {verdict}")


class Kernel:
    """One kernel of a function, run: its text, what the machine did, and how its results compare."""

    def __init__(self, call: Any, text: str, run: Run):
        self.name: str = call.name
        self.text = text  #: MLIR at vreg level: what `tilesim run` takes
        self.run = run
        self.differences: List[Difference] = []  #: one a result; none where it was not compared

    @property
    def random(self) -> bool:
        """Whether it draws the chip's random bits, for which others stand in: its values are compared with none."""
        return '"tpu.prng_random_bits"' in self.text

    @property
    def near(self) -> Mapping[str, float]:
        """How far its results may be from interpret mode's, by type."""
        return NEAR_PRODUCTS if _F32_PRODUCT.search(self.text) else NEAR

    @property
    def passed(self) -> bool:
        """Whether the run's checks and the comparisons passed."""
        return self.run.passed and all(difference.passed for difference in self.differences)


class PallasRun:
    """What :func:`run` found: the function's results, and its kernels in order."""

    def __init__(self, outputs: Sequence[Any], kernels: List[Kernel]):
        self._outputs, self.kernels = outputs, kernels
        self.cycles: int = sum(kernel.run.cycles for kernel in kernels)
        self.microseconds: float = sum(kernel.run.microseconds for kernel in kernels)
        self.passed: bool = all(kernel.passed for kernel in kernels)

    @property
    def outputs(self) -> List[np.ndarray]:
        """The function's results; without values (`time_only`), those of interpret mode."""
        return [np.asarray(output) for output in self._outputs]

    def __repr__(self) -> str:
        count = len(self.kernels)
        return f"<PallasRun {count} kernel{'s' * (count != 1)}, {self.cycles} cycles, {'passed' if self.passed else 'failed'}>"


def _text_path(folder: str, name: str) -> Path:
    """Of a kernel's text: its name may be anything (`pallas_call(name="attention/forward")`)."""
    return Path(folder, re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)[:100] + ".mlir")


def _simulated(call: Any, text: str, machine: Union[str, Machine], options: Dict[str, Any]) -> Tuple[Run, List[np.ndarray]]:
    """The run of a text, and its results in order; they lie behind the inputs among the operands."""
    inputs = {str(i): array.astype(np.int32) if array.dtype == np.bool_ else array  # as Mosaic has booleans
              for i, array in enumerate(call.whole_inputs())}
    with tempfile.TemporaryDirectory() as folder:
        path = _text_path(folder, call.name)
        path.write_text(text)
        found = run_text(path, inputs, machine, mesh=call.mesh, **options)
    outs = call.params["out_avals"]
    results = [found.outputs[str(len(call.inputs) + i)] for i in range(len(outs))] if found.outputs else []
    return found, call.held_results([np.asarray(array).view(aval.dtype) if array.dtype.kind == "V"
                                     else np.asarray(array).astype(aval.dtype) for array, aval in zip(results, outs)])


def _interpreted(call: Any) -> List[np.ndarray]:
    try:
        return call.interpreted()
    except Exception as error:  # whatever JAX does not know there
        words = (str(error).strip().splitlines() or [repr(error)])[-1]
        raise InterpretError(f"'{call.name}' ran, but not in interpret mode, with which its values are compared: {words}\n"
                             "compare=False (--no-compare) runs it without that") from error


def _axes(mesh: Optional[str]) -> Dict[str, int]:
    """Of "4x4" and "data=2,model=8"."""
    words = (mesh or "").split("," if "=" in (mesh or "") else "x")
    try:
        named = enumerate(word.rpartition("=") for word in words if word)
        axes = {name or "xyzw"[i]: int(extent) for i, (name, _, extent) in named}
        if any(extent < 1 for extent in axes.values()):
            raise ValueError
    except (ValueError, IndexError):
        raise ValueError(f"mesh '{mesh}': expected such as '4x4' or 'data=2,model=8'") from None
    return axes


def _chips(mosaic: Any, machine: Union[str, Machine], mesh: Optional[str]) -> Any:
    """What a function is lowered for. JAX gets as many devices of the host, if it has not begun."""
    return mosaic.on_host(mosaic.Chips(generation(machine), _axes(mesh)))


def run(kernel: Callable, *arrays: Any, machine: Union[str, Machine] = DEFAULT, mesh: Optional[str] = None, compare: bool = True,
        **options: Any) -> PallasRun:
    """Runs every `pallas_call` of a function of arrays on a machine; what is around them JAX evaluates.

    `mesh`: "4x4" (axes x and y) or "data=2,model=8": what `jax.shard_map` in the function is over, where it names no mesh itself.
    `compare`: each kernel's results with those of interpret mode, of the same inputs. `options` are those of :func:`tilesim.run`.
    """
    mosaic = _lowering()
    kernels: List[Kernel] = []
    chips = _chips(mosaic, machine, mesh)

    def on_call(call: Any) -> Any:
        """Runs it, and gives its results to the caller."""
        text = mosaic.lower(call, chips.generation)
        found, results = _simulated(call, text, machine, options)
        ran = Kernel(call, text, found)
        expected = _interpreted(call) if compare and results and not ran.random else []
        ran.differences = [Difference(*pair, ran.near) for pair in zip(results, expected)]
        kernels.append(ran)
        return results or call.results()

    return PallasRun(mosaic.evaluate(kernel, arrays, chips, on_call), kernels)


def lower(kernel: Callable, *arrays: Any, machine: Union[str, Machine] = DEFAULT, mesh: Optional[str] = None) -> List[str]:
    """The text of every `pallas_call` of a function, at vreg level, for a machine's generation (and a mesh, as :func:`run`).

    Arrays may be `jax.ShapeDtypeStruct`: shapes and types alone matter.
    """
    mosaic = _lowering()
    chips = _chips(mosaic, machine, mesh)
    return [mosaic.lower(call, chips.generation) for call, _ in mosaic.calls(kernel, chips, *arrays)]


# ---- Block sizes ----

class Block(NamedTuple):
    """Block sizes of a kernel, and what a machine takes with them."""

    sizes: Dict[str, Any]
    microseconds: Optional[float]  #: None: it does not fit, is refused, or is not lowered
    cycles: Optional[int]
    hbm_joules: Optional[float]
    error: str  #: why there is no time; "" where there is one
    estimated: bool = False  #: not every access of all kernels was simulated


def _points(kernel: Callable, arrays: Sequence[Any], blocks: Mapping[str, Sequence[Any]], machine: Union[str, Machine],
            folder: str) -> Tuple[List[Dict[str, Any]], List[Block]]:
    """The texts of all combinations, as points of a study; those that Mosaic does not lower."""
    points, refused = [], []
    for number, values in enumerate(itertools.product(*blocks.values())):
        sizes = dict(zip(blocks, values))
        try:
            texts = lower(functools.partial(kernel, **sizes), *arrays, machine=machine)
        except Exception as error:  # whatever JAX or the kernel says of these sizes
            refused.append(Block(sizes, None, None, None, (str(error).splitlines() or [repr(error)])[0]))
            continue
        if not texts:
            refused.append(Block(sizes, None, None, None, NO_KERNEL))
        for call, text in enumerate(texts):
            path = Path(folder, f"{number}.{call}.mlir")
            path.write_text(text)
            points.append({"candidate": number, "kernel": str(path)})
    return points, refused


def choose(kernel: Callable, *arrays: Any, blocks: Mapping[str, Sequence[Any]], machine: Union[str, Machine] = DEFAULT,
           workers: int = 1, exact: bool = False) -> List[Block]:
    """Times a function with each combination of block sizes, which are keyword arguments of it: the fastest first, then those
    without a time. All kernels of the function are added up; values are not computed, and arrays may be shapes. `exact`: nothing
    is left out of the time."""
    if not isinstance(blocks, Mapping) or not all(isinstance(values, Iterable) for values in blocks.values()):
        raise TypeError("blocks are sizes to try by the names of keyword arguments, such as {'block': [8, 16]}")
    chip = as_machine(machine)
    combinations = [dict(zip(blocks, values)) for values in itertools.product(*blocks.values())]
    with tempfile.TemporaryDirectory() as folder:
        points, refused = _points(kernel, arrays, blocks, machine, folder)
        question = {"program": "$kernel", "time_only": "true", "exact": str(exact).lower()}
        study = {"machine": chip.name, "points": points, "ask": question}
        if chip.overrides:
            study["set"] = {field: str(value) for field, value in chip.overrides.items()}
        rows = sweep(study, workers=workers, frame=False) if points else []
    found: Dict[int, List[Dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["candidate"], []).append(row)
    timed = []
    for number, calls in found.items():
        error = next((str(row["error"]) for row in calls if row["status"] != "ok"), "")
        sums = [None if error else sum(row[key] for row in calls) for key in ("microseconds", "cycles", "hbm_joules")]
        estimated = not error and any(row["estimated"] for row in calls)
        (refused if error else timed).append(Block(combinations[number], *sums, error, estimated))
    return sorted(timed, key=lambda block: block.microseconds) + refused


# ---- The command line ----

def _function(place: str) -> Callable:
    path, _, name = place.rpartition(":")
    if not path:
        raise ValueError(f"'{place}': expected FILE.py:FUNCTION")
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"'{place}': {path} is no file of Python, expected FILE.py:FUNCTION")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(Path(path).resolve().parent))
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise ValueError(f"{path} has no function '{name}'")
    return getattr(module, name)


def _loaded(text: str) -> Optional[np.ndarray]:
    """What FILE.npy or FILE.npz:NAME holds, the name only where there are several; None: the text names no file."""
    path, colon, name = text.partition(".npz:")
    if not colon and not text.endswith(".npz"):
        return np.load(text) if text.endswith(".npy") else None
    with np.load(path + ".npz" * bool(colon)) as archive:
        if name not in archive.files and (name or len(archive.files) != 1):
            raise ValueError(f"'{text}': expected the name of an array, one of {', '.join(archive.files)}")
        return archive[name or archive.files[0]]


def _array(text: str, seed: int) -> np.ndarray:
    array = _loaded(text)
    if array is not None:
        return array.view(dtype("bf16")) if array.dtype.kind == "V" and array.dtype.itemsize == 2 else array
    kind, values = _fills.filled(text, seed)
    return values.astype(dtype(kind))


def _arguments(function: Callable, given: Sequence[str]) -> List[np.ndarray]:
    """An array for each parameter without a default: what -i says, else its annotation: ``def f(x: "f32[8,128] iota")``."""
    unnamed = [word for word in given if "=" not in word]
    if unnamed:
        raise ValueError(f"-i '{unnamed[0]}': expected NAME=OPERAND, such as 'x=f32[256,128]'")
    chosen = dict(word.partition("=")[::2] for word in given)
    arrays = []
    names = [name for name, parameter in inspect.signature(function).parameters.items()
             if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    for i, name in enumerate(names):
        annotation = getattr(function, "__annotations__", {}).get(name)
        text = chosen.pop(name, None) or chosen.pop(str(i), None) or annotation
        if not isinstance(text, str):
            raise ValueError(f"'{name}' has no array: give -i '{name}=f32[256,128]' or -i {name}=FILE.npy, "
                             "or annotate it so")
        arrays.append(_array(text, i + 1))
    if chosen:
        raise ValueError(f"no parameter '{next(iter(chosen))}': expected one of {', '.join(names)}")
    return arrays


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m tilesim.pallas", description=__doc__.split("\n")[0])
    parser.add_argument("kernel", nargs="?", metavar="FILE.py:FUNCTION", help="a function of arrays that calls pallas_call")
    parser.add_argument("-m", "--machine", default=DEFAULT, help=f"one of {', '.join(GENERATIONS)}; default: {DEFAULT}")
    parser.add_argument("--mesh", metavar="AXES",
                        help="the devices that a shard_map in the function is over: 4x4, or data=2,model=8")
    parser.add_argument("-i", action="append", default=[], metavar="NAME=OPERAND", dest="inputs",
                        help="an argument: FILE.npy, FILE.npz:NAME, or a type and a fill, "
                             "such as 'f32[256,128] random(seed=1, lo=-1, hi=1)'")
    parser.add_argument("-o", metavar="FILE.mlir", dest="output", help="also write the text; of several kernels FILE.0.mlir ..")
    parser.add_argument("--lower", action="store_true", help="only write the text, do not run it")
    parser.add_argument("--check", action="store_true", help="look for races, undefined values and copies nobody waited for")
    parser.add_argument("--no-compare", action="store_true", help="values are not compared with those of interpret mode")
    parser.add_argument("--time-only", action="store_true", help="no values, and no comparison")
    parser.add_argument("--exact", action="store_true", help="nothing is left out of the time")
    parser.add_argument("--trace", metavar="FILE", help="also write the timeline, for ui.perfetto.dev; named as by -o")
    parser.add_argument("--block", action="append", default=[], metavar="NAME=A,B,..", dest="blocks",
                        help="a keyword argument of the function: time each of its values; may be repeated")
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="with --block: worker processes")
    parser.add_argument("--from-dump", metavar="FILE",
                        help="of what --xla_mosaic_dump_to wrote: the module after apply-vector-layout-simplify")
    parser.add_argument("--operands", nargs="+", default=[], metavar="TYPE",
                        help="of a dump: the whole arrays, results last, as 'f32[256,128]'")
    parser.add_argument("--results", type=int, default=1, metavar="N", help="of a dump: how many of them are results")
    return parser


def _numbered(path: Optional[str], count: int) -> List[Path]:
    """A file for each of several kernels."""
    name = Path(path or "")
    names = [name] if count == 1 else [name.with_suffix(f".{i}{name.suffix}") for i in range(count)]
    return names if path else []


def _save(path: Optional[str], texts: Sequence[str]) -> None:
    """Without a path nowhere; all to standard output where that is the path."""
    if path == "-":
        sys.stdout.writelines(texts)
        return
    for name, text in zip(_numbered(path, len(texts)), texts):
        name.write_text(text)


def _some(found: Sequence[Any]) -> Sequence[Any]:
    if not found:
        raise ValueError(f"the function has no kernel: {NO_KERNEL}")
    return found


def _mlir_type(text: str) -> str:
    kind, values = _fills.filled(text.strip() + " zeros")
    of_letter = {"s": "i", "u": "ui"}.get(kind[0], kind[0])
    element = {"pred": "i32", "bf16": "bf16"}.get(kind, of_letter + kind[1:].upper())  # f8E4M3FN
    return f"tensor<{''.join(f'{dim}x' for dim in values.shape)}{element}>"


def _report(found: PallasRun, trace: Optional[str]) -> int:
    for kernel in found.kernels:
        print(f"kernel {kernel.name}\n\n{kernel.run.report()}")
        for i, difference in enumerate(kernel.differences):
            print(f"result {i} against interpret mode: {difference}")
        if kernel.random:
            print("results are not compared with interpret mode: their random bits are others")
    for name, kernel in zip(_numbered(trace, len(found.kernels)), found.kernels):
        kernel.run.trace(name)
    return 0 if found.passed else 3


def _size(text: str) -> Any:
    return int(text) if text.lstrip("-").isdigit() else text


def _rank(function: Callable, arrays: Sequence[Any], options: argparse.Namespace) -> int:
    """--block: the table of :func:`choose`."""
    blocks = {}
    for word in options.blocks:
        name, _, values = word.partition("=")
        if not values or name in blocks:
            raise ValueError(f"--block '{word}': expected NAME=A,B,.., each name once")
        blocks[name] = [_size(value) for value in values.split(",")]
    found = choose(function, *arrays, blocks=blocks, machine=options.machine, workers=options.jobs, exact=options.exact)
    best = found[0].microseconds
    widths = [max(len(name), *(len(str(value)) for value in values)) for name, values in blocks.items()]
    heads = [f"{name:>{width}}" for name, width in zip(blocks, widths)]
    print("  ".join([*heads, f"{'us':>12}  to best          cycles      HBM uJ"]))
    for block in found:
        words = [f"{str(value):>{width}}" for value, width in zip(block.sizes.values(), widths)]
        if block.error:
            words.append(f"{'-':>12}  {block.error}")
        else:
            cycles = f"{'~' * block.estimated}{block.cycles:,}"
            words.append(f"{block.microseconds:12.3f}  {block.microseconds / best:6.2f}x  {cycles:>14}"
                         f"  {block.hbm_joules * 1e6:10.1f}")
        print("  ".join(words))
    return 0 if best is not None else 1


def _refuse_unused(options: argparse.Namespace) -> None:
    """Options that would not count."""
    of_runs = {"--check": options.check, "--no-compare": options.no_compare, "--time-only": options.time_only,
               "--trace": options.trace}
    modes = [("--block", options.blocks, {"-o": options.output, "--lower": options.lower, **of_runs}),
             ("--lower", options.lower, {"--exact": options.exact, **of_runs})]
    for mode, chosen, others in modes:
        for other, value in others.items():
            if chosen and value:
                raise ValueError(f"{other} does not go with {mode}")


def _main(options: argparse.Namespace) -> int:
    mosaic = _lowering()
    mosaic.jax.config.update("jax_platforms", "cpu")
    if options.from_dump:
        types = [_mlir_type(text) for text in options.operands]
        text = mosaic.from_dump(options.from_dump, types, options.results, generation(options.machine))
        _save(options.output or "-", [text])
        return 0
    if not options.kernel:
        raise ValueError("nothing to run: expected FILE.py:FUNCTION or --from-dump FILE")
    with mosaic.as_chips(generation(options.machine)):
        function = _function(options.kernel)
    arrays = _arguments(function, options.inputs)
    if options.blocks and options.mesh:
        raise ValueError("--block varies kernels of one device: give no --mesh with it")
    _refuse_unused(options)
    if options.blocks:
        return _rank(function, arrays, options)
    if options.lower:
        _save(options.output or "-", _some(lower(function, *arrays, machine=options.machine, mesh=options.mesh)))
        return 0
    compare = not (options.time_only or options.no_compare)
    found = run(function, *arrays, machine=options.machine, mesh=options.mesh, compare=compare, check=options.check,
                time_only=options.time_only, exact=options.exact)
    _save(options.output, [kernel.text for kernel in _some(found.kernels)])
    return _report(found, options.trace)


def main(words: Optional[Sequence[str]] = None) -> int:
    """Exit codes as those of tilesim: 0 ok, 1 input, 2 usage, 3 a difference or a fault, 4 not modelled."""
    try:
        return _main(_options().parse_args(words))
    except Error as error:
        print(error, file=sys.stderr)
        return {"usage": 2, "fault": 3, "unmodelled": 4}.get(error.kind, 1)
    except ImportError as error:
        print(f"tilesim.pallas: {error}", file=sys.stderr)
        return 1
    except (ValueError, OSError) as error:
        print(f"tilesim.pallas: {error}", file=sys.stderr)
        return 2
    except Exception as error:  # what JAX or a pass of Mosaic refuses
        print(f"tilesim.pallas: {type(error).__name__}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
