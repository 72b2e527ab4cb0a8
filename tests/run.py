"""Runs tests in parallel, shows those that fail, and ends with 'N passed, N failed'.

  run.py FILE...   or   run.py @LIST (a file of FILEs, one a line)

A FILE is a cmocka program, a fuzz target's smoke program (fuzz_x: it is given its corpus), a python script
(run once with each program named tilesim among the FILEs) or such a program tilesim.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_SECONDS = 600 * max(1, int(os.environ.get("TS_ROUNDS", "1")))  # for as many rounds
SLOWEST = 8  # tests whose times are shown
RESULT = re.compile(r"^(not ok|ok) \d+", re.MULTILINE)


def commands(files):
    """The command lines of the tests."""
    tools = [f for f in files if Path(f).name == "tilesim"]
    lines = []
    for file in files:
        name = Path(file).name
        if file.endswith(".py"):
            lines += [[sys.executable, file, tool] for tool in tools]
        elif name.startswith("fuzz_"):
            lines.append([file, f"tests/fuzz/corpus/{name.removeprefix('fuzz_')}"])
        elif file not in tools:
            lines.append([file])
    return lines


def execute(command, scratch):
    """Runs a command to its end; returns (exit status, output)."""
    environment = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", TMPDIR=scratch, PYTHONDONTWRITEBYTECODE="1",
                       LC_ALL="C", ASAN_OPTIONS="allocator_may_return_null=1",
                       UBSAN_OPTIONS="print_stacktrace=1")
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_SECONDS)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return 1, (late.stdout or b"").decode(errors="replace") + f"\nno end in {TIMEOUT_SECONDS} s\n"
    except OSError as refused:
        return 1, f"{refused}\n"


def run(command):
    """Runs one test; returns (seconds, command, passed, failed, output). A program that prints no TAP is one test."""
    scratch = tempfile.mkdtemp(dir=ROOT / "build" / "tmp")
    start = time.monotonic()
    status, output = execute(command, scratch)
    seconds = time.monotonic() - start
    shutil.rmtree(scratch, ignore_errors=True)
    results = RESULT.findall(output)
    passed, failed = results.count("ok"), results.count("not ok")
    if status != 0 and failed == 0:
        output += f"exit status {status}\n"
        failed = 1
    elif not results:
        passed = 1
    return seconds, command, passed, failed, output


def main():
    files = []
    for argument in sys.argv[1:]:
        files += Path(argument[1:]).read_text().split() if argument.startswith("@") else [argument]
    (ROOT / "build" / "tmp").mkdir(parents=True, exist_ok=True)
    total_passed = total_failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = []
        for seconds, command, passed, failed, output in pool.map(run, commands(files)):
            results.append((seconds, " ".join(command[-2:])))
            total_passed += passed
            total_failed += failed
            if failed:
                lines = [line for line in output.splitlines() if not line.startswith("ok ")]
                print(f"FAILED: {' '.join(command)}\n    " + "\n    ".join(lines), flush=True)
    for seconds, name in sorted(results, reverse=True)[:SLOWEST]:
        print(f"{seconds:6.1f} s  {name}")
    print(f"{total_passed} passed, {total_failed} failed", flush=True)
    return 1 if total_failed else 0


sys.exit(main())
