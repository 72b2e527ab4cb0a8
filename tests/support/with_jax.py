"""For tests of tilesim.jax: import it first. It goes on in the environment that `./configure.py jax` makes; without one there is
nothing to test."""
import importlib.util
import os
import sys
from pathlib import Path

from cli import SANITIZED

_PYTHON = Path(__file__).resolve().parent.parent.parent / "build" / "venv-jax" / "bin" / "python"
os.environ.setdefault("ALLOW_MULTIPLE_LIBTPU_LOAD", "1")  # tests of several trees may run at once


def _begin():
    if SANITIZED:
        print("ok 1 - skipped: the package is tested with the release")
        sys.exit(0)
    if importlib.util.find_spec("jax") and importlib.util.find_spec("libtpu"):
        return
    if _PYTHON.exists() and "TS_JAX_TEST" not in os.environ:
        os.environ["TS_JAX_TEST"] = "1"
        os.execv(_PYTHON, [str(_PYTHON), *sys.argv])
    print("ok 1 - skipped: no JAX with libtpu here: ./configure.py jax makes build/venv-jax")
    sys.exit(0)


_begin()
import package  # noqa: E402,F401
