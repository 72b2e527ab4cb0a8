"""tilesim run: transfers that are recalled instead of simulated, and cycles that do not depend on what is computed."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import cases, expect, expect_json, main, release_test, test


def timed(program, *words):
    return expect_json(["run", f"programs/{program}.tsim", "--time-only", *words])


SAME = ("transfers", "useful_bytes", "moved_bytes", "hbm_read_bytes", "hbm_written_bytes", "rmw_accesses")

# A part of the channels is walked: the same cycles.
PARTS = [
    ("add", ["-D", "ROWS=4096"]),
    ("copy", ["-D", "ROWS=3000", "-m", "tpu-v3"]),
    ("normalize", ["-D", "ROWS=4096", "-m", "tpu-v6e"]),
    ("untile", ["-D", "ROWS=2000", "-D", "COLS=300", "-m", "tpu-v4"]),
    ("softmax", ["-D", "ROWS=3000"]),
    ("embedding", ["-D", "ROWS=300", "-D", "COLS=40"]),
    ("transpose", ["-D", "ROWS=2000", "-m", "tpu-v7x"]),
    ("matmul", ["-D", "M=1100", "-D", "N=700", "-D", "K=900"]),
    ("cores", ["-D", "ROWS=4000", "-m", "tpu-v4"]),
]


@test
def a_part_of_the_channels_takes_the_cycles_of_all():
    for program, words in cases(PARTS, 3):
        all_walked, part = timed(program, *words, "--exact"), timed(program, *words)
        assert part["recalled_transfers"] == 0, (program, words)
        for key in ("cycles", "dma_busy_cycles", *SAME):
            assert all_walked[key] == part[key], (program, words, key, all_walked[key], part[key])


# Channels that are far apart in the address: no part of them stands for all.
UNEVEN = f"""base: {Path("configs/tpu-v5e.yaml").resolve()}
hbm:
    address_map: "off co:1 pc bg co ba sid ch st ro"
"""


@test
def channels_that_are_not_alike_are_all_walked():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "uneven.yaml"
        path.write_text(UNEVEN)
        for program in ("add", "softmax", "transpose"):
            words = ["-m", str(path)]
            walked, both = timed(program, *words, "--exact"), timed(program, *words)
            assert walked["cycles"] == both["cycles"], (program, walked["cycles"], both["cycles"])


# Programs that recall some of their transfers, and by how much that may differ: parts in 1000.
LONG = [
    ("matmul", ["-D", "M=4096", "-D", "N=4096", "-D", "K=4096"], 1),
    ("matmul", ["-D", "M=3000", "-D", "N=5000", "-D", "K=3500"], 1),
]

# Programs of which long loops are walked in part.
STREAMS = [
    ("softmax", ["-D", "ROWS=50000"], 10),
    ("add", ["-D", "ROWS=100000"], 10),
    ("untile", ["-D", "ROWS=100000", "-D", "COLS=300", "-m", "tpu-v4"], 10),
]


@release_test
def recalled_cycles_are_near_walked_ones():
    for program, words, parts in LONG + STREAMS:
        walked, recalled = timed(program, *words, "--exact"), timed(program, *words)
        assert walked["recalled_transfers"] == 0 and not walked["estimated"] and recalled["estimated"], (program, words)
        assert (recalled["recalled_transfers"] > 0) == (program == "matmul"), (program, words)
        for key in (*SAME, "bundles"):
            assert walked[key] == recalled[key], (program, words, key)
        error = 1000 * abs(recalled["cycles"] - walked["cycles"]) / walked["cycles"]
        assert error <= parts, (program, words, walked["cycles"], recalled["cycles"], error)


@test
def what_is_estimated_is_marked():
    for words, mark in ([], "~"), (["--exact"], ""):
        whole = ["programs/add.tsim", "--time-only", *words]
        run, grid = expect_json(["run", *whole]), expect_json(["run", *whole, "-D", "BLOCK=128,64"])
        assert run["estimated"] == grid["runs"][0]["estimated"] == (mark != ""), words
        assert f"\ncycles     {mark}{run['cycles']:,} = " in expect(["run", *whole]), words
        assert f" 128 {mark + format(run['cycles'], ','):>14} " in expect(["run", *whole, "-D", "BLOCK=128,64"]), words
        assert f">{mark}{run['cycles']:,}<" in expect(["run", *whole, "--html", "-"]), words


# Sizes of M, N, K from 256 to 1024, ragged ones too; and streams that recall.
VALUES = [("matmul", dict(zip("MNK", sizes))) for sizes in
          ((256, 256, 256), (512, 512, 512), (300, 700, 450), (1024, 1024, 1024), (1000, 513, 999))]
VALUES += [("add", {"ROWS": 3000}), ("softmax", {"ROWS": 2000, "COLS": 1100})]


@release_test
def values_take_no_time():
    for program, sizes in VALUES:
        words = [word for item in sizes.items() for word in ("-D", "%s=%d" % item)]
        with_values = expect_json(["run", f"programs/{program}.tsim", *words])
        without = timed(program, *words)
        for key in ("cycles", "bundles", "transfers", "recalled_transfers", "dma_busy_cycles"):
            assert with_values[key] == without[key], (program, sizes, key)


main()
