"""Tables for notebooks."""
from __future__ import annotations

import html
from typing import Iterable, Sequence


def _cell(value: object) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f'<td style="text-align:right">{value:,}</td>'
    return f'<td style="text-align:left">{html.escape(str(value))}</td>'


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """HTML: numbers to the right, all text escaped."""
    names = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    return f"<table><caption>{html.escape(title)}</caption><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table>"
