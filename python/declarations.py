"""Writes what the public headers declare, for cffi: without comments, directives and TS_API, in the order of their includes.

usage: declarations.py OUT HEADER...
"""
import re
import sys
from pathlib import Path

DROPPED = [
    (r"/\*.*?\*/", re.DOTALL),                                       # comments
    (r'^#ifdef __cplusplus\n.*?^#endif\n', re.DOTALL | re.MULTILINE),  # extern "C" { and its end
    (r"^#.*\n", re.MULTILINE),
    (r"\bTS_(?:API|NORETURN)\b[ \n]*", 0),
]


def in_order(headers):
    """The headers, each behind those that it includes."""
    texts = {"tilesim/" + Path(header).name: Path(header).read_text(encoding="ascii") for header in headers}
    done = []

    def visit(name):
        for included in re.findall(r'^#include "(.*)"', texts[name], re.MULTILINE):
            if included not in done:
                visit(included)
        if name not in done:
            done.append(name)

    for name in sorted(texts):
        visit(name)
    return [texts[name] for name in done]


def declarations(headers):
    """One text that cffi reads."""
    text = "".join(in_order(headers))
    for pattern, flags in DROPPED:
        text = re.sub(pattern, "", text, flags=flags)
    return re.sub(r"\n\s*\n+", "\n", text).lstrip()


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(declarations(sys.argv[2:]), encoding="ascii")
