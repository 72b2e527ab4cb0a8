"""Tensor layouts, what moving between them costs, and programs on a TPU-style machine: the library tilesim in Python."""
from . import program
from ._native import decoded as _decoded, lib as _lib
from .arrays import dtype
from .conversions import Converter, convert
from .errors import Error, FaultError, FileError, InputError, UnmodelledError, UsageError
from .layout import Layout
from .machine import Machine
from .prices import Cheaper, Price, price
from .program import Program
from .relayouts import Relayout, relayout
from .reshardings import Reshard, reshard
from .runs import Run, run
from .studies import Audit, Candidate, Choice, Finding, Source, audit, choose
from .sweeps import Sweep, sweep

__version__ = _decoded(_lib.ts_version())
__all__ = [
    "Audit", "Candidate", "Cheaper", "Choice", "Converter", "Error", "FaultError", "FileError", "Finding", "InputError", "Layout",
    "Machine", "Price", "Program", "Relayout", "Reshard", "Run", "Source", "Sweep", "UnmodelledError", "UsageError", "audit",
    "choose", "convert", "dtype", "price", "program", "relayout", "reshard", "run", "sweep",
]
