"""How values are shown: one rule for all tables, on the terminal, in files and in notebooks."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from creval.escape import visible

__all__ = [
    "cell",
    "counted",
    "decimals",
    "fold_name",
    "html_table",
    "interval_text",
    "number",
    "numeric_columns",
    "shorten_list",
    "there_are",
    "without_empty",
]

_TINY = 1e-6


def counted(number: int, things: str) -> str:
    """Return a number with its noun: `3 choices`, `1 choice`. Example: `counted(len(rows), "rows")`."""
    return f"{number:,} {_singular(things) if number == 1 else things}"


def there_are(number: int, things: str) -> str:
    """Return `there are 3 choices`, `there is 1 choice`."""
    return f"there {'is' if number == 1 else 'are'} {counted(number, things)}"


def _singular(things: str) -> str:
    """Return a phrase with its first plural in the singular: `JSON value` for `JSON values`."""
    words = things.split(" ")
    for index, word in enumerate(words):
        for plural, single in (("ies", "y"), ("tches", "tch"), ("xes", "x"), ("s", "")):
            if word.endswith(plural):
                return " ".join([*words[:index], word.removesuffix(plural) + single, *words[index + 1 :]])
    return things


def decimals(value: float) -> int:
    """Return the number of decimals of a value: 3 below 10, 2 below 100, else 1.

    A value below 0.01 gets as many as its first two digits need.
    """
    magnitude = abs(value)
    if not math.isfinite(magnitude) or round(magnitude, 2) >= 100:
        return 1
    if round(magnitude, 3) >= 10:
        return 2
    if magnitude and round(magnitude, 3) < 0.01:
        return 1 - math.floor(math.log10(magnitude))
    return 3


def number(value: float, places: int | None = None) -> str:
    """Format a float with `places` decimals (default: `decimals`); below a millionth with an exponent."""
    if not math.isfinite(value):
        return f"{value:g}"
    if places is None:
        if 0 < abs(value) < _TINY:
            return f"{value:.1e}"
        places = decimals(value)
    return f"{round(value, places) + 0.0:.{places}f}"  # + 0.0: no "-0.000"


def interval_text(metric: Mapping[str, Any]) -> str | None:
    """Return the interval of a metric of results.json as `low to high`, as precise as its value; None without one."""
    if metric["value"] is None or metric["ci_low"] is None or metric["ci_high"] is None:
        return None
    places = decimals(metric["value"])
    return f"{number(metric['ci_low'], places)} to {number(metric['ci_high'], places)}"


def cell(value: Any) -> str:
    """Format one value: `–` for None, floats by `number`, no control characters."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    return visible(str(value))


def numeric_columns(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[bool]:
    """Return which columns hold only numbers, apart from empty cells."""
    flags = []
    for index in range(len(columns)):
        values = [row[index] for row in rows if row[index] is not None]
        flags.append(bool(values) and all(isinstance(value, int | float) for value in values))
    return flags


def html_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], notes: Sequence[str] = ()) -> str:
    """Return a table for a notebook: escaped, numbers right-aligned, with lines of `notes` below it."""
    from html import escape

    alignments = ["right" if right else "left" for right in numeric_columns(columns, rows)]

    def line(tag: str, values: Sequence[Any]) -> str:
        cells = zip(values, alignments, strict=True)
        return "".join(f'<{tag} style="text-align: {side}">{escape(cell(value))}</{tag}>' for value, side in cells)

    head = f"<thead><tr>{line('th', columns)}</tr></thead>"
    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    lines = "".join(f"<div>{escape(visible(note))}</div>" for note in notes)
    return f"<div>{escape(visible(title))}</div><table>{head}<tbody>{body}</tbody></table>{lines}"


def shorten_list(names: Sequence[str], limit: int = 3) -> str:
    """Return up to `limit` names as a list in words, and the number of others: `a, b, c and 2 more`."""
    others = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + others


_BREAKS = re.compile(r"(?<=[/_\-@: ])(?!\*)|(?=\[)")  # a star stays with its name


def fold_name(name: str, width: int) -> str:
    """Return a name on several lines of at most `width` columns of a terminal, broken at a separator if it has one."""
    from rich.cells import cell_len

    lines = [""]
    for piece in _BREAKS.split(name):
        if lines[-1] and cell_len(lines[-1]) + cell_len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def without_empty(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], optional: Sequence[str] | None = None
) -> tuple[list[str], list[list[Any]]]:
    """Return a table without those of the `optional` columns (default: all) that hold None in every row."""
    removable = columns if optional is None else optional
    indices = [i for i, name in enumerate(columns) if name not in removable or any(row[i] is not None for row in rows)]
    return [columns[i] for i in indices], [[row[i] for i in indices] for row in rows]
