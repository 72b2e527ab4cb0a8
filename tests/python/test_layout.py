"""tilesim.Layout, tilesim.convert and errors: values against NumPy and the command line."""
import copy
import pickle
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from package import lets_others_go_on, raised
from cli import expect_json, main, run, test

import numpy as np

import tilesim as ts
from tilesim import conversions

SHAPES = ["bf16[1000,784]{1,0:T(8,128)(2,1)}", "f32[3,5]{1,0:T(2,2)}", "f32[4,6,10]{2,1,0:T(4,4)}", "s8[7,65]{1,0:T(8,128)(4,1)}",
          "f32[]", "f32[0,8]{1,0}", "f32[16,256] S[(2,8,2,128):(2048,128,1024,1)]", "f32[16,64] lambda i,j: [j, i]"]


@test
def sizes_are_the_command_lines():
    for text in SHAPES:
        layout = ts.Layout(text)
        found = expect_json(["layout", text])
        del found["offset"]  # of the question --at
        assert layout.json() == found, text
        assert (layout.text, layout.type, list(layout.dims)) == (found["canonical"], found["element"], found["dims"]), text
        assert (layout.bytes, layout.storage_bytes, layout.logical_bytes) == (
            found["bytes"], found["storage_bytes"], found["unpadded_bytes"]), text
        if found["expansion"] is None:
            assert layout.expansion is None, text
        else:
            assert abs(layout.expansion - found["expansion"]) < 1e-6, text
        assert layout.report() == run("layout", text)[1], text
        assert ts.Layout(layout.text) == layout and hash(ts.Layout(layout.text)) == hash(layout)


@test
def elements_lie_where_the_formula_says():
    layout = ts.Layout("f32[20,300]{1,0:T(8,128)}")
    tiles = -(-300 // 128)
    for i in range(20):
        for j in range(0, 300, 7):
            at = layout.offset(i, j)
            assert at == (i // 8 * tiles + j // 128) * 1024 + i % 8 * 128 + j % 128, (i, j)
            assert layout.index(at) == (i, j) and layout.locate(i, j) == (at,)
    assert layout.index(2 * 1024 + 44) is None  # column 300
    assert ts.Layout("f32[]").offset() == 0


@test
def notations():
    layout = ts.Layout("f32[16,256]{1,0:T(8,128)}")
    for notation in ("axe", "tvm", "xla"):
        other = layout.translate(notation)
        assert other == layout and hash(other) == hash(layout), notation
    assert layout.translate("axe").text == "f32[16,256] S[(2,8,2,128):(2048,128,1024,1)]"
    assert layout != ts.Layout("f32[16,256]{1,0}") and layout != ts.Layout("s32[16,256]{1,0:T(8,128)}")
    assert layout != "f32[16,256]{1,0:T(8,128)}" and str(layout) == layout.text
    assert eval(repr(layout), {"Layout": ts.Layout}) == layout
    pair = ts.Layout("(f32[2], s8[3])")
    assert pair.dims == () and pair.svg() is None and pair._repr_html_() is None
    assert pair == ts.Layout("(f32[2], s8[3])") and pair != layout and layout != pair


@test
def pictures():
    layout = ts.Layout("f32[3,5]{1,0:T(2,2)}")
    assert layout.svg() == run("layout", layout, "--svg", "-")[1]
    assert layout._repr_html_().lstrip().startswith("<svg")


@test
def arguments():
    layout = ts.Layout("f32[3,5]{1,0:T(2,2)}")
    for other in (None, 5, b"f32[8]"):
        assert "a layout is a text, not" in str(raised(TypeError, ts.Layout, other))
    assert "1 indices of 2 dims" in str(raised(TypeError, layout.offset, 1))
    assert "2 coordinates on 1 axes" in str(raised(TypeError, layout.index, 1, 2))
    assert raised(ts.InputError, layout.offset, 3, 0).message == "index 3 of dim 0, expected 0 to 2"
    assert raised(ts.InputError, ts.Layout("f32[4,0]").offset, 3, 0).message == "dim 1 is 0: the array has no elements"
    raised(ValueError, ts.Layout, "f32[8]\0{0}")
    raised(TypeError, ts.convert, np.zeros(3))
    raised(TypeError, ts.convert, np.zeros(3, "datetime64[s]"), to="f32[3]{0}")
    lanes = ts.Layout("f32[8,128] S[(8,128):(1@sublane,1@lane)]")
    assert lanes.axes == ("lane", "sublane") and lanes.locate(3, 5) == (5, 3) and lanes.index(5, 3) == (3, 5)
    assert "locate()" in str(raised(TypeError, lanes.offset, 3, 5))


@test
def errors_carry_place_and_caret():
    error = raised(ts.Error, ts.Layout, "f32[8,128]{1,0:T(8,x)}")
    assert isinstance(error, ts.InputError) and isinstance(error, ValueError)
    assert (error.kind, error.file, error.line, error.column, error.others) == ("input", "shape", 1, 20, [])
    assert error.message == "found 'x', expected a tile size or '*'"
    first, text, caret = str(error).split("\n")
    assert first == "shape:1:20: error: " + error.message and text[caret.index("^")] == "x"
    missing = raised(ts.FileError, ts.Machine, "/nowhere/a.yaml")
    assert isinstance(missing, OSError) and missing.kind == "io" and "/nowhere/a.yaml" in str(missing)
    unknown = raised(ts.InputError, ts.Machine, "tpu-v5f")
    assert unknown.message.startswith("no machine is called 'tpu-v5f'") and unknown.line == 0


# ---- convert ----

def by_numpy(array, rows, columns, sub=1):
    """The array in tiles of T(rows,columns), with `sub` > 1 of T(rows,columns)(sub,1), padding zero: bytes."""
    padded = np.zeros([-(-n // t) * t for n, t in zip(array.shape, (rows, columns))], array.dtype)
    padded[:array.shape[0], :array.shape[1]] = array
    split = padded.reshape(padded.shape[0] // rows, rows // sub, sub, padded.shape[1] // columns, columns)
    return split.transpose(0, 3, 1, 4, 2).tobytes()


@test
def arrays_into_tiles_and_back():
    random = np.random.default_rng(1)
    for type_, name in (("f32", "float32"), ("s32", "int32"), ("u8", "uint8"), ("f16", "float16"), ("f64", "float64"),
                        ("s16", "int16"), ("c64", "complex64"), ("pred", "bool")):
        for dims, tile in (((20, 300), (8, 128)), ((7, 5), (2, 4)), ((64, 256), (16, 128))):
            array = random.integers(0, 100, dims).astype(name)
            layout = f"{type_}[{dims[0]},{dims[1]}]{{1,0:T({tile[0]},{tile[1]})}}"
            packed = ts.convert(array, to=layout)
            assert isinstance(packed, memoryview) and bytes(packed) == by_numpy(array, *tile), layout
            back = ts.convert(packed, layout)
            assert back.dtype == array.dtype and (back == array).all(), layout


@test
def types_are_rounded():
    array = np.random.default_rng(2).standard_normal((20, 300)).astype(np.float32)
    words = array.view(np.uint32)
    rounded = ((words + 0x7FFF + (words >> 16 & 1)) >> 16).astype(np.uint16)  # to bfloat16, ties to even
    layout = ts.Layout("bf16[20,300]{1,0:T(8,128)(2,1)}")
    packed = ts.convert(array, to=layout)
    assert bytes(packed) == by_numpy(rounded, 8, 128, 2)
    back = ts.convert(packed, layout, to="f32[20,300]{1,0}")
    assert back.dtype == np.float32 and (back.view(np.uint32) == rounded.astype(np.uint32) << 16).all()
    own = ts.convert(packed, layout)
    assert own.dtype == ts.dtype("bf16") and (own.view(np.uint16) == rounded).all()
    assert bytes(ts.convert(own, to=layout)) == bytes(packed)
    assert bytes(ts.convert(rounded.view("V2"), to=layout)) == bytes(packed)  # as .npy files have it
    assert bytes(ts.convert(rounded.view("V2"), to="f32[20,300]")) == (rounded.astype(np.uint32) << 16).tobytes()
    raised(TypeError, ts.convert, np.zeros((20, 300), "V1"), to=layout)
    raw = rounded.view([("bf16", "<u2")])
    assert bytes(ts.convert(raw, to=layout)) == bytes(packed)
    small = np.arange(256, dtype=np.uint8).view([("f8e4m3fn", "u1")])
    assert (ts.convert(small, to="f32[256]{0}").cast("B").cast("f")[0x38], ts.dtype("f8e4m3fn").itemsize) == (1.0, 1)


@test
def layouts_into_layouts():
    array = np.arange(20 * 300, dtype=np.float32).reshape(20, 300)
    tiled = ts.convert(array, to="f32[20,300]{1,0:T(8,128)}")
    turned = ts.convert(tiled, "f32[20,300]{1,0:T(8,128)}", to="f32[20,300]{0,1}")
    assert isinstance(turned, memoryview) and bytes(turned) == array.T.tobytes()
    assert bytes(ts.convert(tiled, "f32[20,300]{1,0:T(8,128)}", to="f32[20,300]{1,0:T(4,128)}")) == by_numpy(array, 4, 128)


@test
def scalars():
    tile = ts.convert(np.float32(3), to="f32[]{:T(128)}")
    assert tile.nbytes == 512 and np.frombuffer(tile, np.float32)[0] == 3
    for to in (None, "f32[]"):
        element = ts.convert(tile, "f32[]{:T(128)}", to=to)
        assert isinstance(element, np.ndarray) and element.shape == () and element == 3
    assert ts.convert(tile, "f32[]{:T(128)}", to="f32[]{:T(256)}").nbytes == 1024


@test
def any_array_of_these_values():
    """Strides, byte order, dims of 0 and 1, lists; the input is not written."""
    array = np.arange(24, dtype=np.int32).reshape(4, 6)
    wanted = bytes(ts.convert(array, to="s32[4,6]{1,0:T(2,4)}"))
    for same in (np.asfortranarray(array), array.astype(">i4"), np.repeat(array, 2, 1)[:, ::2], array[::-1][::-1]):
        kept = same.copy()
        assert bytes(ts.convert(same, to="s32[4,6]{1,0:T(2,4)}")) == wanted and (same == kept).all()
    array.setflags(write=False)
    assert bytes(ts.convert(array, to="s32[4,6]{1,0:T(2,4)}")) == wanted
    assert bytes(ts.convert(np.float32(3), to="f32[]")) == np.float32(3).tobytes()
    assert ts.convert(np.zeros((0, 8), np.float32), to="f32[0,8]{1,0}").nbytes == 0
    assert ts.convert(b"", "f32[0,8]{1,0}").shape == (0, 8)
    assert ts.convert(bytearray(wanted), "s32[4,6]{1,0:T(2,4)}").tolist() == array.tolist()
    for swapped in (array.astype(">i4"), np.frombuffer(wanted, "<i4").astype(">i4")):  # as the bytes of a layout
        layout = "s32[4,6]{1,0}" if swapped.ndim == 2 else "s32[4,6]{1,0:T(2,4)}"
        assert "little endian" in str(raised(TypeError, ts.convert, array, to=layout, out=swapped))  # which would be read so
        assert ts.convert(swapped, layout).tolist() == ts.Converter(layout, to="s32[4,6]")(swapped).tolist() == array.tolist()


@test
def inputs_are_only_read():
    """Memory that must not be written: a write would end the process."""
    array = np.arange(20 * 300, dtype=np.float32).reshape(20, 300)
    with tempfile.NamedTemporaryFile() as file:
        for layout in ("f32[20,300]{1,0:T(8,128)}", "f32[20,300]{0,1}", "f32[20,300]{1,0}"):
            file.seek(0)
            file.write(ts.convert(array, to=layout))
            file.truncate()
            file.flush()
            mapped = np.memmap(file.name, np.uint8, "r")
            assert (ts.convert(mapped, layout) == array).all(), layout


@test
def results_outlive_what_made_them():
    import gc
    views = [ts.convert(np.full((64, 256), i, np.float32), to=ts.Layout("f32[64,256]{1,0:T(8,128)}")) for i in range(50)]
    arrays = [ts.convert(view, "f32[64,256]{1,0:T(8,128)}") for view in views]
    gc.collect()
    for i, (view, array) in enumerate(zip(views, arrays)):
        assert (np.frombuffer(view, np.float32) == i).all() and (array == i).all()


@test
def into_the_callers_memory():
    array = np.random.default_rng(4).standard_normal((20, 300)).astype(np.float32)
    layout = ts.Layout("bf16[20,300]{1,0:T(8,128)(2,1)}")
    packed, wide = bytes(ts.convert(array, to=layout)), "f32[20,300]{1,0}"
    for out in (bytearray(b"\xff" * layout.bytes), np.full(layout.bytes, 255, np.uint8), np.full((24, 384), -1, np.int16)):
        assert ts.convert(array, to=layout, out=out) is out and bytes(memoryview(out).cast("B")) == packed  # padding is zero again
    values = np.full((20, 300), 7, np.float32)
    assert ts.convert(packed, layout, out=values) is values and (values == ts.convert(packed, layout, to=wide)).all()
    assert ts.convert(packed, layout, to=wide, out=np.empty_like(values)).tolist() == values.tolist()
    whole = np.zeros((20, 300), np.int32)
    assert (ts.convert(packed, layout, out=whole) == np.trunc(values)).all() or (whole == np.rint(values)).all()
    turned = bytearray(24000)
    assert ts.convert(packed, layout, to="f32[20,300]{0,1}", out=turned) is turned and bytes(turned) == values.T.tobytes()
    kept = bytearray(b"\xff" * layout.bytes)
    for wrong in (bytearray(layout.bytes - 1), bytearray(layout.bytes + 1)):
        assert f"{len(wrong)} bytes, expected the {layout.bytes}" in raised(ts.InputError, ts.convert, array, to=layout, out=wrong).message
    raised(TypeError, ts.convert, array, to=layout, out=packed)  # bytes are not written
    raised(TypeError, ts.convert, packed, layout, out=kept)
    raised(TypeError, ts.convert, packed, layout, out=np.empty((300, 20), np.float32).T)
    raised(TypeError, ts.convert, packed, layout, to=wide, out=np.empty((20, 300), np.int32))
    raised(ts.InputError, ts.convert, packed, layout, out=np.empty((300, 20), np.float32))
    for out in (bytearray(24000), [0.0]):
        assert "an array of NumPy" in str(raised(TypeError, ts.convert, packed, layout, to=wide, out=out))
    for out in (np.empty((24, 768), np.int16)[:, ::2], np.empty((384, 24), np.int16).T):
        assert "one byte behind the other" in str(raised(TypeError, ts.convert, array, to=layout, out=out))


@test
def memory_of_no_bytes():
    none, layout = np.zeros((3, 0), np.float32), "f32[3,0]{1,0}"
    for out in (none, memoryview(none), bytearray()):
        assert ts.convert(none, to=layout, out=out) is out
        assert ts.convert(out, layout).shape == (3, 0)
    assert ts.convert(b"", layout, out=none) is none


@test
def never_over_the_data():
    array = np.arange(16 * 256, dtype=np.float32).reshape(16, 256)
    layout, before = ts.Layout("f32[16,256]{1,0:T(8,128)}"), array.tobytes()
    memory = np.zeros(2 * array.nbytes - 4, np.uint8)
    for data, out in ((array, array), (array[:], memoryview(array).cast("B"))):
        assert "memory of the data itself" in str(raised(ValueError, ts.convert, data, to=layout, out=out))
    assert array.tobytes() == before
    elements = memory[:array.nbytes].view(np.float32).reshape(16, 256)
    raised(ValueError, ts.convert, memory[array.nbytes - 4:], layout, out=elements)
    raised(ValueError, ts.convert, elements, to=layout, out=memory[array.nbytes - 4:])
    ts.convert(elements[:8], to="f32[8,256]{1,0:T(8,128)}", out=memory[elements[:8].nbytes:array.nbytes])


@test
def prepared_once():
    """A Converter gives what convert gives, again and again, in all types."""
    random = np.random.default_rng(6)
    for type_ in ("f32", "s32", "u8", "f16", "f64", "s16", "c64", "pred", "bf16", "f8e4m3fn", "s4", "u64"):
        of = ts.dtype(type_)
        for dims, tile in (((20, 300), "8,128"), ((7, 5), "2,4"), ((64, 256), "16,128"), ((3, 0), "8,128")):
            rows, tiled = f"{type_}[{dims[0]},{dims[1]}]", f"{type_}[{dims[0]},{dims[1]}]{{1,0:T({tile})}}"
            there, back = ts.Converter(rows, to=tiled), ts.Converter(ts.Layout(tiled), ts.Layout(rows))
            assert (there.dims, there.source_bytes, there.bytes) == (dims, back.bytes, back.source_bytes)
            assert (there.source, there.to, there.bytes) == (ts.Layout(rows), ts.Layout(tiled), ts.Layout(tiled).storage_bytes)
            for _ in range(3):
                words = random.integers(0, 2 if type_ == "pred" else 16, (*dims, of.itemsize), np.uint8)
                array = np.ascontiguousarray(words).view(of).reshape(dims)
                packed, out = there(array), bytearray(b"\xff" * there.bytes)
                assert isinstance(packed, memoryview) and bytes(packed) == bytes(ts.convert(array, to=tiled)), (type_, dims)
                assert there(array, out=out) is out and out == packed  # padding is zero again
                assert there(array.tobytes()) == packed and there(array.reshape(-1).view(np.uint8)) == packed
                found = back(packed)
                assert found.dtype == of and found.shape == dims and found.tobytes() == array.tobytes()
                values = np.zeros(dims, of)
                assert back(packed, out=values) is values and values.tobytes() == array.tobytes()
    rounds = ts.Converter("f32[2,2]{1,0}", to="s8[2,2]{0,1}")
    assert bytes(rounds(np.array([[1.5, -2.5], [300, 4]], np.float32).T)) == bytes([1, 254, 127, 4])  # of any strides
    assert repr(rounds) == "Converter('f32[2,2]{1,0}', to='s8[2,2]{0,1}')"
    for other in (pickle.loads(pickle.dumps(rounds)), copy.deepcopy(rounds)):
        assert repr(other) == repr(rounds) and bytes(other(np.ones((2, 2), np.float32))) == b"\1\1\1\1"


@test
def lists_of_numbers():
    """Prepared or not, their values are rounded alike; bytes of tiles are no lists."""
    for rows, values in (("f32[2,3]", [[1, 2.5, -3], [4, 5, 6e30]]), ("bf16[2]", (1.00390625, 3)), ("s8[3]", [-2.5, 7, 300]),
                         ("f32[]", 3), ("pred[2]", [True, False]), ("u8[0]", [])):
        there = ts.Converter(rows, to=rows + "{" + ",".join(map(str, reversed(range(rows.count(",") + 1)))) + ":T(2)}"
                             if rows != "f32[]" else "f32[]{:T(2)}")
        assert bytes(there(values)) == bytes(ts.convert(values, to=there.to)), rows
        raised(TypeError, ts.Converter(there.to, to=rows), values)
    assert "dims [1], the destination [2,3]" in raised(ts.InputError, ts.Converter("f32[2,3]", to="f32[2,3]"), [1.0]).message


@test
def byte_order_of_fields():
    """Raw words, for which NumPy has no type, and structures as the bytes of a layout."""
    words = np.arange(6, dtype="<u2") * 257
    raw, swapped = words.view([("bf16", "<u2")]), words.astype(">u2").view([("bf16", ">u2")])
    tiles = "bf16[6]{0:T(4)}"
    assert bytes(ts.convert(swapped, to=tiles)) == bytes(ts.convert(raw, to=tiles))
    for held in (raw, swapped):
        assert ts.convert(held, "bf16[6]{0}").tobytes() == ts.Converter("bf16[6]", to="bf16[6]")(held).tobytes() == words.tobytes()
    assert "little endian" in str(raised(TypeError, ts.convert, raw, to="bf16[6]{0}", out=swapped))
    assert "little endian" in str(raised(TypeError, ts.convert, words, "bf16[6]{0}", out=swapped))


@test
def masked_values_are_refused():
    array = np.arange(6, dtype=np.float32)
    masked, tiles = np.ma.masked_array(array, mask=array > 4), "f32[6]{0:T(6)}"
    for call in (lambda of: ts.convert(of, to=tiles), lambda of: ts.convert(of, tiles), ts.Converter("f32[6]", to=tiles),
                 ts.Converter(tiles, to="f32[6]")):
        assert "masked" in str(raised(TypeError, call, masked))
        assert bytes(call(np.ma.masked_array(array))) == bytes(call(masked.filled(5))) == array.tobytes()
    for call in (lambda of: ts.convert(of, to="f32[2,6]"), ts.Converter("f32[2,6]", to="f32[2,6]{1,0:T(2,8)}")):
        for part in (masked, [0.0, 1.0, 2.0, 3.0, 4.0, np.ma.masked]):  # of a list NumPy would take the values
            assert "masked" in str(raised(TypeError, call, [array, part])), part
            assert "masked" in str(raised(TypeError, call, ((array, part),))), part
        assert len(bytes(call([array, np.ma.masked_array(array)]))) > 0
    for data, words in ((array, {"to": tiles}), (array.tobytes(), {"layout": tiles})):
        assert "masked" in str(raised(TypeError, ts.convert, data, out=masked.copy(), **words))
        for out in (np.ma.zeros(6, np.float32), np.ma.masked_array(np.zeros(6, np.float32), False)):
            assert ts.convert(data, out=out, **words) is out and out.tolist() == array.tolist()


@test
def arrays_are_written_as_such():
    """Bytes of tiles are bytes, also where they lie as those of an array."""
    tiled = "f32[8,128]{1,0:T(8,128)}"
    array = np.arange(1024, dtype=np.float32).reshape(8, 128)
    packed = ts.Converter("f32[8,128]", to=tiled)(array)
    assert isinstance(packed, memoryview) and bytes(packed) == array.tobytes()
    assert isinstance(ts.Converter(tiled, to=tiled)(packed), memoryview)
    assert isinstance(ts.convert(packed, tiled, to=tiled), np.ndarray)
    assert (ts.Converter(tiled, to="f32[8,128]")(packed) == array).all()


@test
def arrays_in_more_memory():
    """Tiles of tiles may hold an array, and unused memory behind it."""
    array = np.arange(16, dtype=np.float32)
    tiles, out = "f32[16]{0:T(16)(3)}", np.zeros(16, np.float32)
    packed = ts.convert(array, to=tiles)
    assert len(packed) == 72 and len(ts.Converter("f32[16]", to=tiles)(array)) == 72
    for got in (ts.convert(packed, tiles, to=tiles), ts.convert(packed, tiles, to=tiles, out=out)):
        assert isinstance(got, np.ndarray) and (got == array).all()


@test
def prepared_and_refused():
    tiles = ts.Converter("f32[4,6]", to="f32[4,6]{1,0:T(2,4)}")
    rows, array = ts.Converter(tiles.to, to="f32[4,6]"), np.zeros((4, 6), np.float32)
    assert "dims [4,6], the destination [6,4]" in raised(ts.InputError, ts.Converter, "f32[4,6]", to="f32[6,4]").message
    assert "no conversion from c64" in raised(ts.InputError, ts.Converter, "c64[4]", to="f32[4]").message
    raised(ts.InputError, ts.Converter, "f32[8]", to="f32[8] S[8:1@lane]")
    assert "no conversion of c64 from 64 to 32 bits" in raised(ts.InputError, ts.convert, np.zeros(4, "c8"), to="c64[4]{0:E(32)}").message
    for wrong in (np.zeros((4, 6)), array.T, array.reshape(24), np.zeros((4, 6), np.int32)):
        assert "expected f32[4,6]" in str(raised(ValueError, tiles, wrong))
    assert "the source: 95 bytes, expected the 96" in raised(ts.InputError, tiles, bytes(95)).message
    out = bytearray(b"\xff" * 127)
    assert "the destination: 127 bytes, expected the 128" in raised(ts.InputError, tiles, array, out=out).message
    assert out == b"\xff" * 127
    out = bytearray(b"\xff" * 128)
    raised(ts.InputError, tiles, bytes(95), out=out)
    assert out == b"\xff" * 128  # not even padding is written
    raised(TypeError, tiles, array, out=bytes(128))
    raised(TypeError, rows, out, out=bytearray(96))
    raised(TypeError, rows, out, out=np.zeros((4, 6), np.int32))
    assert "the dims [6, 4], expected [4, 6]" in str(raised(ValueError, rows, out, out=np.zeros((6, 4), np.float32)))
    memory = np.zeros(220, np.uint8)
    assert "memory of the data itself" in str(raised(ValueError, tiles, memory[:96], out=memory[92:220]))


@test
def bits_behind_narrow_elements():
    """The last byte of three nibbles has room for a fourth."""
    nibbles = np.array([5, 6, 7], np.uint8).view(ts.dtype("s4"))
    for count, want in ((1, b"\x05"), (2, b"\x65"), (3, b"\x65\x07")):
        layout, out = f"s4[{count}]{{0:E(4)}}", bytearray(b"\xff" * len(want))
        assert ts.convert(nibbles[:count], to=layout, out=out) == want == ts.convert(nibbles[:count], to=layout)


@test
def copies_and_other_processes():
    for one in (ts.Layout("bf16[20,300]{1,0:T(8,128)(2,1)}"), ts.Layout("f32[16,256] S[(2,8,2,128):(2048,128,1024,1)]"),
                ts.Machine("tpu-v5e", {"hbm.clock": "1 GHz"})):
        for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
            assert other == one and repr(other) == repr(one) and other is not one
    for one in (ts.price("f32[64,64]", ts.Layout("f32[64,64]{0,1}"), ts.Machine("tpu-v4", {"hbm.clock": "1 GHz"}), exact=True),
                ts.relayout('f32[16,256] vpad<"32,{0,0},(8,128)">', 'f32[16,256] vpad<"32,{3,0},(8,128)">', "tpu-v6e")):
        for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
            assert other.json() == one.json() and repr(other) == repr(one) and other.machine == one.machine


@test
def large_ones_are_of_fresh_memory():
    array = np.random.default_rng(5).standard_normal((1100, 1100)).astype(np.float32)
    layout = "f32[1100,1100]{1,0:T(8,128)}"
    packed = ts.convert(array, to=layout)
    assert packed.nbytes > 4 << 20 and bytes(packed) == by_numpy(array, 8, 128) and not packed.readonly
    back = ts.convert(packed, layout)
    assert (back == array).all() and back.flags.writeable and back.flags.c_contiguous
    back[0, 0] = packed[0] = 1
    huge = ts.Layout("f32[1048576,1048576]{1,0:T(8,128)}")  # 4 TiB
    assert "the source: 1 bytes, expected the 4398046511104" in raised(ts.InputError, ts.convert, bytes(1), huge).message
    assert "no memory for 1,152,921,504,606,846,976 bytes" in str(raised(MemoryError, conversions._fresh, 1 << 60, False))


@test
def other_threads_go_on():
    """While the library works."""
    array = np.zeros((2048, 2048), np.float32)
    assert lets_others_go_on(lambda: ts.convert(array, to="f32[2048,2048]{0,1}"))
    assert not lets_others_go_on(lambda: None, 0.1)


@test
def refused():
    array = np.zeros((4, 6), np.float32)
    error = raised(ts.InputError, ts.convert, array, to="f32[6,4]{1,0}")
    assert "[4,6]" in error.message and "[6,4]" in error.message, error.message
    raised(ts.InputError, ts.convert, bytes(95), "f32[3,5]{1,0:T(2,2)}")
    raised(TypeError, ts.dtype, "token")


@test
def threads_at_once():
    """Two threads get what one gets; while a call works, another thread goes on."""
    array = np.random.default_rng(3).standard_normal((1024, 1024)).astype(np.float32)
    layouts = ["f32[1024,1024]{1,0:T(8,128)}", "bf16[1024,1024]{1,0:T(8,128)(2,1)}"]
    small, tiles = array[:61, :67].copy(), ts.Converter("f32[61,67]", to="bf16[61,67]{1,0:T(8,128)(2,1)}")
    alone, all_tiles = [bytes(ts.convert(array, to=layout)) for layout in layouts], [bytes(tiles(small * i)) for i in (1, 2)]
    shared = [ts.Layout(layout) for layout in layouts]
    failures = []

    def work(which):
        for _ in range(20):
            if bytes(ts.convert(array, to=shared[which])) != alone[which] or shared[which].index(5) != (0, 5) and which == 0:
                failures.append(which)
            failures.extend("tiles" for _ in range(20) if bytes(tiles(small * (1 + which))) != all_tiles[which])
            try:
                ts.Layout(f"f32[8]{{{which + 3}}}")
            except ts.InputError as error:
                if str(which + 3) not in error.message:
                    failures.append(error)

    workers = [threading.Thread(target=work, args=(i % 2,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []


main()
