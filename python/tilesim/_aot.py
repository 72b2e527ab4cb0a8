"""A function of JAX, compiled ahead of time for one device of a TPU that is only described."""
from __future__ import annotations

import difflib
import functools
import glob
import math
import os
import re
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from ._hlo import Entry
from ._table import table
from .errors import Error, UsageError
from .layout import Layout
from .machine import Machine
from .studies import Audit, audit as _audit_module

# Before jax is imported: the metadata server of a cloud is not asked, and without a TPU none is looked for.
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
if not glob.glob("/dev/accel*") + glob.glob("/dev/vfio/[0-9]*"):
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("TPU_ACCELERATOR_TYPE", "v5litepod-1")  # of the host, which has none: else libtpu warns

try:
    import jax as _jax
    from jax.experimental import layout as _layouts, topologies as _topologies
    from jax.sharding import Mesh as _Mesh, NamedSharding as _NamedSharding, PartitionSpec as _PartitionSpec
except ImportError as _missing:
    raise ImportError("tilesim.jax needs jax with libtpu: ./configure.py jax makes build/venv-jax with both "
                      f"({_missing})") from _missing


class Chip(NamedTuple):
    """A chip that the compiler knows: one device of it is compiled for."""

    name: str
    machine: str  #: of tilesim
    topology: str
    config: str
    host_bounds: Tuple[int, int, int]


# Source of names and bounds: maxtext, accelerator_to_spec_map.py; 7x: a device is one of two cores of a chip.
CHIPS: Dict[str, Chip] = {chip.name: chip for chip in (
    Chip("v4", "tpu-v4", "v4:2x2x1", "megacore", (2, 2, 1)),
    Chip("v5e", "tpu-v5e", "v5e:1x1", "default", (1, 1, 1)),
    Chip("v5p", "tpu-v5p", "v5:2x2x1", "megacore", (2, 2, 1)),
    Chip("v6e", "tpu-v6e", "v6e:1x1", "default", (1, 1, 1)),
    Chip("7x", "tpu-v7x", "tpu7x:1x1x1", "default", (1, 1, 1)),
)}


class CompileError(Error, RuntimeError):
    """The compiler refused the function."""

    kind = "compile"


class OutOfMemoryError(CompileError):
    """The compiler says that the function does not fit the chip's HBM."""

    kind = "memory"

    def __init__(self, message: str):
        super().__init__(message)
        found = re.search(r"\(([\d.]+)([KMGT])\) exceeds available HBM \(([\d.]+)([KMGT])\)", message)
        found = found or re.search(r"Used ([\d.]+)([KMGT]) of ([\d.]+)([KMGT]) hbm", message)
        sizes = [round(float(found[i]) * 1024 ** (" KMGT".index(found[i + 1]))) if found else None for i in (1, 3)]
        self.needed_bytes: Optional[int] = sizes[0]  #: as the compiler rounds it; None: it does not say
        self.available_bytes: Optional[int] = sizes[1]


def chip_named(name: str) -> Chip:
    """A chip by its name: "v4", "v5e", "v5p", "v6e", "7x", or by tilesim's of its machine."""
    for one in CHIPS.values():
        if name in (one.name, one.machine):
            return one
    near = difflib.get_close_matches(name, CHIPS, 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise UsageError(f"no chip is called '{name}', expected {', '.join(CHIPS)}{hint}")


@functools.lru_cache(None)
def sharding(name: str):
    """All of an array on one device of the chip."""
    one = chip_named(name)
    try:
        described = _topologies.get_topology_desc(
            topology_name=one.topology, platform="tpu", chip_config_name=one.config,
            chips_per_host_bounds=one.host_bounds, num_slices=1, wrap=(False,) * 3)
    except Exception as error:
        text = str(error)
        if "already in use" in text or "lockfile" in text:
            text = f"another process uses libtpu; wait for it, or set ALLOW_MULTIPLE_LIBTPU_LOAD=1 ({text})"
        elif "not installed" in text or "libtpu" in text:
            text = f"libtpu cannot be used: ./configure.py jax installs it ({text})"
        raise CompileError(f"{one.name}: {text}") from error
    import numpy as np
    return _NamedSharding(_Mesh(np.array(described.devices[:1]), ("x",)), _PartitionSpec())


Order = Sequence[int]  # of dims, from major to minor


Orders = Mapping[int, Order]  # by numbers of arguments or results


class Function:
    """A function and its arguments, to be compiled in several ways."""

    def __init__(self, f: Callable, args: Sequence[Any], name: str, donate: Union[int, Sequence[int]]):
        self.f, self.chip = f, chip_named(name)
        self.sharding = sharding(self.chip.name)
        self.name = getattr(f, "__name__", None) or type(f).__name__
        self.donate = (donate,) if isinstance(donate, int) else tuple(donate)
        leaves, self.tree = _jax.tree.flatten(tuple(args))
        self.leaves = [self._abstract(leaf) for leaf in leaves]
        if hasattr(f, "trace") and not self.donate:  # what jax.jit made says itself what it donates
            self.donate = self._donated(f, args)
        paths = _jax.tree_util.tree_flatten_with_path(tuple(args))[0]
        self.paths = [path for path, _ in paths]

    @staticmethod
    def _abstract(leaf):
        there = leaf if isinstance(leaf, _jax.ShapeDtypeStruct) else _jax.typeof(leaf)
        return _jax.ShapeDtypeStruct(there.shape, there.dtype, weak_type=getattr(there, "weak_type", False))

    def _donated(self, f, args):
        info = f.trace(*self.arguments()).args_info[0]
        if len(info) != len(args):
            raise UsageError("static arguments: give a functools.partial or a lambda that has them")
        every = [[leaf.donated for leaf in _jax.tree.leaves(one, is_leaf=lambda x: hasattr(x, "donated"))] for one in info]
        return tuple(i for i, donated in enumerate(every) if donated and all(donated))

    def arguments(self):
        """Shapes and types, as the function takes them."""
        return self.tree.unflatten(self.leaves)

    def _formats(self, tree, count: int, orders: Orders):
        formats: List[Any] = [self.sharding] * count
        for i, order in orders.items():
            formats[i] = _layouts.Format(_layouts.Layout(tuple(order)), self.sharding)
        return tree.unflatten(formats)

    def compile(self, arguments: Orders, results: Orders, auto: bool = False) -> "Compiled":
        """With such orders of dims of arguments and results, by their numbers; auto: as the compiler likes them."""
        inputs: Any = self.sharding
        outputs: Any = self.sharding
        if auto:
            inputs = outputs = _layouts.Format(_layouts.Layout.AUTO, self.sharding)
        if arguments:
            inputs = self._formats(self.tree, len(self.leaves), arguments)
        if results:
            shapes, tree = _jax.tree.flatten(_jax.eval_shape(self.f, *self.arguments()))
            outputs = self._formats(tree, len(shapes), results)
        jitted = _jax.jit(self.f, in_shardings=inputs, out_shardings=outputs, donate_argnums=self.donate)
        try:
            return Compiled(self, jitted.lower(*self.arguments()).compile())
        except _jax.errors.JaxRuntimeError as error:
            kind = OutOfMemoryError if "RESOURCE_EXHAUSTED" in str(error) else CompileError
            raise kind(f"{self.name} for {self.chip.name}: {error}") from error

    def parameter_name(self, leaf: int) -> str:
        """"x", "params['w']": as the function calls it."""
        code = getattr(getattr(self.f, "__wrapped__", self.f), "__code__", None)
        which, *rest = self.paths[leaf]
        named = code is not None and which.idx < code.co_argcount and not hasattr(self.f, "__self__")
        return (code.co_varnames[which.idx] if named else f"args[{which.idx}]") + _jax.tree_util.keystr(tuple(rest))


def _orders(formats: Any) -> Dict[int, Order]:
    """Of a tree; what is not used has none."""
    leaves = _jax.tree.leaves(formats, is_leaf=lambda one: isinstance(one, _layouts.Format))
    return {i: one.layout.major_to_minor for i, one in enumerate(leaves) if one.layout is not None}


class Memory(NamedTuple):
    """Bytes of HBM, as the compiler says."""

    arguments: int
    results: int
    aliased: int  #: of the results, in arguments that are donated
    temporaries: int
    code: int
    peak: int


class Compiled:
    """What :func:`compile` made."""

    def __init__(self, function: Function, compiled: Any):
        self._function = function
        self.compiled = compiled  #: JAX's own
        self.chip = function.chip
        self.machine = Machine(self.chip.machine)
        self.text: str = compiled.as_text()  #: optimised HLO
        self.entry = Entry(self.text)
        found = compiled.memory_analysis()
        self.memory = Memory(found.argument_size_in_bytes, found.output_size_in_bytes, found.alias_size_in_bytes,
                             found.temp_size_in_bytes, found.generated_code_size_in_bytes, found.peak_memory_in_bytes)
        names = [function.parameter_name(leaf) for leaf in self.used()]
        #: Layouts by the arguments' names; those that are not used have none.
        self.arguments: Dict[str, Layout] = {name: Layout(text) for name, text in zip(names, self.entry.arguments)}
        self.results: List[Layout] = [Layout(text) for text in self.entry.results]

    def used(self) -> List[int]:
        """Of the module's parameters, which arguments they are."""
        return list(self.orders()[0])

    def orders(self) -> Tuple[Dict[int, Order], Dict[int, Order]]:
        """Orders of dims, from major to minor, of arguments and of results."""
        return _orders(self.compiled.input_formats[0]), _orders(self.compiled.output_formats)

    def as_text(self) -> str:
        """Optimised HLO."""
        return self.text

    def audit(self) -> Audit:
        """What layouts cost in it, on this chip."""
        return _audit_module(self.text, self.machine)

    @property
    def name(self) -> str:
        """Of the function."""
        return self._function.name

    def _ends(self) -> List[Tuple[str, Layout]]:
        return [*self.arguments.items(), *((f"result {i}", layout) for i, layout in enumerate(self.results))]

    def report(self) -> str:
        """Layouts and memory as text."""
        rows = [f"{self.name} for {self.chip.name} ({self.machine.title})"]
        rows += [f"  {name:20} {layout.text}, {in_words(layout.bytes)}{_padding(layout)}" for name, layout in self._ends()]
        return "\n".join(rows + ["  " + memory_in_words(self.memory)]) + "\n"

    def __repr__(self) -> str:
        return f"<Compiled {self.name} for {self.chip.name}, {in_words(self.memory.peak)} at the peak>"

    def _repr_html_(self) -> str:
        rows = [(name, layout.text, layout.logical_bytes, layout.bytes) for name, layout in self._ends()]
        title = f"{self.name} for {self.chip.name}: {memory_in_words(self.memory)}"
        return table(title, ("", "layout", "bytes of data", "with padding"), rows)


def in_words(count: float) -> str:
    """Short, as people say it."""
    if abs(count) < 1024:
        return f"{count:.0f} bytes"
    units = ("KiB", "MiB", "GiB")
    power = min(len(units), int(math.log2(abs(count))) // 10)
    return f"{count / 1024 ** power:,.1f} {units[power - 1]}"


def _padding(layout: Layout) -> str:
    return f", {layout.expansion:.2f} times its data" if layout.expansion and layout.expansion > 1.005 else ""


def memory_in_words(memory: Memory) -> str:
    """The peak, and its parts."""
    parts = [("arguments", memory.arguments), ("results", memory.results), ("of them in donated arguments", memory.aliased),
             ("temporaries", memory.temporaries), ("code", memory.code)]
    return f"peak {in_words(memory.peak)}: " + ", ".join(f"{name} {in_words(size)}" for name, size in parts if size)
