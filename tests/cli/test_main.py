"""tilesim itself: help, version, unknown commands, output that cannot be written."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import TOOL, cases, expect, main, run, test

ROOT = Path(__file__).parent.parent.parent


@test
def version():
    header = (ROOT / "include/tilesim/version.h").read_text()
    number = re.search(r'TS_VERSION "(.*)"', header)[1]
    expect(["--version"], out=f"tilesim {number}\n")


@test
def version_and_help_everywhere():
    version = expect(["--version"])
    assert expect(["-V"]) == version and expect(["help"]) == expect(["--help"]) == expect(["help", "help"]) == expect(["help", "-h"])
    for name in re.findall(r"^  (\w+) ", expect(["--help"]), re.MULTILINE):
        text = expect([name, "--help"])
        assert expect([name, "-h"]) == expect(["help", name]) == text
        assert "\n  -h, --help                 print this\n  -V, --version              print the version\n\nexample:\n" in text, text
        assert expect([name, "-V"]) == expect([name, "--version"]) == version
    expect(["help", "layuot"], 2, "", "tilesim: error: unknown command 'layuot'; did you mean 'layout'?\n`tilesim --help` lists the commands\n")


@test
def help_lists_every_command():
    names = re.findall(r"^COMMAND\((\w+),", (ROOT / "sim/cli/commands.def").read_text(), re.MULTILINE)
    text = expect(["--help"])
    assert re.findall(r"^  (\w+) ", text, re.MULTILINE) == names != [], text
    assert max(map(len, text.splitlines())) <= 100, text
    expect(["-h"], out=text)
    expect([], code=2, out="", err=text)


@test
def each_command_has_help_with_an_example():
    for name in re.findall(r"^  (\w+) ", expect(["--help"]), re.MULTILINE):
        text = expect([name, "--help"])
        assert f"tilesim {name} " in text, text
        assert "xample" in text, text
        assert max(map(len, text.splitlines())) <= 100, text


@test
def options_that_are_nearly_right_are_named():
    """Those of each command, the first and the last too; help is none of them."""
    for name in re.findall(r"^  (\w+) ", expect(["--help"]), re.MULTILINE):
        for option in re.findall(r"^  (?:-\w,|   ) --([\w-]+)", expect([name, "--help"]), re.MULTILINE)[:-2]:
            expect([name, f"--{option}z"], 2, "", f"tilesim {name}: error: unknown option '--{option}z'; did you mean '--{option}'?\n"
                                                  f"`tilesim {name} --help` shows how it is used\n")
    expect(["show", "-x"], 2, "", "tilesim show: error: unknown option '-x'\n`tilesim show --help` shows how it is used\n")


@test
def operands_are_counted():
    """Of each command as many as its usage has; one more is named. Sweep takes many."""
    for name in re.findall(r"^  (\w+) ", expect(["--help"]), re.MULTILINE):
        if name == "sweep":
            continue
        words = ["a", "b", "c"]
        usage = re.match(rf"usage: tilesim {name} \[OPTION...\] ?(.*)", expect([name, "--help"]))[1]
        count = max(len(way.split()) for way in usage.split("|"))
        expect([name, *words], 2, "", f"tilesim {name}: error: unexpected operand '{words[count]}', expected {usage}\n"
                                      f"`tilesim {name} --help` shows how it is used\n")
        if name in ("layout", "hbm", "validate"):
            continue  # of an option, or of all
        for few in range(count if name != "show" else 1):
            code, out, err = run(name, *words[:few])
            assert (code, out) == (2, "") and err.startswith(f"tilesim {name}: error: too few operands, expected {usage}"), err


@test
def paragraphs_of_help_are_filled():
    """A line ends where the first word of the next one had no room, or a sentence or an indented line follows."""
    for command in re.findall(r"^  (\w+) ", expect(["--help"]), re.MULTILINE):
        about = expect([command, "--help"]).split("\n\n")[0].splitlines()[1:]
        assert not any(re.match(r" \S", line) for line in about), about
        for line, following in zip(about, about[1:]):
            word = following.split(" ")[0]
            assert len(f"{line} {word}") > 100 or line[-1] in ".:" or " " in (line[0], following[0]), (command, line, following)


@test
def requests_are_simulated_not_walked():
    """One word for it, in every help and document; "three walks of data" are of those who read the sources."""
    texts = {name: expect([name, "--help"]) for name in re.findall(r"^  (\w+) ", expect(["--help"]), re.MULTILINE)}
    texts |= {path.name: path.read_text() for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]}
    texts["architecture.md"] = re.sub("[Tt]hree walks of data|two walks above", "", texts["architecture.md"])
    for name, text in texts.items():
        assert not re.search(r"\bwalk(?!ed_runs)", text), (name, re.search(r".*\bwalk(?!ed_runs).*", text)[0])


@test
def examples_of_help_run():
    """But those of bench and validate, which take long."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("programs", "tests", "configs"):
            os.symlink(ROOT / name, Path(folder) / name)
        os.symlink(Path(TOOL).resolve(), Path(folder) / "tilesim")
        places = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")
        lines = []
        for name in re.findall(r"^  (\w+) ", expect(["--help"]), re.MULTILINE):
            text = expect([name, "--help"])
            lines += [line for line in text[text.index("\nexample:\n") + 10:].splitlines()
                      if not re.search("tilesim (bench|validate --svg)", line)]
        assert len(lines) > 15, lines
        for line in cases(lines, 3):
            done = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=folder, env=places,
                                  capture_output=True, text=True)
            assert done.returncode == 0 and done.stderr == "", (line, done.stderr)


@test
def values_of_options():
    for words, message in (
            (["convert", "a", "b", "-j", "x"], "--jobs:1:1: error: found 'x', expected an integer\nx\n^\n"),
            (["dma", "f32[8]", "f32[8]", "--src-at", ""], "--src-at:1:1: error: found nothing, expected an integer\n\n^\n"),
            (["dma", "f32[8]", "f32[8]", "--dst-at", "-4"], "tilesim: error: --dst-at is -4, expected 0 or more\n"),
            (["run", "programs/add.tsim", "-j", "0"], "tilesim: error: --jobs is 0, expected 1 to 256\n"),
            (["compare", "a", "b", "--rows", "0"], "tilesim compare: error: --rows is 0, expected 1 or more\n"
                                                   "`tilesim compare --help` shows how it is used\n"),
            (["validate", "hbm", "--svg", "x"], "tilesim validate: error: --svg does not go with hbm\n"
                                                "`tilesim validate --help` shows how it is used\n")):
        expect(words, 2, "", message)


@test
def files_that_cannot_be_written():
    """That is said at once; nothing is left behind."""
    with tempfile.TemporaryDirectory() as folder:
        for words in (["layout", "f32[8]", "--svg"], ["validate", "--svg"], ["audit", "tests/data/hlo/step.txt", "--html"],
                      ["run", "programs/softmax.tsim", "--trace"], ["dma", "--matrix", "f32[8]", "--svg"],
                      ["calibrate", "tests/data/calibrate.csv", "-m", "tpu-v4", "-o"]):
            for path, why in ((folder, "it is a directory"), ("", "it has no name"),
                              (f"{folder}/a/b", "No such file or directory")):
                expect([*words, path], 1, "", f"tilesim: error: cannot create '{path}': {why}\n")
        softmax = ["run", "programs/softmax.tsim", "--max-cycles", "1", "-o"]
        expect([*softmax, f"y={folder}"], 1, "", f"tilesim: error: cannot create '{folder}': it is a directory\n")
        expect([*softmax, f"y={folder}/y.txt"], 1, "", f"tilesim: error: {folder}/y.txt: the name does not say the format, expected "
                                                       ".npy, .npz[:NAME], .safetensors[:NAME], .bin or .raw\n")
        assert os.listdir(folder) == []


@test
def programs_of_the_binary():
    with tempfile.TemporaryDirectory() as folder:
        here = subprocess.run([Path(TOOL).resolve(), "run", "tilesim:/add.tsim"], cwd=folder, capture_output=True, text=True)
        assert here.returncode == 0, here
        assert here.stdout.replace("tilesim:", "programs") == expect(["run", "programs/add.tsim"]), here.stdout
        for path, hint in (("programs/add.tsi", ""), ("x/add.tsim", "; did you mean 'tilesim:/add.tsim'?"),
                           ("tilesim:/ad.tsim", "; did you mean 'tilesim:/add.tsim'?")):
            expect(["run", path], 1, "", f"tilesim: error: cannot open '{path}': No such file or directory{hint}\n")
        empty = Path(folder) / "empty.tsim"
        empty.write_text(".param A = 1\n")
        expect(["run", empty], 1, "", f"{empty}:2:1: error: the program has no instructions, expected at least one\n\n^\n")


@test
def unknown_command():
    hint = "\n`tilesim --help` lists the commands\n"
    expect(["layuot"], code=2, out="",
           err=f"tilesim: error: unknown command 'layuot'; did you mean 'layout'?{hint}")
    expect(["quux"], code=2, out="", err=f"tilesim: error: unknown command 'quux'{hint}")


@test
def output_that_cannot_be_written():
    with open("/dev/full", "w") as full:
        done = subprocess.run([TOOL, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1, done
    assert done.stderr == "tilesim: error: cannot write 'standard output': No space left on device\n", done


@test
def one_document_on_standard_output():
    """Files named - and --json go to standard output; the report then does not, and two of them are refused."""
    step, softmax = "tests/data/hlo/attention.mlir", "programs/softmax.tsim"
    for words, first, second in ((["audit", step, "--json", "--csv", "-"], "json", "csv"),
                                 (["audit", step, "--html", "-", "--svg=-"], "html", "svg"),
                                 (["choose", "f32[8,128]", "--svg", "-", "--json"], "svg", "json"),
                                 (["layout", "f32[8,128]", "--json", "--svg", "-"], "json", "svg"),
                                 (["dma", "--matrix", "f32[8,128]", "--svg", "-", "--json"], "svg", "json"),
                                 (["validate", "--svg", "-", "--json"], "svg", "json"),
                                 (["validate", "hbm", "--markdown", "--json"], "markdown", "json"),
                                 (["show", "schema", "--json", "--markdown"], "json", "markdown"),
                                 (["calibrate", "tests/data/tpu_measured.csv", "-m", "tpu-v5e", "-o", "-", "--json"], "output", "json"),
                                 (["run", softmax, "--trace", "-", "--json"], "trace", "json"),
                                 (["run", softmax, "--trace-text", "--json"], "trace-text", "json"),
                                 (["run", softmax, "-o", "x=-", "-o", "y=-"], "output", "output")):
        expect(words, 2, "", f"tilesim {words[0]}: error: --{first} and --{second} would both write to standard output, "
                             f"expected one of them\n`tilesim {words[0]} --help` shows how it is used\n")
    for words, begins, ends in ((["audit", step, "--svg", "-"], "<svg ", "</svg>\n"), (["audit", step, "--html", "-"], "<!DOCTYPE", "</html>\n"),
                                (["choose", "f32[8,128]", "--no-moves", "--svg", "-"], "<svg ", "</svg>\n"),
                                (["layout", "f32[8,128]", "--svg", "-"], "<svg ", "</svg>\n"),
                                (["layout", "f32[8,128]", "--json", "--json"], "{", "}\n"),
                                (["dma", "--matrix", "f32[8,128]", "--svg", "-"], "<svg ", "</svg>\n"),
                                (["run", softmax, "--trace", "-"], "{", "}}\n")):
        out = expect(words)
        assert out.startswith(begins) and out.endswith(ends), (words, out[:80], out[-80:])


main()
