"""Leaving out channels and blocks: on every machine, prices are near those of simulating every access."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect_json, main, release_test, test

PAIRS = [
    ("f32[2048,2048]{1,0}", "f32[2048,2048]{1,0}"),
    ("f32[2000,1000]{1,0}", "f32[2000,1000]{1,0:T(8,128)}"),
    ("bf16[1024,1024]{1,0}", "bf16[1024,1024]{1,0:T(8,128)(2,1)}"),
    ("bf16[1024,1024]{0,1}", "bf16[1024,1024]{1,0:T(8,128)(2,1)S(1)}"),
]


@release_test
def prices_are_near_exact_ones():
    for machine in ("tpu-v3", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7x"):
        for src, dst in PAIRS:
            quick, exact = (expect_json(["dma", src, dst, "-m", machine, "--alone", *options]) for options in ([], ["--exact"]))
            apart = quick["cycles"] - exact["cycles"]
            assert abs(apart) < 0.08 * exact["cycles"] + 400, (machine, src, dst, apart, exact["cycles"])
            for key, cycles in exact["parts"].items():
                assert abs(quick["parts"][key] - cycles) < 0.1 * exact["cycles"] + 400, (machine, src, dst, key)


@test
def a_large_copy_of_many_channels():
    array = "f32[4096,4096]{1,0}"
    quick, exact = (expect_json(["dma", array, array, "-m", "tpu-v7x", "--alone", *options]) for options in ([], ["--exact"]))
    assert abs(quick["cycles"] - exact["cycles"]) < 0.03 * exact["cycles"], (quick["cycles"], exact["cycles"])


@test
def channels_that_wait_for_the_first_request_are_not_idle():
    """The issue, or the descriptors, of a transfer do not make up for channels that get more than others."""
    pair = ["dma", "f32[3,8,352318]{2,1,0:T(5,3)}", "f32[3,8,352318]{2,1,0:T(2,128)S(1)}", "--alone", "-m", "hbm3e-reference"]
    for change in ("dma.issue=60 us", "dma.loop_dims=1"):
        quick, exact = (expect_json([*pair, "--set", change, *options]) for options in ([], ["--exact"]))
        assert abs(quick["cycles"] - exact["cycles"]) < 0.01 * exact["cycles"], (change, quick["cycles"], exact["cycles"])


@test
def lines_that_blocks_share_are_counted_once():
    """Accesses of 64 KiB, which 16 blocks share, by a memory so slow that blocks are left out."""
    array = "bf16[2497687]{0:T(128)}"
    words = ["dma", array, array, "--alone", "-m", "hbm2e-reference", "--set", "dma.access=64 KiB", "--set", "hbm.timing.t_ccd_s=14 ns",
             "--set", "hbm.timing.t_ccd_l=16 ns"]
    words += [word for name in ("0", "2n", "3n", "4r", "4w", "5ab", "5pb") for word in ("--set", f"hbm.energy.idd{name}=0")]
    quick, exact = (expect_json([*words, *options]) for options in ([], ["--exact"]))
    assert quick["estimated"] and abs(quick["moved_bytes"] - exact["moved_bytes"]) < 0.01 * exact["moved_bytes"], quick["moved_bytes"]
    assert abs(quick["cycles"] - exact["cycles"]) < 0.01 * exact["cycles"], (quick["cycles"], exact["cycles"])


main()
