"""tilesim layout: the figures and the worked example of XLA's tiled_layout.md, JSON, and bad input."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, read_json, run, test

FIGURE_1 = "f32[3,5]{1,0:T(2,2)}"
FIGURE_2 = "bf16[4,8]{1,0:T(2,4)(2,1)}"


@test
def figure_1():
    expect(["layout", FIGURE_1], out="""\
f32[3,5]{1,0:T(2,2)}

  element        f32, 32 bits each
  elements       15 logical, 24 with padding
  bytes          60 logical, 96 with padding: 37.5 % padding
  memory space   0 (HBM)

  dim                       extent              padded  expansion      bytes of padding
  0                              3                   4      1.33x                    24
  1                              5                   6      1.20x                    16
  all                           15                  24      1.60x                    36

  digit         extent                stride   value, of the logical index (d0, d1 ..)
  0                  2                    12   d0 / 2
  1                  3                     4   d1 / 2
  2                  2                     2   d0 % 2
  3                  2                     1   d1 % 2

  offset of each element ('.' is padding)   memory order
  +-------+-------+-------+                  0  (0,0) (0,1) (1,0) (1,1)
  |  0  1 |  4  5 |  8  . |                  4  (0,2) (0,3) (1,2) (1,3)
  |  2  3 |  6  7 | 10  . |                  8  (0,4)     . (1,4)     .
  +-------+-------+-------+                 12  (2,0) (2,1)     .     .
  | 12 13 | 16 17 | 20  . |                 16  (2,2) (2,3)     .     .
  |  .  . |  .  . |  .  . |                 20  (2,4)     .     .     .
  +-------+-------+-------+
""")


@test
def figure_2():
    out = expect(["layout", FIGURE_2], out=None)
    assert out[out.index("  offset of"):] == """\
  offset of each element ('.' is padding)     memory order
  +-------------------+-------------------+    0  (0,0) (1,0) (0,1) (1,1) (0,2) (1,2) (0,3) (1,3)
  |  0 :  2 :  4 :  6 |  8 : 10 : 12 : 14 |    8  (0,4) (1,4) (0,5) (1,5) (0,6) (1,6) (0,7) (1,7)
  |  1 :  3 :  5 :  7 |  9 : 11 : 13 : 15 |   16  (2,0) (3,0) (2,1) (3,1) (2,2) (3,2) (2,3) (3,3)
  +-------------------+-------------------+   24  (2,4) (3,4) (2,5) (3,5) (2,6) (3,6) (2,7) (3,7)
  | 16 : 18 : 20 : 22 | 24 : 26 : 28 : 30 |
  | 17 : 19 : 21 : 23 | 25 : 27 : 29 : 31 |
  +-------------------+-------------------+
""", out


@test
def inner_tiles_have_broken_lines():
    out = expect(["layout", "s8[4,4]{0,1:T(4,4)(2,2)}"], out=None)
    assert """
  +---------------+
  |  0  2 :  8 10 |
  |  1  3 :  9 11 |
  |- - - -:- - - -|
  |  4  6 : 12 14 |
  |  5  7 : 13 15 |
  +---------------+
""" in "\n".join(line[:19].rstrip() for line in out.splitlines()) + "\n", out


@test
def slices_of_leading_dims():
    out = expect(["layout", "f32[2,1,3]{2,1,0}"], out=None)
    assert out[out.index("  offset of"):] == """\
  offset of each element ('.' is padding)   memory order
  [0,:,:]                                   0  (0,0,0) (0,0,1) (0,0,2)
  +-------+                                 3  (1,0,0) (1,0,1) (1,0,2)
  | 0 1 2 |
  +-------+
  [1,:,:]
  +-------+
  | 3 4 5 |
  +-------+
""", out


@test
def combined_dims_cost_together():
    out = expect(["layout", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}"], out=None)
    assert """
  0*1*2                        112                 112      1.00x                     0
  3*4                          110                 111      1.01x                   448
  all                       12,320              12,432      1.01x                   448
""" in out, out
    assert "offset of each element" not in out


@test
def dims_that_a_tile_adds_are_its_own():
    out = expect(["layout", "f32[3]{0:T(2,2)}"], out=None)
    assert """
  (tile)                         1                   2      2.00x                    16
  0                              3                   4      1.33x                     8
  all                            3                   8      2.67x                    20
""" in out, out


@test
def tail_alignment():
    out = expect(["layout", "f32[8,128]{1,0:L(2000)}"], out=None)
    for line in ("  storage bytes  8,000 to hold every element; XLA's compilers report the count above",
                 "  L()                        1,024               2,000      1.95x                 3,904"):
        assert line in out.splitlines(), out


@test
def a_tuple():
    expect(["layout", "(f32[8], bf16[2,3]{1,0:T(8,128)(2,1)}, token[])"], out="""\
(f32[8]{0}, bf16[2,3]{1,0:T(8,128)(2,1)}, token[])

  member           logical bytes          with padding   shape
  0                           32                    32   f32[8]{0}
  1                           12                 2,048   bf16[2,3]{1,0:T(8,128)(2,1)}
  2                            0                     0   token[]
  all                         44                 2,080
""")


@test
def of_a_machine():
    """Without a layout and with a machine: the one that the machine's compiler gives; a layout that is written stays."""
    for machine, shape, given, size in (("tpu-v6e", "f32[1536,1]", "f32[1536,1]{0,1:T(1,128)}", 6144),
                                        ("tpu-v3", "bf16[29184,1,2560]", "bf16[29184,1,2560]{2,0,1:T(8,128)(2,1)}", 149422080),
                                        ("tpu-v6e", "f32[1536,1]{1,0}", "f32[1536,1]{1,0}", 6144)):
        expect_json(["layout", shape, "-m", machine], canonical=given, bytes=size)
    expect_json(["layout", "f32[1536,1]"], canonical="f32[1536,1]{1,0}")
    for shape in ("f32[8]", "f32[8]{0}"):
        expect(["layout", shape, "-m", "nowhere"], code=1, out="", err=None)
        expect(["layout", shape, "-m", "tpu-v6e", "--set", "hbm.stcks=1"], code=1, out="", err=None)


@test
def nothing_is_wider_than_100_columns():
    shapes = [FIGURE_1, FIGURE_2, "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
              "bf16[2048]{0:T(1024)(128)(2,1)}", "f32[3,4,5]{0,2,1:T(2,3,2)(2,2,2,2)(3,1,2)}",
              "f32[7,25]{1,0:T(4,8)(2,2)}", "f32[25,7]{1,0:T(2,2)}", "s8[9223372036854775800]", "u8[1000]",
              "f32[1,1,1,1,1,1,1,1,2,2]{9,8,7,6,5,4,3,2,1,0:T(2,2)}",
              "f32[3,5,2]{2,1,0:T(*,8,2)(*,4)(2,2)(*,*,2)}",
              "(" + "f32[64,64]{1,0:T(8,128)(2,1)S(1)}, " * 6 + "f32[])"]
    for shape in shapes:
        out = expect(["layout", shape], out=None)
        widest = max(out.splitlines()[1:], key=len)
        assert len(widest) <= 100, (shape, widest)


@test
def worked_example():
    expect(["layout", FIGURE_1, "--at", "2,3"], out="""\
f32[3,5]{1,0:T(2,2)} at (2,3)

  physical index    (2,3) in (3,5)
  tile (2,2):
    tile index      (2/2,3/2) = (1,1) in (2,3)
    within the tile (2%2,3%2) = (0,1) in (2,2)

  linear_index((1,1,0,1), (2,3,2,2))
  = linear_index((1,1), (2,3)) * 2 * 2 + linear_index((0,1), (2,2))
  = (1 * 3 + 1) * 2 * 2 + (0 * 2 + 1)
  = 17

  bytes 68 to 71
""")


@test
def arithmetic_with_stars_and_leading_dims():
    expect(["layout", "--at=(2, 1, 1)", "s4[3,5,2]{2,1,0:T(*,8,2)(2,2,*,4)E(4)}"], out="""\
s4[3,5,2]{2,1,0:T(*,8,2)(2,2,*,4)E(4)} at (2,1,1)

  physical index    (2,1,1) in (3,5,2)
  tile (*,8,2):
    rewritten       (11,1) in (15,2)
    tile index      (11/8,1/2) = (1,0) in (2,1)
    within the tile (11%8,1%2) = (3,1) in (8,2)
  tile (2,2,*,4):
    rewritten       (1,0,7) in (2,1,16)
    tile index      (1/2,0/2,7/4) = (0,0,1) in (1,1,4)
    within the tile (1%2,0%2,7%4) = (1,0,3) in (2,2,4)

  linear_index((0,0,1,1,0,3), (1,1,4,2,2,4))
  = linear_index((0,0,1), (1,1,4)) * 2 * 2 * 4 + linear_index((1,0,3), (2,2,4))
  = ((0 * 1 + 0) * 4 + 1) * 2 * 2 * 4 + ((1 * 2 + 0) * 4 + 3)
  = 27

  4 bits from bit 4 of byte 13
""")
    expect(["layout", "f32[]", "--at", ""], out="""\
f32[] at ()

  physical index    () in ()

  linear_index((), ())
  = 0

  bytes 0 to 3
""")


@test
def divisions_of_divisions_are_one():
    value = expect_json(["layout", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)(2,3,2,3)}"])
    merged, minor = "((d0 * 7 + d1) * 8 + d2)", "(d3 * 10 + d4)"
    assert [d["value"] for d in value["digits"] if d["extent"] > 1] == [
        f"{merged} / 4", f"{minor} / 9", f"{merged} / 2 % 2", f"{minor} / 3 % 3", f"{merged} % 2", f"{minor} % 3"]
    value = expect_json(["layout", "u8[64,512]{1,0:T(8,128)(4,1)}"])
    assert value["digits"][4]["value"] == "d0 % 4", value


@test
def bytes_of_other_notations():
    expect(["layout", "f32[14] lambda i: [i//4, i%4]", "--at", "13"], out="""\
f32[14] lambda i: [i // 4, i % 4] at (13)

  m = 0 + 3 * 4 + 1 * 1 = 13
  at {m=13}

  bytes 52 to 55
""")
    for shape in ("f32[4] S[4:1@lane]", "f32[4] S[4:-1]", "f32[4] S[4:1] + R[2:8]"):
        assert "bytes" not in expect(["layout", shape, "--at", "3"], out=None), shape


@test
def inverse():
    expect(["layout", FIGURE_1, "--inverse", "17"], out="f32[3,5]{1,0:T(2,2)} at 17 holds (2,3)\n")
    expect(["layout", FIGURE_1, "--inverse", "m=17"], out="f32[3,5]{1,0:T(2,2)} at m=17 holds (2,3)\n")
    expect(["layout", FIGURE_1, "--inverse", "9"],
           out="f32[3,5]{1,0:T(2,2)} at 9 holds padding: no element is there\n")
    tail = "u32[8]{0:T(5)L(16)}"  # 10 elements in tiles; L() makes them 16
    for offset in ("9", "15", "m=10"):
        expect(["layout", tail, "--inverse", offset], out=f"{tail} at {offset} holds padding: no element is there\n")
    expect(["layout", tail, "--inverse", "16"], 1, "",
           "--inverse:1:1: error: found 16 on the axis 'm', expected 0 to 15\n16\n^\n")
    out = expect(["layout", FIGURE_1, "--at", "2,3", "--inverse", "0"], out=None)
    assert out.endswith("  bytes 68 to 71\n\nThe same shape at 0 holds (0,0)\n"), out


@test
def what_differs_ends_with_3():
    expect(["layout", "f32[8,8]{1,0}", "--equal", "f32[8,8]{0,1}"], 3,
           "different at (1,0)\n  f32[8,8]{1,0}\n  m = 0 + 1 * 8 + 0 * 1 = 8\n  at {m=8}\n"
           "  f32[8,8]{0,1}\n  m = 0 + 0 * 8 + 1 * 1 = 1\n  at {m=1}\n")
    expect(["layout", "f32[8,8]{1,0}", "--equal", "f32[8,8]"], 0,
           "equal: every element is at the same place in both\n  f32[8,8]{1,0}\n  f32[8,8]{1,0}\n")


@test
def huge_maps_of_one_normal_form_are_equal():
    for first, second in (("f32[1000000000000] S[(1000000,1000000):(1000000,1)]", "f32[1000000000000] 1000000000000:1"),
                          ("f32[100000001]{0:T(1024)(128)}", "f32[100000001] lambda i: [i // 128, i % 128]")):
        out = expect(["layout", first, "--equal", second], out=None)
        assert out.startswith("equal: every element is at the same place in both\n"), out
    expect(["layout", "--eval", "same_map(S[(1000000,1000000):(1000000,1)], S[1000000000000:1])"], out="yes\n")


@test
def many_points_take_no_time_each():
    out = expect(["layout", "--eval", "forward(S[8:1] + R[65536:16], 3)"], out=None)
    assert out.split() == [f"{{m={3 + 16 * r}}}" for r in range(65536)]


@test
def the_same_map_may_differ_in_bytes():
    out = expect(["layout", "s4[9]{0:E(4)}", "--equal", "s4[9] S[9:1] S(1)"], out=None)
    assert out.splitlines()[:3] == ["equal: every element is at the same place in both",
                                    "but: elements of 4 and of 8 bits", "but: memory spaces 0 and 1"], out
    expect(["layout", "f32[14] lambda i: [i//4, i%4]", "--as", "xla"], out="f32[14]{0}\n",
           err="note: 64 and 56 bytes of storage: padding behind the last element\n")
    expect(["layout", "f32[16] lambda i: [i//4, i%4]", "--as", "xla"], out="f32[16]{0}\n")
    expect_json(["layout", "s4[9]{0:E(4)}", "--as", "axe"], **{"as": "s4[9] S[9:1] E(4)"}, as_storage_bytes=5)


@test
def json_keys():
    value = expect_json(["layout", "f32[3,5]{1,0:L(1)T(2,2)}".replace("L(1)", "")], schema="tilesim.layout",
                        canonical=FIGURE_1, offset=None, padded_elements=24, bytes=96, storage_bytes=96,
                        unpadded_bytes=60, dims=[3, 5], element="f32", element_bits=32, memory_space=0)
    assert value["version"] and value["costs"][1] == {"dims": [1], "extent": 5, "padded": 6}
    assert value["digits"][1] == {"extent": 3, "stride": 4, "axis": "m", "value": "d1 / 2"}
    expect_json(["layout", FIGURE_1, "--at", "2,3"], offset=17, index=[2, 3])
    expect_json(["layout", FIGURE_1, "--inverse", "17"], offset=None, elements=[[2, 3]])
    expect_json(["layout", FIGURE_1, "--inverse", "9"], elements=[])
    expect_json(["layout", "f32[3,5]{1,0:T(3,5)(2,2)}"], padded_elements=24, bytes=60, storage_bytes=96)
    value = expect_json(["layout", "c64[3,0,127]{0,1,2:T(1024)}"], bytes=0, storage_bytes=0)
    assert value["axes"] == [{"name": "m", "offset": 0, "low": 0, "high": 0}], "nothing is anywhere"
    expect_json(["layout", "f32[<=3,?]"], canonical="f32[<=3,?]{1,0}", bytes=None, offset=None)
    expect_json(["layout", "(s8[3],s8[4])"], canonical="(s8[3]{0}, s8[4]{0})", bytes=7, unpadded_bytes=7)


@test
def bad_shapes():
    expect(["layout", "F32[8]"], code=1, err="""\
shape:1:1: error: unknown element type 'F32'; did you mean 'f32'?
F32[8]
^
""", out="")
    expect(["layout", "f32[8,128]{1,0:T(8x128)}"], code=1, err="""\
shape:1:18: error: found '8x128', expected a tile size or '*'
f32[8,128]{1,0:T(8x128)}
                 ^
""", out="")
    expect(["layout", "f32[9223372036854775807,2]"], code=1, err="""\
shape:1:5: error: the array up to here has more than 2^63 - 1 elements or bytes
f32[9223372036854775807,2]
    ^
""", out="")


@test
def a_layout_alone():
    """Its array is missing; what --eval takes is said to be for it."""
    bare = "found a layout, expected TYPE[DIMS] before it, as in f32[4,8] (4,8):(8,1)"
    for text, more in (("(4,8):(8,1)", "; --eval takes it alone"), ("S[(4,8):(8,1)]", "; --eval takes it alone"),
                       ("{1,0:T(8,128)}", ""), ("NCHW4c", "")):
        expect(["layout", text], code=1, out="", err=f"shape:1:1: error: {bare}{more}\n{text}\n^\n")
        expect(["layout", text, "f32[4,8]"], code=1, out="", err=f"first shape:1:1: error: {bare}\n{text}\n^\n")


@test
def bad_questions():
    help_line = "`tilesim layout --help` shows how it is used\n"
    expect(["layout", FIGURE_1, "--at", "3,0"], code=1, out="",
           err="--at:1:1: error: index 3 is outside dimension 0 of 3\n3,0\n^\n")
    expect(["layout", FIGURE_1, "--at", "2"], code=1, out="",
           err="--at:1:2: error: found the end, "
               "expected ',' and another index: one for each dimension\n2\n ^\n")
    expect(["layout", FIGURE_1, "--at", "2,3,4"], code=1, out="",
           err="--at:1:4: error: found ',', expected the end: one index for each dimension\n2,3,4\n   ^\n")
    expect(["layout", FIGURE_1, "--inverse", "24"], code=1, out="",
           err="--inverse:1:1: error: found 24 on the axis 'm', expected 0 to 23\n24\n^\n")
    expect(["layout", FIGURE_1, "--inverse", "lane=3"], code=1, out="",
           err="--inverse:1:1: error: the layout has no axis 'lane'\nlane=3\n^\n")
    expect(["layout", "f32[0]", "--inverse", "0"], code=1, out="",
           err="--inverse:1:1: error: the array has no elements\n0\n^\n")
    expect(["layout", "f32[?]", "--at", "0"], code=4, out="",
           err="tilesim: not modelled: the shape has an unbounded dimension ('?'), which has no layout\n")
    expect(["layout", "()", "--at", "0"], code=1, out="",
           err="tilesim: error: the shape is a tuple, expected an array\n")
    for words, message in [([], "expected SHAPE, or --eval and an expression"),
                           (["a", "b", "c"], "unexpected operand 'c', expected [SHAPE [SHAPE]]"),
                           (["--jsn", "a"], "unknown option '--jsn'; did you mean '--json'?"),
                           (["-x", "a"], "unknown option '-x'"),
                           (["a", "--at"], "option '--at' needs a value"),
                           (["f32[8]", "--exact"], "--exact is of two SHAPEs"),
                           (["--eval", "4", "-m", "nowhere"], "--machine does not go with --eval"),
                           (["f32[8]", "--set", "hbm.stacks=2"], "--set changes one machine, expected -m too"),
                           (["f32[8]", "--equal", "f32[8]{0:T(4)}", "--ansi"], "--equal does not go with --ansi"),
                           (["f32[8]", "--mesh", "2", "--exact"], "--exact is not of a sharding (--mesh)"),
                           (["a", "--json=1"], "option '--json' takes no value")]:
        expect(["layout", *words], code=2, out="", err=f"tilesim layout: error: {message}\n{help_line}")


@test
def swizzles_by_all_their_names():
    for name in ("S", "Sw", "Swizzle"):
        out = expect(["layout", f"f32[8,8] {name}<3,0,3> o 0 o (8,8):(8,1)", "--equal", "f32[8,8] SW(0,3,3) o S[(8,8):(8,1)]"])
        assert out.startswith("equal: "), out


@test
def help_has_an_example_that_works():
    code, out, _ = run("layout", "--help")
    example = out[out.index("example:"):].splitlines()[1].split()
    assert code == 0 and example[:2] == ["tilesim", "layout"]
    expect([word.strip("'") for word in example[1:]], out=None)


@test
def a_full_disk_is_an_error():
    import subprocess
    with open("/dev/full", "w") as full:
        from cli import TOOL
        done = subprocess.run([TOOL, "layout", FIGURE_1], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (
        1, "tilesim: error: cannot write 'standard output': No space left on device\n"), done


@test
def expressions():
    expect(["layout", "--eval", "composition((6,2):(8,2), (4,3):(3,1))"], out="((2,2),3):((24,2),8)\n")
    expect(["layout", "--eval", "group(S[32:1], (4,8))"], out="S[(4,8):(8,1)]\nseps: (0,1,2)\n")
    expect(["layout", "--eval", "padding_points(lambda i: [i // 4, i % 4], 14)"], out="((3,2),(3,3))\ncount: 2\n")
    expect(["layout", "--eval", "compositoin(4)"], code=1,
           err="--eval:1:1: error: found 'compositoin', expected a function; did you mean 'composition'?\n"
               "compositoin(4)\n^\n")


@test
def expressions_that_are_shapes():
    shape = "f32[4,8] (4,8):(8,1)"
    explained = expect(["layout", shape])
    expect(["layout", "--eval", "f32[4,8] compact_right((4,8))"], out=explained)
    for words in (["--at", "1,2"], ["--inverse", "9"], ["--as", "axe"], ["--equal", "f32[4,8]{1,0}"], ["--svg", "-"]):
        expect(["layout", "--eval", "compact_right((4,8))", *words], out=expect(["layout", shape, *words]))
    expect_json(["layout", "--eval", "f32[4,8] compact_right((4,8))"], padded_elements=32)
    expect(["layout", "--eval", "compatible(4, 4)", "--at", "1"], code=1,
           err="tilesim: error: the result is a word, expected a layout\n")
    expect(["layout", "--eval", "lambda i: [i]", "--at", "1"], code=1,
           err="tilesim: error: the result is an index map, expected a layout of known dims: write the array before it, as in "
               "f32[4,8] inverse(..)\n")


@test
def expressions_as_json():
    def value(expression):
        result = read_json(expect(["layout", "--json", "--eval", expression]))
        assert result["expression"] == expression
        return result

    assert value("size((4,8))")["value"] == 32 and value("size((4,8))")["kind"] == "tuple"
    assert value("compatible(4, 4)")["value"] is True and value("compatible(4, 5)")["value"] is False
    assert value("get_scope(S[8:1])")["value"] is None and value("(4,(1,(2,-3)))")["value"] == [4, [1, [2, -3]]]
    assert value("separators(lambda i: [i])")["value"] == []
    cute = value("S<3,0,3> o 2 o ((2,1),8):((1,5),2)")
    assert cute["kind"] == "CuTe layout" and cute["result"] == "S<3,0,3> o 2 o ((2,1),8):((1,0),2)"
    assert cute["value"] == {"shape": [[2, 1], 8], "stride": [[1, 0], 2], "swizzle": [3, 0, 3], "offset": 2}
    assert value("4:1")["value"] == {"shape": 4, "stride": 1, "swizzle": None, "offset": 0}
    axe = value("S[(4,2):(2@x,1)] + R[2:8] + 5@x")["value"]
    assert axe["shards"] == [{"extent": 4, "stride": 2, "axis": "x"}, {"extent": 2, "stride": 1, "axis": "m"}]
    assert axe["replicas"] == [{"extent": 2, "stride": 8, "axis": "m"}] and axe["offsets"] == {"x": 5}
    assert axe["swizzle"] is None and value("SW(0,2,3) o S[64:1]")["value"]["swizzle"] == [0, 2, 3]
    assert value("forward(S[2:1] + R[2:8], 1)")["value"] == [{"m": 1}, {"m": 9}]
    assert value("group_many(S[30:1], ((6,5),(2,15)))")["seps"] == [[0, 2, 3], [0, 1, 3]]
    padded = value("non_surjective_inverse(lambda i: [i // 4, i % 4], 14)")
    assert padded["value"] == padded["result"] == "lambda x0, x1: [x0 * 4 + x1]" and padded["padding"] == "x0 * 4 + x1 >= 14"
    assert value("flatten(" + "(" * 21 + "4" + ")" * 21 + ")")["value"] == {"shape": [4], "stride": [1], "swizzle": None, "offset": 0}
    deep = "(" * 21 + "4" + ")" * 21
    assert value(deep)["value"] is None and value(deep)["result"] == deep and value(deep[1:-1])["value"] is not None


@test
def a_shape_or_an_expression():
    usage = "`tilesim layout --help` shows how it is used\n"
    expect(["layout"], code=2, err="tilesim layout: error: expected SHAPE, or --eval and an expression\n" + usage)
    expect(["layout", "f32[4]", "--eval", "4"], code=2,
           err="tilesim layout: error: found SHAPE and --eval, expected one of them\n" + usage)


main()
