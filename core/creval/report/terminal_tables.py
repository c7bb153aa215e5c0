"""Tables on the terminal: rich where there is one, plain aligned columns in a pipe or file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from creval.escape import visible
from creval.format import cell, numeric

__all__ = ["FIT", "GAP", "line_width", "print_table", "table_console"]

WIDE = 240
FIT = 100
"""Columns of the terminal that tables of results keep to."""
GAP = 3
"""Columns of the terminal between two columns of a table, their rule included."""
_INTERVAL = re.compile(r"\S+ to \S+")


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], console: Console | None = None
) -> None:
    """Print a table. Columns whose values are all numbers (or none) are aligned to the right.

    No word and no number is broken: a text wraps between words, and where that is not enough for a narrow terminal
    each row becomes a block of lines. A value that is a rich `Text` keeps its style; whoever makes it has made its
    text visible.
    """
    console = console or table_console()
    texts = [[value if isinstance(value, Text) else Text(cell(value)) for value in row] for row in rows]
    heads = [visible(column) for column in columns]
    narrowest = [_narrowest([Text(head), *(row[i] for row in texts)]) for i, head in enumerate(heads)]
    if sum(narrowest) + GAP * len(columns) > console.width:
        _print_blocks(title, heads, texts, console)
        return
    table = Table(title=escape(visible(title)) or None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for head, least, right in zip(heads, narrowest, numeric(heads, rows), strict=True):
        table.add_column(escape(head), justify="right" if right else "left", min_width=least)
    for row in texts:
        table.add_row(*row)
    console.print(table)


def _narrowest(texts: Sequence[Text]) -> int:
    """How wide a column must be so that neither a word nor an interval breaks."""
    return max(
        (max(map(cell_len, _whole(text.plain)), default=0) for text in texts),
        default=0,
    )


def _whole(text: str) -> Sequence[str]:
    """The parts of a text that stay on one line: an interval is one part."""
    return [text] if _INTERVAL.fullmatch(text) else text.split()


def _print_blocks(title: str, heads: Sequence[str], rows: Sequence[Sequence[Text]], console: Console) -> None:
    """Print each row as lines of `column  value`."""
    if title:
        console.print(Text(visible(title), style="table.title"), soft_wrap=True)
    width = max((cell_len(head) for head in heads), default=0)
    for row in rows:
        console.print()
        for head, text in zip(heads, row, strict=True):
            line = Text(head.ljust(width) + "  ")
            console.print(line.append_text(text), soft_wrap=True)


def table_console() -> Console:
    """Return a console that is as wide as the terminal, or wide enough for any table in a pipe or file."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDE)


def line_width(text: str) -> int:
    """Return how many columns of a terminal the longest line of a text takes."""
    return max((cell_len(line) for line in text.splitlines()), default=0)
