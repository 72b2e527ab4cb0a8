"""tilesim run: transfers that are recalled instead of walked, and cycles that do not depend on what is computed."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect_json, main, test


def timed(program, *words):
    return expect_json(["run", f"programs/{program}.tsim", "--time-only", *words])


# Programs that move several times what is walked first, and by how much recalling may differ: parts in 1000.
LONG = [
    ("add", ["-D", "ROWS=40000"], 20),
    ("copy", ["-D", "ROWS=40000"], 20),
    ("normalize", ["-D", "ROWS=30000"], 20),
    ("tile", ["-D", "ROWS=30000"], 20),
    ("softmax", ["-D", "ROWS=20000"], 50),
    ("matmul", ["-D", "M=2048", "-D", "N=2048", "-D", "K=2048"], 20),
    ("matmul", ["-D", "M=2100", "-D", "N=1900", "-D", "K=2300"], 20),
    ("relu", ["-D", "ROWS=40000", "-m", "tpu-v6e"], 90),
    ("matmul", ["-D", "M=2048", "-D", "N=2048", "-D", "K=2048", "-m", "tpu-v6e"], 20),
]


@test
def recalled_cycles_are_near_walked_ones():
    for program, words, parts in LONG:
        walked, recalled = timed(program, *words, "--exact"), timed(program, *words)
        assert walked["recalled_transfers"] == 0 and recalled["recalled_transfers"] > 0, (program, words)
        for key in ("transfers", "useful_bytes", "moved_bytes", "hbm_read_bytes", "hbm_written_bytes", "rmw_accesses"):
            assert walked[key] == recalled[key], (program, words, key)
        error = 1000 * abs(recalled["cycles"] - walked["cycles"]) / walked["cycles"]
        assert error <= parts, (program, words, walked["cycles"], recalled["cycles"], error)


@test
def small_runs_are_walked():
    for size in ("M=16", "M=512"):
        walked, both = timed("matmul", "-D", size, "--exact"), timed("matmul", "-D", size)
        assert both["recalled_transfers"] == 0 and walked["cycles"] == both["cycles"]


# Sizes of M, N, K from 256 to 1024, ragged ones too; and streams that recall.
VALUES = [("matmul", dict(zip("MNK", sizes))) for sizes in
          ((256, 256, 256), (512, 512, 512), (300, 700, 450), (1024, 1024, 1024), (1000, 513, 999))]
VALUES += [("add", {"ROWS": 30000}), ("softmax", {"ROWS": 6000, "COLS": 1100})]


@test
def values_take_no_time():
    for program, sizes in VALUES:
        words = [word for item in sizes.items() for word in ("-D", "%s=%d" % item)]
        with_values = expect_json(["run", f"programs/{program}.tsim", *words])
        without = timed(program, *words)
        for key in ("cycles", "bundles", "transfers", "recalled_transfers", "dma_busy_cycles"):
            assert with_values[key] == without[key], (program, sizes, key)


main()
