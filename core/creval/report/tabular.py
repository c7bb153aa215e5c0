"""Tables for other programs: CSV with every digit, Markdown and LaTeX as they are printed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from creval.report.files import csv_text
from creval.shown import cell, numeric

__all__ = ["FORMATS", "latex_text", "markdown_text"]

Cells = Sequence[Sequence[Any]]

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "<": "$<$",
    ">": "$>$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def markdown_text(columns: Sequence[str], rows: Cells) -> str:
    """Return a table in the form of GitHub's Markdown: one line a row, numbers to the right."""
    texts = [[_markdown(value) for value in row] for row in rows]
    rule = ["---:" if right else "---" for right in numeric(columns, rows)]
    lines = [[_markdown(name) for name in columns], rule, *texts]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def latex_text(columns: Sequence[str], rows: Cells) -> str:
    """Return a table as a LaTeX `tabular` with the rules of booktabs (the paper needs \\usepackage{booktabs})."""
    align = "".join("r" if right else "l" for right in numeric(columns, rows))
    lines = [" & ".join(map(_latex, row)) + r" \\" for row in (columns, *rows)]
    body = [rf"\begin{{tabular}}{{{align}}}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([*body, r"\end{tabular}", ""])


def _markdown(value: Any) -> str:
    return _MARKDOWN.sub(r"\\\1", _line(value))


def _latex(value: Any) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in _line(value))


def _line(value: Any) -> str:
    return " ".join(cell(value).split())


FORMATS: Mapping[str, Callable[[Sequence[str], Cells], str]] = {
    "csv": csv_text,
    "markdown": markdown_text,
    "latex": latex_text,
}
