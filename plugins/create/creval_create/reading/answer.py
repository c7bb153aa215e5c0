"""Parse an answer: parser `create_paths`.

An answer is a numbered set of paths, in JSON according to the prompt, but in many forms in practice: curly quotes, bare
keys, tuples, fences, objects with probabilities. Every path is found and parsed separately, so a broken one does not
affect the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from creval_create.paths.triples import Path
from creval_create.reading.answer_place import answer_part
from creval_create.reading.shapes import paths_of
from creval_create.reading.values import Pairs, UnreadableError, read_value

__all__ = ["AnswerReading", "ReadPath", "UnreadPath", "read_answer"]

_OPEN = r"[\[({]"
_KEY = re.compile(
    rf"(?:[\"“”'‘’]?(?:path[ _-]?)?(\d{{1,4}})[\"“”'‘’]?\s*:"
    rf"|^[ \t]*(?:path[ _-]?)?(\d{{1,4}})[ \t]*[.)])\s*(?={_OPEN})",
    re.IGNORECASE | re.MULTILINE,
)
_TWO_OPEN = re.compile(rf"[\[(]\s*(?={_OPEN})|\{{(?=[^{{}}\[(]{{0,200}}path)", re.IGNORECASE)
_LOST = re.compile(r"""[{,](?:[^\[\](){},]{0,40}|\s{0,40}["'][^"'\s]{0,20}["']\s{0,9}:\s{0,40})(?=[\[(]\s*[\[(])""")
"""A path among numbered ones whose own number cannot be read."""
_MORE_TRIPLES = re.compile(r"\s*(?:,|;|->|→|-->|=>)?\s*(?=[\[(])")
_NOTHING = re.compile(r"(?:json)?\s*(?:\{\s*\}|\[\s*\]|\(\s*\))", re.IGNORECASE)
_SHOWN = 200
_WORK_PER_CHARACTER, _FREE_WORK = 6, 200_000


class ReadPath(NamedTuple):
    """A path, the number that the model gave it, and its probability if stated (Prompt E.2)."""

    path: Path
    key: str
    probability: float | None = None


class UnreadPath(NamedTuple):
    """A path that can't be read without guessing: the reason, and the beginning of its text."""

    key: str
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """The content of an answer. `problem` says why nothing was found; None also for an empty set, which is a legal
    answer. `entries`: how many paths a reader finds who parses the answer as one JSON object, as the prompt
    requires; 0 if it is none.
    """

    paths: tuple[ReadPath, ...] = ()
    unread: tuple[UnreadPath, ...] = ()
    problem: str | None = None
    route: str = ""
    entries: int = 0


def read_answer(text: str) -> AnswerReading:
    """Read all paths of an answer."""
    part, route = answer_part(text)
    if _NOTHING.fullmatch(part.strip(" \t\r\n`")):
        return AnswerReading(route=f"{route}/empty")
    read: list[ReadPath] = []
    unread: list[UnreadPath] = []
    for found in _entries(part):
        if isinstance(found, ReadPath):
            read.append(found)
        else:
            unread.append(found)
    if not read and not unread:
        return AnswerReading(problem="no paths in the answer" if text.strip() else "the answer is empty", route=route)
    return AnswerReading(tuple(read), tuple(unread), None, route, _entries_of_the_whole(part))


def _entries_of_the_whole(part: str) -> int:
    """Count the entries of an answer that is one JSON value, possibly in a fence; of two equal keys one is lost."""
    try:
        value = json.loads(part.strip(" \t\r\n`").removeprefix("json"))
    except (ValueError, RecursionError):
        return 0
    return len(value) if isinstance(value, dict | list) else 0


def _entries(part: str) -> Iterator[ReadPath | UnreadPath]:
    work = _WORK_PER_CHARACTER * len(part) + _FREE_WORK
    numbered = _KEY.search(part)
    yield from _numbered(part, work) if numbered else _listed(part, work)


def _numbered(part: str, work: int) -> Iterator[ReadPath | UnreadPath]:
    """Yield paths with numbers; after a broken one, continue at the next number."""
    found, after = _KEY.search(part), 0
    while found:
        yield from _lost(part, after, found.start())
        key = found[1] or found[2]
        following: re.Match[str] | None = None
        try:
            if work < 0:
                raise UnreadableError("too much broken text before it", found.end())
            value, end = _entry(part, found.end())
            yield from _read(value, key)
            following = _KEY.search(part, end)
        except UnreadableError as error:
            following = _KEY.search(part, found.end())
            end = following.start() if following else len(part)
            work -= max(0, error.at - found.end()) + 200
            yield UnreadPath(key, error.reason, _shortened(part[found.start() : end]))
        found, after = following, end
    yield from _lost(part, after, len(part))


def _lost(part: str, start: int, end: int) -> Iterator[UnreadPath]:
    """Report paths without a number between numbered ones: their number is unknown."""
    for lost in _LOST.finditer(part, start, end):
        yield UnreadPath("?", "has no number", _shortened(part[lost.start() : end]))


def _entry(part: str, at: int) -> tuple[Any, int]:
    """Return the value of a number; consecutive triples without an enclosing bracket are one list."""
    value, end = read_value(part, at)
    if not (isinstance(value, list) and value and all(isinstance(item, str) for item in value)):
        return value, end
    triples = [value]
    more = _MORE_TRIPLES.match(part, end)
    while more and not _KEY.match(part, more.end()):
        value, end = read_value(part, more.end())
        triples.append(value)
        more = _MORE_TRIPLES.match(part, end)
    return (triples if len(triples) > 1 else triples[0]), end


def _listed(part: str, work: int) -> Iterator[ReadPath | UnreadPath]:
    """Yield paths without numbers: lists of lists, anywhere in the text."""
    found = _TWO_OPEN.search(part)
    count = 0
    while found and work > 0:
        try:
            value, end = read_value(part, found.start())
            paths = list(_read(value, ""))
        except UnreadableError as error:
            work -= max(0, error.at - found.start()) + 200
            following = _TWO_OPEN.search(part, found.start() + 1)
            # The outermost list of several paths is only a container; its broken parts are found when they are parsed.
            if not (following and following.start() == found.end()):
                count += 1
                stop = following.start() if following else len(part)
                yield UnreadPath(str(count), error.reason, _shortened(part[found.start() : stop]))
            found = following
        else:
            for path in paths:
                count += 1
                yield path._replace(key=str(count))
            found = _TWO_OPEN.search(part, end)


def _read(value: Any, key: str) -> Iterator[ReadPath]:
    probability = _probability(value)
    for path in paths_of(value):
        yield ReadPath(path, key, probability)


def _probability(value: Any) -> float | None:
    if not isinstance(value, Pairs):
        return None
    for name, said in value:
        if name.lower().replace(" ", "_") in {"path_probability", "probability", "confidence"}:
            if isinstance(said, bool):  # Python treats it as 1
                return None
            try:
                number = float(said)
            except (TypeError, ValueError):
                return None
            return number if 0.0 <= number <= 1.0 else None
    return None


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
