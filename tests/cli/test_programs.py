"""The shipped programs: right at every size and on every machine that has their units, and what they refuse."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import ALL, BUILD, cases, expect, expect_json, main, release_test, run, test
from programs import PROGRAMS, refusal, sizes

MACHINES = ["tpu-v3", "tpu-v4", "tpu-v6e", "tpu-v7x"]


@test
def ragged_sizes():
    """ASan runs each program once, half of them at one size and half at the other."""
    every = cases([(1, 1), (8, 128), (7, 127), (9, 129), (1, 300), (300, 1), (250, 260)], 2, 4)
    for number, path in enumerate(PROGRAMS):
        for rows, columns in every if ALL else [every[number % 2]]:
            expect(["run", path, *sizes(path, rows, columns), "--check"], out=None)


@test
def other_machines():
    for machine in cases(MACHINES, 1):
        for path in cases(PROGRAMS, 10):
            words = ["run", path, *sizes(path, 67, 150), "-m", machine, "--check"]
            if refusal(path, machine) is not None:
                code, _, err = run(*words)
                assert code == 1 and refusal(path, machine) in err, (path, machine, err)
                continue
            out = expect_json(words)
            assert out["checks"] and all(check["passed"] for check in out["checks"]), (path, machine)


@test
def all_are_listed():
    text = Path("docs/program.md").read_text()
    assert [path.stem for path in PROGRAMS if f"`{path.stem}`" not in text] == []


@test
def headers_teach():
    for path in PROGRAMS:
        text = path.read_text()
        assert "\n; Layout lesson: " in text, path
        assert all(len(line) <= 124 for line in text.splitlines() if line[:6] != ".check"), path


@test
def every_variant():
    for kind in cases(("f32", "bf16"), 1):
        expect(["run", "programs/transpose.tsim", "-D", f"TYPE={kind}", "-D", "ROWS=1030", "-D", "COLS=260"], out=None)
        for op in "copy", "scale", "add", "triad":
            for machine in cases(("tpu-v5e", "tpu-v6e"), 1):
                expect(["run", "programs/stream.tsim", "-D", f"OP={op}", "-D", f"TYPE={kind}", "-D", "ROWS=300", "-D",
                        "COLS=140", "-m", machine], out=None)
    for machine in cases(("tpu-v5e", "tpu-v4"), 1):      # blocks that meet inside 32 bytes of HBM
        for kind in cases(("u4", "f32", "bf16", "u8"), 2):
            expect(["run", "programs/transpose.tsim", "-D", f"TYPE={kind}", "-D", "ROWS=301", "-D", "COLS=600", "-D", "Y_TILES=0", "-D",
                    "MOST=16384", "-m", machine, "--check"], out=None)
    # the older of two transfers ends first, though its last data are seen later
    expect(["run", "programs/transpose.tsim", "-D", "TYPE=u8", "-D", "BATCH=16", "-D", "ROWS=56", "-D", "COLS=56", "-D", "X_TILES=0",
            "-D", "Y_TILES=0"], out=None)
    expect(["run", "programs/stream.tsim", "-D", "OP=copy", "-D", "TYPE=f16"], out=None)
    code, out, _ = run("run", "programs/matmul_f32.tsim", "-D", "PASSES=1")
    assert code == 3 and "FAILED" in out


@release_test
def products_of_any_size():
    """Between one block and the next, where a tile takes longer to latch than the rows of a block to pass; and long sums."""
    for machine in "tpu-v6e", "tpu-v7x":
        for rows in 300, 500, 520:
            expect(["run", "programs/matmul_f32.tsim", "-D", f"M={rows}", "-D", "N=70", "-m", machine], out=None)
    for program, columns in ("matmul_f32", 3000), ("matmul", 40000), ("batched_matmul", 10000):
        sizes_of = {"M": 20, "N": 90, "K": columns, **({"BATCH": 1} if program == "batched_matmul" else {})}
        expect(["run", f"programs/{program}.tsim", *(x for k, v in sizes_of.items() for x in ("-D", f"{k}={v}"))], out=None)


@test
def narrow_heads_do_not_race():
    for width in 2, 4, 8, 16:
        assert "passed" in expect(["run", "programs/rope.tsim", "-D", f"D={width}", "-D", "ROWS=20", "-D", "HEADS=9", "--check"], out=None)


@release_test
def bounds_hold_where_sums_are_long_or_rows_short():
    for words in (["cumsum", "ROWS=512"], ["cumsum", "ROWS=9", "COLS=16384"], ["layernorm", "COLS=2"], ["normalize", "COLS=3"],
                  ["normalize", "COLS=7"], ["softmax", "ROWS=9", "COLS=16384"], ["reduce", "DIM=0", "A=20000", "B=3", "C=5"],
                  ["quantise", "SCALE=0.1"], ["matmul", "TANH=2", "OUT=2"], ["gelu", "ROWS=2000"]):
        expect(["run", f"programs/{words[0]}.tsim", *(word for value in words[1:] for word in ("-D", value))], out=None)


@test
def convolutions_of_many_channels_in_bands():
    """Several blocks of channels in and out, bands of rows, images whose last band is short."""
    for machine, stride in cases([(machine, stride) for machine in ["tpu-v5e", *MACHINES] for stride in (1, 2)], 1, 4):
        for values in cases(({"C": 30, "K": 260, "H": 23, "W": 5, "BAND": 5}, {"C": 300, "K": 3, "H": 9, "W": 8},
                             {"C": 520, "K": 9, "H": 11, "W": 3, "BAND": 2, "N": 1}), 1):
            words = ["-D", f"STRIDE={stride}", *(word for item in values.items() for word in ("-D", "=".join(map(str, item))))]
            assert "passed" in expect(["run", "programs/conv3x3.tsim", *words, "-m", machine, "--check"], out=None)
    expect(["run", "programs/conv3x3.tsim", "-D", "C=200", "-D", "K=150", "-D", "H=7", "-D", "W=9", "-D", "PLAIN=1", "-m", "tpu-v3"], out=None)


@release_test
def convolutions_keep_the_units_busy():
    """Though every row has a column of zeros and nothing is copied: a share of the products that the units can do in a cycle."""
    for machine, images, products, share in (("tpu-v5e", 4, 4 * 128 * 128, 0.7), ("tpu-v6e", 8, 2 * 2 * 256 * 256, 0.45)):
        out = expect_json(["run", "programs/conv3x3.tsim", "-D", "C=512", "-D", "K=512", "-D", f"N={images}", "-m", machine, "--time-only"])
        assert images * 28 * 28 * 9 * 512 * 512 / products > share * out["cycles"], (machine, out["cycles"])


@test
def sums_of_more_than_vmem_holds():
    for dim in cases(range(3), 1):
        out = expect(["run", "programs/reduce.tsim", "-D", f"DIM={dim}", "-D", "A=301", "-D", "B=100", "-D", "C=200", "-m", "tpu-v4",
                      "--check"], out=None)
        assert "passed: " in out, out


@test
def sums_of_tiles_stay_in_units_that_have_accumulators():
    program = "tests/data/accumulators.tsim"
    assert "passed: 4,096 elements" in expect(["run", program, "-m", "tpu-v7x", "--check"], out=None)
    code, _, err = run("run", program, "-m", "tpu-v6e")
    assert code == 1 and err.splitlines()[0].endswith("error: the matrix units of this machine have no accumulators, expected mxu.push "
                                                      "and mxu.pop"), err
    undefined = BUILD / "accumulators.tsim"
    undefined.write_text(Path(program).read_text().replace("dma bb <- b, done", "dma bb[0:300, :] <- b[0:300, :], done"))
    code, _, err = run("run", undefined, "-m", "tpu-v7x", "--check")
    assert code == 3 and "gets an undefined value from 'cb' [undefined_output]" in err, err


@test
def rows_of_a_table_cost_their_pieces():
    tiled, plain = (expect_json(["run", "programs/embedding.tsim", "-D", f"TILED={tiled}"])["cycles"]
                    for tiled in (1, 0))
    assert plain < tiled, (plain, tiled)


@release_test
def sums_cost_what_their_dim_costs():
    for machine in ["tpu-v5e", *MACHINES]:
        leading, sublane, lane = (expect_json(["run", "programs/reduce.tsim", "-D", f"DIM={dim}", "-m", machine])["cycles"]
                                  for dim in range(3))
        assert leading <= sublane < lane, (machine, leading, sublane, lane)


@test
def digits_are_read():
    out = expect_json(["run", "programs/mlp_digits.tsim"], passed=True)
    assert out["reports"]["right"] == 1000 * out["reports"]["accuracy"] >= 950, out["reports"]
    labels = Path("programs/digits/labels.npy").read_bytes()[-4000:]
    assert sorted(set(labels[::4])) == list(range(10))


@test
def the_binary_carries_programs_without_their_files():
    code, out, err = run("run", "mlp_digits")
    assert (code, out) == (2, "") and err == ("tilesim: error: the binary does not carry 'digits/images.npy', the values of 'images': "
                                              "expected -i images=FILE, or the program as a file beside it\n"), err
    words = [word for name in ("images", "labels", "w1", "b1", "w2", "b2") for word in ("-i", f"{name}=programs/digits/{name}.npy")]
    assert expect_json(["run", "mlp_digits", *words], passed=True)["reports"]["right"] >= 950


def refuses(stem, options, message):
    code, out, err = run("run", f"programs/{stem}.tsim", *(word for option in options.split() for word in ("-D", option)))
    assert (code, out) == (1, "") and message in err.splitlines()[0], (stem, options, err)


@test
def small_blocks_of_all_cores():
    """Fewer vregs a block than are computed at once otherwise."""
    for machine, block, columns in (("tpu-v4", 8, 512), ("tpu-v7x", 8, 130), ("tpu-v4i", 24, 1)):
        code, _, err = run("run", "programs/cores.tsim", "-m", machine, "-D", f"BLOCK={block}", "-D", f"COLS={columns}", "-D", "ROWS=90", "--check")
        assert (code, err) == (0, ""), (machine, block, columns, err)


@test
def blocks_that_fill_the_vregs():
    """The largest block that is computed at once works, the next one is refused by its name."""
    sizes = {"add": (128, 256, 16, 4), "relu": (176, 336, 16, 3), "saxpy": (128, 256, 8, 2)}
    for stem, (of_32, of_64, step, vregs) in sizes.items():
        for machine, block in (("tpu-v2", of_32), ("tpu-v6e", of_64)):
            words = ["run", f"programs/{stem}.tsim", "-m", machine, "-D", "ROWS=360", "-D", "COLS=128", "-D"]
            expect([*words, f"BLOCK={block}"], out=None)
            code, out, err = run(*words, f"BLOCK={block + step}")
            assert (code, out) == (1, "") and f"error: BLOCK is too large: {vregs} of machine.core.vregs for each {step} rows" in err, err
    expect(["run", "programs/histogram.tsim", "-D", "BATCH=128", "-D", "BINS=16", "-D", "ROWS=16"], out=None)


@test
def bad_block_sizes():
    refuses("matmul", "BM=100", "error: BM must be a multiple of 128 (f32: of 64)")
    refuses("matmul", "BM=128", "error: BM must be EDGE + 128 (f32: EDGE + 64) or more: tiles are latched meanwhile")
    refuses("matmul", "BN=100", "error: BN must be a multiple of NTILE: a tile in each unit side by side")
    refuses("matmul", "BK=100", "error: BK must be a multiple of KTILE, what a pass takes of K")
    refuses("matmul", "LAG=4", "error: LAG must be a multiple of UNROLL that fits BM")
    refuses("matmul", "M=0", "error: M, N and K must be positive")
    refuses("matmul", "BM=65536", "error: 'acc' is larger than vmem: 268,435,456 bytes")
    refuses("matmul_f32", "PASSES=2", "error: PASSES must be 1 or 3")
    for stem in ("matmul", "matmul_f32", "matmul_int8"):  # which would write all products to one
        refuses(stem, "BATCH=3", "error: BATCH must be 1")
    refuses("matmul", "TANH=-1", "error: TANH must not be negative")
    for narrow in ("OUT=2 NARROW=0", "NARROW=1"):
        refuses("matmul", narrow, "error: NARROW is 1 where OUT is 2, else 0")
    for stem, names in (("matmul", "PACK=1 PASSES=3 LOADS=1"), ("batched_matmul", "PACK=1 PASSES=3 LOADS=2 NARROW=1"),
                        ("matmul_f32", "PACK=2 LOADS=2 NARROW=1"), ("matmul_int8", "PACK=2 PASSES=3 LOADS=2 NARROW=1")):
        for name in names.split():
            refuses(stem, name, ": those of this program")
    refuses("copy", "BLOCK=1 COLS=100", "error: BLOCK * COLS must be a multiple of 8")
    refuses("gelu", "BLOCK=4", "error: BLOCK must be a multiple of 8")
    refuses("flash_attention", "CAUSAL=2", "error: CAUSAL must be 0 or 1")
    refuses("flash_attention", "QROWS=1024", "error: QROWS is too large: the unit's queue must hold the scores")
    refuses("flash_attention", "STATE=128", "error: STATE must be 0: this program has one")
    refuses("flash_attention", "D=129", "error: D is 1 to 128: the lanes")
    refuses("conv3x3", "UNROLL=56", "error: UNROLL must be 64 at most, and no more than a matrix unit holds results")
    refuses("conv3x3", "C=0", "error: N, H, W, C and K must be positive")
    refuses("conv3x3", "STRIDE=3", "error: STRIDE must be 1 or 2")
    refuses("transpose", "BR=100", "error: BR and BC must be multiples of 128: whole blocks of the transposer")
    refuses("reduce", "DIM=3", "error: DIM must be 0, 1 or 2")
    refuses("stream", "TYPE=f16", "error: there is no f16 arithmetic: f16 can only be copied")
    for name in ("copy", "scale", "add", "triad"):
        refuses("stream", f"{name}=17", "error: copy, scale, add and triad are values of OP: they stay")
    for name in ("f32", "bf16", "f16"):
        refuses("stream", f"{name}=17", "error: f32, bf16 and f16 are values of TYPE: they stay")
    for options in ("OP=4", "TYPE=3", "OP=-1", "TYPE=-1"):
        refuses("stream", options, "error: OP is copy, scale, add or triad, TYPE f32, bf16 or f16")
    for name in ("PIXELS", "HIDDEN", "DIGITS"):
        refuses("mlp_digits", f"{name}=129", "error: PIXELS, HIDDEN and DIGITS are 1 to 128: they lie in lanes")
    for options in ("BATCH=17", "BATCH=128", "BINS=17 BATCH=17", "BATCH=0"):
        refuses("histogram", options, "error: BATCH is 1 to 16, or more than all BINS are")
    for name in ("softmax", "top1", "layernorm", "normalize"):
        for options in ("BLOCK=40", "GROUP=5 BLOCK=40", "GROUP=8"):
            refuses(name, options, "error: GROUP is 1 to 4, and BLOCK must be a multiple of 8 * GROUP")
    for options in ("UNROLL=4", "UNROLL=12"):
        refuses("conv3x3", options, "error: UNROLL must be a multiple of 8, of 2 with fewer than 64 vregs: registers take turns")
    refuses("add", "ROWS=0", "error: ")


@test
def matrix_units_that_programs_are_not_for():
    """Of any machine: the error says what it lacks, and is none of an expression, nor a fault of the run."""
    for changed, stems, why in (
        ("mxu.units=0", "blocks conv3x3 flash_attention matmul matmul_f32 mlp_digits", "this machine has no matrix unit"),
        ("mxu.edge=64", "conv3x3 flash_attention matmul matmul_f32 mlp_digits", "the matrix units of this machine are narrower than the 128 lanes"),
        ("mxu.edge=512", "mlp_digits", "the units do not hold the results of so many rows"),
        ("mxu.results=1", "blocks mlp_digits", "the units do not hold the results of so many rows"),
    ):
        for stem in stems.split():
            code, out, err = run("run", f"programs/{stem}.tsim", "--set", changed)
            assert (code, out) == (1, "") and f"error: {why}" in err.splitlines()[0], (changed, stem, err)


main()
