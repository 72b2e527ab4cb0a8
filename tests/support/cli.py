"""For tests of the command line: a script decorates its tests with @test, and ends with main().

The program to test is the script's argument; its folder also has the programs below tests/. Results are TAP.
"""
import json
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

TOOL = sys.argv[1] if len(sys.argv) > 1 else "build/release/tilesim"
BUILD = Path(TOOL).parent
SANITIZED = BUILD.name == "asan"
LONG = "TS_ROUNDS" in os.environ  # which `ninja test-long` sets
ALL = not SANITIZED or LONG
_tests = []


def test(function):
    """Registers a test; it fails by raising."""
    _tests.append(function)
    return function


def release_test(function):
    """Registers a test of what is printed, not of how: ASan, ten times slower, runs it in `ninja test-long` alone."""
    return test(function) if ALL else function


def cases(every, sanitized, usual=None):
    """`usual` cases of a sequence, or all; under ASan `sanitized` of them; evenly spread. In `ninja test-long` all."""
    every = list(every)
    most = len(every) if LONG else sanitized if SANITIZED else usual or len(every)
    return every if len(every) <= most else [every[i * len(every) // most] for i in range(most)]


def _object(pairs):
    found = dict(pairs)
    assert len(found) == len(pairs), f"a key is there twice: {[key for key, _ in pairs]}"
    return found


def _refuse(word):
    raise AssertionError(f"{word} is no JSON")


def read_json(text):
    """Reads JSON (bytes: of UTF-8) as strictly as any reader may: no key twice, no NaN or Infinity, no lone surrogates."""
    text = text.decode("utf-8") if isinstance(text, bytes) else text
    value = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    if re.search(r"\\u[dD]", text):  # no other way is left to a surrogate
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def check_json(code, out, err):
    """What --json prints is JSON; where there is no report, it is the error that stderr has as text."""
    value = read_json(out)
    assert value["schema"].startswith("tilesim.") and value["version"], out
    if "error" in value:
        message = value["error"]["message"].replace("\ufffd", "")
        assert value["error"]["exit_code"] == code != 0 and message[:60] in err.replace("\ufffd", ""), (code, out, err)
    return value


def run(*words, tool=TOOL, stdin="", text=True):
    """Runs the program; returns (exit code, stdout, stderr), bytes when `text` is False. JSON is always
    checked, and that no line of other output ends in blanks."""
    done = subprocess.run([str(tool), *(word if isinstance(word, bytes) else str(word) for word in words)],
                          input=stdin.encode() if isinstance(stdin, str) else stdin, capture_output=True)
    err = done.stderr.decode("utf-8", "strict" if text else "replace")
    if "--json" in words and "--help" not in words:
        check_json(done.returncode, done.stdout, err)
    if not text:
        return done.returncode, done.stdout, done.stderr
    out = done.stdout.decode()
    blank = [line for line in out.split("\n") if line.endswith(" ") and tool == TOOL]
    assert not blank, f"{words}: blanks at the end of {blank[0]!r}"
    return done.returncode, out, err


def expect(words, code=0, out=None, err="", tool=TOOL):
    """Runs the program and compares exactly; None is anything. Returns stdout.

    Where an error and no output is expected, --json has that error on stdout."""
    found = run(*words, tool=tool)
    if "--json" in words and code != 0 and out == "" and "error" in read_json(found[1]):
        out = None
    for what, is_, should in zip(("exit code", "stdout", "stderr"), found, (code, out, err)):
        if should is not None and is_ != should:
            raise AssertionError(f"{' '.join(map(str, words))}\n{what} is\n{is_}\nexpected\n{should}")
    return found[1]


def expect_json(words, **keys):
    """Runs with --json; compares those keys; returns the whole object."""
    value = read_json(expect([*words, "--json"]))
    for key, should in keys.items():
        if value.get(key) != should:
            raise AssertionError(f"{' '.join(words)} --json\n{key} is {value.get(key)}, expected {should}")
    return value


def main():
    """Runs the registered tests; each one's CPU seconds are told behind its name."""
    failed = 0
    for number, function in enumerate(_tests, 1):
        start = sum(os.times()[:4])
        try:
            function()
            print(f"ok {number} - {function.__name__} # {sum(os.times()[:4]) - start:.1f} s")
        except Exception:
            failed += 1
            print(f"not ok {number} - {function.__name__}\n{traceback.format_exc()}")
    sys.exit(failed > 0)
