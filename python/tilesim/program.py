"""Programs: kernels in assembly, or made by Python."""
from __future__ import annotations

import operator
import os
import struct
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _native as native
from ._native import ffi, lib
from .layout import Layout
from .machine import DEFAULT, Machine, as_machine, machine_of

Index = Union[int, "At"]


def defines(values: Optional[Mapping[str, object]]) -> Tuple[Any, int, List[Any]]:
    """The parameters of a program as the library takes them: (array, count, what must be kept while it is used)."""
    if values is not None and not isinstance(values, Mapping):
        raise TypeError("params are values by their names, such as {'ROWS': 64}")
    texts = {name: str(int(value) if isinstance(value, bool) else value) for name, value in (values or {}).items()}
    kept = [(native.optional(name), native.optional(text)) for name, text in texts.items()]
    return ffi.new("ts_define[]", [{"name": name, "value": value} for name, value in kept]), len(kept), kept


class Program:
    """A program for a machine."""

    def __init__(self, program, machine: Machine):
        self._program, self.machine = program, machine

    @classmethod
    def read(cls, path: Union[str, "os.PathLike[str]"], machine: Union[str, Machine, None] = None,
             params: Optional[Mapping[str, object]] = None, mesh: Optional[str] = None,
             topology: Optional[str] = None) -> "Program":
        """Of a file, or one that the library carries: ``"tilesim:/softmax.tsim"``. `mesh`: "4x4" or "data=2,model=8": its devices
        all run the program, or a mesh file, with a machine of its own; `topology`: how their chips lie."""
        return cls._made(lib.ts_program_read, os.fsencode(path), machine_of(mesh, machine), params, mesh, topology)

    @classmethod
    def assemble(cls, text: str, machine: Union[str, Machine, None] = None, params: Optional[Mapping[str, object]] = None,
                 mesh: Optional[str] = None, topology: Optional[str] = None) -> "Program":
        """Of a text."""
        return cls._made(lib.ts_program_assemble, text, machine_of(mesh, machine), params, mesh, topology)

    @classmethod
    def _made(cls, function, source, machine, params, mesh, topology):
        values, count, _kept = defines(params)
        made = native.asked(function, "ts_program_request", machine, machine=machine._machine, source=source, defines=values,
                            define_count=count, mesh=mesh, topology=topology)
        return cls(made, machine)

    @property
    def text(self) -> str:
        """Assembles to the same program; macros and loops are gone."""
        return native.printed(lib.ts_program_text, self._program) or ""


class At:
    """An index made of a scalar register: ``constant + factor * sreg``."""

    def __init__(self, sreg: int, factor: int = 1, constant: int = 0):
        self.sreg, self.factor, self.constant = sreg, factor, constant


class Operand:
    """What an instruction of one builder takes."""

    def __init__(self, builder: "Builder", value: int):
        self._builder, self._value = builder, value


class Semaphore(Operand):
    """A semaphore."""


class Tensor:
    """A tensor of a program; ``x[0, At(1)]`` is the address of an element, in VMEM or SMEM."""

    def __init__(self, builder: "Builder", number: int, layout: Layout):
        self._builder, self._number, self.layout = builder, number, layout

    def _indices(self, index: Sequence[Index]):
        dims = self.layout.dims
        if len(index) != len(dims):
            raise TypeError(f"{len(index)} indices of {len(dims)} dims")
        rows = [(i.constant, i.factor, i.sreg) if isinstance(i, At) else (i, 0, 0) for i in index]
        return ffi.new("ts_builder_index[]", rows or 1)

    def __getitem__(self, index: Union[Index, Sequence[Index]]) -> Operand:
        indices = self._indices(index if isinstance(index, tuple) else (index,))  # type: ignore[arg-type]
        return Operand(self._builder, lib.ts_builder_at(self._builder._builder, self._number, indices))

    def box(self, begin: Sequence[Index], sizes: Sequence[int]) -> "Box":
        """A part of it, for a DMA: the first index and how many, for each dim."""
        return Box(self, begin, sizes)


class Box:
    """A part of a tensor."""

    def __init__(self, tensor: Tensor, begin: Sequence[Index], sizes: Sequence[int]):
        if len(sizes) != len(tensor.layout.dims):
            raise TypeError(f"{len(sizes)} sizes of {len(tensor.layout.dims)} dims")
        self._builder = tensor._builder
        self._kept = tensor._indices(begin), ffi.new("int64_t[]", list(sizes) or 1)
        self._box = ffi.new("ts_builder_box *", (tensor._number, *self._kept))


class _Closing:
    def __init__(self, close):
        self._close = close

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._close()


class Builder:
    """Makes a program, with the checks, addresses and packer of the assembler. The first error is raised by `end`.

    Operands of `add`: vector registers `v(n)`, scalar registers `s(n)`, masks `m(n)`, addresses, labels, and numbers: int
    is an integer, float an f32.
    """

    def __init__(self, name: str, machine: Union[str, Machine] = DEFAULT):
        self.machine = as_machine(machine)
        self._err = ffi.gc(lib.ts_error_new(), lib.ts_error_free)
        self._arena = native.new_arena()
        self._builder = lib.ts_builder_new(self._err, self._arena, self.machine._machine, native.encoded(name))
        self._ended = False

    def tensor(self, name: str, memory: str, layout: Union[str, Layout], role: str = "scratch",
               fill: Optional[str] = None) -> Tensor:
        """A tensor of "hbm", "vmem", "smem" or "cmem"; role "in", "out", "inout" or "scratch"; fill "zeros", "iota", "random"."""
        shape = layout if isinstance(layout, Layout) else Layout(layout)
        number = lib.ts_builder_tensor(self._builder, native.encoded(name), native.encoded(memory),
                                       native.encoded(shape.text), native.encoded(role), native.optional(fill))
        return Tensor(self, number, shape)

    def semaphore(self, name: str) -> Semaphore:
        """A new one."""
        number = lib.ts_builder_semaphores(self._builder, native.encoded(name), 1)
        return Semaphore(self, lib.ts_builder_semaphore(self._builder, number))

    def check(self, check: str) -> None:
        """What is compared after a run: ``"y ~= x + 1 ulp=1"``."""
        lib.ts_builder_check(self._builder, native.encoded(check))

    def v(self, number: int) -> Operand:
        """A vector register."""
        return Operand(self, lib.ts_builder_vreg(self._builder, number))

    def s(self, number: int) -> Operand:
        """A scalar register."""
        return Operand(self, lib.ts_builder_sreg(self._builder, number))

    def m(self, number: int) -> Operand:
        """A mask register."""
        return Operand(self, lib.ts_builder_vmask(self._builder, number))

    def label(self) -> Operand:
        """To branch to, before or after it is placed."""
        return Operand(self, lib.ts_builder_label(self._builder))

    def place(self, label: Operand) -> None:
        """The label is what comes next."""
        lib.ts_builder_place(self._builder, self._value(label))

    def _own(self, thing: Union[Operand, Tensor, Box]) -> None:
        if thing._builder is not self:
            raise ValueError(f"the {'operand' if isinstance(thing, Operand) else 'tensor'} is of another builder")

    def _value(self, operand: Union[Operand, int, float]) -> int:
        if isinstance(operand, Operand):
            self._own(operand)
            return operand._value
        if isinstance(operand, (float, np.floating)):
            rounded, = struct.unpack("<f", struct.pack("<f", operand))  # which refuses what is too large
            return lib.ts_builder_f32(self._builder, rounded)
        return lib.ts_builder_integer(self._builder, operator.index(operand))

    def add(self, mnemonic: str, *operands: Union[Operand, int, float], mask: Optional[int] = None) -> None:
        """An instruction: ``add("vadd.f32", v, v, 1.0)``; `mask`: the number of its write mask."""
        if self._ended:
            raise ValueError("the builder has ended")
        values = [ffi.cast("ts_value", self._value(operand)) for operand in operands]
        name, count = native.encoded(mnemonic), ffi.cast("int", len(values))
        if mask is None:
            lib.ts_builder_add(self._builder, name, count, *values)
        else:
            lib.ts_builder_add_masked(self._builder, mask, name, count, *values)

    def dma(self, destination: Union[Tensor, Box], source: Union[Tensor, Box], done: Semaphore,
            received: Optional[Semaphore] = None, device: Optional[Index] = None) -> None:
        """Starts a transfer, of whole tensors or of boxes; into the memory of a device of the mesh with `device` and `received`,
        the semaphore there."""
        boxes = [end if isinstance(end, Box) else end.box([0] * len(end.layout.dims), end.layout.dims)
                 for end in (destination, source)]
        for box in boxes:
            self._own(box)
        transfer = lib.ts_builder_transfer(self._builder, boxes[0]._box, boxes[1]._box, self._value(done))
        if (received is None) != (device is None):
            raise TypeError("a transfer to a device needs both: received and device")
        if received is not None and device is not None:
            at = (device.constant, device.factor, device.sreg) if isinstance(device, At) else (device, 0, 0)
            lib.ts_builder_to_device(self._builder, transfer, self._value(received), at)
        self.add("dma", Operand(self, transfer))

    def wait(self, done: Semaphore) -> None:
        """Waits for a transfer."""
        self.add("wait", done)

    def bundle(self) -> _Closing:
        """``with b.bundle():`` what is added is one bundle."""
        lib.ts_builder_open(self._builder)
        return _Closing(lambda: lib.ts_builder_close(self._builder))

    def packed(self) -> _Closing:
        """``with b.packed():`` single instructions are put into bundles."""
        lib.ts_builder_pack(self._builder, 1)
        return _Closing(lambda: lib.ts_builder_pack(self._builder, 0))

    def end(self) -> Program:
        """The program, once."""
        if self._ended:
            raise ValueError("the builder has ended")
        self._ended = True
        made = lib.ts_builder_end(self._builder)
        if made == native.NULL:
            native.raise_of(self._err)
        return Program(native.owned(made, (self._arena, self._err)), self.machine)
