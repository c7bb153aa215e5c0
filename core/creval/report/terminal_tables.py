"""Prints tables: with rich on a terminal, as plain aligned columns in a pipe or file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from creval.escape import visible
from creval.format import cell, fold_name, numeric_columns

__all__ = ["FIT", "GAP", "cut", "fits", "line_width", "print_table", "table_console", "table_width"]

WIDE = 240
FIT = 100
"""The maximum width of tables of results, in columns of a terminal."""
GAP = 3
"""The width between two columns of a table, including their rule."""
_INTERVAL = re.compile(r"\S+ to \S+")


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    console: Console | None = None,
    fold: Sequence[str] = (),
) -> None:
    """Print a table. Columns with only numbers (or None) are right-aligned.

    Words and numbers are never broken: a text wraps between words, and if that is not enough for a narrow terminal,
    each row becomes a block of lines. A value that is a rich `Text` keeps its style; its control characters must
    already be escaped. If a table is wider than FIT or the terminal, the columns `fold` are set on several lines,
    broken at separators.
    """
    console = console or table_console()
    texts = [[value if isinstance(value, Text) else Text(cell(value)) for value in row] for row in rows]
    heads = unfolded_heads = [visible(column) for column in columns]
    unfolded_texts = texts
    if fold:
        heads, texts = _fold([name in fold for name in columns], heads, texts, min(FIT, console.width))
    narrowest = [_narrowest([Text(head), *(row[i] for row in texts)]) for i, head in enumerate(heads)]
    if sum(narrowest) + GAP * len(columns) > console.width:
        _print_blocks(title, unfolded_heads, unfolded_texts, console)
        return
    title_text = Text(visible(title), style="table.title") if title else None
    table = Table(title=title_text, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for head, least, right in zip(heads, narrowest, numeric_columns(heads, rows), strict=True):
        table.add_column(Text(head), justify="right" if right else "left", min_width=least)
    for row in texts:
        table.add_row(*row)
    console.print(table)


def _fold(
    names: Sequence[bool], heads: list[str], texts: list[list[Text]], most: int
) -> tuple[list[str], list[list[Text]]]:
    """Return heads and texts with the columns `names` folded as little as necessary for a width of `most`.

    If no folding achieves that, the first of the narrowest results is returned.
    """
    layouts = [(table_width(heads, texts), heads, texts)]
    for width in (24, 18, 14, 12, 10, 8):
        if layouts[-1][0] <= most:
            return layouts[-1][1:]
        folded = [fold_name(head, max(width, 10)) for head in heads]
        folded_texts = [
            [_fold_text(text, width, named) for named, text in zip(names, row, strict=True)] for row in texts
        ]
        layouts.append((table_width(folded, folded_texts), folded, folded_texts))
    return min(layouts, key=lambda each: each[0])[1:]


_PHRASE = 12
"""The most characters of a short phrase (`2 unparsed`) that stays on one line."""


def _fold_text(text: Text, width: int, named: bool) -> Text:
    """Set a name on lines of about `width` characters, or an interval on two lines if there is little space."""
    if width <= _PHRASE and _INTERVAL.fullmatch(text.plain):
        return Text(text.plain.replace(" to ", "\nto "), style=text.style)
    if not named or cell_len(text.plain) <= width:
        return text
    parts = text.plain.replace(", ", ",\n").replace("=", "=\n" if width <= _PHRASE else "=").splitlines()
    folded = [part if cell_len(part) <= _PHRASE and len(parts) > 1 else fold_name(part, width) for part in parts]
    return Text("\n".join(folded), style=text.style)


def table_width(heads: Sequence[str], texts: Sequence[Sequence[Text]]) -> int:
    """Return the width of a table without wrapped texts, in columns of a terminal."""
    return sum(
        max(line_width(text) for text in (head, *(row[i].plain for row in texts))) + GAP for i, head in enumerate(heads)
    )


def fits(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
    """Whether a table fits into FIT columns without wrapping."""
    return table_width(columns, [[Text(cell(value)) for value in row] for row in rows]) <= FIT


def cut(text: str, most: int) -> str:
    """Return a text on one line of at most `most` columns of a terminal, with an ellipsis if it was cut."""
    line = visible(" ".join(text.split()))
    return line if cell_len(line) <= most else f"{set_cell_size(line, most - 1).rstrip()}…"


def _narrowest(texts: Sequence[Text]) -> int:
    """Return the least width of a column that breaks neither words nor intervals."""
    return max(
        (max(map(cell_len, _unbroken_parts(text.plain)), default=0) for text in texts),
        default=0,
    )


def _unbroken_parts(text: str) -> Sequence[str]:
    """Return the parts of a text that stay on one line; an interval is one part."""
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
    """Return a console with the terminal's width, or wide enough for any table in a pipe or file."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDE)


def line_width(text: str) -> int:
    """Return the width of the longest line of a text in columns of a terminal."""
    return max((cell_len(line) for line in text.splitlines()), default=0)
