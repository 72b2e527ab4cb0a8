"""Files that commands write: links, modes, names that are one file, signals, closed descriptors."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import TOOL, expect, main, test

SVG = ["layout", "f32[8,128]{1,0:T(8,128)}", "--svg"]


def usage(command, message):
    return f"tilesim {command}: error: {message}\n`tilesim {command} --help` shows how it is used\n"


def shell(command, *words):
    """Runs bash, "$0" being the program; returns (exit code, stdout, stderr)."""
    done = subprocess.run(["bash", "-c", command, TOOL, *map(str, words)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@test
def links_and_modes():
    with tempfile.TemporaryDirectory() as folder:
        target, link = Path(folder) / "target.svg", Path(folder) / "link.svg"
        link.symlink_to("target.svg")
        expect([*SVG, link], err="", out=None)
        assert link.is_symlink() and target.read_text().startswith("<svg ")
        for mode in (0o600, 0o640, 0o755):
            target.write_text("old")
            target.chmod(mode)
            expect([*SVG, link], err="", out=None)
            assert target.stat().st_mode & 0o7777 == mode and len(target.read_text()) > 100
        assert sorted(os.listdir(folder)) == ["link.svg", "target.svg"]


@test
def what_is_no_file_is_written_to():
    with tempfile.TemporaryDirectory() as folder:
        picture = expect([*SVG, "-"])
        assert expect([*SVG, "/dev/stdout"]) == expect([*SVG, "/dev/fd/1"]) == picture
        code, out, err = shell('"$0" layout "$1" --svg /dev/fd/7 7>&1 >/dev/null', SVG[1])
        assert (code, out, err) == (0, picture, "")
        code, out, err = shell('"$0" layout "$1" --svg >(cat) | cat', SVG[1])
        assert code == 0 and picture in out and "tile" in out, (code, out, err)
        file = Path(folder) / "both"
        code, out, err = shell('"$0" layout "$1" --svg "$2" > "$2"', SVG[1], file)
        assert (code, err) == (0, "") and file.read_text() == picture
        expect([*SVG, "/dev/null"], out=None)


@test
def closed_descriptors():
    """A report that nobody can get is an error; it does not go into a file that got its number."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "z.svg"
        said = "tilesim: error: cannot write 'standard output': Bad file descriptor\n"
        assert shell('"$0" layout "$1" --svg "$2" >&-', SVG[1], file) == (1, "", said)
        assert file.read_text() == expect([*SVG, "-"])
        assert shell('"$0" layout "$1" --svg - >&-', SVG[1]) == (1, "", said.replace("write", "create"))
        code, out, _ = shell('"$0" layout "$1" --svg "$2" 2>&- <&-', SVG[1], file)
        assert (code, out) == (0, expect(SVG[:2])) and file.read_text() == expect([*SVG, "-"])
        assert shell('"$0" layout nonsense 2>&- >&- <&-') == (1, "", "")
        code, out, err = shell('"$0" audit - <&-')
        assert (code, out, err) == (1, "", "tilesim: error: cannot read 'standard input': Bad file descriptor\n")


@test
def full_disk():
    said = "tilesim: error: cannot write 'standard output': No space left on device\n"
    for command in ('echo help | "$0" debug programs/softmax.tsim', '"$0" debug programs/softmax.tsim < /dev/null',
                    '"$0" run programs/softmax.tsim --trace-text', '"$0" show machine', '"$0" audit --help'):
        assert shell(f"{command} >/dev/full") == (1, "", said), command


@test
def one_name_for_two_files():
    step = "tests/data/hlo/attention.mlir"
    with tempfile.TemporaryDirectory() as folder:
        here, link, hard = Path(folder) / "a.out", Path(folder) / "b.out", Path(folder) / "c.out"
        link.symlink_to("a.out")
        for other in (here, link, f"{folder}/./a.out", f"{folder}/../{Path(folder).name}/a.out"):
            expect(["audit", step, "--csv", here, "--svg", other], 2, "",
                   usage("audit", f"--csv and --svg would both write '{other}', expected two files"))
        assert os.listdir(folder) == ["b.out"]
        here.write_text("x")
        os.link(here, hard)
        expect(["audit", step, "--html", hard, "--svg", link], 2, "",
               usage("audit", f"--html and --svg would both write '{link}', expected two files"))
        assert here.read_text() == "x"
        expect(["audit", step, "--csv", here, "--csv", hard, "--svg", f"{folder}/d.svg"], out=None)
        expect(["audit", step, "--csv", "/dev/null", "--svg", "/dev/null"], out=None)
        expect(["run", "programs/mlp_digits.tsim", "-o", f"logits={folder}/x.npy", "-o", f"digit={folder}/x.npy"], 2, "",
               usage("run", f"--output and --output would both write '{folder}/x.npy', expected two files"))
        for name in ("x.safetensors", "x.npz"):
            both = [f"logits={folder}/{name}:a", "-o", f"digit={folder}/{name}:b"]
            expect(["run", "programs/mlp_digits.tsim", "-o", *both], 2, "",
                   usage("run", f"--output and --output would both write '{folder}/{name}', expected two files"))


@test
def an_output_that_is_an_input():
    with tempfile.TemporaryDirectory() as folder:
        def copy(path):
            return Path(shutil.copy(path, folder))
        program, module, table = copy("programs/softmax.tsim"), copy("tests/data/hlo/attention.mlir"), copy("tests/data/calibrate.csv")
        machine, digits = copy("configs/tpu-v4.yaml"), copy("tests/data/digits_1000_u8.npy")
        link = Path(folder) / "link"
        link.symlink_to(machine)
        before = {path: path.read_bytes() for path in (program, module, table, machine, digits)}
        for words, option, file in (
                (["run", program, "--trace", program], "--trace", program),
                (["run", "programs/normalize.tsim", "-i", f"x={digits}", "-o", f"y={digits}"], "--output", digits),
                (["audit", module, "--html", f"{folder}/./attention.mlir"], "--html", module),
                (["calibrate", table, "-m", "tpu-v4", "-o", table], "--output", table),
                (["calibrate", table, "-m", machine, "-o", link], "--output", machine),
                (["validate", "--data", table, "--svg", table], "--svg", table),
                (["choose", program, "--tensor", "x", "--svg", program], "--svg", program),
                (["convert", digits, digits], str(digits), digits)):
            expect(words, 2, "", usage(words[0], f"{option} would be written over the input '{file}', expected another name"))
        shutil.copytree("programs/digits", f"{folder}/digits")
        copy("programs/mlp_digits.tsim")
        shutil.copytree("programs/include", f"{folder}/include")
        weights = f"{folder}/digits/w1.npy"
        base, upper = Path(folder) / "base.yaml", Path(folder) / "upper.yaml"
        base.write_text("base: tpu-v4.yaml\n")
        upper.write_text("base: base.yaml\nhbm:\n    clock: 1 GHz\n")
        mesh, rows = copy("configs/meshes/v4-64.yaml"), Path(folder) / "include/rows.tsim"
        before.update({path: path.read_bytes() for path in (base, upper, mesh, rows)})
        sharded = ["reshard", "f32[64] P('x')", "f32[64]", "--mesh"]
        own = Path(folder) / "own.yaml"
        own.write_text(mesh.read_text().replace("machine: tpu-v4", f"machine: {upper}"))
        for words, option, file in (
                (["run", f"{folder}/mlp_digits.tsim", "-o", f"logits={weights}"], "--output", weights),
                (["run", f"{folder}/mlp_digits.tsim", "--trace", weights], "--trace", weights),
                (["run", program, "--html", rows], "--html", rows),
                (["choose", program, "--tensor", "x", "--svg", rows], "--svg", rows),
                (["run", program, "-m", upper, "--html", base], "--html", base),
                (["audit", module, "-m", upper, "--csv", "/dev/null", "--svg", link], "--svg", machine),
                ([*sharded, own, "--html", base], "--html", base),
                ([*sharded, mesh, "--html", mesh], "--html", mesh)):
            expect(words, 2, "", usage(words[0], f"{option} would be written over the input '{file}', expected another name"))
        expect(["audit", module, "-m", base, "--csv", f"{folder}/upper.csv"], out=None)
        expect(["choose", "f32[8]", "-m", "no.yaml", "--html", f"{folder}/no.html"], 1, "", None)
        piped = subprocess.run([TOOL, "run", program, "--time-only", "-m", "/dev/stdin", "--html", f"{folder}/piped.html"],
                               input=machine.read_bytes(), capture_output=True)  # a pipe is read once
        assert piped.returncode == 0, piped.stderr
        fifo = Path(folder) / "piped.tsim"
        os.mkfifo(fifo)
        with subprocess.Popen([TOOL, "run", fifo, "--html", f"{folder}/piped.html"], stdout=subprocess.DEVNULL) as run:
            fifo.write_text("halt\n")
            assert run.wait(60) == 0
        for path, content in before.items():
            assert path.read_bytes() == content, path


@test
def signals_leave_nothing():
    """The process dies of the signal, and its half written file goes with it."""
    with tempfile.TemporaryDirectory() as folder:
        words = [TOOL, "convert", "tests/data/digits_1000_u8.npy", f"{folder}/big.bin", "--to", "f32[1000,784]{1,0:T(1000,8000)}"]

        def temporary():
            return any(".tmp-" in name for name in os.listdir(folder))

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for _ in range(40):
                process = subprocess.Popen(words, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # a job in the background ignores some
                while process.poll() is None and not temporary():
                    pass
                process.send_signal(number)
                if process.wait() == -number:
                    break
            assert process.returncode == -number and not temporary(), (number, os.listdir(folder))
        ignoring = subprocess.run(["bash", "-c", 'trap "" INT; "$@" & p=$!; sleep 0.01; kill -INT $p; wait $p', "bash", *words])
        assert ignoring.returncode == 0


@test
def directories_are_no_files():
    for words in (["run", "programs"], ["audit", "programs"], ["hbm", "programs/"]):
        expect(words, 1, "", f"tilesim: error: cannot read '{words[1]}': it is a directory\n")


main()
