"""Compares binaries: compare.py COMMANDS REFERENCE OTHER... Each line of COMMANDS is run with all of them; one may
be several words, of an emulator and what it runs."""
import shlex
import subprocess
import sys
from pathlib import Path


def outcome(binary, line):
    """What a user sees: exit status and output."""
    done = subprocess.run([*shlex.split(binary), *shlex.split(line)], capture_output=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def main():
    commands, reference, *others = sys.argv[1:]
    lines = [line for line in Path(commands).read_text().splitlines() if line and not line.startswith("#")]
    passed = failed = 0
    for line in lines:
        expected = outcome(reference, line)
        for other in others:
            same = outcome(other, line) == expected
            passed += same
            failed += not same
            if not same:
                print(f"FAILED: {other} {line}: not as {reference}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
