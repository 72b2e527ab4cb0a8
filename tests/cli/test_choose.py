"""tilesim choose: rankings that agree with published guidance, bounds that lose nothing, and bad input."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import ALL, TOOL, cases, expect, expect_json, main, release_test, run, test

SOFTMAX = "programs/softmax.tsim"


def rank(shape, *options):
    return expect_json(["choose", shape, "--no-moves", *options])


def layouts(result):
    """Layout to candidate."""
    return {c["shape"][c["shape"].index("{"):]: c for c in result["candidates"]}


# Cut candidates are worse than any that are ranked; their cycles are at least so many.
def cycles(candidate):
    return candidate["cycles"] if candidate["priced"] else candidate["cycles_at_least"]


@test
def small_second_minor():
    """A second minor dim of 1: 8 rows of padding in T(8,128), 2 before v4, where another order has none, none with T(1,128)
    (XLA tiled_layout.md)."""
    for machine, row_major, rule, padded in (("tpu-v4", "{2,1,0:T(1,128)}", "{2,1,0:T(1,128)}", 1),
                                             ("tpu-v3", "{2,1,0:T(2,128)}", "{2,0,1:T(8,128)}", 2)):
        result = rank("f32[29184,1,2560]", "-m", machine, "--exhaustive")
        found = layouts(result)
        assert found[rule]["rule"] and found[rule]["bytes"] == result["logical_bytes"]
        assert found[row_major]["bytes"] == padded * result["logical_bytes"]
        tall = found["{2,1,0:T(8,128)}"]
        assert tall["bytes"] == 8 * result["logical_bytes"] and tall["ratio"] > 7
        assert cycles(found[row_major]) < cycles(found["{2,1,0:T(4,128)}"]) < cycles(tall)
        assert result["candidates"][0]["bytes"] == result["logical_bytes"]


@test
def exact_extends_no_transfer():
    words = ["choose", "f32[5000,5000]", "--use", "dma:hbm>vmem", "--no-moves", "--set", "memories.vmem.capacity=1 GiB"]
    quick, exact = (expect_json([*words, *more], schema="tilesim.choose") for more in ((), ("--exact",)))
    assert quick["estimated"] and not exact["estimated"]
    best = [result["candidates"][0] for result in (quick, exact)]
    assert abs(best[0]["cycles"] / best[1]["cycles"] - 1) < 0.02


UNFINISHED = """.tensor x hbm f32[1024,1024] in zeros
.tensor xb vmem f32[1024,1024]{1,0:T(8,128)}
.sem in
        dma xb <- x, in
%s
        halt
"""


@test
def what_a_program_leaves_at_its_end_is_said():
    """A transfer that nobody waits for takes no time, in whatever layout."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "a.tsim")
        words = ["choose", program, "--tensor", "x", "--no-moves"]
        for wait, unfinished in (("", True), ("        wait in", False)):
            program.write_text(UNFINISHED % wait)
            code, out, err = run(*words, "--json")
            result = json.loads(out)
            assert code == 0 and {c["unfinished"] for c in result["candidates"] if c["priced"]} == {unfinished}, (code, err)
            assert [w["kind"] for w in result["warnings"]] == ["transfer_left", "semaphore_left"] * unfinished, result["warnings"]
            assert err.count(f"{program}:4:13: warning at cycle ") == err.count("warning") == 2 * unfinished, err
            code, out, again = run(*words)
            assert (code, again) == (0, err) and ("  <- unfinished\n" in out) == ("\nwarning    with all the program ends" in out) == unfinished, out
            page = Path(folder, "a.html")
            run(*words, "--html", page)
            assert ("ends while transfers are under way" in page.read_text()) == unfinished
        program.write_text(UNFINISHED % "        delay 400000")  # what takes less is done then, and only not waited for
        code, out, err = run(*words)
        assert "\nwarning    with 4 the program ends while" in out and out.count("  <- unfinished\n") == 4, out
        assert "[transfer_left]" in err, err
    assert "warnings" not in rank("f32[64,64]") and "unfinished" not in rank("f32[64,64]")["candidates"][0]


@test
def what_points_of_a_grid_leave_is_said():
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "a.tsim")
        program.write_text(".param N = 1\n" + UNFINISHED % "        delay N")
        for words, rows in ((["choose", program, "--block", "N=2,400000"], "candidates"), (["run", program, "-D", "N=2,400000"], "runs")):
            assert "\nwarning: 1 of 2 ends while transfers are under way: " in expect(words), words
            found = json.loads(expect([*words, "--json"]))[rows]
            assert [row["unfinished"] for row in found] == [True, False], found


@test
def pairs_of_bf16():
    """Two rows share a word: a single row is padded to two, and other orders are not."""
    result = rank("bf16[4096,1,1024]", "-m", "tpu-v5e", "--exhaustive")
    found = layouts(result)
    assert found["{2,0,1:T(8,128)(2,1)}"]["rule"] and found["{2,1,0:T(2,128)(2,1)}"]["bytes"] == 2 * result["logical_bytes"]
    assert found["{2,0,1:T(8,128)(2,1)}"]["ratio"] == 1 and found["{2,1,0:T(2,128)(2,1)}"]["ratio"] > 1.8
    pair = layouts(rank("bf16[4096,2,1024]", "-m", "tpu-v5e"))
    assert pair["{2,1,0:T(2,128)(2,1)}"]["rule"] and pair["{2,1,0:T(2,128)(2,1)}"]["tie"]


@test
def reductions_along_leading_dims():
    """Leading dims are free, sublanes cheap, lanes the slowest (JAX, Pallas TPU details)."""
    for shape, tile in (("f32[1024,1024,1024]", "T(8,128)"), ("bf16[1024,1024,1024]", "T(8,128)(2,1)")):
        for dim, other in ((0, 1), (1, 2), (2, 0)):
            third = 3 - dim - other
            found = layouts(rank(shape, "--use", f"reduce:{dim}", "-m", "tpu-v5e", "--exhaustive"))
            leading = cycles(found[f"{{{other},{third},{dim}:{tile}}}"])
            sublane = cycles(found[f"{{{other},{dim},{third}:{tile}}}"])
            lane = cycles(found[f"{{{dim},{other},{third}:{tile}}}"])
            assert leading <= sublane < lane and lane > 1.3 * leading, (leading, sublane, lane)


@test
def heads_of_64():
    """head_dim 64 as the minor dim doubles a KV cache; with the sequence in lanes it does not."""
    result = rank("bf16[16,2048,8,64]", "-m", "tpu-v6e", "--exhaustive")
    found = layouts(result)
    assert found["{3,2,1,0:T(8,128)(2,1)}"]["bytes"] == 2 * result["logical_bytes"]
    assert found["{3,2,1,0:T(8,128)(2,1)}"]["ratio"] > 1.8 and found["{1,3,2,0:T(8,128)(2,1)}"]["ratio"] == 1
    assert 64 not in [dim_size(c) for c in result["candidates"] if c["tie"]]


def dim_size(candidate):
    """Of the minor dim."""
    dims, order = candidate["shape"].split("[")[1].split("]{")
    return int(dims.split(",")[int(order.split(",")[0])])


@test
def bounds_lose_nothing():
    """The best, the ties and their order are those of pricing everything; what was cut takes as long as it said."""
    uses = ["dma:hbm>vmem", "dma:hbm>hbm", "dma, reduce:1", "stream, dma:vmem>hbm", "dma, reduce:0, stream"]
    shapes = ["f32[300,7,130]", "bf16[64,3,200]", "s8[33,65]", "f32[5,1,3,700]", "bf16[1000]"]
    for shape in cases(shapes, 1):
        for use in cases(uses, 2):
            if shape == "bf16[1000]" and "1" in use:
                continue
            for machine in ("tpu-v5e", "tpu-v3"):
                fast = rank(shape, "--use", use, "-m", machine)
                all_ = rank(shape, "--use", use, "-m", machine, "--exhaustive")
                assert all_["cut"] == 0 and fast["priced"] + fast["cut"] == fast["layouts"] == all_["layouts"]
                ties = [[(c["shape"], c["cycles"]) for c in r["candidates"] if c["tie"]] for r in (fast, all_)]
                assert ties[0] == ties[1], (shape, use)
                priced = {c["shape"]: c["cycles"] for c in all_["candidates"]}
                for c in fast["candidates"]:
                    if not c["priced"] and c["shape"] in priced:
                        assert c["cycles_at_least"] <= priced[c["shape"]], (shape, use, c)


@test
def a_thousand_layouts_of_a_gibibyte():
    start = sum(os.times()[2:4])
    result = rank("bf16[8,32,16,1024,128]", "--use", "dma:hbm>vmem, reduce:4, stream", "-m", "tpu-v4", "--combine")
    assert result["layouts"] == 1440 and result["logical_bytes"] == 1 << 30
    assert sum(c["alike"] for c in result["candidates"]) == 1440
    assert sum(os.times()[2:4]) - start < 5


@release_test
def odd_sizes_of_a_gibibyte():
    """Many numbers of bytes, on the machine that takes longest, with its assumed figures moved."""
    start = sum(os.times()[2:4])
    result = expect_json(["choose", "bf16[5,32,17,1024,250]", "--use", "dma:hbm>hbm, reduce:4", "-m", "tpu-v7x", "--combine"])
    assert result["layouts"] == 1440 and result["fields_moved"] > 20
    assert sum(os.times()[2:4]) - start < 5


@release_test
def large_transfers_lie_between_two():
    """What is interpolated is what the engine takes, within 2 %."""
    for machine in ("tpu-v3", "tpu-v5e", "tpu-v7x"):
        for rows in (160000, 300001, 1000003):
            first = rank(f"f32[{rows},128]", "-m", machine)["candidates"][0]
            layout = first["shape"][first["shape"].index("{"):]
            shape = f"f32[{rows},128]{layout}"
            cost = expect_json(["dma", shape, shape[:-1] + "S(1)}", "--alone", "-m", machine, "--set", "memories.vmem.capacity=16 GiB"])
            assert abs(first["cycles"] / cost["cycles"] - 1) < 0.02, (machine, rows, first["cycles"], cost["cycles"])


@test
def tiles_of_combined_dims():
    """T(*,8,128) takes a small second minor dim together with its neighbour: no padding."""
    result = rank("f32[29184,3,2560]", "-m", "tpu-v5e", "--combine", "--exhaustive")
    found = layouts(result)
    assert found["{2,1,0:T(*,8,128)}"]["bytes"] == result["logical_bytes"] < found["{2,1,0:T(4,128)}"]["bytes"]
    assert not any("*" in c["shape"] for c in rank("f32[29184,3,2560]", "-m", "tpu-v5e")["candidates"])


@test
def padding_is_of_one_size_of_data():
    """4-bit elements take 8 bits where the layout does not pack them: half of that is padding, too."""
    result = rank("s4[90,90]{1,0:T(8,128)}")
    assert result["logical_bytes"] == 90 * 90 / 2 and len(result["candidates"]) == 5
    for c in result["candidates"]:
        assert abs(c["padding_percent"] - 100 * (1 - 4050 / c["bytes"])) < 1e-3, c
    assert [c["bytes"] for c in result["candidates"] if c["now"]] == [96 * 128]


@test
def no_elements():
    """They cost the core nothing, and a transfer what one costs at least."""
    for shape, use in (("f32[0,128]", "stream"), ("bf16[128,0]", "reduce:1"), ("s8[0]", "reduce:0")):
        assert {(c["cycles"], c["limiter"]) for c in rank(shape, "--use", use, "--exhaustive")["candidates"]} == {(0, "no elements")}
    both = rank("f32[0,128]", "--use", "dma:hbm>vmem, stream")["candidates"][0]
    assert both["cycles"] == both["dma_cycles"] > 0 == both["core_cycles"]
    expect(["choose", "s2[0]", "--use", "stream"], 4,
           err="tilesim: not modelled: the vector unit has no arithmetic for s2: only transfers can be priced\n")


@test
def a_programs_tensor():
    result = rank(SOFTMAX, "--tensor", "x")
    now = [c for c in result["candidates"] if c["now"]]
    assert len(now) == 1 and not now[0]["rule"] and now[0]["shape"] == "f32[512,1000]{1,0:T(8,128)}" and now[0]["tie"]
    # The program as it is, and with the tensor elsewhere, takes what `run` says.
    assert now[0]["cycles"] == expect_json(["run", SOFTMAX, "--time-only"])["cycles"]
    turned = layouts(result)["{0,1:T(8,128)}"]
    assert turned["rule"] and turned["cycles"] > 1.1 * now[0]["cycles"]
    every = rank(SOFTMAX, "--tensor", "x", "--exhaustive")
    assert layouts(every)["{0,1:T(8,128)}"]["ratio"] > 1.5 and every["cut"] == 0 and every["candidates"][0] == result["candidates"][0]
    small = rank(SOFTMAX, "--tensor", "y", "-D", "ROWS=64", "-m", "tpu-v4")
    assert small["logical_bytes"] == 64 * 1000 * 4 and small["machine"] == "tpu-v4"


@test
def what_a_program_has_now():
    """Without tiles, and in another notation too: it takes what `run` says."""
    for program, tensor, options in cases((("tile", "x", []), ("rope", "freq", []), ("conv3x3", "y", [])), 1):
        path = f"programs/{program}.tsim"
        now = [c for c in rank(path, "--tensor", tensor, *options)["candidates"] if c["now"]]
        assert len(now) == 1 and now[0]["priced"] and now[0]["cycles"] == expect_json(["run", path, "--time-only"])["cycles"], (program, now)


def line_of(path, text):
    """The first instruction with that text."""
    lines = Path(path).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if text in line and line.strip().startswith(("v", "s")))


@release_test
def a_tensor_that_is_only_transferred():
    """In VMEM too, where no instruction addresses its words: as it is it takes what `run` says; what does not fit is left out."""
    program = "programs/copy.tsim"
    result = rank(program, "--tensor", "xb", "--exhaustive")
    turned = "{2,1,0:T(4,128)}"
    text, count = re.subn(r"(?m)^(\.tensor xb vmem f32\[\d,BLOCK,COLS\])\S+", r"\g<1>" + turned, Path(program).read_text())
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree("programs", folder, dirs_exist_ok=True)
        path = Path(folder, "copy.tsim")
        path.write_text(text)
        assert count == 1 and layouts(result)[turned]["cycles"] == expect_json(["run", path, "--time-only"])["cycles"]
    assert result["unfit"] == 0
    small = rank(program, "--tensor", "xb", "--set", "memories.vmem.capacity=16 MiB")
    assert small["unfit"] > 0 and small["priced"] + small["cut"] + small["unfit"] == small["layouts"]
    assert all(c["bytes"] <= 16 << 20 for c in small["candidates"])


@test
def kernels_run_on_all_of_a_tensor():
    """Up to half of VMEM; more in blocks, one after another, and said."""
    one, two = (rank(f"f32[{n},1024]", "--use", "stream", "-m", "tpu-v5e") for n in (16384, 32768))
    assert one["block_bytes"] == 0 and two["block_bytes"] == 64 << 20 and not two["estimated"]
    assert abs(two["candidates"][0]["cycles"] / one["candidates"][0]["cycles"] - 2) < 1e-3
    assert "half of vmem: block by block" in expect(["choose", "f32[32768,1024]", "--no-moves", "--use", "stream"])
    few = [rank(f"f32[{n},1024]", "--use", "reduce:0", "-m", "tpu-v5e")["candidates"][0]["cycles"] for n in (64, 128, 256)]
    assert few[0] < few[1] < few[2] < 2 * few[1]


@test
def assumed_figures_are_moved():
    result = expect_json(["choose", "f32[64,1,256]", "--use", "dma:hbm>vmem"])
    assert result["fields_moved"] > 20
    for change in result["winner_changes"]:
        assert change["cycles"] * 1.1 < change["cycles_of_best"]
    text = expect(["choose", "f32[64,1,256]"])
    assert "assumed figure" in text and "<- compiler's rule" in text and all(len(line) <= 132 for line in text.splitlines())


@release_test
def same_answer_twice():
    words = ["choose", "bf16[64,3,200]", "--use", "dma, reduce:2"]
    assert expect(words) == expect(words)


@test
def a_picture():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.svg")
        expect(["choose", "bf16[64,3,200]", "--no-moves", "--svg", path])
        picture = xml.etree.ElementTree.fromstring(path.read_text())
        assert len(picture.findall(".//{http://www.w3.org/2000/svg}rect")) > 20


@test
def a_picture_has_the_figures_of_the_table_and_says_what_it_leaves_out():
    with tempfile.TemporaryDirectory() as folder:
        path, page = Path(folder, "a.svg"), Path(folder, "a.html")
        words = ["choose", "s4[7,3,5,2,9]", "--no-moves"]
        expect([*words, "--svg", path, "--html", page], out=None)
        found = expect_json(words, layouts=240)["candidates"]
        texts = [text.text for text in xml.etree.ElementTree.fromstring(path.read_text()).iter("{http://www.w3.org/2000/svg}text")]
        times = [text for text in texts if text.endswith(" us")]
        assert times == [f"{one['microseconds']:.3f} us" for one in found[:24]], times
        assert texts[-1] == f"and {len(found) - 24} more", texts[-1]
        alike = [one["alike"] for one in found if one["alike"] > 1]
        assert re.findall(r"stands for ([0-9]+) that are alike", page.read_text()) == [str(n) for n in alike] and alike


def bars(picture, kind):
    rects = xml.etree.ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}rect")
    return [float(one.get("width")) for one in rects if one.get("class") == kind]


@test
def bars_of_what_was_cut_are_longer_than_the_best_and_have_their_padding():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.svg")
        words = ["choose", "bf16[29184,2,2560]", "--no-moves", "-m", "tpu-v4"]
        expect([*words, "--svg", path], out=None)
        found = expect_json(words)["candidates"]
        cut = [one for one in found if not one["priced"]]
        assert cut and all(one["ratio"] > 1.2 for one in cut), found
        drawn, padding = bars(path.read_text(), "cut"), bars(path.read_text(), "waste")
        data = bars(path.read_text(), "data")[0]
        for bar, one in zip(drawn, cut, strict=True):
            assert abs(bar - data * min(one["ratio"], 4)) < 1, (bar, data, one)
        assert len(padding) >= len(cut) and min(padding[-len(cut) :]) > 50, padding


@test
def memories_of_any_name():
    """Only the use that names none is between hbm and vmem."""
    with tempfile.TemporaryDirectory() as folder:
        machine = f"{folder}/m.yaml"
        text = Path("configs/tpu-v5e.yaml").read_text()
        for name, own in (("hbm", "main"), ("vmem", "local")):
            text = re.sub(rf"^    {name}:$", f"    {own}:", text, flags=re.MULTILINE)
        Path(machine).write_text(text)
        words = ["choose", "f32[64,256]", "--no-moves", "-m", machine, "--use"]
        assert "uses       transfer from main to local\n" in expect([*words, "dma:main>local"], out=None)
        expect([*words, "dma"], 1, "", f"tilesim: error: the machine '{machine}' has no memory 'hbm'; it has main, local, smem\n")


@test
def bad_lines():
    hint = "`tilesim choose --help` shows how it is used\n"
    for words, code, err in (
        (["f32[8,128]", "--use", "dmx"], 2, "--use:1:1: error: unknown use 'dmx', expected dma, reduce or stream; "
                                            "did you mean 'dma'?\ndmx\n^\n" + hint),
        (["f32[8,128]", "--use", "reduce:2"], 2, "--use:1:8: error: the tensor has no dimension 2, expected 0 to 1\n"
                                                 "reduce:2\n       ^\n" + hint),
        (["f32[]", "--use", "reduce:0"], 2, "--use:1:8: error: the tensor has no dimensions to sum\nreduce:0\n       ^\n" + hint),
        (["f32[8,128]", "--use", "dma:hbm>vmen"], 2, "--use:1:9: error: tpu-v5e has no memory 'vmen'; did you mean "
                                                     "'vmem'?\ndma:hbm>vmen\n        ^\n" + hint),
        (["f32[64,256]", "--use", "reduce:0", "--set", "memories.vmem.capacity=4 KiB"], 1,
         "tilesim: error: a kernel that uses it, to price it: 'xb' is larger than vmem: 98,304 bytes, the vmem of tpu-v5e has 4,096 "
         "(94,208 too many)\n"),
        (["f32[8,128]", "--tensor", "x"], 2, "tilesim choose: error: --tensor is of a program, expected PROGRAM.tsim\n" + hint),
        (["f32[8,128]", "-D", "A=1"], 2, "tilesim choose: error: --define is of a program, expected PROGRAM.tsim\n" + hint),
        ([SOFTMAX], 2, f"tilesim choose: error: which tensor of {SOFTMAX}? expected x or y\n" + hint),
        (["programs/copy.tsim"], 2, "tilesim choose: error: which tensor of programs/copy.tsim? expected x, y or xb\n" + hint),
        (["nofile.tsim"], 1, "tilesim: error: cannot open 'nofile.tsim': No such file or directory\n"),
        ([SOFTMAX, "--tensor", "z"], 1, f"tilesim: error: {SOFTMAX} has no tensor 'z', expected x or y\n"),
        ([SOFTMAX, "--tensor", "xb"], 2, f"tilesim choose: error: xb lies in vmem, and line {line_of(SOFTMAX, 'xb[')} of {SOFTMAX} "
                                         "addresses its words: with another layout it would be another program, expected "
                                         "x or y\n" + hint),
        (["f32[65536,65536,8]", "--use", "stream", "-m", "tpu-v5e"], 4,
         "tilesim: not modelled: the tensor fits into its memory with none of 24 layouts; the smallest takes "
         "137438953472 bytes\n"),
        (["f8e5m2[64,64]", "--use", "stream"], 4, "tilesim: not modelled: the vector unit has no arithmetic for f8e5m2: "
                                                  "only transfers can be priced\n"),
    ):
        found = run("choose", *words)
        assert found[0] == code and found[1] == "" and found[2] == err, found


MATMUL = ["programs/matmul.tsim", "-D", "M=1024", "-D", "N=1024", "-D", "K=1024"]


@test
def block_sizes_are_ranked_by_their_runs():
    """Each is the run alone; what does not fit is said, and so is what the program refuses."""
    words = ["choose", *MATMUL, "--block", "BM=256,1024,100", "--block", "BK=128,512"]
    found = expect_json(words)
    assert [c["microseconds"] for c in found["candidates"]] == sorted(c["microseconds"] for c in found["candidates"])
    assert len(found["candidates"]) == 4 and [c["ratio"] for c in found["candidates"]][0] == 1
    for c in found["candidates"]:
        alone = expect_json(["run", *MATMUL, "--time-only", *(word for name, value in c["blocks"].items() for word in ("-D", f"{name}={value}"))])
        assert [c[key] for key in ("cycles", "estimated", "microseconds")] == \
            [alone[key] for key in ("cycles", "estimated", "microseconds")], (c, alone["cycles"])
        assert abs(c["hbm_joules"] - alone["hbm_energy_joules"]["total"]) < 1e-11
        assert abs(c["ratio"] - c["microseconds"] / found["candidates"][0]["microseconds"]) < 1e-4
    assert found["misfits"] == [] and [c["blocks"] for c in found["failed"]] == [{"BM": 100, "BK": 128}, {"BM": 100, "BK": 512}]
    assert all("BM must be a multiple of" in c["error"] for c in found["failed"])
    if not ALL:
        return
    assert expect_json([*words, "-j", "2"]) == found
    text = expect(words)
    assert "blocks     6: 4 timed, 0 do not fit, 2 with another error\n" in text and max(map(len, text.splitlines())) <= 100, text
    lines = text[text.index("     BM      BK "):].splitlines()[1:5]
    assert [line.split()[:2] for line in lines] == [[str(v) for v in c["blocks"].values()] for c in found["candidates"]]
    assert [line.split()[4] for line in lines] == [f"~{c['cycles']:,}" for c in found["candidates"]], text
    assert expect([*words, "--rows", "1"]).count("and 3 slower ones; --all lists them") == 1


@test
def block_sizes_that_do_not_fit():
    words = ["choose", "programs/add.tsim", "-D", "ROWS=4096", "-D", "COLS=4096", "--set", "memories.vmem.capacity=4 MiB",
             "--block", "BLOCK=16,64,256,4096"]
    found = expect_json(words)
    assert [c["blocks"]["BLOCK"] for c in found["misfits"]] == [256, 4096], found
    assert [" does not fit: " in found["misfits"][0]["error"], " is larger than vmem: " in found["misfits"][1]["error"]] == [True] * 2
    assert len(found["candidates"]) == 2 and found["failed"] == [], found
    code, out, err = run("run", *words[1:-2], "-D", f"BLOCK={found['misfits'][0]['blocks']['BLOCK']}")
    assert code == 1 and found["misfits"][0]["error"] in err, (err, found["misfits"])
    assert not ALL or "what does not fit\n" in expect(words)
    code, out, err = run(*words[:-1], "BLOCK=4096")
    assert (code, err) == (1, "") and "blocks     1: 0 timed, 1 do not fit, 0 with another error\n" in out, (code, out, err)
    assert run(*words[:-1], "BLOCK=16", "--block", "NOPE=1")[0] == 2, "as tilesim run -D NOPE=1"


@test
def block_sizes_in_the_names_of_kernels():
    folder = Path(tempfile.mkdtemp())
    shutil.copy("tests/mosaic/kernels/add.mlir", folder / "k.1.x.mlir")
    shutil.copy("tests/mosaic/kernels/softmax.mlir", folder / "k.2.x.mlir")
    found = expect_json(["choose", f"{folder}/k.$bm.$by.mlir", "--block", "bm=1,2,3", "--block", "by=x"])
    alone = {n: expect_json(["run", folder / f"k.{n}.x.mlir", "--time-only"])["cycles"] for n in (1, 2)}
    assert [(c["blocks"]["bm"], c["cycles"]) for c in found["candidates"]] == sorted(alone.items(), key=lambda item: item[1])
    assert [c["blocks"] for c in found["failed"]] == [{"bm": 3, "by": "x"}]


@test
def bad_block_sizes():
    for words, message in ((["--block", "BM=1", "--tensor", "a"], "--tensor is of layouts, and does not go with --block"),
                           (["--block", "BM=1", "--use", "stream"], "--use is of layouts, and does not go with --block"),
                           (["--block", "BM=1", "--no-moves"], "--no-moves is of layouts, and does not go with --block"),
                           (["--block", "BM"], "--block 'BM': expected NAME=A,B,.."),
                           (["--block", "B M=1"], "--block 'B M': expected a name of letters and digits"),
                           (["--block", "1M=1"], "--block '1M': expected a name of letters and digits"),
                           (["--block", "M=1"], "--block M: it has a value already"),
                           (["--block", "BM=1", "--block", "BM=2"], "--block BM is given twice"),
                           (["--block", "BM=1", "--rows", "0"], "--rows is 0")):
        code, out, err = run("choose", *MATMUL, *words)
        assert code == 2 and out == "" and message in err, (words, err)
    code, out, err = run("choose", *MATMUL[:1], "--tensor", "a", "-j", "2")
    assert code == 2 and out == "" and "--jobs goes only with --block" in err, err
    for operand, message in (("kernels.py:flash", "python3 -m tilesim.pallas kernels.py:flash --block .."),
                             ("f32[8,128]", "--block is of a program, expected PROGRAM.tsim or KERNEL.mlir")):
        code, out, err = run("choose", operand, "--block", "a=1,2")
        assert code == 2 and out == "" and message in err, err
    code, out, err = run("choose", *MATMUL, "--block", "BM=1,,2")
    assert code == 2 and out == "" and "--block BM=1,,2 has an empty value, expected such as BM=1,2" in err, err


main()
