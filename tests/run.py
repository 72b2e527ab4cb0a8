"""Runs tests in parallel, shows those that fail, and ends with 'N passed, N failed'.

  run.py FILE...   or   run.py @LIST (a file of FILEs, one a line)

A FILE is a cmocka program, a fuzz target's smoke program (fuzz_x: it is given its corpus), a python script
(run once with each program named tilesim among the FILEs; one of tests/web with the release's) or such a program tilesim.
What is skipped is counted on lines of its own, by why.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_SECONDS = 1200 * max(1, int(os.environ.get("TS_ROUNDS", "1")))  # for as many rounds
SLOWEST = int(os.environ.get("TS_SLOWEST", "8"))  # tests whose times are shown
RESULT = re.compile(r"^(not ok|ok) \d+(?:.*?# SKIP (.*))?", re.MULTILINE)


def commands(files):
    """The command lines of the tests."""
    tools = [f for f in files if Path(f).name == "tilesim"]
    lines = []
    for file in files:
        name = Path(file).name
        if file.endswith(".py"):
            lines += [[sys.executable, file, tool] for tool in tools if "release" in tool or "tests/web/" not in file]
        elif name.startswith("fuzz_"):
            lines.append([file, f"tests/fuzz/corpus/{name.removeprefix('fuzz_')}"])
        elif file not in tools:
            lines.append([file])
    return sorted(lines, key=rank)


def rank(line):
    """Scripts take longest, those of the page above all: they begin first, so that none is alone at the end."""
    return 2 if len(line) < 3 else "tests/web/" not in line[1]


def execute(command, scratch):
    """Runs a command to its end; returns (exit status, output, CPU seconds of it and of what it started)."""
    environment = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", TMPDIR=scratch, PYTHONDONTWRITEBYTECODE="1",
                       LC_ALL="C", MALLOC_TRIM_THRESHOLD_=str(256 << 20), MALLOC_MMAP_THRESHOLD_=str(2 << 20),  # as the program's own
                       # UBSan traps; gcc 14 aligns the stacks that are kept for a while to 32 bytes, vectors are of 64
                       ASAN_OPTIONS="allocator_may_return_null=1:handle_sigill=1:detect_stack_use_after_return=0")
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT)
        except OSError as refused:
            return 1, f"{refused}\n", 0.0
        late = []
        killer = threading.Timer(TIMEOUT_SECONDS, lambda: (late.append(True), process.kill()))
        killer.start()
        _, status, used = os.wait4(process.pid, 0)
        killer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace") + f"\nno end in {TIMEOUT_SECONDS} s\n" * len(late)
        return process.returncode, text, used.ru_utime + used.ru_stime


def run(command):
    """Runs one test; returns (CPU seconds, command, passed, failed, why others are skipped, output).

    A program that prints no TAP is one test."""
    scratch = tempfile.mkdtemp(dir=ROOT / "build" / "tmp")
    status, output, seconds = execute(command, scratch)
    shutil.rmtree(scratch, ignore_errors=True)
    results = RESULT.findall(output)
    skipped = [f"{command[-2] if len(command) > 2 else command[0]}: {why}" for _, why in results if why]
    passed, failed = results.count(("ok", "")), results.count(("not ok", ""))
    if status != 0 and failed == 0:
        output += f"exit status {status}\n"
        failed = 1
    elif not results:
        passed = 1
    return seconds, command, passed, failed, skipped, output


def main():
    files = []
    for argument in sys.argv[1:]:
        files += Path(argument[1:]).read_text().split() if argument.startswith("@") else [argument]
    (ROOT / "build" / "tmp").mkdir(parents=True, exist_ok=True)
    total_passed = total_failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results, skips = [], Counter()
        for seconds, command, passed, failed, skipped, output in pool.map(run, commands(files)):
            results.append((seconds, " ".join(command[-2:])))
            total_passed += passed
            total_failed += failed
            skips.update(skipped)
            if failed:
                lines = [line for line in output.splitlines() if not line.startswith("ok ")]
                print(f"FAILED: {' '.join(command)}\n    " + "\n    ".join(lines), flush=True)
    for seconds, name in sorted(results, reverse=True)[:SLOWEST]:
        print(f"{seconds:6.1f} s  {name}")
    print(f"{sum(seconds for seconds, _ in results):6.1f} s of CPU time")
    print("".join(f"{count} skipped: {why}\n" for why, count in skips.items()), end="")
    print(f"{total_passed} passed, {total_failed} failed", flush=True)
    return 1 if total_failed else 0


sys.exit(main())
