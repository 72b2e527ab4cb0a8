"""tilesim bench: what it measures, its JSON keys, and bad input. No time is compared."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, run, test

QUICK = ["--milliseconds", "1"]
PAIR = ["f32[100,300]{1,0}", "bf16[100,300]{1,0:T(8,128)(2,1)}"]


@test
def keys():
    found = expect_json(["bench", *PAIR, *QUICK], schema="tilesim.bench", src=PAIR[0], dst=PAIR[1], elements=30000,
                        bytes=180000, gathers=False, streaming_stores=False, threads=1)
    assert found["rounds"] >= 3 and found["boxes"] >= 1 and found["kernels"] in ("portable", "avx2", "avx512")
    for key in ("host_seconds", "gb_per_s", "memcpy_gb_per_s", "ratio_to_memcpy"):
        assert found[key] > 0, found
    ratio = found["gb_per_s"] / found["memcpy_gb_per_s"]
    assert abs(found["ratio_to_memcpy"] - ratio) < 0.01 * ratio, found
    assert abs(found["bytes"] / found["host_seconds"] / 1e9 - found["gb_per_s"]) < 0.01 * found["gb_per_s"], found
    assert (found["stream_gb_per_s"] is None) == (found["kernels"] == "portable")


@test
def text():
    lines = expect(["bench", *PAIR, *QUICK, "--kernels", "portable", "-j", "2"]).splitlines()
    assert lines[:3] == ["source        " + PAIR[0], "destination   " + PAIR[1],
                         "moves         30,000 elements, 180,000 bytes read and written"], lines
    assert lines[3].startswith("how           kernels portable, ordinary stores, 2 threads; best of "), lines
    assert [line[:16].strip() for line in lines[5:8]] == ["on this host", "the move", "memcpy"]
    assert all(len(line) <= 100 for line in lines)


@test
def other_ways():
    by_size = expect_json(["bench", "u8[8192,4096]{1,0}", "u8[8192,4096]{0,1}", *QUICK])
    assert by_size["streaming_stores"] == (by_size["kernels"] != "portable")
    found = expect_json(["bench", *PAIR, *QUICK, "--kernels", "formula", "-j", "3"], kernels="formula", threads=3)
    assert not found["streaming_stores"]
    # slices, several axes, a plan that gathers
    expect_json(["bench", "f32[64,256]{1,0}[8:16, :]", "f32[8,256]{1,0:T(8,128)}", *QUICK], elements=2048)
    expect_json(["bench", "f32[128,64]{1,0}", "f32[128,64] S[(2,64,64):(64@F,1@P,1@F)]", *QUICK], elements=8192)


@test
def refusals():
    def refuses(words, code, *parts):
        status, out, err = run("bench", *words)
        assert (status, out) == (code, "") and all(part in err for part in parts), (words, status, err)

    refuses(["f32[8,8]", "f32[8,9]"], 1, "destination:1:", "the destination takes [8,9] and the source gives [8,8]")
    refuses(["f32[8,8]", "c64[8,8]"], 1, "there is no conversion from f32 to c64")
    refuses(["f32[8,8]{", "f32[8,8]"], 1, "source:1:9: error: found '{', expected the end of the shape")
    refuses(["f32[65536,65536]", "f32[65536,65536]"], 1, "takes 17179869184 bytes, and a bench at most 1073741824")
    refuses([*PAIR, "-j", "0"], 2, "--jobs is 0, expected 1 to 64")
    refuses([*PAIR, "--kernels", "avx5"], 2, "--kernels is 'avx5'", "did you mean 'avx2'?")
    refuses([*PAIR, "--stores", "big"], 2, "--stores is 'big', expected ordinary or streaming")
    refuses([PAIR[0]], 2)


main()
