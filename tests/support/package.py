"""For tests of the package for Python: import it first. It goes on in a Python that has NumPy and cffi, and finds the package.

Such a test has the release's library, whatever program it is run with: it runs once.
"""
import os
import re
import sys
from pathlib import Path

from cli import SANITIZED

ROOT = Path(__file__).resolve().parent.parent.parent
_found = re.search(r"^package_python = (.*)$", (ROOT / "build" / "config.ninja").read_text(), re.MULTILINE)
PYTHON = _found[1] if _found else ""


def _begin():
    try:
        import cffi  # noqa: F401
        import numpy  # noqa: F401
    except ImportError:
        if PYTHON and "TS_PACKAGE_TEST" not in os.environ:
            os.environ["TS_PACKAGE_TEST"] = "1"
            os.execvp(PYTHON, [PYTHON, *sys.argv])
        print("ok 1 - skipped: no Python here has NumPy and cffi: run ./configure.py")
        sys.exit(0)
    sys.path.insert(0, str(ROOT / "python"))


def raised(kind, function, *arguments, **named):
    """The error of that kind which the call raises."""
    try:
        function(*arguments, **named)
    except kind as error:
        return error
    raise AssertionError(f"{function} {arguments} raised no {kind}")


if SANITIZED:
    print("ok 1 - skipped: the package is tested with the release")
    sys.exit(0)
_begin()
