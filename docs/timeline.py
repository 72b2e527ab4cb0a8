#!/usr/bin/env python3
"""Draws docs/timeline.svg: what a program does from its start to its end, out of the trace that `tilesim run --trace` writes."""
import json
import subprocess
import tempfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "programs/softmax.tsim"
# (process and row of the trace, what the picture calls it, colour)
TRACKS = [("core", "bundles", "bundles issued", "#2f6fc4"),
          ("core", "stalls", "waiting", "#d7dbe2"), ("core", "vld 0", "vector loads", "#3a9a6d"), ("core", "eup", "exp, 1/x", "#a2559c"),
          ("core", "xlu", "lane sums", "#9c8224"), ("DMA engine", "queue 0", "DMA queue 0", "#d9822b"),
          ("DMA engine", "queue 1", "DMA queue 1", "#d9822b"), ("HBM", "channel 0.0", "an HBM channel", "#c2413b")]
LEFT, WIDTH, ROW, TOP = 160, 800, 24, 30


def events(tool):
    """The intervals of the trace, {(process, row): [(first cycle, end)]}, and the last cycle."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        subprocess.run([tool, "run", PROGRAM, "--trace", path], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        trace = json.loads(path.read_text())["traceEvents"]
    names = {(e["name"], e["pid"], e["tid"] if e["name"] == "thread_name" else 0): e["args"]["name"] for e in trace if e["ph"] == "M" and "name" in e["args"]}
    found = {}
    for e in trace:
        if e["ph"] == "X":
            row = names["process_name", e["pid"], 0], names["thread_name", e["pid"], e["tid"]]
            found.setdefault(row, []).append((e["ts"] * 1000, (e["ts"] + e["dur"]) * 1000))
    return found, max(end for spans in found.values() for _, end in spans)


def merged(spans, scale):
    """Intervals in pixels; those that are less than a third of one apart are one."""
    pixels = []
    for begin, end in sorted(spans):
        left, right = begin * scale, end * scale
        if pixels and left - pixels[-1][1] < 1 / 3:
            pixels[-1][1] = max(pixels[-1][1], right)
        else:
            pixels.append([left, right])
    return pixels


def picture(tool):
    """The text of the SVG."""
    found, end = events(tool)
    scale, height = WIDTH / end, TOP + len(TRACKS) * ROW + 30
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 16} {height}" width="{LEFT + WIDTH + 16}" height="{height}" '
             'font-family="sans-serif" font-size="12" fill="#1b1f24">',
             f"<title>A timeline of {PROGRAM}</title>", f'<rect width="100%" height="{height}" rx="8" fill="#ffffff" stroke="#8b949e"/>',
             f'<text x="12" y="20" font-weight="bold">{PROGRAM} on a TPU v5e: {round(end):,} cycles</text>']
    for row, (process, name, title, colour) in enumerate(TRACKS):
        y = TOP + row * ROW
        lines.append(f'<path d="M12 {y}H{LEFT + WIDTH + 4}" stroke="#e3e6ea"/><text x="12" y="{y + 16}">{escape(title)}</text>')
        for left, right in merged(found.get((process, name), []), scale):
            lines.append(f'<rect x="{LEFT + left:.1f}" y="{y + 4}" width="{max(right - left, 0.4):.1f}" height="{ROW - 8}" fill="{colour}"/>')
    step = 10 ** (len(str(int(end))) - 1) // 5 or 1
    for cycle in range(0, int(end) + 1, step):
        lines.append(f'<text x="{LEFT + cycle * scale:.1f}" y="{height - 10}" text-anchor="middle" fill="#586173">{cycle:,}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    (ROOT / "docs/timeline.svg").write_text(picture(ROOT / "build/release/tilesim"))
