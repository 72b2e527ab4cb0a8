"""tilesim run: programs of several TensorCores: core.id, shared HBM and DMA engine, the barrier, deadlocks."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import cases, expect, expect_json, main, run, test

FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)
BARRIER = 57  # cycles of `semaphore` in tpu-v4.yaml: what a barrier costs once all have come


def program(text, name="a.tsim"):
    path = HERE / name
    path.write_text(text)
    return path


@test
def cores_share_the_work():
    sizes = ["-D", "ROWS=3000", "-D", "COLS=700"]
    one = expect_json(["run", "programs/cores.tsim", "-m", "tpu-v4", "-D", "CORES=1", *sizes], passed=True)
    two = expect_json(["run", "programs/cores.tsim", "-m", "tpu-v4", *sizes], passed=True)
    assert len(one["cores"]) == 1 and len(two["cores"]) == 2
    assert two["cycles"] < one["cycles"]
    for key in ("transfers", "useful_bytes", "hbm_read_bytes"):
        assert one[key] == two[key], key
    for out in (one, two):
        assert out["cycles"] == max(core["cycles"] for core in out["cores"])
        assert out["bundles"] == sum(core["bundles"] for core in out["cores"])
        for core in out["cores"]:
            assert core["bundles"] + sum(core["stalls"].values()) == core["cycles"]


@test
def values_are_right_at_all_sizes_and_take_no_time():
    for machine in cases(("tpu-v2", "tpu-v4", "tpu-v5e", "tpu-v7x"), 2):
        for rows in (1, 64, 65, 129, 1000):
            words = ["run", "programs/cores.tsim", "-m", machine, "-D", f"ROWS={rows}"]
            with_values = expect_json(words, passed=True)
            assert expect_json([*words, "--time-only"])["cycles"] == with_values["cycles"], (machine, rows)


@test
def the_barrier_waits_for_the_last_and_costs_a_wait():
    path = program("""
.cores 2
        core.id s0
        brz     s0, come
        delay   1000
come:   barrier
        core.count s1
""")
    out = expect_json(["run", path, "-m", "tpu-v4"])
    first, second = out["cores"]
    assert first["cycles"] == second["cycles"] == out["cycles"]
    # core 1: core.id, brz, delay 1000, barrier and its cost, core.count
    assert second["cycles"] == 1 + 1 + 1000 + BARRIER + 1, second
    assert first["stalls"]["barrier"] == 1000 + 1 - 4 and "barrier" not in second["stalls"], first  # a branch takes 4
    assert first["stalls"]["wait_semaphore"] == BARRIER - 1


@test
def one_core_passes_a_barrier_alone():
    out = expect_json(["run", program("        barrier\n"), "-m", "tpu-v4"])
    assert out["cycles"] == BARRIER, out["cycles"]


@test
def what_a_core_breaks_is_told_of_that_core():
    """The program is that of all: which of them it was decides what its registers are."""
    head = ".cores 2\n.tensor b vmem f32[8,128]\n        core.id s0\n"
    out = "        smul    s1, s0, 1024\n        vld     v0, b[s1, 0]\n"
    loop = "        brz     s0, over\nagain:  jump    again\nover:   nop\n"
    for text, options, message in ((out, [], "core 1: vld touches bytes"),
                                   (loop, [], "core 1: endless loop: this branch back to line 5"),
                                   (loop, ["--max-cycles", "100"], "core 1: the program has not halted after 100 cycles")):
        for mesh, device in (([], ""), (["--mesh", "2"], "device 0: ")):
            code, _, err = run("run", program(head + text), "-m", "tpu-v4", *options, *mesh)
            assert code == 3 and f": {device}{message}" in err, (text, err)
    alone = program(head.replace(".cores 2", ".cores 1") + out.replace("smul    s1, s0,", "smov    s1,"))
    code, _, err = run("run", alone, "-m", "tpu-v4")
    assert code == 3 and "fault at cycle 2: vld touches bytes" in err, err


@test
def a_deadlock_names_each_core():
    path = program(""".cores 2
.sem never
        core.id s0
        brz     s0, come
        wait    never, 3
come:   barrier
""")
    expect(["run", path, "-m", "tpu-v4"], code=3, out="", err=f"""{path}:6:9: fault at cycle 5: deadlock: \
core 0 waits at the barrier of {path}:6; core 1 waits for semaphore 'never[0]' to reach 3, it is 0; \
the DMA engine is idle; HBM is idle
come:   barrier
        ^
""")
    path = program(""".cores 2
        core.id s0
        brnz    s0, done
        barrier
done:
""")
    code, out, err = run("run", path, "-m", "tpu-v4")
    assert code == 3 and f"core 0 waits at the barrier of {path}:4; core 1 has halted; the DMA" in err, err


@test
def semaphores_and_vmem_are_each_cores_own():
    path = program("""
.cores 2
.tensor y  hbm  s32[16,128]{1,0:T(8,128)} out
.tensor z  hbm  s32[16,128]{1,0:T(8,128)} in iota
.tensor b  vmem s32[8,128]{1,0:T(8,128)}
.sem done
.check y == z * 2
.reg id = s0
        core.id id
        smul    s1, id, 8
        dma     b <- z[s1:+8, :], done
        wait    done
        vld     v0, b[0, 0]
        vadd.i32 v0, v0, v0
        vst     b[0, 0], v0
        dma     y[s1:+8, :] <- b, done
        wait    done
""")
    out = expect(["run", path, "-m", "tpu-v4"])
    assert "\ncore 1\n" in out, out


@test
def what_is_refused():
    path = program(".cores 3\n        halt\n")
    expect(["run", path, "-m", "tpu-v4"], code=1, out="", err=f"""{path}:1:8: error: found 3, expected 1 to 2: tpu-v4 has 2 TensorCores
.cores 3
       ^
""")
    path = program(".cores 2\n        halt\n")
    code, _, err = run("run", path)
    assert code == 1 and "found 2, expected 1: tpu-v5e has 1 TensorCore" in err, err
    path = program(".cores 1\n.cores 1\n")
    code, _, err = run("run", path)
    assert code == 1 and ":2:1: error: a second .cores" in err, err


@test
def the_program_prints_its_cores():
    assert "\n.cores 2\n" in "\n" + expect(["show", "program", "programs/cores.tsim", "-m", "tpu-v4"])


@test
def four_cores_that_wait_for_half_of_their_time_are_not_sampled():
    """They come one after the other, and only later meet in the memory."""
    path = program(""".cores 4
.tensor x hbm f32[40960,128]{1,0:T(8,128)} in zeros
.tensor b vmem f32[2,8,128]{2,1,0:T(8,128)}
.sem a[2]
        core.id s5
        smul    s9, s5, 20000
.loop s7 = 0, s9
        nop
.end
.loop s1 = 0, 811
        smul    s0, s1, 4
        sadd    s0, s0, s5
        smov    s6, 30
        nop
        dma     b[0] <- x[s0*8:+8], a[0]
        wait    a[0]
        dma     b[1] <- x[s0*8:+8], a[1]
.for I = 0, 600
        nop
.end
        wait    a[1]
        dma     b[0] <- x[s0*8:+8], a[0]
        wait    a[0]
.loop s3 = 0, s6
        vld     v0, b[0, 0, 0]
        vst     b[1, 0, 0], v0
.end
.end
""")
    words = ["run", path, "-m", "tpu-v4", "--set", "chip.tensor_cores=4", "--time-only"]
    quick, exact = expect_json(words), expect_json([*words, "--exact"])
    assert abs(quick["cycles"] - exact["cycles"]) < exact["cycles"] / 100, (quick["cycles"], exact["cycles"])


main()
