"""tilesim run -D NAME=1,2,3: a program at every point of a grid."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, run, test

HERE = Path(tempfile.mkdtemp())
ADD = "programs/add.tsim"


@test
def each_run_is_the_run_alone():
    value = expect_json(["run", ADD, "-D", "BLOCK=32,64", "-D", "COLS=256", "-D", "ROWS=100,max(8, 16),128"])
    assert value["schema"] == "tilesim.grid" and value["program"] == ADD and not value["time_only"]
    defines = [list(r["defines"].items()) for r in value["runs"]]
    assert defines == [[("BLOCK", b), ("COLS", "256"), ("ROWS", r)] for b in ("32", "64")
                       for r in ("100", "max(8, 16)", "128")], defines
    best = min(r["microseconds"] for r in value["runs"])
    for point in value["runs"]:
        alone = expect_json(["run", ADD, *(word for name, v in point["defines"].items() for word in ("-D", f"{name}={v}"))])
        assert point["passed"] and (point["cycles"], point["microseconds"]) == (alone["cycles"], alone["microseconds"])
        assert point["ratio"] == round(point["microseconds"] / best, 4), point
        bytes_ = alone["hbm_read_bytes"] + alone["hbm_written_bytes"]
        peak = expect_json(["show", "machine", "tpu-v5e"])["hbm_bytes_per_second"]
        assert abs(point["hbm_peak_percent"] - 1e8 * bytes_ / alone["microseconds"] / peak) < 0.01, point
        most = max(alone["bundles"], *alone["stalls"].values())
        assert abs(point["most_percent"] - 100 * most / alone["cycles"]) < 0.001, point


@test
def table():
    out = expect(["run", ADD, "-D", "BLOCK=32,64", "-D", "ROWS=64", "--time-only"])
    lines = out.splitlines()
    assert lines[:3] == ["machine    tpu-v5e (TPU v5e), the default", f"program    {ADD} ROWS=64", ""], out
    assert lines[3] == " BLOCK         cycles           us  to best  HBM peak  most cycles went to", out
    cycles = [expect_json(["run", ADD, "-D", f"BLOCK={b}", "-D", "ROWS=64", "--time-only"])["cycles"] for b in (32, 64)]
    for line, block, count in zip(lines[4:], (32, 64), cycles):
        words = line.split()
        assert words[:2] == [str(block), f"~{count:,}"] and len(line) <= 100, line
        assert words[3] == f"{count / min(cycles):.2f}x", line
    assert len(lines) == 6, out


@test
def processes_make_no_difference():
    words = ["run", ADD, "-D", "BLOCK=32,x,64,16", "-D", "ROWS=64,100", "--json"]
    assert run(*words, "-j", "2") == run(*words) and run(*words)[0] == 1


@test
def one_that_fails_does_not_end_the_others():
    code, out, err = run("run", ADD, "-D", "ROWS=64,x,32")
    assert code == 1 and err == "" and "     x error: unknown name 'x', expected a number or a parameter\n" in out and len(out.splitlines()) == 7, out
    value = run("run", ADD, "-D", "ROWS=64,x,32", "--json")
    assert value[0] == 1 and '"message": "unknown name \'x\', expected a number or a parameter"' in value[1], value
    wrong = HERE / "wrong.tsim"
    wrong.write_text(Path(ADD).read_text().replace("y ~= x + 1", "y ~= x + ONE").replace(
        ".param  ROWS", ".param  ONE = 1\n.param  ROWS", 1))
    code, out, err = run("run", wrong, "-D", "ONE=1,2")
    assert code == 3 and out.count("failed its checks") == 1 and out.count("1.00x") == 1, (code, out, err)


@test
def values_that_are_there_twice():
    once, twice = (expect_json(["run", ADD, "-D", f"BLOCK={values}"]) for values in ("32,64", "32,64,64,32"))
    for row in once["runs"] + twice["runs"]:
        row.pop("host_seconds", None)
    assert twice == once and len(once["runs"]) == 2
    assert expect(["run", ADD, "-D", "BLOCK=32,32"]) == expect(["run", ADD, "-D", "BLOCK=32"])


@test
def refused():
    many = ",".join(map(str, range(8, 408)))
    for words, message in (
            (["-D", "BLOCK=32,,64"], "-D BLOCK=32,,64 has an empty value, expected such as BLOCK=1,2"),
            (["-D", "BLOCK=32,"], "-D BLOCK=32, has an empty value, expected such as BLOCK=1,2"),
            (["-D", "BLOCK=32", "-D", "BLOCK=32,64"], "-D BLOCK is given twice"),
            (["-D", "ROWS=" + many, "-D", "COLS=" + many],
             "the values of -D make more than 100000 runs, expected fewer"),
            (["-D", "BLOCK=32,64", "--trace", str(HERE / "t")], "--trace is of one run, and the values of -D make 2"),
            (["-D", "BLOCK=32,64", "-o", f"y={HERE}/y.npy"], "--output is of one run, and the values of -D make 2"),
            (["-D", "BLOCK=32,64", "--lines"], "--lines is of one run, and the values of -D make 2"),
            (["-D", "BLOCK=32,64", "--update"], "--update is of one run, and the values of -D make 2"),
            (["-D", "BLOCK=32,64", "--from", "9"], "--from is of one run, and the values of -D make 2"),
            (["-D", "BLOCK=32,64", "--until", "9"], "--until is of one run, and the values of -D make 2"),
            (["-D", "BLOCK=32,64", "--trace-text"], "--trace-text is of one run, and the values of -D make 2"),
            (["-D", "BLOCK=32,64", "--break", "1"], "--break is of one run, and the values of -D make 2")):
        code, out, err = run("run", ADD, *words)
        assert code == 2 and out == "" and message in err, (words[:1], err)
    assert not list(HERE.glob("t*")) and not list(HERE.glob("y*"))


main()
