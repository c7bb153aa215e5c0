"""Lists in a Markdown table: the column with a given heading."""

from __future__ import annotations

import re

__all__ = ["table_column"]

_RULE = re.compile(r"[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|?)+[ \t]*")


def table_column(text: str, *names: str) -> list[str]:
    """Return the cells of the first table's column with one of the names, or else of its only column.

    Columns of numbers are ignored. Returns an empty list if there is no table or no matching column.
    """
    lines = text.splitlines()
    for at, line in enumerate(lines[1:], 1):
        if "-" in line and "|" in f"{line}{lines[at - 1]}" and _RULE.fullmatch(line[:1000]):
            heads = _cells(lines[at - 1])
            rows = []
            for row in lines[at + 1 :]:
                if "|" not in row:
                    break
                rows.append(_cells(row))
            return _column(heads, rows, names)
    return []


def _column(heads: list[str], rows: list[list[str]], names: tuple[str, ...]) -> list[str]:
    words = [set(re.findall(r"\w+", head.casefold())) for head in heads]
    called = [column for column, said in enumerate(words) if said & {name.casefold() for name in names}]
    counted = {column for column in range(len(heads)) if all(not _has_letter(_at(row, column)) for row in rows)}
    others = [column for column in range(len(heads)) if column not in counted]
    chosen = called if len(called) == 1 else others
    return [_at(row, chosen[0]) for row in rows] if len(chosen) == 1 else []


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _at(row: list[str], column: int) -> str:
    return row[column] if column < len(row) else ""


def _has_letter(cell: str) -> bool:
    return any(character.isalpha() for character in cell)
