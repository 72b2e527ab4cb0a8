"""The shipped programs: right at every size and on every machine that has their units, and what they refuse."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, run, test
from programs import PROGRAMS, sizes

MACHINES = ["tpu-v3", "tpu-v4", "tpu-v6e", "tpu-v7x"]


@test
def ragged_sizes():
    for rows, columns in [(1, 1), (8, 128), (7, 127), (9, 129), (1, 300), (300, 1), (250, 260)]:
        for path in PROGRAMS:
            expect(["run", path, *sizes(path, rows, columns)], out=None)


@test
def other_machines():
    for machine in MACHINES:
        for path in PROGRAMS:
            out = expect_json(["run", path, *sizes(path, 67, 150), "-m", machine])
            assert out["checks"] and all(check["passed"] for check in out["checks"]), (path, machine)


@test
def headers_teach():
    for path in PROGRAMS:
        text = path.read_text()
        assert "\n; Layout lesson: " in text, path
        assert all(len(line) <= 124 for line in text.splitlines()), path


def refuses(stem, option, message):
    code, out, err = run("run", f"programs/{stem}.tsim", "-D", option)
    assert (code, out) == (1, "") and message in err.splitlines()[0], (stem, option, err)


@test
def bad_block_sizes():
    refuses("matmul", "BM=100", "error: BM must be a multiple of 128")
    refuses("matmul", "BM=128", "error: BM must be EDGE + 128 or more: tiles are latched while rows are pushed")
    refuses("matmul", "BN=100", "error: BN must be a multiple of NTILE: a tile in each unit side by side")
    refuses("matmul", "BK=100", "error: BK must be a multiple of KTILE, what a pass takes of K")
    refuses("matmul", "LAG=4", "error: LAG must be a multiple of 8, at most (BM - EDGE) / 16")
    refuses("matmul", "M=0", "error: M, N and K must be positive")
    refuses("matmul", "BM=65536", "error: 'acc' is larger than vmem: 268,435,456 bytes")
    refuses("softmax", "BLOCK=40", "error: BLOCK must be a multiple of 8 * GROUP")
    refuses("add", "ROWS=0", "error: ")


main()
