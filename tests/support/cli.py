"""For tests of the command line: a script decorates its tests with @test, and ends with main().

The program to test is the script's argument; its folder also has the programs below tests/. Results are TAP.
"""
import json
import subprocess
import sys
import traceback
from pathlib import Path

TOOL = sys.argv[1] if len(sys.argv) > 1 else "build/release/tilesim"
BUILD = Path(TOOL).parent
_tests = []


def test(function):
    """Registers a test; it fails by raising."""
    _tests.append(function)
    return function


def run(*words, tool=TOOL, stdin=""):
    """Runs the program; returns (exit code, stdout, stderr)."""
    done = subprocess.run([str(tool), *map(str, words)], input=stdin, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def expect(words, code=0, out=None, err="", tool=TOOL):
    """Runs the program and compares exactly; None is anything. Returns stdout."""
    found = run(*words, tool=tool)
    for what, is_, should in zip(("exit code", "stdout", "stderr"), found, (code, out, err)):
        if should is not None and is_ != should:
            raise AssertionError(f"{' '.join(map(str, words))}\n{what} is\n{is_}\nexpected\n{should}")
    return found[1]


def expect_json(words, **keys):
    """Runs with --json; compares those keys; returns the whole object."""
    value = json.loads(expect([*words, "--json"]))
    for key, should in keys.items():
        if value.get(key) != should:
            raise AssertionError(f"{' '.join(words)} --json\n{key} is {value.get(key)}, expected {should}")
    return value


def main():
    """Runs the registered tests."""
    failed = 0
    for number, function in enumerate(_tests, 1):
        try:
            function()
            print(f"ok {number} - {function.__name__}")
        except Exception:
            failed += 1
            print(f"not ok {number} - {function.__name__}\n{traceback.format_exc()}")
    sys.exit(failed > 0)
