#!/usr/bin/env python3
"""Rewrites what tests compare exactly: outputs and tables in README.md and docs/, their picture, and the programs' .cycles files.

A block that begins with ```console shows commands, each behind "$ ", and below each its output. A line "..." there stands
for lines that are left out: as many lines as were shown before it, between two and behind it stay.
"""
import argparse
import difflib
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import architecture  # noqa: E402
import timeline  # noqa: E402
MACHINES = ["tpu-v5e", "tpu-v4"]
MESHES = [["-m", "tpu-v5e", "--mesh", "2x3"], ["-m", "tpu-v5p", "--mesh", "4"]]
SHOWN = "build/release/tilesim"


def output(command, tool):
    """What the command prints; it must succeed."""
    words = shlex.split(command)
    if words[0] != SHOWN:
        sys.exit(f"'{command}' does not begin with {SHOWN}")
    done = subprocess.run([tool, *words[1:]], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0 or any(not line.startswith("note: ") for line in done.stderr.splitlines()):
        sys.exit(f"{command}\nexit status {done.returncode}\n{done.stderr}")
    return done.stdout


LEFT_OUT = "..."


def excerpt(shown, lines):
    """Of the lines of an output those that `shown` has: its beginning, parts found by their first line, and its end."""
    parts = "\n".join(shown).split(f"\n{LEFT_OUT}\n")
    if len(parts) == 1:
        return lines
    first, *middle, last = (part.split("\n") for part in parts)
    kept, at = lines[:len(first)], len(first)
    for part in middle:
        if part[0] not in lines[at:]:
            return lines  # what is looked for is no longer there: the whole shows that
        at = lines.index(part[0], at)
        kept += [LEFT_OUT, *lines[at:at + len(part)]]
        at += len(part)
    return kept + [LEFT_OUT, *lines[-len(last):]] if at + len(last) < len(lines) else lines


def fresh(text, tool):
    """The text with the outputs of its commands as they are now."""
    lines, inside, old = [], False, text.splitlines()
    for number, line in enumerate(old):
        if line.startswith("```"):
            inside = not inside and line == "```console"
            lines.append(line)
        elif inside and line.startswith("$ "):
            end = next(i for i in range(number + 1, len(old)) if old[i].startswith(("$ ", "```")))
            lines += [line, *excerpt(old[number + 1:end], output(line[2:], tool).splitlines())]
        elif not inside:
            lines.append(line)
    return "\n".join(lines) + "\n"


SECTIONS = {"HBM time": "validate hbm --markdown", "TPU times": "validate --markdown"}  # of docs/accuracy.md, and what writes them


def accuracy(text, tool):
    """docs/accuracy.md as it is now."""
    parts = text.split("\n## ")
    for i, part in enumerate(parts):
        words = SECTIONS.get(part.split("\n", 1)[0])
        if words:
            section = output(f"{SHOWN} {words}", tool).removeprefix("## ")
            parts[i] = section.rstrip("\n") + "\n" * (i < len(parts) - 1)
    return "\n## ".join(parts).rstrip("\n") + "\n"


STUDIES = {"padding": "x=ROWS,y=padding_percent,by=TYPE", "blocks": "x=BK,y=microseconds,by=BM", "strides": "x=RUN,y=gb_per_s,by=STRIDE",
           "generations": "x=machine,y=microseconds,by=ask", "kernels": "x=BLOCK,y=microseconds,by=machine",
           "reshard": "x=chips,y=microseconds,by=PLAN", "address_map": "x=PATTERN,y=gb_per_s,by=hbm.address_map"}  # of programs/studies/, with their axes
PICTURES = {"docs/layout.svg": "layout 'f32[20,300]{1,0:T(8,128)}' --svg -",  # and what draws them
            **{f"docs/studies/{name}.svg": f"sweep programs/studies/{name}.yaml --db :memory: --plot {axes} --svg -" for name, axes in STUDIES.items()}}

# Documents that have all of what `tilesim show .. --markdown` prints, from its first line on: to the end, or to the next chapter.
TABLES = {"isa.md": "isa", "machine.md": "schema", "layouts.md": "algebra", "program.md": "functions", "pallas.md": "ops"}


def with_table(text, table):
    """The text with that table, in place of the one that begins with the same line."""
    start = text.index(table.split("\n", 1)[0] + "\n")
    end = text.index("\n\n", start) + 1 if table[0] == "|" else text.find("\n## ", start)
    return table if start == 0 else text[:start] + table + text[end:]


def differences(tool, checks):
    """(path, old text, new text) of every document that is stale. docs/accuracy.md takes a minute: it has its own test."""
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]:
        old = path.read_text()
        if path.name == "accuracy.md":
            new = old if checks else accuracy(old, tool)
        else:
            new = fresh(old, tool) if "```console" in old else old
        if path.name in TABLES:
            new = with_table(new, output(f"{SHOWN} show {TABLES[path.name]} --markdown", tool))
        if new != old:
            yield path, old, new
    pictures = {"docs/architecture.svg": architecture.picture(), "docs/timeline.svg": timeline.picture(tool),
                **{name: output(f"{SHOWN} {words}", tool) for name, words in PICTURES.items()}}
    for name, new in pictures.items():
        path = ROOT / name
        old = path.read_text() if path.exists() else ""
        if new != old:
            yield path, old, new


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", nargs="?", default=SHOWN, help=f"what prints them; {SHOWN} when not given")
    parser.add_argument("--check", action="store_true",
                        help="write nothing: what differs is printed, and the exit status is 1")
    words = parser.parse_args()
    tool, stale = words.tool, list(differences(words.tool, words.check))
    if words.check:
        for path, old, new in stale:
            name = path.relative_to(ROOT).as_posix()
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, "now"))
        sys.exit(bool(stale))
    for path, _, new in stale:
        path.write_text(new)
    for folder, places in ("programs", [["-m", machine] for machine in MACHINES]), ("programs/mesh", MESHES):
        for path in sorted(ROOT.glob(f"{folder}/*.tsim")):
            for words in places:
                subprocess.run([tool, "run", path.relative_to(ROOT), *words, "--update"], cwd=ROOT, check=True,
                               stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
