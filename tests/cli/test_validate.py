"""tilesim validate: docs/accuracy.md is what it writes; its JSON; bad input."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import BUILD, expect, main, test

ROOT = Path(__file__).parent.parent.parent
SLOW = "asan" in str(BUILD)  # the same figures, 20 times slower


def section(title):
    """A section of docs/accuracy.md."""
    text = (ROOT / "docs/accuracy.md").read_text()
    start = text.index(f"## {title}\n")
    end = text.find("\n## ", start)
    return text[start:] if end < 0 else text[start:end + 1]


@test
def accuracy_of_hbm_time():
    if SLOW:
        return
    assert expect(["validate", "hbm"]) == section("HBM time"), "run: tilesim validate hbm"
    figures = json.loads(expect(["validate", "hbm", "--json"]))
    assert figures["schema"] == "tilesim.validate" and len(figures["sequences"]) == 16 and len(figures["runs"]) == 291
    for run in figures["sequences"] + figures["runs"]:
        assert run["cycles"] == run["reference_cycles"], run


@test
def bad_input():
    help_ = "`tilesim validate --help` shows how it is used\n"
    expect(["validate", "hbn"], 2, "",
           f"tilesim validate: error: found 'hbn', expected hbm; did you mean 'hbm'?\n{help_}")
    expect(["validate"], 2, "", f"tilesim validate: error: too few operands, expected hbm\n{help_}")


main()
