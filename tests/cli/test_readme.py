"""Every command that README.md and docs/ show prints what they say it prints."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).parent.parent.parent / "docs"))
sys.path.insert(0, str(Path(__file__).parent.parent))
from architecture import LAYERS, WALKS
from update import excerpt
from cli import TOOL, expect_json, main, release_test, test


@release_test
def outputs_are_fresh():
    done = subprocess.run([sys.executable, "tests/update.py", "--check", TOOL], capture_output=True, text=True)
    assert done.returncode == 0, f"stale: tests/update.py rewrites it\n{done.stdout}{done.stderr}"


@test
def what_rewrites_them_says_how():
    for words, code, text in (["--help"], 0, "--check"), (["--chekc"], 2, "unrecognized arguments: --chekc"):
        done = subprocess.run([sys.executable, "tests/update.py", *words], capture_output=True, text=True)
        assert done.returncode == code and text in done.stdout + done.stderr, done


@test
def excerpts_are_of_the_output():
    lines = [f"line {i}" for i in range(9)]
    for shown, kept in ((["a", "b"], lines),
                        (["old", "...", "line 8"], ["line 0", "...", "line 8"]),
                        (["a", "b", "...", "y", "z"], ["line 0", "line 1", "...", "line 7", "line 8"]),
                        (["a", "...", "line 4", "x", "...", "z"], ["line 0", "...", "line 4", "line 5", "...", "line 8"]),
                        (["a", "...", "no such line", "...", "z"], lines),
                        (["a", "...", "line 6", "x", "...", "z"], lines),  # nothing is left out behind it
                        (["a"] * 8 + ["...", "z"], lines), (["a"] * 7 + ["...", "z"], [*lines[:7], "...", "line 8"])):
        assert excerpt(shown, lines) == kept, (shown, excerpt(shown, lines))


@test
def links_lead_somewhere():
    for path in [*Path(".").glob("*.md"), *Path("docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            assert link.startswith("http") or (path.parent / link).exists(), f"{path}: {link}"


@test
def paths_exist():
    """A path in backticks is one of the tree; NEW, LAYER and what is built are not yet there."""
    for document in ("CONTRIBUTING.md", "docs/architecture.md"):
        named = re.findall(r"`([\w.*-]+/[\w./*-]*|[\w-]+[.](?:c|h|md|py|yaml))`", Path(document).read_text())
        assert len(named) > 30, document
        for name in named:
            if name not in LAYERS and not re.search("NEW|LAYER|^build/", name):
                assert any(Path(".").glob(name)), f"{document}: {name}"
    assert [path for _, _, steps in WALKS for path in steps if not Path("sim", path).exists()] == []


@test
def layers_are_those_of_configure():
    table = Path("docs/architecture.md").read_text().split("\n## Layers\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `([a-z/]+)` \|", table, re.MULTILINE) == LAYERS


@test
def program_of_the_docs_runs():
    text = Path("docs/program.md").read_text().split("```\n")[1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.tsim")
        path.write_text(text)
        for rows in (8, 64, 100):
            expect_json(["run", path, "-D", f"ROWS={rows}"], passed=True)


main()
