"""Errors: what kind, where in the input, and what was expected."""
from __future__ import annotations

from typing import List, Optional


class Error(Exception):
    """What the library refused. `str` of it is the text that a user sees, with the line and a caret."""

    kind = "error"

    def __init__(self, message: str, text: str = "", file: str = "", line: int = 0, column: int = 0):
        super().__init__(text or message)
        self.message = message  #: one line: found, expected, nearest name
        self.text = text  #: the message with its place, the line and a caret
        self.file = file  #: "" where it has no place
        self.line = line  #: from 1; 0 where it has no place
        self.column = column
        self.others: List[Error] = []  #: of the same text, behind this one


class InputError(Error, ValueError):
    """The text or file is wrong."""

    kind = "input"


class FileError(Error, OSError):
    """The system refused a read, write or rename."""

    kind = "io"


class UsageError(Error, ValueError):
    """The request is wrong."""

    kind = "usage"


class FaultError(Error, RuntimeError):
    """The program broke a rule of the machine."""

    kind = "fault"


class UnmodelledError(Error, NotImplementedError):
    """Valid, but not modelled."""

    kind = "unmodelled"


# By TS_ERROR_..
_KINDS = [Error, InputError, FileError, UsageError, FaultError, UnmodelledError, Error, Error, InputError]


def _read(ffi, lib, err, text: str) -> Error:
    message, file = (ffi.string(f(err)).decode("utf-8", "replace") for f in (lib.ts_error_message, lib.ts_error_file))
    kind = _KINDS[lib.ts_error_get_kind(err)]
    return kind(message, text, file, lib.ts_error_line(err), lib.ts_error_column(err))


def _format(ffi, lib, err) -> str:
    needed = lib.ts_error_format(err, ffi.NULL, 0)
    out = ffi.new("char[]", needed + 1)
    lib.ts_error_format(err, out, needed + 1)
    return ffi.string(out).decode("utf-8", "replace").rstrip("\n")


def raise_error(ffi, lib, err) -> None:
    """Raises what was put into `err`."""
    error = _read(ffi, lib, err, _format(ffi, lib, err))
    behind: Optional[object] = lib.ts_error_next(err)
    while behind != ffi.NULL:
        error.others.append(_read(ffi, lib, behind, ""))
        behind = lib.ts_error_next(behind)
    raise error
