"""Little memory: programs run in what they touch, and being out of it is an error, never another answer."""
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import BUILD, TOOL, cases, main, read_json, release_test, test

ROOT = Path(__file__).parent.parent.parent
LIMITED = BUILD.name == "release"  # sanitizers reserve terabytes of addresses
MB = 1_000_000
THREADS = ["-j", "2"]  # not as many as the host runs: each takes memory
OUT = re.compile(r"tilesim: error: (out of memory \(\d+ bytes more\)(, --max-memory is \w+)?|"
                 r"this needs about .* of memory, more than --max-memory, .*)\n")


def run_in(megabytes, *words):
    """Runs the program with so many addresses; returns (exit code, stdout, stderr)."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (int(megabytes * MB), int(megabytes * MB)))
    done = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, cwd=ROOT,
                          preexec_fn=limit if LIMITED and megabytes else None)
    return done.returncode, done.stdout, done.stderr


@release_test
def programs_run_in_a_gigabyte():
    """All programs, on a machine of 17 GB, at their default sizes."""
    for path in sorted((ROOT / "programs").glob("*.tsim")):
        code, _, err = run_in(1000, "run", path)
        assert code == 0 and err == "", f"{path.name}: exit code {code}\n{err}"


@test
def memories_cost_what_is_touched():
    """However large they are, and however far apart what lies in them."""
    program = BUILD / "far.tsim"
    program.write_text(".tensor x hbm f32[8,128]{1,0:T(8,128)} in iota\n"
                       ".tensor far hbm f32[1073741824]{0:T(1024)}\n"
                       ".tensor y hbm f32[8,128]{1,0:T(8,128)} out\n"
                       ".tensor xb vmem f32[8,128]{1,0:T(8,128)}\n.sem s\n"
                       ".check y == x\n"
                       "dma xb <- x, s\nwait s\ndma y <- xb, s\nwait s\nhalt\n")
    for options in [], ["--check"], ["--time-only"]:
        code, out, err = run_in(200, "run", program, *options)
        assert code == 0 and err == "", f"{options}: exit code {code}\n{err}\n{out}"


def same_or_out(command, limits):
    """Under each limit: what it says without one, or that there is no memory."""
    want, seen = run_in(None, *command), set()
    assert want[0] == 0, want
    for megabytes in limits if LIMITED else []:
        code, out, err = run_in(megabytes, *command)
        seen.add(code)
        if code == 0:
            assert (out, err) == want[1:], f"{command} in {megabytes} MB: another answer\n{out}"
        else:
            assert code in (1, 127) and out == "", f"{command} in {megabytes} MB: exit code {code}\n{out}{err}"
            assert code == 127 or OUT.fullmatch(err), f"{command} in {megabytes} MB:\n{err}"
    assert not LIMITED or {0, 1} <= seen, f"{command}: exit codes {seen}; are the limits too far apart?"


@release_test
def no_command_gives_another_answer():
    """127: the loader finds no room for the libraries."""
    limits = cases([7, *range(8, 40, 3), 50, 70, 100, 200, 1000], 16, usual=7)
    same_or_out(["audit", "tests/data/hlo/step.txt", "-m", "tpu-v6e"], limits)
    same_or_out(["choose", "f32[256,1000]", "--use", "dma:hbm>vmem"], limits)
    same_or_out(["dma", "f32[1024,4096]{1,0}", "f32[1024,4096]{0,1}", *THREADS], limits)
    same_or_out(["run", "programs/add.tsim"], limits)
    same_or_out(["run", "programs/add.tsim", "--check"], limits)


@release_test
def errors_are_json_from_the_start():
    """Of the stack that is reserved, too, for which limits of half a megabyte leave no room."""
    for tenths in range(80, 140) if LIMITED else []:
        code, out, err = run_in(tenths / 10, "layout", "f32[8]", "--json")
        assert code in (0, 127) or read_json(out)["error"]["message"] in err, f"{tenths / 10} MB: exit code {code}\n{out}{err}"


@release_test
def no_file_is_left_half_written():
    """Room for the trace to begin, and not for the run."""
    with tempfile.TemporaryDirectory() as folder:
        for megabytes in range(8, 18) if LIMITED else []:
            code, _, err = run_in(megabytes, "run", "programs/softmax.tsim", "--trace", f"{folder}/t.json")
            assert code in (1, 127) and os.listdir(folder) == [], f"{megabytes} MB: exit code {code}, {os.listdir(folder)}\n{err}"


@release_test
def fits_use_every_row():
    """Calibrating and validating run programs by the hundred. Threads that lack memory at once say so once: of runs
    under many limits some meet it."""
    same_or_out(["calibrate", "tests/data/calibrate.csv", "-m", "tpu-v4", "--fit", "chip.launch", *THREADS],
                [16, *range(18, 60), 60, 200, 400])
    same_or_out(["validate", "--data", "tests/data/calibrate.csv", *THREADS], [8, 10, 12, 14, 16, 20, 30, 60, 200, 400])


SIZES = ([], ["-D", "ROWS=8192"], ["-D", "ROWS=16384"], ["-D", "HEADS=32"], ["-D", "M=1024", "-D", "N=2048"],
         ["-D", "M=600", "-D", "N=5000", "-D", "K=1000"])
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def used_by(*words):
    """Bytes of memory that the program had at most."""
    with subprocess.Popen([TOOL, *map(str, words)], stdout=subprocess.DEVNULL, cwd=ROOT) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, words
    return usage.ru_maxrss * 1024


@release_test
def rows_of_measurements_take_little_each():
    path = BUILD / "rows.csv"
    path.write_text("id,chip,workload description,parameters,measured value,unit\n" + "".join(
        f'r{i},v4,HBM->S(3) copy,"shape=f16[{128 * (i % 5 + 1)},1024]{{1,0:T(8,128)(2,1)S(3)}}",{2 + i % 5},us\n' for i in range(400)))
    for command in (["validate", "--data", path], ["calibrate", path, "-m", "tpu-v4", "--fit", "dma.issue"]):
        used = used_by(*command, *THREADS)
        assert not LIMITED or used < 60e6, f"{command}: {used / 1e6:.1f} MB"


@release_test
def estimates_are_what_is_used():
    """Beside what a small program takes, and what one that is many lines longer does."""
    least = used_by("run", "programs/copy.tsim")
    runs = [(name, size, check) for check in ([], ["--check"]) for name, *sizes in
            [("softmax", 0, 1), ("add", 0, 2), ("gelu", 2), ("flash_attention", 0, 3), ("matmul", 0, 4, 5), ("layernorm", 1),
             ("conv3x3", 0), ("top1", 1), ("cumsum", 0)] for size in sizes]
    for name, size, check in cases(runs, 28, 11):
        command = ["run", f"programs/{name}.tsim", *SIZES[size], *check]
        code, _, err = run_in(None, *command, "--max-memory", "1")
        found = re.search(r"this needs about ([\d.]+) (.iB) of memory", err)
        assert code == 1 and found, f"{command}: exit code {code}\n{err}"
        said = float(found[1]) * UNITS[found[2]]
        used = used_by(*command) - least if LIMITED else said
        assert used <= 1.05 * said + 12e6, f"{command}: {used / 1e6:.1f} MB, said {said / 1e6:.1f}"
        assert said <= 1.5 * used + 12e6, f"{command}: only {used / 1e6:.1f} MB, said {said / 1e6:.1f}"


@test
def every_command_takes_a_limit():
    """Those that do not know what they will need end with an error when they need more."""
    module = BUILD / "many.txt"
    lines = [f"  %c.{i} = f32[{8 * i + 8},128]{{1,0:T(8,128)}} copy(f32[{8 * i + 8},128]{{0,1:T(8,128)}} %p)\n"
             for i in range(20000)]
    module.write_text("HloModule m\n\nENTRY %main (p: f32[8,128]) -> f32[8,128] {\n" + "".join(lines) + "}\n")
    code, out, err = run_in(None, "audit", module, "--max-memory", "100KiB")
    assert code == 1 and out == "" and re.search(r"needs about 1.\d MiB of memory, more than .*many.txt 1", err), err
    code, out, err = run_in(None, "audit", module, "--max-memory", "2MiB")
    assert not LIMITED or code == 1 and out == "", f"exit code {code}\n{err}"
    assert not LIMITED or re.fullmatch(r"tilesim: error: out of memory \(\d+ bytes more\), --max-memory is 2MiB\n", err)
    if LIMITED:
        (error,), bad = read_json(run_in(None, "audit", module, "--max-memory", "2MiB", "--json")[1])["errors"], ["layout", "f32[", "--json"]
        assert error.keys() == read_json(run_in(None, *bad)[1])["error"].keys() and error["message"].startswith("out of memory ("), error
    for command in (["choose", "f32[8,128]"], ["dma", "f32[8,128]{1,0}", "f32[8,128]{0,1}"], ["hbm", "c_copy4k"],
                    ["layout", "f32[8,128]"], ["run", "programs/copy.tsim"], ["debug", "programs/copy.tsim"],
                    ["calibrate", "tests/data/calibrate.csv"], ["validate", "--data", "tests/data/calibrate.csv"]):
        code, _, err = run_in(None, *command, "--max-memory", "some")
        assert code == 2 and "--max-memory is 'some', expected a size such as 4GiB" in err, f"{command}\n{err}"
    same = run_in(None, "dma", "f32[8,128]{1,0}", "f32[8,128]{0,1}")
    assert run_in(None, "dma", "f32[8,128]{1,0}", "f32[8,128]{0,1}", "--max-memory", "1GiB") == same
    code, _, err = run_in(None, "validate", "--data", "tests/data/calibrate.csv", "--max-memory", "10")
    assert code == 1 and "more than --max-memory, which is 10 B: tests/data/calibrate.csv" in err, err


main()
