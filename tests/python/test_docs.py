"""All code of docs/python.md gives what the page says."""
import doctest
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
import package
from cli import main, test


@test
def tutorial():
    text = (package.ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```pycon\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    examples = "".join(blocks)
    assert text.count("```pycon") == len(blocks) > 7 and examples.count(">>>") > 30
    said = []
    found = doctest.DocTestParser().get_doctest(examples, {}, "docs/python.md", "docs/python.md", 0)
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    runner.run(found, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)
    trace = package.ROOT / "build" / "tutorial_trace.json"
    assert trace.stat().st_size > 10000
    trace.unlink()


main()
