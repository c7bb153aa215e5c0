"""Markdown as plain blocks, from which a web page builds text nodes.

A guidebook may be written by a model or come from a third party: it never reaches the page as HTML. The parser knows
headings, nested lists, rules, paragraphs, bold text and code words; everything else is left unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Block", "Span", "markdown_blocks", "text_blocks"]

Kind = Literal["heading", "item", "paragraph", "rule", "plain"]
Style = Literal["", "strong", "code"]

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)")
_RULE = re.compile(r"[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*")
_TAB = 4
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Span:
    """Text in one style."""

    text: str
    style: Style = ""


@dataclass(frozen=True, slots=True)
class Block:
    """One block. `level` is that of a heading (1 to 6) or of a list item (0 for the outermost)."""

    kind: Kind
    level: int
    runs: tuple[Span, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"kind": self.kind, "level": self.level, "runs": [[run.text, run.style] for run in self.runs]}


def text_blocks(text: str) -> list[Block]:
    """Return plain text as one block with its line breaks."""
    return [Block("plain", 0, (Span(text),))]


def markdown_blocks(text: str) -> list[Block]:
    """Parse Markdown. The blocks contain the whole text, except the parsed marks."""
    found: list[tuple[Kind, int, list[str]]] = []
    indents: list[int] = []
    joins = False
    for line in text.splitlines():
        if not line.strip():
            joins = False
            continue
        kind, level, content = _read(line, indents)
        if kind == "paragraph" and joins and found[-1][0] in ("paragraph", "item"):
            found[-1][2].append(content)
            continue
        if kind == "paragraph" and line[:1].isspace() and found and found[-1][0] == "item":
            found[-1][2].append(content)  # an indented line after a blank one belongs to its item
            joins = True
            continue
        found.append((kind, level, [content] if content else []))
        joins = kind in ("paragraph", "item")
    return [Block(kind, level, _runs(" ".join(words))) for kind, level, words in found]


def _read(line: str, indents: list[int]) -> tuple[Kind, int, str]:
    """Return kind, level and content of one line; `indents` are those of the open list items."""
    if _RULE.fullmatch(line):
        return "rule", 0, ""
    if heading := _HEADING.fullmatch(line.rstrip()):
        indents.clear()
        return "heading", len(heading[1]), heading[2].strip()
    if item := _ITEM.fullmatch(line.rstrip()):
        indent = len(item[1].expandtabs(_TAB))
        while indents and indents[-1] > indent:
            indents.pop()
        if not indents or indents[-1] < indent:
            indents.append(indent)
        return "item", min(len(indents) - 1, _DEEPEST), item[2].strip()
    if not line[:1].isspace():
        indents.clear()
    return "paragraph", 0, line.strip()


def _runs(text: str) -> tuple[Span, ...]:
    """Split off **bold** and `code`; an unpaired mark is left unchanged."""
    runs: list[Span] = []
    for part, bold in _paired(text, "**"):
        if bold:
            runs.append(Span(part, "strong"))
        else:
            runs += [Span(piece, "code" if code else "") for piece, code in _paired(part, "`")]
    return tuple(run for run in runs if run.text)


def _paired(text: str, mark: str) -> Sequence[tuple[str, bool]]:
    parts = text.split(mark)
    if len(parts) % 2 == 0:  # the last mark is unpaired
        parts[-2:] = [f"{parts[-2]}{mark}{parts[-1]}"]
    return [(part, index % 2 == 1) for index, part in enumerate(parts)]
