"""Parser `word_list`: the list of words in an answer, in any common form."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from creval.plugin import Parsed
from creval.plugin.lists import (
    has_mark,
    is_no_item,
    one_item_a_line,
    plain_separators,
    speaks_of_the_last,
    straighten,
    strip_edges,
    strip_marks,
)
from creval.plugin.parsing import JsonArray, holds_json, is_refusal, refused, without_unseen
from creval_association.comma_list import comma_lists
from creval_association.small_talk import is_small_talk, without_talk
from creval_association.table_list import table_column

__all__ = ["SEVERAL_LISTS", "WordList", "unnumbered"]

SEVERAL_LISTS = "several lists"
"""The route of an answer with several lists, if it is unclear which one counts."""

_GLOSS = re.compile(r"\s(?:[-–—=]{1,3}>?|[→⇒]|because|since)\s|\s?[:;(\[{]")
_REMARK = re.compile(r"[\[(][^\])]{0,60}[\])]\s+(?=\w)")
_ENUMERATED = re.compile(r"\s{0,9}\(?(\d{1,3})\)?(?:\s{1,9}|,)(?=\S)")
_ORDINAL = re.compile(
    r"\s{0,9}(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|(?:noun|item|entry|number|no\.?)\s?#?\d{1,2})"
    r"\s{0,3}[:=]\s{0,9}",
    re.IGNORECASE,
)
_EXPLAINED = re.compile(r"([^,]{1,60}),\s*(?:[^\s,]+\s+[^,]+)")
_EDGES = ".,;:!?)]}>"
_NUMBER = re.compile(r"\s{0,100}[\"'“]?[*_]{0,3}\(?(\d{1,3})[.):．）：、]")
_LONGEST_ITEM = 4  # words; a longer line is prose
_MOSTLY = 0.7  # share of short lines, or of short parts between commas, in a list
_NOTHING: list[str] = []
_List = TypeVar("_List")


@dataclass(frozen=True)
class WordList:
    """Reads a list of at least `minimum` items. The forms tried, in order, and their routes:

    1. a JSON array of strings, or of objects with the text `field`: the whole answer, in a code fence, in prose, inside
       an object under `key` (or its only array); of several the longest, or the last of equals (`json_array`,
       `json_array/fenced`, ...). If an answer contains JSON, no other form is tried;
    2. text after the name of the `field`, if it occurs twice or more: `word: ocean` (`labelled`);
    3. the column `key` of a table, or its only column (`table`);
    4. numbered or else bulleted lines, each cut before an explanation, without nested lists (`marked_lines`);
    5. the longest list separated by commas or other signs, on one line or on consecutive lines; lists with only
       short items have priority over prose with commas (`commas`);
    6. plain lines of at most four words, if most lines are so short (`lines`).

    Several numbered lists, or several comma-separated lines with headings, are a failure unless one heading mentions
    the `key` or says that it is final. A refusal is a failure. If the answer is in tags such as `<answer>`, only their
    content counts. Openings (`Sure!`), headings and closing remarks are not items. The items keep their spelling; the
    scorer decides which of them count as words.
    """

    minimum: int = 2
    key: str = "words"
    field: str = "word"

    def parse(self, text: Any) -> Parsed:
        """Return the items as a list of strings, or the reason why there is no list."""
        if not isinstance(text, str):
            return Parsed.failure(f"expected text, but the parser before it gave a {type(text).__name__}")
        text = without_unseen(text)
        array = JsonArray(items="string", minimum=self.minimum, key=self.key, field=self.field).parse(text)
        if array.ok:
            return self._enough([item for item in without_unseen(array.value) if not _is_none(item)], array.route)
        if is_refusal(text):
            return refused()
        if holds_json(text):
            return array
        ways: Sequence[tuple[str, Callable[[str, str], list[str]]]] = (
            ("table", _table),
            ("marked_lines", _marked_lines),
            ("commas", _commas),
            ("lines", _lines),
        )
        straight = one_item_a_line(plain_separators(without_talk(straighten(text))))
        labelled = _labelled(straight, self.field)
        if len(labelled) >= max(2, self.minimum):
            return Parsed(labelled, route="labelled")
        for route, read in ways:
            try:
                items = read(straight, self.key)
            except _SeveralLists as error:
                return Parsed.failure(str(error), SEVERAL_LISTS)
            if len(items) >= self.minimum:
                return self._enough([item for item in items if not _is_none(item)], route)
        return self._enough((), "")

    def _enough(self, items: Sequence[str], route: str) -> Parsed:
        if len(items) >= self.minimum:
            return Parsed(list(items), route=route)
        return Parsed.failure(f"no list of at least {self.minimum} items in the answer")


class _SeveralLists(Exception):
    """The answer contains several lists, and it is unclear which one counts."""


def _is_none(item: str) -> bool:
    return is_no_item(item, words=True)


def _clean(item: str) -> str:
    item = strip_edges(strip_marks(strip_edges(strip_marks(item), ",")))
    item = _REMARK.sub("", item, count=1).lstrip(" \t:;=([{<")
    return strip_edges(_GLOSS.split(item, maxsplit=1)[0], _EDGES)


def _labelled(text: str, field: str) -> list[str]:
    """Return the text on one line after `word:`, `Word 1:` and similar labels."""
    label = re.compile(rf"(?<!\w){re.escape(field)}[ \t]{{0,9}}#?\d{{0,3}}[*_\"']{{0,3}}[ \t]{{0,9}}:([^,;|\n]+)", re.I)
    return [item for item in map(_clean, label.findall(text)) if _has_letter(item)]


def _meant(lists: Sequence[tuple[str, _List]], key: str, kind: str) -> _List:
    """Return the list whose heading mentions the key, or else says that it is final. Raises _SeveralLists."""
    for speaks in (lambda heading: _speaks_of(heading, key), speaks_of_the_last):
        meant = [each for heading, each in lists if speaks(heading)]
        if len(meant) == 1:
            return meant[0]
    raise _SeveralLists(f"several {kind} in the answer, and not one of them under {key!r}")


def _marked_lines(text: str, key: str) -> list[str]:
    lists = _marked_lists(text.splitlines())
    if len(lists) > 1:
        lists = [("", _meant(lists, key, "numbered lists"))]
    items = [_clean(_explained(line)) for _, lines in lists for line in lines]
    return [item for item in items if _has_letter(item)]


def _marked_lists(lines: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the lists with their headings: numbered ones, split where the numbers restart, or one bulleted list.

    Lines indented further than the others are explanations.
    """
    marked = [line for line in lines if has_mark(line)]
    numbered = [line for line in marked if _NUMBER.match(line)]
    chosen = numbered or marked
    depth = min((_depth(line) for line in chosen), default=0)
    lists: list[tuple[str, list[str]]] = []
    heading, before = "", 0
    for line in lines:
        if not has_mark(line):
            heading = line if line.strip() else heading
            continue
        number = _NUMBER.match(line)
        if _depth(line) > depth + 1 or (numbered and number is None):
            continue
        if not lists or (number is not None and int(number[1]) <= before):
            lists.append((heading, []))
            heading = ""
        lists[-1][1].append(line)
        before = int(number[1]) if number is not None else 0
    return lists


def _depth(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


def _explained(item: str) -> str:
    """Return a marked item without the explanation after its only comma."""
    match = _EXPLAINED.fullmatch(item.strip())
    return match[1] if match else item


def _table(text: str, key: str) -> list[str]:
    return [item for item in map(_clean, table_column(text, key, key.removesuffix("s"))) if _has_letter(item)]


def _commas(text: str, key: str) -> list[str]:
    lists = comma_lists(text, _clean)
    if not lists:
        return _NOTHING
    headed = [(each.heading, each) for each in lists if each.heading]
    if len(headed) > 1 or any(_speaks_of(heading, key) for heading, _ in headed):
        lists = [_meant(headed, key, "lists with headings")]
    most = max(len(each.items) for each in lists)
    items = [each for each in lists if len(each.items) == most][-1].items
    return [item for item in map(_clean, items) if _has_letter(item)]


def _lines(text: str, key: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    said = unnumbered([line for line in lines if line and not line.startswith("```") and not is_small_talk(line)])
    items = [item for item in map(_clean, said) if _has_letter(item) and len(item.split()) <= _LONGEST_ITEM]
    return items if len(items) >= _MOSTLY * len(said) else _NOTHING


def unnumbered(lines: Sequence[str]) -> Sequence[str]:
    """Return lines without numbers that count up from 1, or `First:` and similar, if two or more lines have them."""
    numbers = [match for match in map(_ENUMERATED.match, lines) if match]
    if len(numbers) >= 2 and [int(match[1]) for match in numbers] == list(range(1, len(numbers) + 1)):
        return [_ENUMERATED.sub("", line, count=1) for line in lines]
    if sum(_ORDINAL.match(line) is not None for line in lines) >= 2:
        return [_ORDINAL.sub("", line, count=1) for line in lines]
    return lines


def _speaks_of(heading: str, key: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(key)}(?!\w)", heading, re.IGNORECASE) is not None


def _has_letter(item: str) -> bool:
    return any(character.isalpha() for character in item)
