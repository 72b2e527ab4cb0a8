"""Every command that README.md and docs/ show prints what they say it prints."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import TOOL, expect_json, main, test


@test
def outputs_are_fresh():
    done = subprocess.run([sys.executable, "tests/update.py", "--check", TOOL], capture_output=True, text=True)
    assert done.returncode == 0, f"stale: tests/update.py rewrites it\n{done.stdout}{done.stderr}"


@test
def links_lead_somewhere():
    for path in [Path("README.md"), *Path("docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            assert link.startswith("http") or (path.parent / link).exists(), f"{path}: {link}"


@test
def program_of_the_docs_runs():
    text = Path("docs/program.md").read_text().split("```\n")[1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.tsim")
        path.write_text(text)
        for rows in (8, 64, 100):
            expect_json(["run", path, "-D", f"ROWS={rows}"], passed=True)


main()
