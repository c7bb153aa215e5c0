"""The parser `word_groups`: groups of words in the forms that models write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from creval.plugin import Parsed
from creval.plugin.lists import has_mark, strip_marks
from creval.plugin.parsing import is_refusal, refused
from creval_wordgames.answer_text import AND, plain_lines

__all__ = ["WordGroups"]

_BRACKETS = re.compile(r"\[[^\[\]{}]{1,400}\]")
_PARTS = re.compile(r"[,;|/•·]")
_SEGMENTS = re.compile(r"[:=()→⇒]|\s[-–—]{1,3}>?\s")
_SPACED = re.compile(r"\s+[-–—+]\s+|\t+|\s{3,}")
_QUOTED = re.compile(r'"([^"\n]{3,400})"')
_AND = re.compile(rf"{AND}\s+(?=\S)", re.IGNORECASE)
_MIDDLE_AND = re.compile(rf"\s+{AND}\s+", re.IGNORECASE)
_EDGES = " \t*_`\"'“”‘’.[]{}"
_LONGEST = 40  # characters of one word or phrase
_WORDS = 5  # of one phrase: the longest of the published puzzles
_MOST = 100  # groups that are kept, the last ones


@dataclass(frozen=True, slots=True)
class WordGroups:
    """Reads every group of `size` words in an answer, in the order of the text.

    A group is an innermost list in brackets (JSON of any shape); a line, a table cell or the text after a label, with
    `size` parts separated by commas or other signs; or `size` consecutive short lines. The scorer decides which groups
    count, since an answer may contain drafts.
    """

    size: int = 4

    def parse(self, text: Any) -> Parsed:
        """Return the groups as a list of lists of words, or the reason why there is none."""
        if not isinstance(text, str):
            return Parsed.failure(f"expected text, but the parser before it gave a {type(text).__name__}")
        shown = plain_lines(text)
        if is_refusal(shown):
            return refused()
        found: list[tuple[int, list[str]]] = []
        for bracket in _BRACKETS.finditer(shown):
            words = _listed(bracket[0])
            if len(words) == self.size:
                found.append((bracket.start(), words))
        rest = _BRACKETS.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), shown) if found else shown
        lines = list(_lines(rest))
        across, lines = self._across(lines)
        found += across
        found += [(start, words) for start, line in lines for words in self._in_line(line)]
        found += self._columns(lines)
        found += [(q.start(), words) for q in _QUOTED.finditer(rest) if len(words := self._split(q[1])) == self.size]
        groups = [words for _, words in sorted(found, key=lambda each: each[0])][-_MOST:]
        if not groups:
            return Parsed.failure(f"no group of {self.size} words in the answer")
        return Parsed(groups, route="word_groups")

    def _across(self, lines: Sequence[tuple[int, str]]) -> tuple[list[tuple[int, list[str]]], list[tuple[int, str]]]:
        """Return the groups of tables with one group per column, under its name, and the other lines."""
        groups: list[tuple[int, list[str]]] = []
        rest: list[tuple[int, str]] = []
        for in_table, run in groupby(lines, key=lambda each: each[1].lstrip().startswith("|")):
            rows = list(run)
            cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for _, line in rows]
            heads = {re.sub(r"\W|\d", "", cell).lower() for cell in cells[0]}
            shape = [len(row) for row in cells] == [self.size] * (self.size + 2) and len(heads) > 1
            if in_table and shape and not any(re.search(r"[^\s:-]", cell) for cell in cells[1]):
                columns = [_clean(column) for column in zip(*cells[2:], strict=True)]
                groups += [(rows[0][0] + place, column) for place, column in enumerate(columns) if column]
            else:
                rest += rows
        return groups, rest

    def _in_line(self, line: str) -> Iterator[list[str]]:
        inner = strip_marks(line.strip()) if not line.lstrip().startswith("|") else line.strip().strip("|")
        cells = inner.split("|") if line.lstrip().startswith("|") else []
        if len(cells) in (self.size, self.size + 1):
            row = _clean(cells[-self.size :])
            if len(row) == self.size:
                yield row
        for apart in (_SPACED.split(inner), inner.split()) if not cells and "," not in inner else ():
            if len(apart) == self.size and len(words := _clean(apart)) == self.size:
                yield words
                break
        outer = inner.split(";") if "," in inner else [inner]
        for segment in (part for cell in (cells or outer) for part in _SEGMENTS.split(cell)):
            words = self._split(segment)
            if len(words) == self.size:
                yield words

    def _split(self, segment: str) -> list[str]:
        parts = _PARTS.split(segment.strip(" \t,;"))
        if len(parts) == self.size - 1 and len(parts) > 1:
            parts = [*parts[:-1], *_MIDDLE_AND.split(parts[-1].strip())]
        if len(parts) == 1:
            capitals = segment.strip(_EDGES).split()
            return _clean(capitals) if segment.upper() == segment else []
        return _clean([*parts[:-1], _AND.sub("", parts[-1].strip(), count=1)])

    def _columns(self, lines: Sequence[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
        """Yield the groups of `size` lines of one kind, one word per line."""
        for kind, run in groupby(lines, key=lambda each: _kind(each[1])):
            items = list(run)
            if kind is not None and len(items) == self.size:
                words = _clean([strip_marks(line.strip()) for _, line in items])
                if len(words) == self.size:
                    yield items[-1][0], words


def _listed(bracket: str) -> list[str]:
    try:
        found = json.loads(bracket)
    except ValueError:
        found = bracket[1:-1].split(",")
    return _clean([each for each in found if isinstance(each, str)])


def _clean(parts: Sequence[str]) -> list[str]:
    """Return the parts without quotes and emphasis; an empty list if one is empty or longer than a phrase."""
    words = [part.strip(_EDGES) or part.strip() for part in parts]
    fit = all(word and len(word) <= _LONGEST and len(word.split()) <= _WORDS for word in words)
    return words if fit else []


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _kind(line: str) -> tuple[str, int] | None:
    """Return the form of a line that may be a word of a group; None for headings, blank lines and sentences."""
    bare = line.strip()
    inner = strip_marks(bare)
    if not inner.strip() or bare.startswith(("#", "|", "```")) or inner.rstrip("*_ ").endswith((":", "?", "!")):
        return None
    if len(inner) > _LONGEST or len(inner.split()) > _WORDS or _PARTS.search(inner):
        return None
    if not has_mark(line):
        return ("bold" if bare.startswith(("**", "__")) else "plain"), len(line) - len(line.lstrip())
    return ("number" if bare[0].isdigit() else "bullet"), len(line) - len(line.lstrip())
