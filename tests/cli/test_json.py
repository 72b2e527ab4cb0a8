"""--json: what every command prints is JSON that any reader takes, whatever bytes names have; errors too."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import SANITIZED, TOOL, expect, main, read_json, run, test
from modules import small_step

BAD = b"caf\xe9 \xff\xed\xa0\x80 \xc3("    # Latin-1, a byte that is never UTF-8, a surrogate, a character cut short
SHOWN = "caf\ufffd \ufffd\ufffd\ufffd\ufffd \ufffd("
STEP, SOFTMAX = "tests/data/hlo/step.txt", "programs/softmax.tsim"


def texts(value):
    """Every key and text of a JSON value."""
    if isinstance(value, dict):
        return [text for key, inner in value.items() for text in [key, *texts(inner)]]
    if isinstance(value, list):
        return [text for inner in value for text in texts(inner)]
    return [value] if isinstance(value, str) else []


@test
def names_of_any_bytes():
    with tempfile.TemporaryDirectory() as folder:
        def copy(path):
            name = folder.encode() + b"/" + BAD + os.path.splitext(path)[1].encode()
            Path(os.fsdecode(name)).write_bytes(Path(path).read_bytes())
            return name
        os.symlink(Path("programs/include").resolve(), f"{folder}/include")
        hlo = b"%" + BAD[:5] + b" = f32[8,100]{1,0:T(8,128)} parameter(0), metadata={op_name=\"" + BAD + b"\"}\n"
        machine, program = copy("configs/tpu-v4.yaml"), copy("programs/softmax.tsim")
        table, trace = copy("tests/data/calibrate.csv"), folder.encode() + b"/" + BAD + b".trace"
        Path(os.fsdecode(trace)).write_text("LD 0x40\nST 0x80\n")
        for words, stdin in ((["run", program, "-m", machine, "-D", "ROWS=8"], b""),
                             (["audit", copy(small_step(Path(folder, "step.txt"))), "-m", machine], b""),
                             (["dma", "f32[8,128]", "bf16[8,128]", "-m", machine], b""),
                             (["dma", "--matrix", "f32[8,128]", "-m", machine], b""),
                             (["choose", "f32[8,128]", "--no-moves", "-m", machine], b""),
                             (["choose", program, "--tensor", "x", "--no-moves", "-D", "ROWS=8"], b""),
                             (["hbm", trace, "-m", machine], b""),
                             (["convert", copy("tests/data/digits_1000_u8.npy"), folder.encode() + b"/x.npy"], b""),
                             (["show", "machine", machine], b"")):
            code, out, err = run(*words, "--json", stdin=stdin, text=False)
            assert (code, err) == (0, b""), (words, err)
            assert any("\ufffd" in text for text in texts(read_json(out))), (words, out)
        code, out, err = run("audit", "-", "--json", "--all", stdin=hlo)
        assert code == 0 and any("\ufffd" in text for text in texts(read_json(out))), out
        file = f"{folder}/t.json"
        run("run", program, "-m", machine, "-D", "ROWS=8", "--trace", file, text=False)
        assert any("\ufffd" in text for text in texts(read_json(Path(file).read_bytes())))
        code, _, err = run("run", SOFTMAX, "-D", "ROWS=8", "-o", b"y=" + folder.encode() + b"/y.safetensors:" + BAD, text=False)
        assert code == 1 and b"the tensor's name is not UTF-8" in err, err


@test
def every_command_says_its_errors():
    """With --json: the same text on stderr, the same exit code, and one JSON object on stdout."""
    names = re.findall(r"^  (\w+) ", expect(["--help"]), re.MULTILINE)
    wrong = [([name, *words], code) for name in names for words, code in ((["--no-such-option"], 2), ([BAD] * 4, 2))]
    wrong += [(["run", "no-such.tsim"], 1), (["run", SOFTMAX, "-m", b"no" + BAD], 1), (["run", SOFTMAX, "-D", "ROWS"], 2),
              (["run", SOFTMAX, "--max-cycles", "1"], 3), (["debug", "no-such.tsim"], 2), (["layout", "f32[8"], 1),
              (["layout", b"f32[8]{" + BAD + b"}"], 1), (["convert", BAD, "x.bin"], 1), (["dma", "f32[8]", "f32[9]"], 1),
              (["dma", "f32[8]"], 2), (["choose", "f32[8]", "--rows", "0"], 2), (["choose", "f32[8]", "--use", "x"], 2),
              (["audit", b"/no/" + BAD], 1), (["audit", STEP, "--rows", "x"], 2), (["bench", "f32[8]", "f32[9]"], 1),
              (["hbm", "no_such"], 1), (["hbm"], 2), (["show", "machines"], 2), (["show", "isa"], 2), (["show", "program", "x"], 2),
              (["show", "machine", "x"], 1), (["validate", "--data", "no-such.csv"], 1), (["validate", "hbm", "--rows"], 2),
              (["calibrate", "no-such.csv", "-m", "tpu-v4"], 1), (["calibrate", "x.csv"], 2), (["layuot"], 2), ([BAD], 2),
              (["layout", "f32[8]", "--svg", "/no/such"], 1), (["run", SOFTMAX, "--break", "67"], 2)]
    for words, code in wrong:
        found, out, err = run(*words, "--json", text=False)
        assert found == code, (words, found, err)
        error = read_json(out)["error"]
        assert error["kind"] in ("input", "io", "usage", "fault", "unmodelled") and error["message"], (words, out)
        text = err.decode("utf-8", "replace")
        place = f"{error['source']}:{error['line']}:{error['column']}: " if error["line"] else ""
        assert text.count("error: ") + text.count("fault") >= 1 and text.startswith(place), (words, text, error)
        if words[0] != "debug" and words[:2] not in (["show", "isa"], ["show", "program"], ["run", SOFTMAX]):
            assert run(*words, text=False) == (code, b"", err), words


@test
def a_place_and_a_cycle():
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "a.tsim"
        program.write_text("  vadd.f3 v0, v1, v2\n")
        code, out, _ = run("run", program, "--json")
        error = read_json(out)["error"]
        assert (code, error["kind"], error["source"], error["line"], error["column"], error["excerpt"], error["cycle"]) == \
            (1, "input", str(program), 1, 3, "  vadd.f3 v0, v1, v2", None), error
        code, out, err = run("run", SOFTMAX, "--max-cycles", "7", "--json")
        error = read_json(out)["error"]
        assert (code, error["kind"]) == (3, "fault") and f"at cycle {error['cycle']}" in err, (error, err)


@test
def many_errors():
    """All errors of a program, on every way that assembles it, as text and as JSON; the file that is included too."""
    with tempfile.TemporaryDirectory() as folder:
        program, included = Path(folder) / "a.tsim", Path(folder) / "b.tsim"
        included.write_text("  smov s99, 1\n")
        program.write_text('  jump nowhere\n.include "b.tsim"\n.tensor x hbn f32[8]\n  vadd.f3 v0, v1, v2\n  wait x\n')
        places = [(str(program), 1, 8), (str(included), 1, 8), (str(program), 3, 11), (str(program), 4, 3)]
        for words in (["run"], ["debug"], ["choose", "--tensor", "x"], ["show", "program"]):
            code, out, err = run(*words, program)
            lines = err.splitlines()
            assert code == 1 and out == "" and lines[-1] == "4 errors" and len(lines) == 13, (words, out, err)
            assert [line.split(": error: ")[0] for line in lines[:-1:3]] == [":".join(map(str, at)) for at in places], err
            assert [line.index("^") for line in lines[2::3]] == [at[2] - 1 for at in places], err
        code, out, err = run("run", program, "--json")
        value = read_json(out)
        assert code == 1 and [(e["source"], e["line"], e["column"]) for e in value["errors"]] == places, out
        assert value["error"] == value["errors"][0] and value["more_errors"] is False and err.endswith("\n4 errors\n"), out
        program.write_text(".tensor x hbm f32[8] in iota\n.check x == gone\n.report r = x +\n.check x == gone + 1\n"
                           ".check x = 1\nnop\n")
        code, out, err = run("run", program)
        assert code == 1 and re.findall(r"a.tsim:(\d+):", err) == ["2", "3", "5"] and err.endswith("\n3 errors\n"), err
        program.write_text("  gurgle\n" * 21)
        code, out, err = run("run", program, "--json")
        value = read_json(out)
        assert len(value["errors"]) == 20 and value["more_errors"] is True and err.endswith("\n20 errors, and more\n"), (out, err)
        program.write_text("  gurgle\n")
        code, out, err = run("run", program, "--json")
        value = read_json(out)
        assert value["errors"] == [value["error"]] and err == f"{program}:1:3: error: unknown instruction 'gurgle'\n  gurgle\n  ^\n", err


@test
def one_object_only():
    """A report that says itself that something failed is not followed by an error."""
    code, out, err = run("audit", "-", "--fail-over", "1.01", "--json", stdin="%a = f32[8,100]{1,0:T(8,128)} parameter(0)\n")
    assert code == 3 and "sum" not in read_json(out).get("error", {}) and "error" not in read_json(out) and err, out
    code, out, err = run("layout", "f32[8]", "--equal", "f32[8]{0:T(4)}", "--json")
    assert code in (0, 3) and "error" not in read_json(out), out


@test
def no_memory_left():
    if SANITIZED:
        return    # it reserves more than any limit at its start
    done = subprocess.run(["bash", "-c", 'ulimit -v 200000; "$0" convert "$1" /dev/null --to "f32[1000,784]{1,0:T(1000,100000)}" --json',
                           TOOL, "tests/data/digits_1000_u8.npy"], capture_output=True)
    assert done.returncode in (1, 2) and "error" in read_json(done.stdout), done


main()
