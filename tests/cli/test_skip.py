"""tilesim run --time-only: iterations that are left out change nothing. A trace turns leaving out off."""
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import cases, expect_json, main, run, test

FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)


def both(text, *words):
    """The outcome with and without leaving out; they must be the same to the letter."""
    path = HERE / "a.tsim"
    path.write_text(text)
    skipped = run("run", path, "--time-only", "--json", *words)
    walked = run("run", path, "--time-only", "--json", "--trace", HERE / "a.json", *words)
    assert skipped == walked, f"{text}\n{skipped}\n{walked}"
    return skipped


@test
def a_hundred_million_iterations():
    text = """
.tensor c vmem f32[64,128]{1,0:T(8,128)}
.pack auto
.loop s1 = 0, 100000000
        vld v0, c[0, 0]
        vadd.f32 v1, v0, 1.0
        vst c[8, 0], v1
.end
"""
    path = HERE / "b.tsim"
    path.write_text(text)
    assert expect_json(["run", path, "--time-only"])["cycles"] == 17 * 100000000 - 2
    path.write_text(text.replace("100000000", "1000"))
    assert expect_json(["run", path])["cycles"] == 17 * 1000 - 2


@test
def shipped_programs():
    for words in cases((["add", "-D", "ROWS=3000"], ["softmax"], ["reduce"], ["transpose"], ["layernorm", "-D", "ROWS=900"],
                  ["matmul", "-D", "M=1024", "-D", "N=1024", "-D", "K=1024"],
                  ["matmul", "-D", "M=300", "-D", "N=700", "-D", "K=450"],
                  ["matmul", "-D", "M=2048", "-D", "N=1024", "-D", "K=1100", "-m", "tpu-v6e"]), 3):
        skipped = expect_json(["run", f"programs/{words[0]}.tsim", "--time-only", *words[1:]])
        walked = expect_json(["run", f"programs/{words[0]}.tsim", "--time-only", *words[1:], "--trace", HERE / "a.json"])
        assert skipped == walked, words


@test
def branches_end_where_they_end():
    for kind, start, stop, step in (("br.lt", 0, 1000, 7), ("br.le", 0, 1001, 7), ("br.gt", 1000, 0, -7), ("br.ge", 999, 0, -3),
                                    ("br.ne", 0, 1001, 7), ("br.ne", 1001, 0, -7), ("br.lt", -900, 901, 1), ("br.gt", 5, 5, -1)):
        code, out, err = both(f"        smov s1, {start}\nagain:  sadd s1, s1, {step}\n        {kind} s1, {stop}, again\n")
        assert code == 0, err
    code, out, err = both("        smov s1, 500\nagain:  ssub s1, s1, 1\n        brnz s1, again\n")
    assert code == 0, err
    for body in "", "sadd s1, s1, 1\n", "sshl s1, s1, 1\n":         # these never end
        for limit in "10000", "10001", "10002":
            code, out, err = both(f"again:  nop\n{body}        jump again\n", "--max-cycles", limit)
            assert code == 3 and f"has not halted after {limit} cycles" in err, err


@test
def a_number_that_wraps_is_not_left_out():
    both("        smov s1, 0x7fffff00\n        smov s2, 0\nagain:  sadd s1, s1, 1\n        sadd s2, s2, 1\n"
         "        br.lt s2, 1000, again\n")


@test
def an_address_out_of_range_is_met_where_it_lies():
    code, _, err = both("""
.tensor c vmem f32[8000,128]{1,0:T(8,128)}
.loop s1 = 0, 9000, 8
        vld v0, c[s1, 0]
.end
""")
    assert code == 3 and "touches bytes" in err, err


@test
def a_load_that_comes_to_meet_stores_waits():
    both("""
.tensor c vmem f32[8000,128]{1,0:T(8,128)}
        smov s2, 7992
.loop s1 = 0, 8000, 8
        vst c[s1, 0], v0
        vld v1, c[s2, 0]
        ssub s2, s2, 8
.end
""")


def matrix_loop(ahead, body, rounds=200):
    pushes = "        mxu.push.bf16 0, v1\n" * ahead
    pops = "        mxu.pop v2, 0\n        mxu.pop v3, 0\n" * ahead
    latches = "        mxu.latch.bf16 0, v0\n" * 8
    return f"{latches}        mxu.swap 0\n{pushes}.loop s1 = 0, {rounds}\n{body}.end\n{pops}"


@test
def results_of_matrix_units_are_as_far_away_as_they_were():
    body = "        mxu.push.bf16 0, v1\n        mxu.pop v2, 0\n        mxu.pop v3, 0\n"
    for ahead in (0, 1, 2, 3, 5, 8):
        code, out, err = both(matrix_loop(ahead, body))
        assert code == 0, err
        code, out, err = both(matrix_loop(ahead, body + "        delay 40\n"))
        assert code == 0, err


@test
def a_result_that_comes_after_the_loop():
    # the last push of the loop is popped behind it: its time has moved with the loop
    body = "        mxu.pop v2, 0\n        mxu.pop v3, 0\n        vadd.f32 v4, v2, v3\n        mxu.push.bf16 0, v1\n"
    for ahead in (1, 2, 4):
        code, out, err = both(matrix_loop(ahead, body))
        assert code == 0, err


@test
def the_first_iterations_may_differ():
    # four transcendentals are under way before a round waits for the first
    both("""
.loop s1 = 0, 500
        vadd.f32 v4, v3, v3
        vadd.f32 v3, v2, v2
        vadd.f32 v2, v1, v1
        vmax.lane.f32 v1, v0
.end
""")


def random_body(rng):
    lines = []
    for _ in range(rng.randint(1, 8)):
        row = rng.choice(["s1", "s2", "s3", f"{8 * rng.randint(0, 400)}", "s1 + 8", "s2 + 16"])
        a, b, c = (rng.randint(0, 12) for _ in range(3))
        lines.append(rng.choice([
            f"vld v{a}, c[{row}, 0]", f"vst c[{row}, 0], v{a}", f"vadd.f32 v{a}, v{b}, v{c}", f"vexp.f32 v{a}, v{b}",
            f"vmax.lane.f32 v{a}, v{b}", f"sadd s2, s2, {8 * rng.randint(0, 2)}", f"ssub s3, s3, {8 * rng.randint(0, 1)}",
            f"smul s4, s2, {rng.randint(0, 3)}", "smov s5, s2", "sand s6, s5, 15", "nop", f"vrcp.f32 v{a}, v{a}"]))
    return lines


@test
def random_loops():
    for seed in cases(range(120), 8):
        rng = random.Random(seed)
        inner = "\n".join(random_body(rng))
        text = f""".tensor c vmem f32[16384,128]{{1,0:T(8,128)}}
.tensor x hbm  f32[512,128]{{1,0:T(8,128)}} in zeros
.sem s
        smov s2, {8 * rng.randint(0, 100)}
        smov s3, {8 * rng.randint(1500, 2000)}
        smov s4, 0
        smov s5, 0
        smov s6, 0
        dma c[0:512, :] <- x, s
.pack {rng.choice(["auto", "off"])}
.loop s7 = 0, {rng.randint(1, 3)}
.loop s1 = 0, {8 * rng.randint(1, 300)}, {rng.choice([8, 16])}
{inner}
.end
.end
        wait s
"""
        both(text, "-m", rng.choice(["tpu-v5e", "tpu-v4", "tpu-v2"]))


main()
