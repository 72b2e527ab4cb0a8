#!/usr/bin/env python3
"""Draws docs/architecture.svg: configure.py's layers as rows, what happens to data as columns of numbered files.

The colours are those of the picture itself, so that it reads on a light and on a dark page.
"""
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from configure import LAYERS  # noqa: E402

# (title, colour, what happens in order: files below sim/)
WALKS = [
    ("bytes move", "#d7e8fb", ["cli/cmd_convert.c", "host/pack.c", "layout/notation/xla_parse.c", "layout/plan.c", "move/move.c",
                               "move/kernel_avx2.c"]),
    ("a price", "#dcf1dc", ["cli/cmd_dma.c", "study/transfer.c", "layout/notation/xla_parse.c", "layout/plan.c", "dma/engine.c",
                            "dma/traversal.c", "dram/hbm.c", "dma/breakdown.c", "report/transfer.c"]),
    ("a program", "#fbe9cf", ["cli/cmd_run.c", "run/run.c", "program/assemble.c", "program/pack.c", "chip/chip.c", "core/decode.c",
                              "core/core.c", "run/check.c", "host/reference_evaluate.c", "report/run.c"]),
]
ROW, LEFT, COLUMN, TOP, MARGIN = 24, 150, 276, 34, 8


def text(x, y, words, weight="normal"):
    return f'<text x="{x}" y="{y}" font-weight="{weight}">{escape(words)}</text>'


def cell(walk, row, layer):
    """The steps of a walk that are in a layer."""
    title, colour, steps = WALKS[walk]
    here = [f"{i} {path.rsplit('/', 1)[1]}" for i, path in enumerate(steps, 1) if path.rsplit("/", 1)[0] == layer]
    if not here:
        return []
    x, y = LEFT + walk * COLUMN, TOP + row * ROW
    return [f'<rect x="{x}" y="{y + 2}" width="{COLUMN - 8}" height="{ROW - 4}" rx="4" fill="{colour}"/>',
            text(x + 8, y + 16, ", ".join(here))]


def picture():
    """The text of the SVG; the highest layer is the first row."""
    width, height = LEFT + len(WALKS) * COLUMN + MARGIN, TOP + len(LAYERS) * ROW + MARGIN
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12" fill="#1b1f24">',
             "<title>The layers of tilesim, and three walks of data through them</title>",
             f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff" stroke="#8b949e"/>']
    lines += [text(LEFT + i * COLUMN + 8, 22, title, "bold") for i, (title, _, _) in enumerate(WALKS)]
    for row, layer in enumerate(reversed(LAYERS)):
        y = TOP + row * ROW
        lines.append(f'<path d="M{MARGIN} {y}H{width - MARGIN}" stroke="#d0d7de"/>')
        lines.append(text(MARGIN + 6, y + 16, layer, "bold"))
        for walk in range(len(WALKS)):
            lines += cell(walk, row, layer)
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    (ROOT / "docs/architecture.svg").write_text(picture())
