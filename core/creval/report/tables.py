"""Tables on the terminal: rich where there is one, plain aligned columns in a pipe or file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from creval.report.numbers import number
from creval.visible import visible

__all__ = ["cell", "print_table", "table_console"]

WIDE = 240


def cell(value: Any) -> str:
    """Render one value: `–` for none, floats by `creval.report.numbers`, no control characters."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    return visible(str(value))


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], console: Console | None = None
) -> None:
    """Print a table. Columns whose values are all numbers (or none) are aligned to the right.

    A value that is a rich `Text` keeps its style; whoever makes it has made its text visible.
    """
    console = console or table_console()
    table = Table(title=escape(visible(title)) or None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for index, column in enumerate(columns):
        values = [row[index] for row in rows if row[index] is not None]
        numeric = bool(values) and all(isinstance(value, int | float) for value in values)
        table.add_column(escape(visible(column)), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(value if isinstance(value, Text) else escape(cell(value)) for value in row))
    console.print(table)


def table_console() -> Console:
    """Return a console that is as wide as the terminal, or wide enough for any table in a pipe or file."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDE)
