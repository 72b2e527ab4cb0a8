"""tpu.matmul of a block that is larger than the registers: sums do not wait in memory, and the matrix units do not wait."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import SANITIZED, expect_json, main, test  # noqa: E402

import numpy as np  # noqa: E402

MASK = "sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32"
VREG = "vector<8x128xf32>"
EDGE, ROWS = 128, 8


def window(shape):
    tiles = f"#tpu.tiled<(8,128),[{shape[1] // EDGE},1]>"
    return f"memref<{shape[0]}x{shape[1]}xf32, {tiles}, #tpu.memory_space<vmem>>"


class Text:
    """A kernel of one step: result = left x right, as one tpu.matmul for each tile of the right side."""

    precision = ""

    def __init__(self, m, k, n):
        self.shapes = {"x": (m, k), "y": (k, n), "z": (m, n)}
        self.lines, self.numbers = [], {}

    def number(self, value):
        if value not in self.numbers:
            self.lines.append(f'%c{value} = "arith.constant"() <{{value = {value} : index}}> : () -> index')
            self.numbers[value] = f"%c{value}"
        return self.numbers[value]

    def load(self, name, row, column):
        new = f"%{name}_{row}_{column}"
        at = f"{self.number(row * ROWS)}, {self.number(column * EDGE)}"
        self.lines.append(f'{new} = "tpu.load"(%{name}, {at}) <{{{MASK}}}> : ({window(self.shapes[name])}, index, index) -> {VREG}')
        return new

    def store(self, name, row, column, value):
        at = f"{self.number(row * ROWS)}, {self.number(column * EDGE)}"
        self.lines.append(f'"tpu.store"({value}, %{name}, {at}) <{{operandSegmentSizes = array<i32: 1, 1, 2, 0>, {MASK}}}> : '
                          f"({VREG}, {window(self.shapes[name])}, index, index) -> ()")

    def roll(self, new, parts, shape):
        types = ", ".join([VREG] * len(parts))
        self.lines.append(f'{new} = "tpu.roll_vectors"({", ".join(parts)}) : ({types}) -> {shape}')
        return new

    def product(self, left, right, sums, new, rows):
        shapes = [f"vector<{rows}x{EDGE}xf32>", f"vector<{EDGE}x{EDGE}xf32>", f"vector<{rows}x{EDGE}xf32>"]
        self.lines.append(f'{new} = "tpu.matmul"({left}, {right}, {sums}) <{{{self.precision}transpose_lhs = false, transpose_rhs = false}}> : '
                          f'({", ".join(shapes)}) -> {shapes[2]}')

    def body(self):
        (m, k), n = self.shapes["x"], self.shapes["y"][1]
        tall, tile, sums = m // ROWS, EDGE // ROWS, f"vector<{m}x{EDGE}xf32>"
        left = [self.roll(f"%l{j}", [self.load("x", i, j) for i in range(tall)], sums) for j in range(k // EDGE)]
        self.lines.append(f'%zero = "arith.constant"() <{{value = dense<0.000000e+00> : {VREG}}}> : () -> {VREG}')
        for column in range(n // EDGE):
            last = self.roll(f"%s{column}", ["%zero"] * tall, sums)
            for j, of_left in enumerate(left):
                parts = [self.load("y", j * tile + i, column) for i in range(tile)]
                right = self.roll(f"%r{column}_{j}", parts, f"vector<{EDGE}x{EDGE}xf32>")
                new = f"%p{column}_{j}"
                self.product(of_left, right, last, new, m)
                last = new
            self.lines.append(f'%u{column}:{tall} = "tpu.unroll_vectors"({last}) : ({sums}) -> ({", ".join([VREG] * tall)})')
        for i in range(tall):
            for column in range(n // EDGE):
                self.store("z", i, column, f"%u{column}#{i}")
        return "\n".join(self.lines)

    def whole(self):
        arguments = ", ".join(f"%{name}: {window(shape)}" for name, shape in self.shapes.items())
        types = ", ".join(f"tensor<{a}x{b}xf32>" for a, b in self.shapes.values())
        fills = ", ".join(f'"random(seed={i}, lo=-1, hi=1)"' for i in (1, 2))
        return (f'"builtin.module"() ({{\n"func.func"() <{{sym_name = "main"}}> ({{\n^bb0({arguments}):\n{self.body()}\n'
                f'"func.return"() : () -> ()\n}}) : () -> ()\n}}) {{tilesim.operands = [{types}], tilesim.results = 1 : i64, '
                f"tilesim.fills = [{fills}]}} : () -> ()\n")


class Chain(Text):
    """result = left x ((left x right) x right): a product that waits is the left side of the next, then the right side."""

    def body(self):
        rows, shape = range(EDGE // ROWS), f"vector<{EDGE}x{EDGE}xf32>"
        left, right = (self.roll(f"%{name}s", [self.load(name, i, 0) for i in rows], shape) for name in "xy")
        self.lines.append(f'%zero = "arith.constant"() <{{value = dense<0.000000e+00> : {VREG}}}> : () -> {VREG}')
        sums = self.roll("%zeros", ["%zero"] * len(rows), shape)
        self.product(left, right, sums, "%p0", EDGE)
        self.product("%p0", right, sums, "%p1", EDGE)
        self.product(left, "%p1", sums, "%p2", EDGE)
        self.lines.append(f'%u:{len(rows)} = "tpu.unroll_vectors"(%p2) : ({shape}) -> ({", ".join([VREG] * len(rows))})')
        for i in rows:
            self.store("z", i, 0, f"%u#{i}")
        return "\n".join(self.lines)


class ExactChain(Chain):
    """In parts that bf16 holds."""

    precision = "precision = #tpu.contract_precision<fp32>, "


def rounded(array):
    """To bf16, to nearest even."""
    bits = array.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32).astype(np.float64)


def outcome(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "product.mlir")
        path.write_text(text.whole())
        outputs = [option for i in range(3) for option in ("-o", f"{i}={folder}/{i}.npy")]
        found = expect_json(["run", str(path), "-m", "tpu-v5e", *outputs])
        return found, *(np.load(Path(folder, f"{i}.npy")) for i in range(3))


def ran(m, k, n):
    found, x, y, z = outcome(Text(m, k, n))
    assert np.abs(z - rounded(x) @ rounded(y)).max() < 1e-6 * k, (m, k, n)
    return found


# Sums of one group of tiles wait nowhere; in the second of two groups of columns, the left side is loaded again.
SPILLED = {(64, 384, 128): 0, (256, 128, 384): 0, (512, 128, 512): 0, (40, 256, 128): 0, (128, 512, 256): 128 // ROWS * 512 // EDGE}


@test
def sums_of_a_group_do_not_wait():
    for shape, most in SPILLED.items():
        assert ran(*shape)["reports"]["spill_stores"] <= most, shape


@test
def sides_are_there_before_they_are_used():
    found, x, y, z = outcome(Chain(EDGE, EDGE, EDGE))
    x, y = rounded(x), rounded(y)
    expected = x @ rounded(rounded(x @ y) @ y)
    assert np.abs(z - expected).max() < 1e-3 * np.abs(expected).max()


@test
def parts_of_f32_are_made_where_they_are_pushed():
    found, x, y, z = outcome(ExactChain(EDGE, EDGE, EDGE))
    x, y = x.astype(np.float64), y.astype(np.float64)
    expected = x @ (x @ y @ y)
    assert np.abs(z - expected).max() < 1e-6 * np.abs(expected).max()
    assert found["reports"]["spill_stores"] <= 5 * EDGE // ROWS, found["reports"]


if not SANITIZED:
    @test
    def a_large_block_keeps_the_units_busy():
        found = ran(512, 1024, 1024)
        reports = found["reports"]
        bound = 512 * 1024 * 1024 / (4 * EDGE * EDGE)
        assert reports["block_slot_bound"] == bound
        assert reports["block_cycles"] < 1.12 * bound, reports
        assert reports["spill_stores"] < 1024, reports
        assert found["cycles"] - found["stalls"]["semaphore_low"] < 1.25 * bound, found


main()
