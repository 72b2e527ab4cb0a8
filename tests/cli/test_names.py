"""Names of files with control bytes: they break no line of a report and reach no terminal."""
import json
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import main, run, test

BAD, SHOWN = "a\nb\r\x1b[31m\x7f", "a?b??[31m?"
STUDY = "title: \"one\\ntwo\"\nvary: {A: '1,2'}\nask: {dma: 'f32[8,128] -> f32[8,128]'}\n"


@contextmanager
def short_folder():
    """One to write to, by a name from here: where the tree lies deep a line would break elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        yield os.path.relpath(folder)


def check(*words):
    """The report of a command, each line of it whole."""
    code, out, err = run(*words, stdin="where\nquit\n" if words[0] == "debug" else "")
    assert (code, err) == (0, ""), (words, err)
    assert not any(byte in out for byte in "\r\x1b\x7f") and "a\nb" not in out, (words, out)
    assert SHOWN in out, (words, out)
    return out


@test
def names_stay_in_their_line():
    with short_folder() as folder:
        os.symlink(Path("programs/include").resolve(), f"{folder}/include")

        def copy(path):
            return shutil.copyfile(path, f"{folder}/{BAD}{os.path.splitext(path)[1]}")
        machine, program, hlo = (copy(path) for path in ("configs/tpu-v4.yaml", "programs/softmax.tsim", "tests/data/hlo/step.txt"))
        study, array = f"{folder}/{BAD}.study.yaml", f"{folder}/{BAD}.npy"
        Path(study).write_text(STUDY)
        shown = f"{folder}/{SHOWN}"
        out = check("run", program, "-m", machine, "-D", "ROWS=8", "-o", f"y={array}")
        for line in (f"machine    {shown}.yaml (TPU v4)", f"program    {shown}.tsim ROWS=8 ", f"saved      y to {shown}.npy"):
            assert line in out, out
        assert f"from {shown}.npy" in check("run", program, "-D", "ROWS=8", "-i", f"x={array}")
        check("run", program, "-D", "ROWS=8,16")
        check("dma", "f32[8,128]", "bf16[8,128]", "-m", machine)
        check("choose", program, "--tensor", "x", "--no-moves", "-D", "ROWS=8")
        check("audit", hlo)
        check("show", "machine", machine)
        check("debug", program, "-D", "ROWS=8")
        assert "study      " + study.replace(BAD, SHOWN) + ": one?two\n" in check("sweep", study, "--db", f"{folder}/{BAD}.db")
        for name in ("before", "after"):
            code, out, _ = run("run", program, "-m", machine, "-D", "ROWS=8", "--json")
            assert code == 0
            Path(f"{folder}/{name}{BAD}").write_text(out)
        check("compare", f"{folder}/before{BAD}", f"{folder}/after{BAD}")


@test
def names_of_studies_and_traces_stay_in_theirs():
    with short_folder() as folder:
        study, trace, data = f"{folder}/{BAD}.yaml", f"{folder}/{BAD}.trace", f"{folder}/{BAD}.csv"
        Path(study).write_text(STUDY)
        Path(trace).write_text("R 0x40\n")
        assert f"requests      {folder}/{SHOWN}.trace: 1 of 64 bytes" in check("hbm", trace)
        values = Path(folder, "values.yaml")
        values.write_text(STUDY.replace("'1,2'", '["one\\n\\etwo", 2]'))
        assert "\none ?two " in run("sweep", str(values), "--db", ":memory:")[1]
        old, new = f"{folder}/{BAD}.old.db", f"{folder}/{BAD}.db"
        for database in (old, new):
            check("sweep", study, "--db", database)
        assert f"study      {folder}/{SHOWN}.yaml: one?two\n" in check("sweep", study, "--db", new, "--sensitivity")
        assert f"before     {folder}/{SHOWN}.old.db\nafter      {folder}/{SHOWN}.db\n" in check("sweep", "--diff", old, new)
        merged = check("sweep", "--merge", f"{folder}/{BAD}.all.db", old)
        assert f"{folder}/{SHOWN}.old.db: 2 points added to {folder}/{SHOWN}.all.db\n" in merged
        shutil.copyfile("tests/data/calibrate.csv", data)
        for name, told in (("a" * 39 + "\u00e4", "a" * 39 + "\u00e4"), ("a" * 40 + "\u00e4", "a" * 38 + "..")):
            shutil.copyfile(data, f"{folder}/{name}")
            fit = Path(folder, "fit.yaml")
            code, _, err = run("calibrate", f"{folder}/{name}", "-m", "tpu-v4", "--fit", "chip.launch", "-o", str(fit))
            assert (code, err) == (0, "") and f"calibrate: {told}, " in fit.read_text(), err
        out = check("calibrate", data, "-m", "tpu-v4", "--fit", "chip.launch", "-o", f"{folder}/{BAD}.fit.yaml")
        assert f"\nsaved {folder}/{SHOWN}.fit.yaml\n" in out
        check("show", "machine", f"{folder}/{BAD}.fit.yaml")


@test
def errors_say_where_in_one_line():
    with short_folder() as folder:
        for ending, words in (("tsim", ["run"]), ("yaml", ["show", "machine"]), ("mlir", ["run"]), ("csv", ["validate", "--data"])):
            path = Path(f"{folder}/{BAD}.{ending}")
            path.write_text("%\n")
            code, out, err = run(*words, str(path))
            assert (code, out) == (1, "") and err.startswith(f"{folder}/{SHOWN}.{ending}:"), (words, out, err)
            code, out, _ = run(*words, str(path), "--json")
            assert code == 1 and json.loads(out)["error"]["source"] == str(path), out


@test
def a_machine_that_is_shown_reads_back():
    with short_folder() as folder:
        path = shutil.copyfile("configs/tpu-v4.yaml", f"{folder}/{BAD}.yaml")
        code, out, err = run("show", "machine", path)
        assert (code, err) == (0, ""), err
        Path(f"{folder}/again.yaml").write_text(out)
        code, _, err = run("show", "machine", f"{folder}/again.yaml")
        assert code == 0, err


main()
