"""tilesim run: values, cycles and where they went, files in and out, and everything that can go wrong."""
import functools
import json
import os
import re
import shutil
import struct
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import cases, expect, expect_json, main, release_test, run, test
from programs import PROGRAMS, sizes

FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)


def program(text, name="a.tsim"):
    """The path of a program with that text."""
    path = HERE / name
    path.write_text(text)
    return path


def f32(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def bf16_of(value):
    """The bf16 nearest to a float, ties to even, as a float."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return f32((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16)


def read_npy(path):
    """(type, shape, bytes) of a .npy file."""
    data = Path(path).read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length = struct.unpack("<H", data[8:10])[0]
    head = eval(data[10:10 + length].decode())  # our own file: a dict of literals
    return head["descr"], head["shape"], data[10 + length:]


def write_npy(path, descr, shape, data):
    head = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data)


MASK = (1 << 64) - 1


def mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def random_bits(seed, i):
    return mix(mix(seed) + (i + 1) * 0x9E3779B97F4A7C15 & MASK)


# ---- Where the cycles went ----

@functools.cache
def run_on(machine, path):
    return expect_json(["run", path, "-m", machine])


@release_test
def parts_sum_to_the_total():
    for path in PROGRAMS:
        out = run_on("tpu-v5e", path)
        assert out["schema"] == "tilesim.run" and out["passed"], path
        assert out["bundles"] + sum(out["stalls"].values()) == out["cycles"], path
        assert "other" not in out["stalls"]
        assert len(out["machine_hash"]) == 16


@test
def inexact_ways_are_marked():
    run = ["run", "programs/add.tsim", "-m", "tpu-v5e", "--time-only"]
    assert expect_json(run)["estimated"] and not expect_json([*run, "--exact"])["estimated"]


@test
def table_sums_to_the_total():
    text = expect(["run", "programs/add.tsim"])
    lines = text.split("where they went\n")[1].split("\n\n")[0].splitlines()
    rows = [int(line.split()[0].replace(",", "")) for line in lines]
    assert "total" in lines[-1] and sum(rows[:-1]) == rows[-1], text
    assert "machine    tpu-v5e (TPU v5e), the default\n" in text
    assert all(len(line) <= 100 for line in lines), text
    many = expect(["run", "programs/copy.tsim", "--time-only", "-D", "ROWS=262144", "-D", "BLOCK=1024"]).splitlines()
    assert max(map(len, many)) <= 100 and any(line.startswith("HBM        536,870,912 bytes read, 536,") for line in many), many


@test
def slots_and_matrix_units():
    """Rows of a full product keep all units busy for M N K / (units edge^2) cycles, whatever the slots do."""
    out = expect(["run", "programs/matmul.tsim", "-D", "M=512", "-D", "N=512", "-D", "K=512"])
    cycles = int(re.search(r"^cycles +~?([\d,]+)", out, re.M)[1].replace(",", ""))
    busy = float(re.search(r"^bound by .*, mxu ([\d.]+) %", out, re.M)[1])
    assert abs(busy - 100 * 512**3 / (4 * 128**2) / cycles) < 0.06, (busy, cycles)
    exact = expect_json(["run", "programs/matmul.tsim", "-D", "M=512", "-D", "N=512", "-D", "K=512", "--time-only"])
    assert abs(exact["mxu_busy_percent"] - 100 * 512**3 / (4 * 128**2) / cycles) < 0.001, exact["mxu_busy_percent"]
    assert f"           of 2 scalar, 4 valu, 3 vld, 1 vst, 2 mxu, 1 misc a cycle, in {cycles:,} cycles\n" in out, out


@test
def where_zero_is_expected_the_error_is_absolute():
    """In units of the last place of 0 it would be some 10^42."""
    for check, said in (("x ~= x * 0 ulp=1", "error at most 5 absolute, where 0 is expected"), ("x ~= x * 0 abs=1", "error at most 5 absolute"),
                        ("x ~= x * 1e-44 ulp=9", "absolute, where")):
        code, out, err = run("run", program(f".tensor x hbm f32[2,3] inout iota\n.check {check}\nhalt\n"))
        assert code == 3 and said in out and "e+4" not in out + err and " absolute)" in err, (out, err)
        assert "expected 0, error 5\n" in out or "1e-44" in check, out


@test
def cycles_are_golden():
    for path in cases(PROGRAMS, 6):
        golden = dict(line.split() for line in path.with_suffix(".cycles").read_text().splitlines())
        assert set(golden) == {"tpu-v5e", "tpu-v4"}, path
        for machine, cycles in cases(golden.items(), 1):
            out = run_on(machine, path)
            assert (out["cycles"], out["machine"]) == (int(cycles), machine), (path, out["cycles"])


@test
def rates_of_transfers_that_nobody_waits_for():
    """They are of the time in which the bytes move, not of the two cycles that the program takes."""
    path = program(".tensor x hbm f32[8192,512]{1,0:T(8,128)} in zeros\n.tensor y vmem f32[8192,512]{1,0:T(8,128)}\n"
                   ".sem s\ndma y <- x, s\nhalt\n", "unfinished.tsim")
    out, text = json.loads(run("run", path, "--json")[1]), run("run", path)[1]
    busy, watts = out["roofline"]["busy_percent"]["hbm"], float(re.search(r"uJ, ([0-9.]+) W", text)[1])
    assert out["cycles"] == 2 and 80 < busy < 100 and out["gb_per_s"] < 819.2 and watts < 50, (busy, out["gb_per_s"], watts)
    assert re.search(r"under way in (9\d\.\d|100\.0) % of the cycles", text) and "the run took 1." in text, text


@test
def update_rewrites_one_line():
    path = program("delay 10\n", "u.tsim")
    cycles = path.with_suffix(".cycles")
    cycles.write_text("tpu-v4 1\ntpu-v5e 2\ntpu-v5p 3\n")
    expect(["run", path, "--update"], out=None)
    assert cycles.read_text() == "tpu-v4 1\ntpu-v5e 10\ntpu-v5p 3\n", cycles.read_text()
    expect(["run", path, "--update", "-m", "tpu-v6e"], out=None)
    assert cycles.read_text() == "tpu-v4 1\ntpu-v5e 10\ntpu-v5p 3\ntpu-v6e 10\n"
    expect(["run", "programs/add.tsim", "--update", "-D", "ROWS=8"], code=2, out="",
           err="tilesim: error: --update takes no -D, -i or --set: the .cycles file is of the program as it is\n")
    expect(["run", "programs/mesh/halo.tsim", "--mesh", "4", "--update", "-D", "ROWS=8"], code=2, out="",
           err="tilesim: error: --update takes no -D, -i, --set, --topology or --fail-link: the .cycles file is of the program as it is\n")
    for name in ("half", "tilesim:/half.tsim"):
        expect(["run", name, "--update"], code=2, out="", err=f"tilesim: error: --update: {name} is in the binary, expected a file\n")
    assert not Path("half.cycles").exists()


# ---- Values in and out ----

@test
def random_is_specified():
    path = program(".tensor x hbm f32[5,7]{0,1} in random(seed=9, lo=-3, hi=5)\n"
                   ".tensor n hbm s8[40] in random(seed=2, lo=-3, hi=3.5)\n"
                   ".tensor h hbm bf16[33,5]{1,0:T(8,128)(2,1)} in random(seed=3, lo=0, hi=1)\n"
                   ".tensor i hbm s32[2,3] in iota\n.tensor z hbm f32[3] in zeros\nhalt\n")
    files = {name: HERE / f"{name}.npy" for name in "xnhiz"}
    expect(["run", path, *[w for name, file in files.items() for w in ("-o", f"{name}={file}")]], out=None)
    descr, shape, data = read_npy(files["x"])
    assert (descr, shape) == ("<f4", (5, 7))
    expected = [f32(struct.unpack("<I", struct.pack("<f", -3 + 8 * (random_bits(9, i) >> 40) * 2.0 ** -24))[0])
                for i in range(35)]
    assert list(struct.unpack("<35f", data)) == expected
    assert list(read_npy(files["n"])[2]) == [(-3 + random_bits(2, i) % 7) & 255 for i in range(40)]
    halves = struct.unpack("<165H", read_npy(files["h"])[2])
    assert [f32(h << 16) for h in halves] == [bf16_of((random_bits(3, i) >> 40) * 2.0 ** -24) for i in range(165)]
    assert read_npy(files["i"])[2] == struct.pack("<6i", *range(6))
    assert read_npy(files["z"])[2] == bytes(12)


@test
def files_in_and_out():
    rows, columns = 13, 131
    values = [((r * 37 + c * 11) % 509) / 16 - 15 for r in range(rows) for c in range(columns)]
    source, result = HERE / "x.npy", HERE / "y.npy"
    write_npy(source, "<f4", (rows, columns), struct.pack(f"<{len(values)}f", *values))
    sizes = ["-D", f"ROWS={rows}", "-D", f"COLS={columns}"]
    code, out, err = run("run", "programs/add.tsim", *sizes, "-i", f"x={source}", "-o", f"y={result}")
    assert (code, out) == (1, ""), out
    assert err == (f"tilesim: error: -i x: '{source}' holds f32, the tensor is bf16; --convert rounds the values\n"), err
    assert not result.exists()
    out = expect(["run", "programs/add.tsim", *sizes, "--convert", "-i", f"x={source}", "-o", f"y={result}"])
    assert f"from {source}, converted" in out and f"saved      y to {result}\n" in out, out
    got = struct.unpack(f"<{len(values)}H", read_npy(result)[2])
    assert [f32(b << 16) for b in got] == [bf16_of(bf16_of(v) + 1) for v in values]


@test
def safetensors_in():
    head = json.dumps({"a.w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}).encode()
    path, result = HERE / "m.safetensors", HERE / "w.npy"
    data = struct.pack("<6f", *range(6))
    path.write_bytes(struct.pack("<Q", len(head)) + head + data)
    text = program(".tensor w hbm f32[2,3]{1,0:T(8,128)} in file\nhalt\n")
    expect(["run", text, "-i", f"w={path}:a.w", "-o", f"w={result}"], out=None)
    assert read_npy(result)[2] == data


@test
def npz_in_and_out():
    path, result = HERE / "m.npz", HERE / "w.npz"
    data, plain = struct.pack(">6f", *range(6)), HERE / "w.npy"
    write_npy(plain, ">f4", (2, 3), data)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(plain, "a.w.npy")
        file.writestr("other.npy", "")
    text = program(".tensor w hbm f32[2,3]{1,0:T(8,128)} in file\nhalt\n")
    for name in ("w", "x/y"):
        expect(["run", text, "-i", f"w={path}:a.w", "-o", f"w={result}:{name}"], out=None)
        with zipfile.ZipFile(result) as file:
            assert file.testzip() is None and file.namelist() == [name + ".npy"]
            entry = file.infolist()[0]
            assert (entry.date_time, entry.compress_type, entry.extract_version) == ((1980, 1, 1, 0, 0, 0), 0, 45)
            assert entry.file_size == entry.compress_size == 128 + 24 and entry.header_offset == 0
            plain.write_bytes(file.read(name + ".npy"))
        assert read_npy(plain) == ("<f4", (2, 3), struct.pack("<6f", *range(6)))
    expect(["run", text, "-i", f"w={path}"], 1, "",
           f"tilesim: error: {path} holds 2 arrays, expected {path}:NAME with such as 'a.w'\n")


@test
def archives_are_not_overwritten():
    """Also where the program's text names the archive of its input."""
    path = HERE / "kept.npz"
    plain = HERE / "w.npy"
    write_npy(plain, "<f4", (6,), bytes(24))
    with zipfile.ZipFile(path, "w") as file:
        file.write(plain, "w.npy")
    text = program(f'.tensor w hbm f32[6] in file("{path}:w")\nhalt\n')
    before = path.read_bytes()
    expect(["run", text, "-o", f"w={path}:y"], 2, "",
           f"tilesim run: error: --output would be written over the input '{path}', expected another name\n"
           "`tilesim run --help` shows how it is used\n")
    assert path.read_bytes() == before


@test
def shown_programs_run_alike():
    shutil.copytree("programs/digits", HERE / "digits")
    for path in cases(PROGRAMS, 5, 18):
        words = [*sizes(path, 70, 300), "-m", "tpu-v4"]
        text = expect(["show", "program", path, *words])
        again = HERE / "again.tsim"  # beside it, the files that programs read
        again.write_text(text)
        expect(["show", "program", again, "-m", "tpu-v4"], out=text)
        cycles = expect_json(["run", path, *words])["cycles"]
        expect_json(["run", again, "-m", "tpu-v4"], passed=True, cycles=cycles)


@test
def shown_kernels_run_alike():
    """Of Pallas: operands have numbers for names, which a program writes as arg0."""
    for path in cases(sorted(Path("tests/mosaic/kernels").glob("[a-h]*.v6.mlir")), 4, 100):
        code, text, _ = run("show", "program", path)
        if code != 0:  # of several devices
            continue
        again = program(text)
        assert "\n.tensor arg1 " in text, text[:200]
        expect(["show", "program", again], out=text)
        expect_json(["run", again, "--time-only"], cycles=expect_json(["run", path, "--time-only"])["cycles"])


# ---- What can go wrong ----

def fails(text, code, err, *words):
    """The program fails like this, says nothing on stdout, and leaves no output file."""
    path, result = program(text), HERE / "never.npy"
    expect(["run", path, *words, "-o", f"y={result}"], code=code, out="", err=err.replace("a.tsim", str(path)))
    assert not result.exists()


Y = ".tensor y hbm f32[4,4] out\n.tensor v vmem f32[8,128]\n.sem s\n"


@test
def faults():
    fails(Y + "wait s\n", 3, "a.tsim:4:1: fault at cycle 0: deadlock: the core waits for semaphore 's[0]' to reach 1, it is 0; "
          "the DMA engine is idle; HBM is idle\nwait s\n^\n")
    fails(Y + "go: jump go\n", 3, "a.tsim:4:5: fault at cycle 1000: the program has not halted after 1000 cycles: this "
          "branch back to line 4 was taken 250 times\ngo: jump go\n    ^\n",
          "--max-cycles", "1000")
    fails(Y + "smov s1, 8\nvld v0, v[s1, 0]\n", 3,
          "a.tsim:5:1: fault at cycle 1: vld touches bytes 4096 to 8191, expected 0 to 4095 of v\n"
          "vld v0, v[s1, 0]\n^\n")
    fails(Y + "smov s1, 2\ndma v[0:4, 0:4] <- y[s1:+4, :], s\nwait s\n", 3,
          "a.tsim:5:1: fault at cycle 1: the slice begins at 2 and has size 4 in dimension 0, expected it within 0 to 4 of 'y'\n"
          "dma v[0:4, 0:4] <- y[s1:+4, :], s\n^\n")
    fails(Y + "smov s1, 6\ndma v[s1:+4, 0:4] <- y, s\nwait s\n", 3,
          "a.tsim:5:1: fault at cycle 1: the slice begins at 6 and has size 4 in dimension 0, expected it within 0 to 8 of 'v'\n"
          "dma v[s1:+4, 0:4] <- y, s\n^\n")


def run_text(text, *words):
    return run("run", program(text), *words)


@test
def endless_loops():
    """What repeats exactly is told at once; what changes without an end after some seconds; both name the loop."""
    head = ".tensor h hbm f32[8,128]\n.tensor v vmem f32[8,128]\n.tensor n smem s32[8]\n.sem s\n"
    transfer = "go: dma v <- h, s\n wait s\n smov s2, 0\nin: sadd s2, s2, 1\n br.lt s2, 100, in\n jump go\n"
    for text, line, words in (
            ("go: jump go\n", 5, "back to line 5 was taken 8,193 times"),
            ("go: nop\n vadd.f32 v1, v2, v3\n br.lt s1, 10, go\n", 7, "back to line 5 was taken 8,193 times, s1 = 0"),
            ("go: vadd.f32 v1, v2, v3\n br.lt s1, 10, go\n", 6, "back to line 5"),  # an empty bundle, with --time-only
            ("go: v2s s1, v0\n br.lt s1, 10, go\n", 6, "back to line 5"),
            ("go: sld s1, n[0]\n sst n[0], 0\n br.lt s1, 10, go\n", 7, "s1 = 0"),
            ("go: sem.read s1, s\n brz s1, go\n", 6, "s1 = 0"),
            ("go: sem.add s, 1\n wait s\n jump go\n", 7, "back to line 5"),
            (transfer, 10, "back to line 5"),
            (transfer.replace(" wait s\n", ""), 9, "back to line 5")):
        for options in (), ("--time-only",):
            if "v2s" in text and options:
                continue
            code, out, err = run_text(head + text, *options)
            assert code == 3 and f"a.tsim:{line}:" in err and ": endless loop: " in err and words in err, (text, err)


@test
def loops_that_only_look_endless():
    head = ".tensor h hbm s32[8]{0} in iota\n.tensor n smem s32[8]{0}\n.tensor v vmem f32[8,128]\n.sem s\n"
    for text in ("smov s1, 0\ngo: sadd s1, s1, 1\n br.lt s1, 100000, go\n",
                 "go: sld s1, n[0]\n sadd s1, s1, 1\n sst n[0], s1\n br.lt s1, 50000, next\n halt\nnext: smov s1, 0\n jump go\n",
                 "dma n <- h, s\ngo: sem.read s1, s\n brz s1, go\n wait s\n",
                 "sst n[7], 0\ndma n <- h, s\ngo: sld s1, n[7]\n brz s1, go\n wait s\n",
                 "sem.set s, 30000\ngo: wait s\n sem.read s2, s\n brz s2, end\n smov s2, 0\n jump go\nend: nop\n",
                 "vmov v0, 0\ngo: vadd.i32 v0, v0, 1\n v2s s1, v0\n br.gt s1, 20000, end\n smov s1, 0\n jump go\nend: nop\n"):
        code, out, err = run_text(head + text)
        assert code == 0, (text, err)
    code, out, err = run_text(head + "sem.set s, 30000\ngo: wait s\n jump go\n")
    assert code == 3 and "deadlock" in err, err


@release_test
def a_loop_that_changes_its_state_is_given_up():
    code, out, err = run_text("go: sadd s1, s1, 1\n vadd.f32 v2, v2, v1\n br.ne s1, -1, go\n")
    assert code == 3 and "a.tsim:3:2: fault" in err and "a loop without an end in sight: this branch back to line 1 was taken " in err \
        and "max_cycles N" in err, err
    code, out, err = run_text("go: sadd s1, s1, 1\n br.ne s1, 3000000, go\n", "--max-cycles", "100000000")
    assert code == 0, err
    body = "".join(f" vadd.f32 v{i}, v{i}, v1\n" for i in range(2, 10))
    code, out, err = run_text(f"go: sadd s1, s1, 1\n{body} br.ne s1, -1, go\n", "--time-only", "--max-cycles", "1000000000000")
    assert code == 0, err


@test
def loops_of_scalars_alone_take_no_time():
    code, out, err = run_text(".loop s1 = 0, 2000000000\n.end\n")
    assert code == 0 and "cycles     7,999,999,998 = " in out, (out, err)
    code, out, err = run_text("go: sadd s1, s1, 1\n br.ne s1, -1, go\n")
    assert code == 3 and "a.tsim:2:2: fault at cycle 10000000000: the program has not halted after " in err, err


@test
def bad_programs():
    fails(Y + "vad.f32 v0, v0, v0\n", 1,
          "a.tsim:4:1: error: unknown instruction 'vad.f32'; did you mean 'vadd.f32'?\nvad.f32 v0, v0, v0\n^\n")
    fails(Y + ".tensor w vmem f32[262144,128]\n", 1,
          "a.tsim:4:9: error: 'w' does not fit: 134,217,728 bytes behind the 4,096 of the tensors before it; the vmem of "
          "tpu-v5e has 134,217,728 (4,096 too many)\n.tensor w vmem f32[262144,128]\n        ^\n")
    fails(Y + ".check y ~= z + 1\n", 1, "a.tsim:4:13: error: unknown name 'z'\n"
          ".check y ~= z + 1\n            ^\n")


@test
def failed_check():
    path, result = program(".tensor x hbm f32[2,3] inout iota\n.check x ~= x * 2 + 1 ulp=0\nhalt\n"), HERE / "failed.npy"
    code, out, err = run("run", path, "-o", f"x={result}")
    assert code == 3 and result.read_bytes()[-24:] == struct.pack("<6f", *range(6)) and f"saved      x to {result}\n" in out
    assert out[out.index("\ncheck ") + 1:out.index("\ncycles ") + 1] == """\
check      x ~= x * 2 + 1 ulp=0
           FAILED: 6 of 6 elements are wrong, error at most 8.389e+06 ulp
           [0,0] got 0, expected 1, error 1 = 8.389e+06 ulp
           [0,1] got 1, expected 3, error 2 = 8.389e+06 ulp
           [0,2] got 2, expected 5, error 3 = 6.291e+06 ulp
           [1,0] got 3, expected 7, error 4 = 8.389e+06 ulp
           [1,1] got 4, expected 9, error 5 = 5.243e+06 ulp
""", out
    assert err == (f"{path}:2:8: fault: check failed: 6 of 6 elements; at [0,0] found 0, expected 1 (8.389e+06 ulp)\n"
                   ".check x ~= x * 2 + 1 ulp=0\n       ^\n"), err
    code, out, err = run("run", path, "--json")
    check = json.loads(out)["checks"][0]
    assert code == 3 and not check["passed"] and check["failed"] == 6 and check["line"] == 2
    assert [m["index"] for m in check["mismatches"]] == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]]
    assert check["mismatches"][2] == {"index": [0, 2], "got": 2, "expected": 5, "error": 3, "ulp": 6291456}


@test
def bounds_by_expressions():
    head = ".tensor x hbm f32[2,3] inout iota\n"
    fails(head.replace("x", "y") + ".check y ~= y + 1 err=y[0:1, 0:2]\nhalt\n", 1,
          "a.tsim:2:23: error: the left side has shape [2,3], but err= has [1,2]\n.check y ~= y + 1 err=y[0:1, 0:2]\n" +
          " " * 22 + "^\n")
    path = program(head + ".param MOST = 0.2\n.check x ~= x * 1.1 err=MOST * abs(expected) ; of the right side\n"
                   ".check x ~= x + 1 err=where(x < 3, inf, 1)\nhalt\n")
    out = expect(["run", path])
    assert "check      x ~= x * 1.1 err=...\n           passed: 6 elements, error at most 0.5 absolute\n" in out, out
    code, out, _ = run("run", path, "-D", "MOST=0.09")
    assert code == 3 and "FAILED: 5 of 6 elements" in out and "[1,2] got 5, expected 5.5, error 0.5 = " in out, out


@test
def errors_stand_in_the_order_of_the_text_across_files():
    files = {"e.tsim": 'vad\n.include "e1.tsim"\nvad\n',
             "e1.tsim": ' vad\n\n\n.include "e2.tsim"\nvad\n',
             "e2.tsim": '.include "e3.tsim"\n  vad\n.include "e1b.tsim"\n',
             "e3.tsim": '\n\n\n\n\n\nvad\n', "e1b.tsim": "vad\n"}
    for name, text in files.items():
        (HERE / name).write_text(text)
    code, out, err = run("run", HERE / "e.tsim")
    places = re.findall(r"(\w+)\.tsim:(\d+):\d+: error", err)
    text = [("e", "1"), ("e1", "1"), ("e3", "7"), ("e2", "2"), ("e1b", "1"), ("e1", "5"), ("e", "3")]
    assert code == 1 and places == text, places


@test
def parameters_of_included_files_are_not_listed():
    head = expect(["run", "programs/copy.tsim"]).split("tensors")[0]
    assert head.endswith("program    programs/copy.tsim ROWS=1024 COLS=512 BLOCK=128 TILED=1\n"), head
    assert "BK=128\n" in expect(["run", "programs/matmul.tsim", "-D", "BK=128"]).split("tensors")[0]
    assert expect_json(["run", "programs/copy.tsim"])["params"]["BLOCKS"] == 8


@test
def small_numbers_are_whole_in_json():
    path = program(".param STEP = 1e-20\n.tensor x hbm f32[2] in iota\n.report tiny = 1e-30 / 3\n"
                   ".report huge = 1e300 / 3\n.check x ~= x + STEP abs=1e-15\n"
                   ".tensor z hbm f32[2] in random(seed=1, lo=1, hi=2)\n.check z ~= z + 1e-14\nnop\n")
    out = expect_json(["run", path])
    assert out["params"] == {"STEP": 1e-20}, out
    assert out["reports"] == {"tiny": 1e-30 / 3, "huge": 1e300 / 3} and out["checks"][0]["max_abs"] == 1e-20, out
    assert 0 < out["checks"][1]["max_ulp"] < 1e-6, out


@test
def a_nan_has_no_sign():
    """Hosts differ in that of inf - inf."""
    path = program(".tensor x hbm f32[2] in iota\n.check x ~= x - sqrt(-1)\n.check x ~= inf - inf err=1\n"
                   ".report top = inf - inf\n.report root = -sqrt(-1)\nnop\n")
    code, out, err = run("run", path)
    assert code == 3 and "-nan" not in out and out.count("expected nan, error inf\n") == 4, out
    assert "where nan is expected\n" in out and "\ntop        nan = inf - inf\nroot       nan = -sqrt(-1)\n" in out, out
    assert "found 0, expected nan" in err or err == "", err


@test
def reports():
    text = (".param N = 3\n.tensor x hbm f32[2,3] in iota\n.tensor y hbm f32[2,3] out\n.tensor v vmem f32[2,3]\n.sem s\n"
            "dma v <- x, s\nwait s\ndma y <- v, s\nwait s\n")
    path = program(text + ".report mean_of_y = mean(y) + N\n.report top = max(x)\n")
    out = expect(["run", path])
    assert "\nmean_of_y  5.5 = mean(y) + N\ntop        5 = max(x)\n" in out, out
    expect_json(["run", path], reports={"mean_of_y": 5.5, "top": 5}, passed=True)
    expect_json(["run", path, "--time-only"], reports={})
    assert ".report top = max(x)\n" in expect(["show", "program", path])
    fails(text + ".report y = y + 1\n", 1, "a.tsim:10:13: error: a report is one number, found 6\n.report y = y + 1\n"
          "            ^\n")
    fails(text + ".report y = max(z)\n", 1, "a.tsim:10:17: error: unknown name 'z'\n.report y = max(z)\n"
          "                ^\n")
    fails(text + ".report y\n", 1, "a.tsim:10:10: error: found the end of the line, expected '='\n.report y\n         ^\n")
    fails(text + ".report y =\n", 1, "a.tsim:10:12: error: found the end of the line, expected what to report\n"
          ".report y =\n           ^\n")


@test
def padding_does_not_leave_a_slice():
    for buffer in "v[s4, 0:8, 0:50]", "w[0:8, 0:50]":  # of both, the last tile is like x's, but holds elements
        path = program(".tensor x hbm f32[8,50]{1,0:T(8,128)} in iota\n.tensor y hbm f32[8,128]{1,0:T(8,128)} out\n"
                       ".tensor v vmem f32[2,8,128]{2,1,0:T(8,128)}\n.tensor w vmem f32[8,128]{1,0:T(8,128)}\n.sem s\n"
                       f"smov s4, 0\nvmov v0, 7.0\nvst {buffer[0]}.words[0], v0\ndma {buffer} <- x, s\nwait s\n"
                       f"dma y <- {buffer.split('[')[0]}{'[0]' if buffer[0] == 'v' else ''}, s\nwait s\n"
                       ".check y[:, 0:50] == x\n.check y[:, 50:128] == 7\n")
        expect(["run", path, "--check"], out=None)


@test
def files_beside_the_program():
    write_npy(HERE / "beside.npy", "<f4", (3,), struct.pack("<3f", 1, 2, 3))
    write_npy(HERE / "other.npy", "<f4", (3,), struct.pack("<3f", 4, 5, 6))
    path = program('.tensor x hbm f32[3] in file("beside.npy")\n.report total = sum(x)\nhalt\n')
    expect_json(["run", path], reports={"total": 6})
    expect_json(["run", path, "-i", f"x={HERE}/other.npy"], reports={"total": 15})
    assert '.tensor x hbm f32[3]{0} in file("beside.npy")\n' in expect(["show", "program", path])
    code, out, err = run("run", program('.tensor x hbm f32[4] in file("beside.npy")\nhalt\n'))
    assert (code, out) == (1, "") and "beside.npy holds f32[3], expected dims [4]" in err, err
    fails(".tensor x hbm f32[4] in file(beside)\n", 1, "a.tsim:1:30: error: found 'beside', expected the name of a file in "
          "double quotes\n.tensor x hbm f32[4] in file(beside)\n                             ^\n")


@test
def bad_files():
    x = ".tensor x hbm f32[2,3] in file\n.tensor y hbm f32[2,3] out\nhalt\n"
    fails(x, 2, "tilesim: error: the tensor 'x' has no values, expected -i x=FILE\n")
    fails(x, 2, "tilesim: error: -i xx: the program has no such tensor; did you mean 'x'?\n", "-i", "xx=a.npy")
    fails(x, 2, "tilesim: error: -i y: the tensor is not an input\n", "-i", "y=a.npy")
    fails(x, 2, "tilesim: error: --input 'x': expected TENSOR=FILE\n", "-i", "x")
    fails(x, 1, "tilesim: error: cannot open 'nowhere.npy': No such file or directory\n", "-i", "x=nowhere.npy")
    write_npy(HERE / "wide.npy", "<f4", (3, 2), bytes(24))
    code, out, err = run("run", program(x), "-i", f"x={HERE}/wide.npy")
    assert (code, out) == (1, "") and err == f"tilesim: error: {HERE}/wide.npy holds f32[3,2], expected dims [2,3]\n", err
    write_npy(HERE / "f8.npy", "<f8", (2, 3), bytes(48))
    fails(x, 1, f"tilesim: error: -i x: '{HERE}/f8.npy' holds f64, the tensor is f32; --convert rounds the values\n",
          "-i", f"x={HERE}/f8.npy")
    expect(["run", program(x), "-i", f"x={HERE}/f8.npy", "--convert"], out=None)


@test
def bad_outputs():
    path = program(".tensor y hbm f32[2,3] out\nhalt\n")
    code, out, err = run("run", path, "-o", f"y={HERE}/no/such/folder.npy")
    assert (code, out) == (1, "") and "No such file or directory" in err, err
    code, out, err = run("run", path, "-o", f"z={HERE}/z.npy")
    assert (code, out, err) == (2, "", "tilesim: error: -o z: the program has no such tensor\n"), err
    if os.path.exists("/dev/full"):
        code, out, err = run("run", path, "--trace", f"{HERE}/no/trace.json")
        assert code == 1, err


def product_cycles(machine, m, n, k, *words):
    size = [word for name, value in (("M", m), ("N", n), ("K", k)) for word in ("-D", f"{name}={value}")]
    return expect_json(["run", "programs/matmul.tsim", "--time-only", "-m", machine, *size, *words])["cycles"]


@release_test
def a_large_product_keeps_the_matrix_units_busy():
    for machine, m, n, k, rate in (("tpu-v5e", 2048, 1024, 2048, 4 * 128 * 128),    # 4 units of 128 x 128
                                   ("tpu-v7x", 4096, 1024, 2048, 2 * 256 * 256 * 2)):     # 2 of 256 x 256, 2 rows a cycle
        blocks = ["-D", f"BM={m}", "-D", f"BN={n}"]
        more = product_cycles(machine, m, n, 2 * k, *blocks) - product_cycles(machine, m, n, k, *blocks)
        ideal = m * n * k // rate
        assert ideal <= more <= 1.05 * ideal, (machine, more, ideal)


@release_test
def ragged_products_have_blocks_that_fit():
    full = product_cycles("tpu-v5e", 2048, 2048, 2048)
    for m, n, k, most in ((2100, 2048, 2048, 1.2), (2048, 2100, 2048, 1.3), (2048, 2048, 2100, 1.15), (4100, 2048, 2048, 2.2)):
        ragged = product_cycles("tpu-v5e", m, n, k)
        assert full < ragged < most * full, (m, n, k, ragged, full)
    for machine in "tpu-v2", "tpu-v4", "tpu-v6e", "tpu-v7x":            # the default blocks fit VMEM
        for name in "matmul", "matmul_f32", "batched_matmul":
            expect(["show", "program", f"programs/{name}.tsim", "-m", machine, "-D", "M=9000", "-D", "N=9000", "-D", "K=9000"],
                   out=None)


@test
def time_only_takes_the_same_cycles():
    for path in cases(PROGRAMS, 2, 18):
        for words in [], sizes(path, 37, 300), ["-m", "tpu-v4"]:
            with_values = expect_json(["run", path, *words], schema="tilesim.run", time_only=False)
            without = expect_json(["run", path, *words, "--time-only"], schema="tilesim.run", time_only=True)
            assert without["checks"] == [] and with_values["checks"] != []
            same = [key for key in with_values if key not in ("checks", "reports", "tensors", "time_only")]
            assert {key: without[key] for key in same} == {key: with_values[key] for key in same}, path


@test
def time_only_needs_no_inputs_and_refuses_what_needs_values():
    path = program(".tensor x hbm f32[8,128]{1,0:T(8,128)} in\n.tensor xb vmem f32[8,128]{1,0:T(8,128)}\n.sem s\n"
                   "dma xb <- x, s\nwait s\nvld v1, xb[0,0]\nv2s s1, v1\nback: brnz s1, back\n")
    code, out, err = run("run", path, "--time-only")
    assert (code, out) == (4, ""), (code, err)
    assert "s1 is unknown when only time is modelled: it comes from a vector <- line 7 (v2s)\n" in err, err
    code, out, err = run("run", path, "--time-only", "-o", f"x={HERE}/x.npy")
    assert (code, out) == (2, "") and "-o x: --time-only computes no values" in err, err
    assert "has no values, expected -i x=FILE" in run("run", path)[2]


SMEM = """.tensor x hbm s32[4] in iota
.tensor y hbm s32[4] {role}
.tensor xs smem s32[4]
.tensor v vmem s32[4]
.sem a
dma v <- y, a
wait a
{between}
dma xs <- {source}, a
wait a
sld s1, xs[3]
delay s1
"""


@test
def time_only_keeps_smem_exact():
    path = program(SMEM.format(role="in zeros", between="nop", source="x"))
    assert expect_json(["run", path, "--time-only"])["cycles"] == expect_json(["run", path])["cycles"]
    path = program(SMEM.format(role="out", between="dma y <- v, a\nwait a", source="y"))
    code, out, err = run("run", path, "--time-only")
    assert (code, out) == (4, "") and "'y' is unknown when only time is modelled, and SMEM needs it" in err, err


@test
def bad_command_lines():
    code, out, err = run("run", "programs/add.tsim", "-D", "ROWS=1e3")
    assert (code, out) == (1, ""), err
    assert err.startswith("parameter ROWS:1:1: error: found '1e3', expected an integer, as the program has it\n"), err
    code, out, err = run("run")
    assert code == 2 and out == "", err
    for words, error in [
            (["-D", "ROWS"], "--define 'ROWS': expected NAME=VALUE"),
            (["-D", "ROWS=5", "-D", "ROWS=6"], "-D ROWS is given twice"),
            (["-D", "ROW=5"], "the program has no parameter 'ROW'; did you mean 'ROWS'?"),
            (["--max-cycles", "0"], "--max-cycles is 0, expected 1 or more")]:
        code, out, err = run("run", "programs/add.tsim", *words)
        assert (code, out) == (2, "") and err.startswith(f"tilesim: error: {error}\n"), err
    code, out, err = run("run", "programs/add.tsim", "-D", "ROWS=0")
    assert code == 1 and out == "", (code, err)
    code, out, err = run("run", "programs/add.tsim", "-m", "tpu-v9")
    assert code == 1 and out == "", (code, err)


@test
def a_full_dma_engine_stalls_the_core():
    with tempfile.TemporaryDirectory() as folder:
        cycles = {}
        for held in (1, 2, 64):
            machine = Path(folder) / f"held{held}.yaml"
            sets = ["--set", f"dma.descriptors={held}", "--set", f"dma.queues={min(held, 4)}"]
            machine.write_text(expect(["show", "machine", "tpu-v5e", *sets]))
            result = expect_json(["run", "programs/add.tsim", "-m", machine])
            cycles[held] = result["cycles"]
            assert (result["stalls"].get("dma_queue", 0) > 0) == (held < 64), result["stalls"]
        assert cycles[1] > cycles[2] >= cycles[64], cycles


main()
