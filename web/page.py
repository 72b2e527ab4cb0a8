"""Makes the page of one file: page.py OUTPUT FILE...

page.html has lines <!-- NAME.css -->, <!-- NAME.js --> and so on: each becomes that file, in its element; other files of
web/page/ are of other pages. The engine
and the worker's script are text in elements of their own, of which the page makes a worker when it is shown.
"""
import re
import sys
from pathlib import Path

ELEMENTS = {  # by the end of a name
    ".css": ("<style>\n", "</style>"),
    ".worker.js": ('<script type="text/plain" id="worker">\n', "</script>"),
    "engine.js": ('<script type="text/plain" id="engine">\n', "</script>"),
    ".js": ("<script>\n", "</script>"),
    ".svg": ("", ""),
}


def element(path):
    """The file as it stands in the page."""
    begin, end = next(both for suffix, both in ELEMENTS.items() if path.name.endswith(suffix))
    text = path.read_text(encoding="utf-8")
    if end == "</script>":
        text = text.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    return begin + text + end


def main():
    out, *names = sys.argv[1:]
    paths = {Path(name).name: Path(name) for name in names}
    page = paths.pop("page.html").read_text(encoding="utf-8")
    missing = set(re.findall(r"<!-- ([a-z_.]+) -->", page)) - set(paths)
    if missing:
        sys.exit(f"web/page/page.html names files that are not there: {' '.join(sorted(missing))}")
    Path(out).write_text(re.sub(r"<!-- ([a-z_.]+) -->", lambda match: element(paths[match[1]]), page), encoding="utf-8")


main()
