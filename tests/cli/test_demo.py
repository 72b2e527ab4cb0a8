"""The demo: what it writes is what independent arithmetic makes of the same digits."""
import math
import struct
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(Path(__file__).parent.parent / "support"), str(ROOT)]
from cli import expect, main, run, test
import configure

ROWS, COLUMNS = 1000, 784


def body(path, descr):
    """The bytes behind the head of a .npy file, whose type and shape must be these."""
    data = Path(path).read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    head = data[10:10 + length].decode()
    assert f"'{descr}'" in head and f"({ROWS}, {COLUMNS})" in head, head
    return data[10 + length:]


@test
def digits():
    (words,) = configure.DEMO
    assert words[0] == "build/release/tilesim" and words[-1] == "y=build/digits_normalized.npy", words
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "y.npy")
        out = expect([*words[1:-1], f"y={path}"])
        got = struct.unpack(f"<{ROWS * COLUMNS}f", body(path, "<f4"))
    assert "machine    tpu-v5e (TPU v5e), the default" in out and "passed: 784,000 elements" in out, out
    assert "where they went" in out and "100.0 %          total" in out, out
    pixels = body("tests/data/digits_1000_u8.npy", "|u1")
    for row in range(ROWS):
        values = pixels[row * COLUMNS:(row + 1) * COLUMNS]
        mean = sum(values) / COLUMNS  # exact: integers, and one rounding
        deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / COLUMNS + 1e-6)
        for column, value in enumerate(values):
            expected, found = (value - mean) / deviation, got[row * COLUMNS + column]
            assert abs(found - expected) <= 1e-6, (row, column, found, expected)
        mine = got[row * COLUMNS:(row + 1) * COLUMNS]
        assert abs(math.fsum(mine)) / COLUMNS < 1e-6
        assert abs(math.fsum(v * v for v in mine) / COLUMNS - 1) < 1e-5


main()
