"""Writes results as CSV, JSON, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from pathlib import Path
from typing import Any

from creval.errors import UsageError
from creval.escape import control_character, visible
from creval.format import cell, fold_name, numeric_columns

__all__ = [
    "FORMATS",
    "Emphasis",
    "csv_text",
    "latex_text",
    "markdown_text",
    "plain_data",
    "unguarded",
    "unwritable",
    "write_csv",
    "write_json",
    "write_lines",
    "write_text",
]


_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four: full-width

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def unwritable(error: OSError, path: Path) -> UsageError:
    """Return the error for a user's file that cannot be written."""
    fix = "Name a folder that you may write to."
    return UsageError(f"cannot be written: {error.strerror}", where=str(path), fix=fix)


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write lines to a file (creating its folder) and return their number. Raises UsageError if that fails.

    The complete file replaces a former one. A link is followed; a file that is not regular (a device, a pipe) is
    written to, not replaced.
    """
    sign = control_character(str(path))
    if sign is not None:
        raise UsageError(f"the path contains the control character {sign}", where=str(path), fix="Leave it out.")
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            with target.open("w", encoding="utf-8") as file:
                return sum(1 for _ in map(file.write, lines))
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        part = Path(name)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                count = sum(1 for _ in map(file.write, lines))
            part.chmod(0o644)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(error, path) from error
    return count


def write_text(path: Path, text: str) -> Path:
    """Write a file as `write_lines` does, and return its path."""
    write_lines(path, [text])
    return path


def plain_data(value: Any) -> Any:
    """Return a result as plain data: dataclasses become mappings, dates become texts, non-finite numbers None."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_data(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date):
        return value.isoformat()
    return value


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV that is safe in a spreadsheet and on a terminal.

    None and non-finite numbers are empty cells, floats keep all significant digits. A text that a spreadsheet would
    treat as a formula gets an apostrophe in front (`unguarded` removes it), and control characters are escaped; texts
    that are numbers stay unchanged.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_csv_cell, columns))
    writer.writerows(map(_csv_cell, row) for row in rows)
    return out.getvalue()


def unguarded(text: str) -> str:
    """Return the text of a cell written by `csv_text`, without the added apostrophe."""
    return text[1:] if text.startswith("'") and _is_formula(text[1:]) else text


def _csv_cell(value: Any) -> Any:
    value = str(value) if isinstance(value, Emphasis) else plain_data(value)
    if value is None or isinstance(value, bool | int | float):
        return "" if value is None else value
    text = visible(str(value))
    return f"'{text}" if _is_formula(text) else text


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet may treat a text as a formula; apostrophes in front count too, so that none is lost."""
    text = text.lstrip("'")
    begins = text.startswith(("\t", "\n", "\r")) or text.lstrip().startswith(_FORMULA)
    return begins and not _NUMBER.fullmatch(text.strip())


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    """Write a table as `csv_text` formats it, and return its path. Raises UsageError if that fails."""
    return write_text(path, csv_text(columns, rows))


def write_json(path: Path, data: Any) -> Path:
    """Write data (converted by `plain_data`) as JSON, and return its path. Raises UsageError if that fails."""
    return write_text(path, json.dumps(plain_data(data), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


Cells = Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Emphasis:
    """A value of a table of models: in bold if it is the best, with its groups and its interval or error."""

    value: str
    bold: bool = False
    groups: str = ""
    error: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, [self.value, self.groups, self.error]))

    def markdown(self) -> str:
        value = f"**{_markdown(self.value)}**" if self.bold else _markdown(self.value)
        groups = f" <sup>{self.groups}</sup>" if self.groups else ""
        return f"{value}{groups}{f' {_markdown(self.error)}' if self.error else ''}"

    def latex(self) -> str:
        value = rf"\textbf{{{_latex(self.value)}}}" if self.bold else _latex(self.value)
        groups = f"$^{{{self.groups}}}$" if self.groups else ""
        if not self.error:
            return f"{value}{groups}"
        return _latex_stack([f"{value}{groups}", rf"{{\footnotesize {_latex(self.error)}}}"])


_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~$&^])")
_MARKDOWN_LIST = re.compile(r"^(\d*)([-+.)])(?=\s|$)")

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "±": r"$\pm$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "<": "$<$",
    ">": "$>$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def markdown_text(columns: Sequence[str], rows: Cells, notes: Sequence[str] = ()) -> str:
    """Return a table in GitHub's Markdown: one line per row, numbers right-aligned, then the notes."""
    texts = [[_markdown(value) for value in row] for row in rows]
    rule = ["---:" if right else "---" for right in numeric_columns(columns, rows)]
    lines = [[_markdown(name) for name in columns], rule, *texts]
    # a note that begins like an item of a list would become one
    below = "\n" + "  \n".join(_MARKDOWN_LIST.sub(r"\1\\\2", _markdown(note)) for note in notes) + "\n" if notes else ""
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + below


def latex_text(columns: Sequence[str], rows: Cells, notes: Sequence[str] = ()) -> str:
    """Return a table as a LaTeX `tabular` with the rules of booktabs (the paper needs \\usepackage{booktabs}).

    Long names are set on several lines, so that a table of a few models and tasks is not wider than a page. The notes
    are paragraphs in small print below it.
    """
    align = "".join("r" if right else "l" for right in numeric_columns(columns, rows))
    heads = [_latex_name(column, _HEAD_WIDTH) for column in columns]
    named = [[_latex_name(row[0], _NAME_WIDTH), *map(_latex, row[1:])] for row in rows]
    lines = [_latex_start(" & ".join(row)) + r" \\" for row in (heads, *named)]
    body = [rf"\begin{{tabular}}{{{align}}}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    below = [rf"\par\smallskip{{\footnotesize {_latex(note)}\par}}" for note in notes]
    return "\n".join([*body, r"\end{tabular}", *below, ""])


_HEAD_WIDTH, _NAME_WIDTH = 14, 24


def _latex_stack(lines: Sequence[str]) -> str:
    """Set lines below each other in one cell, aligned with the first line of the other cells."""
    if len(lines) == 1:
        return lines[0]
    return r"\begin{tabular}[t]{@{}l@{}}" + r"\\ ".join(map(_latex_start, lines)) + r"\end{tabular}"


def _latex_start(line: str) -> str:
    """Keep LaTeX from reading the beginning of a line as an argument of the `\\\\` or the rule before it."""
    return f"{{}}{line}" if line.startswith(("[", "*")) else line


def _latex_name(value: Any, width: int) -> str:
    if not isinstance(value, str) or len(value) <= width:
        return _latex(value)
    return _latex_stack([_latex(line) for line in fold_name(value, width).splitlines()])


_MINUS = re.compile(r"(?<![\w.)\]-])-(?=\.?\d)")


def _markdown(value: Any) -> str:
    if isinstance(value, Emphasis):
        return value.markdown()
    return _MARKDOWN.sub(r"\\\1", _line(value))


def _latex(value: Any) -> str:
    """Format a value for LaTeX: special signs escaped, and a minus before a number set as a minus sign."""
    if isinstance(value, Emphasis):
        return value.latex()
    parts = _MINUS.split(_line(value))
    return "$-$".join("".join(_LATEX.get(sign, sign) for sign in part) for part in parts)


def _line(value: Any) -> str:
    return " ".join(cell(value).split())


FORMATS: Mapping[str, Callable[..., str]] = {
    "csv": lambda columns, rows, notes=(): csv_text(columns, rows),
    "markdown": markdown_text,
    "latex": latex_text,
}
"""Each function gets columns, rows and notes; a CSV file has no notes."""
