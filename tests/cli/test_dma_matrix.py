"""tilesim dma --matrix: which layouts, their prices against single ones, what it says they teach, the heat map; and the other
layouts that tilesim dma tries."""
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import cases, expect, expect_json, main, release_test, run, test


def matrix(shape, *options):
    return expect_json(["dma", "--matrix", shape, *options])


def layouts(shape, *options):
    return [row["shape"][row["shape"].index("]") + 1:] for row in matrix(shape, *options)["layouts"]]


@test
def layouts_are_those_of_the_rule():
    assert layouts("bf16[64,256]") == ["{1,0}", "{0,1}", "{0,1:T(8,128)(2,1)}", "{1,0:T(16,128)(2,1)}", "{1,0:T(8,128)(2,1)}",
                                       "{1,0:T(4,128)(2,1)}", "{1,0:T(2,128)(2,1)}"]
    assert layouts("f32[64,256]")[3:] == ["{1,0:T(8,128)}", "{1,0:T(4,128)}", "{1,0:T(2,128)}", "{1,0:T(1,128)}"]
    assert "{1,0:T(1,128)}" not in layouts("f32[64,256]", "-m", "tpu-v3")  # from generation 4 on
    assert "{1,0:T(32,128)(4,1)}" in layouts("s8[64,256]")
    assert layouts("s4[64,256]")[0] == "{1,0:E(4)}" and "{1,0:T(64,128)(8,1)E(4)}" in layouts("s4[64,256]")
    assert layouts("f32[5000]") == ["{0}", "{0:T(1024)}", "{0:T(512)}", "{0:T(256)}", "{0:T(128)}"]
    assert layouts("f32[2,64,256]")[:2] == ["{2,1,0}", "{1,2,0}"]
    assert layouts("f32[64,256]{1,0:T(4,256)}")[:2] == ["{1,0:T(4,256)}", "{1,0}"]  # its own comes first
    assert layouts("f32[64,256]{0,1}")[0] == "{0,1}" and len(layouts("f32[64,256]{0,1}")) == 7
    assert layouts("f32[]") == ["{}"] or layouts("f32[]") == [""]


@test
def prices_are_those_of_single_transfers():
    table = matrix("bf16[256,512]", "-m", "tpu-v4")
    names = [row["shape"] for row in table["layouts"]]
    assert len(table["pairs"]) == len(names) ** 2
    for pair in cases(table["pairs"][::5], 3):
        bill = expect_json(["dma", names[pair["from"]], names[pair["to"]], "-m", "tpu-v4", "--alone"])
        assert (bill["cycles"], bill["kind"], bill["parts"]) == (pair["cycles"], pair["kind"], pair["parts"])
        assert abs(pair["ratio"] - pair["cycles"] / table["copy_cycles"]) < 1e-4
    assert table["copy_cycles"] == table["pairs"][0]["cycles"]


@test
def exact_prices_are_of_every_access():
    for words in [], ["--exact"]:
        table, text = matrix("f32[1024,1024]", *words), expect(["dma", "--matrix", "f32[1024,1024]", *words])
        assert ("prices        ~ sampled" in text) == any(pair["estimated"] for pair in table["pairs"]) == (not words)
        pair = next(pair for pair in table["pairs"] if pair["from"] < pair["to"])
        names = [table["layouts"][pair[end]]["shape"] for end in ("from", "to")]
        assert expect_json(["dma", *names, "--alone", *words])["cycles"] == pair["cycles"]


@test
def text_says_the_same():
    deep = expect(["dma", "--matrix", "bf16[2,3,4,512,512]", "-m", "tpu-v6e"])
    table, text = matrix("f32[256,512]"), expect(["dma", "--matrix", "f32[256,512]"])
    assert all(len(line) <= 100 for line in (text + deep).splitlines()), text + deep
    count = len(table["layouts"])
    times, ratios = (text.split(f"\n{word} ")[1].splitlines()[1:1 + count] for word in ("microseconds", "copies"))
    for pair in table["pairs"]:
        assert abs(float(times[pair["from"]].split()[1 + pair["to"]]) - pair["microseconds"]) <= 0.051
        ratio, kind = ratios[pair["from"]].split()[1 + 2 * pair["to"]:3 + 2 * pair["to"]]
        assert abs(float(ratio) - pair["ratio"]) <= 0.0051 and {"core program": "p"}.get(pair["kind"], pair["kind"][0]) == kind


@release_test
def lesson_follows_from_the_numbers():
    table = matrix("f32[256,512]")
    turned = [i for i, row in enumerate(table["layouts"]) if "{0,1" in row["shape"]]
    groups = [[], [], []]
    for pair in table["pairs"]:
        exchanges = (pair["from"] in turned) != (pair["to"] in turned)
        groups[2 if exchanges else 1 if pair["from"] != pair["to"] else 0].append(pair)
    lines = table["lesson"].splitlines()
    for line, pairs, start in zip(lines, groups, ("staying in", "changing tiles only", "changing the minor")):
        least, most = (f"{f(pair['ratio'] for pair in pairs):.2f}" for f in (min, max))
        assert line.startswith(start) and f" {least} to {most}" in line or least == most and f" {least}" in line, line
        if float(most) > 1:
            dearest, copy = max(pairs, key=lambda pair: pair["ratio"]), table["pairs"][0]
            more = max(dearest["parts"][key] - copy["parts"][key] for key in copy["parts"]) / copy["cycles"]
            assert f"({chr(65 + dearest['from'])} to {chr(65 + dearest['to'])}: +{more:.2f} " in line, (line, more)
    for own, kept in (("lambda i,j: [i,j]", "{1,0}"), ("lambda i,j: [j,i]", "{0,1}"), ("(256,512):(512,1)", "{1,0}"),
                      ("S[(256,512):(1@m,256@m)]", "{0,1}")):  # a layout of another notation is counted with those of its dim
        table = matrix(f"f32[256,512] {own}")
        dims = {i: "{0,1" in row["shape"] for i, row in enumerate(table["layouts"])}
        dims[0] = kept == "{0,1}"
        least = min(pair["ratio"] for pair in table["pairs"] if dims[pair["from"]] != dims[pair["to"]])
        assert f"minor dimension, {least:.2f}" in table["lesson"], (own, least, table["lesson"])
    table = matrix("f32[256,512]")
    other = matrix("f32[256,512]", "--set", "dma.rate.transpose=1")["lesson"].splitlines()
    assert other[0] == lines[0] and other[2] != lines[2] and "reordering" in other[2]  # not canned


@test
def what_nobody_can_do_is_left_out():
    cannot = ("--set", "dma.rate.interleave=0", "--set", "dma.rate.gather=0")
    table = matrix("bf16[64,256]", *cannot)
    assert 0 < len(table["pairs"]) < len(table["layouts"]) ** 2
    assert {pair["kind"] for pair in table["pairs"]} == {"copy", "retile", "core program"}
    text = expect(["dma", "--matrix", "bf16[64,256]", *cannot])
    assert "        -" in text and "\n              -: neither the engine nor a shipped program can do it" in text


@test
def heat_map():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.svg")
        text = expect(["dma", "--matrix", "f32[64,256]", "--svg", path], out=None)
        root = xml.parse(path).getroot()
    rectangles = [r for r in root if r.tag.endswith("rect")][1:]
    texts = [t.text for t in root if t.tag.endswith("text")]
    assert len(rectangles) == 7 * 7 and sum("\u00d7" in t for t in texts) == 7 * 7 + 1
    ratios = [float(t[:-1]) for t in texts if t.endswith("\u00d7")]
    heats = [(ratio, float(r.get("fill-opacity"))) for ratio, r in zip(ratios, rectangles)]
    assert len(heats) == 7 * 7 and all(a[1] <= b[1] for a in heats for b in heats if a[0] < b[0]), heats
    assert min(heats)[1] == 0.06 and 0.3 < max(heats)[1] <= 1, heats  # a copy, and the dearest
    assert "{1,0:T(8,128)}  D" in texts and text
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.svg")
        expect(["dma", "--matrix", "f32[8,8] lambda i,j: [i << 3 | j]", "--svg", path], out=None)
        assert "lambda i, j: [i << 3 | j]  A" in [t.text for t in xml.parse(path).getroot()]


@test
def others_are_tried():
    src, dst = "f32[256,512]{1,0}", "f32[256,512]{1,0:T(8,128)}"
    bill = expect_json(["dma", src, dst])
    others = {row["shape"]: row["cycles"] for row in bill["other_destinations"]}
    assert dst not in others and src in others and len(others) == 6
    assert list(others.values()) == sorted(others.values())
    for shape, cycles in others.items():
        assert expect_json(["dma", src, shape, "--alone"])["cycles"] == cycles
    for row in bill["other_sources"]:
        assert expect_json(["dma", row["shape"], dst, "--alone"])["cycles"] == row["cycles"]
    assert "other_sources" not in expect_json(["dma", src, dst, "--alone"])
    text = expect(["dma", src, "f32[256,512]{0,1}"])
    best = expect_json(["dma", src, "f32[256,512]{0,1}"])
    cheapest, cycles = best["other_destinations"][0], best["cycles"]
    saved = (cycles - cheapest["cycles"]) * 100 / cycles
    assert f"destination {cheapest['shape']}: {cheapest['cycles']:,} cycles, {saved:.1f} % less\n" in text, text
    text = expect(["dma", "f32[128,512] S[(128,512):(1@P,1@F)] S(1)", src.replace("256", "128"), "-m", "trainium2"])
    assert "other layout  source has none to try\n" in text, text


@test
def the_other_ends_layout_is_tried():
    for src, dst, best in cases((
        ("f32[80,16,320]{0,1,2}", "f32[80,16,320]{2,1,0}", "f32[80,16,320]{0,1,2}"),
        ("s8[8,64,28,28] NCHW4c", "s8[8,64,28,28]{3,2,1,0}", "s8[8,64,28,28] NCHW4c"),
        ("f32[80,16,320]{0,1,2:T(4,128)}", "f32[80,16,320]{2,1,0:S(1)}", "f32[80,16,320]{0,1,2:T(4,128)S(1)}"),
        ("f32[80,16,320]{0,2,1:T(8,128)}", "bf16[80,16,320]{2,1,0}", "bf16[80,16,320]{0,2,1}"),
        ("f32[80,16,320]{0,1,2}[0:40]", "f32[40,16,320]{2,1,0}", "f32[40,16,320]{0,1,2}"),
    ), 2):
        bill = expect_json(["dma", src, dst])
        assert best in [row["shape"] for row in bill["other_destinations"]], (src, dst, bill["other_destinations"])
        assert bill["other_destinations"][0]["cycles"] < bill["cycles"], (src, dst)


@test
def threads_change_nothing():
    pair = ["f32[512,640]{1,0}", "f32[512,640]{1,0:T(8,128)}"]
    for words in (pair, [*pair, "--json"], ["--matrix", "s8[100,300]"]):
        assert run("dma", *words, "-j", "1") == run("dma", *words, "--jobs", "5") == run("dma", *words), words


@test
def bad_input():
    rows = [
        (["--matrix", "f32[4"], 1, "--matrix:1:6: error: found the end, expected ',' or ']'\nf32[4\n     ^\n"),
        (["--matrix", "f32[?]"], 4, None),
        (["--matrix", "f32[65536,65536]"], 1, "--matrix:1:1: error: the tensor takes 17179869184 bytes at byte 17179869184 of "
                                              "hbm, which has 17179869184 bytes\nf32[65536,65536]\n^\n"),
        (["--matrix", "(f32[4],f32[4])"], 1, "--matrix:1:1: error: the shape is a tuple, expected an array\n(f32[4],f32[4])\n^\n"),
        (["--matrix", "f32[8,8]", "--set", "dma.rate.copy=0", "--set", "dma.rate.gather=0"], 4, None),
        (["--matrix", "f32[8]", "f32[8]"], 2, None),
        (["f32[8]", "f32[8]", "--svg", "x.svg"], 2, None),
        (["f32[8]"], 2, None),
        ([], 2, None),
        (["--matrix", "f32[8]", "--svg", "/nowhere/x.svg"], 1, None),
        (["--matrix", "f32[8]", "-j", "0"], 2, "tilesim: error: --jobs is 0, expected 1 to 64\n"),
        (["f32[8]", "f32[8]", "-j", "65"], 2, "tilesim: error: --jobs is 65, expected 1 to 64\n"),
    ]
    for words, code, err in rows:
        found, out, text = run("dma", *words)
        assert found == code and out == "" and (err is None or text == err), (words, found, text)


main()
