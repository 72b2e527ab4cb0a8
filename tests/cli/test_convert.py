"""tilesim convert: real images into tiled buffers and back, every byte where the tile formula says, and bad input."""
import os
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import cases, expect, expect_json, main, run, test

DIGITS = "tests/data/digits_1000_u8.npy"
ROWS, COLUMNS = 1000, 784


def read_npy(path):
    """(type, shape, bytes) of a .npy file, without NumPy."""
    data = Path(path).read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10 : 10 + length], {}, {})
    return header["descr"], header["shape"], data[10 + length :]


PIXELS = read_npy(DIGITS)[2]


def folder(function):
    """Runs a test with a new folder."""
    def wrapped():
        with tempfile.TemporaryDirectory() as path:
            function(Path(path))
    wrapped.__name__ = function.__name__
    return test(wrapped)


def round_trip(path, shape):
    """Into the layout and back; returns (the buffer, the .npy that came back)."""
    expect(["convert", DIGITS, path / "x.bin", "--to", shape], out="")
    expect(["convert", path / "x.bin", path / "x.npy", "--from", shape], out="")
    return (path / "x.bin").read_bytes(), read_npy(path / "x.npy")


def tile_offset(row, column, tile_rows, columns):
    """Element offset under T(tile_rows,128), by the formula of tiled_layout.md."""
    tiles = -(-columns // 128)
    return ((row // tile_rows * tiles + column // 128) * tile_rows + row % tile_rows) * 128 + column % 128


@folder
def arrays_without_elements(path):
    for dims, shapes in (((0, 4), ("f32[0,4]", "f32[0,4]{0,1:T(8,128)}", "bf16[0,4]{1,0:T(8,128)(2,1)}",
                                   "s4[0,4]{1,0:T(8,128)(8,1)E(4)}")),
                         ((4, 0), ("f32[4,0]{1,0:T(8,128)}", "f32[4,0]{0,1}")), ((0,), ("f32[0]", "s8[0]")),
                         ((2, 0, 3), ("f32[2,0,3]{2,1,0:T(8,128)}",))):
        header = str({"descr": "<f4", "fortran_order": False, "shape": dims}).encode()
        (path / "x.npy").write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header)
        for shape in shapes:
            expect(["convert", path / "x.npy", path / "x.bin", "--to", shape], out="")
            assert (path / "x.bin").read_bytes() == b"", shape
            expect(["convert", path / "x.bin", path / "y.npy", "--from", shape], out="")
            assert read_npy(path / "y.npy")[1:] == (dims, b""), shape
            code, _, error = run("convert", DIGITS, path / "x.bin", "--to", shape)
            assert code == 1 and "expected dims" in error, error


@folder
def memory_is_checked_before_a_byte_is_read(path):
    with open(path / "big.bin", "wb") as file:
        file.truncate(64 << 30)
    code, _, error = run("convert", path / "big.bin", path / "x.npy", "--from", "f32[16384,1048576]{1,0}",
                         "--max-memory", "8 GiB")
    assert code == 1 and "needs about 192.0 GiB of memory, more than --max-memory, which is 8.0 GiB" in error, error
    assert "the input 64.0 GiB, its buffer 64.0 GiB, its array 64.0 GiB" in error, error
    code, _, error = run("convert", DIGITS, path / "x.bin", "--to", "f32[1000,784]{1,0:T(8,128)}",
                         "--max-memory", "4MiB")
    assert code == 1 and "the input 765.8 KiB" in error and "its buffer 3.4 MiB" in error, error
    expect(["convert", DIGITS, path / "x.bin", "--to", "f32[1000,784]{1,0:T(8,128)}", "--max-memory", "5MiB"], out="")
    head = b'{"a":{"dtype":"U8","shape":[10000000],"data_offsets":[0,10000000]}}'
    (path / "a.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + bytes(10_000_000))
    code, _, error = run("convert", f"{path}/a.safetensors:a", path / "x.npy", "--max-memory", "9MiB")
    assert code == 1 and "tensor 'a' has more than 9437184 bytes" in error, error
    expect(["convert", f"{path}/a.safetensors:a", path / "x.npy", "--max-memory", "10MiB"], out="")
    code, _, error = run("convert", DIGITS, path / "x.npy", "--max-memory", "much")
    assert code == 2 and "--max-memory is 'much', expected a size such as 4GiB or 512MiB" in error, error


@folder
def threads_change_nothing(path):
    for shape in ("bf16[1000,784]{1,0:T(8,128)(2,1)}", "s4[1000,784]{0,1:T(8,128)(8,1)E(4)}",
                  "f32[1000,784]{1,0:T(8,128)(*,3)}", "s4[1000,784]{1,0:T(8,128)(*,5)E(4)}"):  # two gather
        made = set()
        for jobs in cases(("1", "5", "2"), 2):
            expect(["convert", DIGITS, path / "x.bin", "--to", shape, "-j", jobs], out="")
            expect(["convert", path / "x.bin", path / "x.npy", "--from", shape, "--jobs", jobs], out="")
            made.add((path / "x.bin").read_bytes() + (path / "x.npy").read_bytes())
        assert len(made) == 1, shape
    code, _, error = run("convert", DIGITS, path / "x.bin", "--to", "f32[1000,784]{1,0}", "-j", "65")
    assert code == 2 and "--jobs is 65, expected 1 to 64" in error, error


@folder
def f32_tiles(path):
    buffer, (kind, shape, back) = round_trip(path, "f32[1000,784]{1,0:T(8,128)}")
    assert len(buffer) == 1000 * 896 * 4 and (kind, shape) == ("<f4", (ROWS, COLUMNS))
    values = struct.unpack(f"<{len(buffer) // 4}f", buffer)
    seen = 0
    for row in range(ROWS):
        for column in range(COLUMNS):
            seen += values[tile_offset(row, column, 8, COLUMNS)] == PIXELS[row * COLUMNS + column]
    assert seen == ROWS * COLUMNS
    assert sum(1 for v in values if v != 0) == sum(1 for v in PIXELS if v != 0), "padding is zero"
    assert struct.unpack(f"<{ROWS * COLUMNS}f", back) == tuple(map(float, PIXELS))


@folder
def bf16_pairs(path):
    buffer, (kind, shape, back) = round_trip(path, "bf16[1000,784]{1,0:T(8,128)(2,1)}")
    assert len(buffer) == 1000 * 896 * 2 and (kind, shape) == ("|V2", (ROWS, COLUMNS))
    halves = struct.unpack(f"<{len(buffer) // 2}H", buffer)
    for row in range(0, ROWS, 7):
        for column in range(COLUMNS):
            tile = tile_offset(row // 8 * 8, column // 128 * 128, 8, COLUMNS)
            at = tile + (row % 8 // 2 * 128 + column % 128) * 2 + row % 2
            assert struct.unpack("<f", b"\0\0" + struct.pack("<H", halves[at]))[0] == PIXELS[row * COLUMNS + column]
    words = struct.unpack(f"<{ROWS * COLUMNS}H", back)
    assert all(struct.unpack("<f", b"\0\0" + struct.pack("<H", w))[0] == p for w, p in zip(words, PIXELS))


@folder
def u8_comes_back_to_the_last_bit(path):
    for shape in ("u8[1000,784]{1,0:T(8,128)(4,1)}", "u8[1000,784]{0,1}", "u8[1000,784]{1,0:T(32,128)(4,1)}"):
        _, (kind, dims, back) = round_trip(path, shape)
        assert (kind, dims, back) == ("|u1", (ROWS, COLUMNS), PIXELS), shape


@folder
def straight_to_an_array_of_another_type(path):
    bf16, f32 = "bf16[1000,784]{1,0:T(8,128)(2,1)}", struct.pack(f"<{ROWS * COLUMNS}f", *PIXELS)
    expect(["convert", DIGITS, path / "x.bin", "--to", bf16], out="")
    for target in ("f32[1000,784]{1,0}", "f32[1000,784]", "f32[1000,784]{1,0:T(1,784)}"):
        expect(["convert", path / "x.bin", path / "x.npy", "--from", bf16, "--to", target], out="")
        assert read_npy(path / "x.npy") == ("<f4", (ROWS, COLUMNS), f32), target
    expect(["convert", DIGITS, path / "y.npy", "--to", "f32[1000,784]{1,0}"], out="")
    assert (path / "y.npy").read_bytes() == (path / "x.npy").read_bytes()
    expect(["convert", path / "x.bin", path / "z.npy", "--from", bf16, "--to", "u8[1000,784]{1,0}"], out="")
    assert read_npy(path / "z.npy") == ("|u1", (ROWS, COLUMNS), PIXELS)


@folder
def what_was_done_as_json(path):
    tiled, made = "bf16[1000,784]{1,0:T(8,128)(2,1)}", path / "x.bin"
    known = {"schema": "tilesim.convert", "dims": [ROWS, COLUMNS], "elements": ROWS * COLUMNS}
    found = expect_json(["convert", DIGITS, made, "--to", tiled], **known, **{"in": DIGITS, "out": str(made), "from": None}, to=tiled,
                        type_read="u8", type_written="bf16", bytes_written=ROWS * 896 * 2)
    assert found["bytes_written"] == made.stat().st_size
    expect_json(["convert", made, path / "x.npy", "--from", tiled], **known, **{"from": tiled}, to=None, type_read="bf16",
                type_written="bf16", bytes_written=ROWS * COLUMNS * 2)
    expect_json(["convert", made, path / "y.npy", "--from", tiled, "--to", "f32[1000,784]"], **known, type_read="bf16",
                type_written="f32", bytes_written=ROWS * COLUMNS * 4)
    assert read_npy(path / "y.npy") == ("<f4", (ROWS, COLUMNS), struct.pack(f"<{ROWS * COLUMNS}f", *PIXELS))
    code, out, err = run("convert", DIGITS, "-", "--to", tiled, "--json")
    assert (code, out) != (0, "") and code == 2 and "--json and - would both write to standard output" in err, err


@folder
def bad_input_leaves_nothing_behind(path):
    (path / "cut.npy").write_bytes(Path(DIGITS).read_bytes()[:5000])
    (path / "short.bin").write_bytes(b"abc")
    rows = [
        (["convert", path / "no.npy", path / "o.bin", "--to", "f32[2]{0}"],
         f"tilesim: error: cannot open '{path}/no.npy': No such file or directory\n"),
        (["convert", DIGITS, path / "o.bin", "--to", "f32[2]{0}"],
         f"tilesim: error: {DIGITS} holds u8[1000,784], expected dims [2]\n"),
        (["convert", DIGITS, path / "o.npy", "--to", "f32[1000,784]{0,1}"],
         f"tilesim: error: '{path}/o.npy' cannot hold the buffer of a layout, expected a name such as .bin\n"),
        (["convert", DIGITS, path / "o.npy", "--to", "f32[1000,784]{1,0:T(8,128)}"],
         f"tilesim: error: '{path}/o.npy' cannot hold the buffer of a layout, expected a name such as .bin\n"),
        (["convert", DIGITS, path / "o.npy", "--to", "f32[784,1000]{1,0}"],
         f"tilesim: error: {DIGITS} holds u8[1000,784], expected dims [784,1000]\n"),
        (["convert", path / "short.bin", path / "o.npy", "--from", "f32[2]{0}"],
         f"tilesim: error: {path}/short.bin: 3 bytes, expected the 8 of the shape\n"),
        (["convert", DIGITS, path / "o.bin", "--to", "f32[1000,784]{1,0:T(8,12x)}"],
         "--to:1:23: error: found '12x', expected a tile size or '*'\n"
         "f32[1000,784]{1,0:T(8,12x)}\n                      ^\n"),
    ]
    for words, message in rows:
        expect(words, code=1, out="", err=message)
    code, _, err = run("convert", path / "cut.npy", path / "o.bin", "--to", "f32[1000,784]{1,0}")
    assert code == 1 and "cut.npy" in err, err
    expect(["convert", DIGITS, path / "missing" / "o.npy"], code=1, out="", err=None)
    assert sorted(os.listdir(path)) == ["cut.npy", "short.bin"]


@test
def usage():
    assert run("convert", DIGITS)[0] == 2
    assert "did you mean '--from'" in run("convert", "a", "b", "--form", "c")[2]


main()
