"""The library, by cffi: loaded once, its declarations those of the public headers. A call lets other threads run."""
from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any, Callable, Iterator, List, Optional, Tuple, Union

import cffi

from .errors import FileError, raise_error

HERE = Path(__file__).resolve().parent
LIBRARY = "libtilesim.so.0"
# In a wheel all is beside this file; in the tree it is where `ninja` makes it.
PLACES = [HERE, HERE.parent.parent / "build" / "python"]


def _load():
    place = next((p for p in PLACES if (p / LIBRARY).exists() and (p / "declarations.h").exists()), None)
    if place is None:
        raise ImportError(f"tilesim: {LIBRARY} is neither in {PLACES[0]} nor in {PLACES[1]}: run ninja")
    made = cffi.FFI()
    made.cdef((place / "declarations.h").read_text(encoding="ascii"))
    return made, made.dlopen(str(place / LIBRARY))


ffi, lib = _load()
NULL = ffi.NULL


def new_arena():
    """Memory that goes when nothing in Python refers to it any more. One thread at a time may make things in it."""
    return ffi.gc(lib.ts_arena_new(), lib.ts_arena_free)


def encoded(text: Union[str, bytes]) -> bytes:
    """For a `const char *`, which ends at a NUL."""
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"expected a text, found {text!r}")
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    if b"\0" in data:
        raise ValueError("a text with a NUL in it")
    return data


def figure(value: object) -> str:
    """A value of a machine's field, as files have it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def decoded(pointer) -> str:
    """The text of a `const char *`; "" of NULL."""
    return "" if pointer == NULL else ffi.string(pointer).decode("utf-8", "replace")


def optional(text: Optional[str]):
    """A `const char *` to keep while it is in a request; None is NULL."""
    return NULL if text is None else ffi.new("char[]", encoded(text))


def raise_of(err) -> None:
    """Raises the error that was put there."""
    raise_error(ffi, lib, err)


def call(function: Callable, *arguments: Any, failed=NULL):
    """A function that takes an error first; raises what it reports."""
    err = ffi.gc(lib.ts_error_new(), lib.ts_error_free)
    result = function(err, *arguments)
    if result == failed:
        raise_of(err)
    return result


def printed(function: Callable, thing) -> Optional[str]:
    """The text of a function that prints into an arena; None where it gives NULL."""
    arena = new_arena()
    found = function(arena, thing)
    text = None if found == NULL else decoded(found)
    ffi.release(arena)
    return text


def printed_json(function: Callable, thing) -> dict:
    """The same, read as JSON."""
    return json.loads(printed(function, thing) or "{}")


def owned(pointer, arena):
    """What lies in an arena, which stays as long as this does."""
    return ffi.gc(pointer, lambda _, kept=arena: None)


def request_of(struct: str, **fields: Any) -> Tuple[Any, List[Any]]:
    """A struct of these fields, texts and None as they are, and what must be kept while it is used."""
    request, held = ffi.new(f"{struct} *", {"struct_bytes": ffi.sizeof(struct)}), []
    for name, value in fields.items():
        held.append(optional(value) if isinstance(value, (str, bytes, type(None))) else value)
        try:
            setattr(request, name, held[-1])
        except (TypeError, OverflowError) as error:
            raise type(error)(f"{name} cannot be {value!r}") from None
    return request, held


def asked(function: Callable, struct: str, kept: Any = (), arena: Any = None, **fields: Any):
    """What a function makes of a request. It lies in an arena, a new one where none is given, and `kept` stays as long as it
    does."""
    place = new_arena() if arena is None else arena
    request, _held = request_of(struct, **fields)
    return owned(call(function, place, request), (place, kept))


@contextlib.contextmanager
def stopping() -> Iterator[Any]:
    """What a request asks now and then whether to go on, and Ctrl-C is heard there."""
    heard: List[BaseException] = []
    stopped = ffi.callback("int(void *)", lambda _: 0, error=1, onerror=lambda kind, error, trace: heard.append(error))
    try:
        yield stopped
    except FileError:
        if heard:
            raise heard[0] from None
        raise


def asked_until_stopped(function: Callable, struct: str, kept: Any = (), arena: Any = None, **fields: Any):
    """As `asked`, of a request that has a `stopped`."""
    with stopping() as stopped:
        return asked(function, struct, kept, arena, stopped=stopped, **fields)


def view(pointer, count: int, arena) -> memoryview:
    """Bytes that lie in an arena, which stays as long as the view does."""
    if count == 0:
        return memoryview(bytearray())
    return memoryview(ffi.buffer(owned(ffi.cast("unsigned char *", pointer), arena), count))
