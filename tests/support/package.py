"""For tests of the package for Python: import it first. It goes on in a Python that has NumPy and cffi, and finds the package.

Such a test has the release's library, whatever program it is run with: it runs once.
"""
import os
import re
import signal
import subprocess
import sys
import threading
import time
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


def lets_others_go_on(work, seconds=60):
    """Whether another thread gets the interpreter while `work` is done, again and again for so long: on a busy host it may not
    be there at once. Nothing but `work` gives it away."""
    if hasattr(os, "sched_getscheduler") and os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))  # two threads on one CPU take turns
    go, went, switch = threading.Lock(), [], sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        go.acquire()
        other = threading.Thread(target=lambda: (go.acquire(), went.append(True)))
        other.start()  # until it waits
        go.release()
        end = time.monotonic() + seconds
        while not went and time.monotonic() < end:
            work()
        return bool(went)
    finally:
        sys.setswitchinterval(switch)
        other.join()


def interrupt(code):
    """Ctrl-C ends code that takes minutes, half a second after it has printed a line."""
    lines = ["import sys", "sys.path.insert(0, 'python')", "import tilesim as ts", "try:",
             *(f"    {line}" for line in code.splitlines()), "except KeyboardInterrupt:", "    print('heard')"]
    child = subprocess.Popen([sys.executable, "-c", "\n".join(lines)], stdout=subprocess.PIPE, text=True,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    try:
        assert child.stdout.readline() == "begun\n"
        time.sleep(0.5)
        assert child.poll() is None
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=60)[0] == "heard\n", code
    finally:
        child.kill()


if SANITIZED:
    print("ok 1 - skipped: the package is tested with the release")
    sys.exit(0)
_begin()
