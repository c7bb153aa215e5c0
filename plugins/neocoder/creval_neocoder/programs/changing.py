"""Change the input of a case but keep its shape: as many lines, words and characters, other numbers and letters.

Validity can only be guessed from the common properties of all published cases; the agreement of the human solutions
on an answer has to confirm it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

__all__ = ["changed_lines", "in_shape"]

_NUMBER = re.compile(r"-?\d+")
_MOST_CHANGES = 3
_HEAD = 4  # words of a line that may describe others
_NEAR = (-3, -2, -1, 1, 2, 3)


def changed_lines(lines: Sequence[str], others: Sequence[Sequence[str]], chance: random.Random) -> tuple[str, ...]:
    """Return the lines of a case with one to three of its words changed, each in a way that fits its kind.

    A number moves a little, is replaced by a number at the same place in one of the `others` (the cases of the same
    problem), or is swapped with one of its line; a word has its characters shuffled, or takes one of another word.
    """
    words = [line.split() for line in lines]
    places = [(row, at) for row, line in enumerate(words) for at in range(len(line))]
    if not places:
        return tuple(lines)
    for row, at in chance.choices(places, k=chance.randint(1, _MOST_CHANGES)):
        change = chance.choice((_move, _borrow, _swap) if _NUMBER.fullmatch(words[row][at]) else (_shuffle, _exchange))
        change(words, row, at, others, chance)
    return tuple(" ".join(line) for line in words)


Words = list[list[str]]
Cases = Sequence[Sequence[str]]


def _move(words: Words, row: int, at: int, others: Cases, chance: random.Random) -> None:
    word = words[row][at]
    if len(word) > 1 and set(word) <= {"0", "1"}:  # a text of zeros and ones rather than a number
        _exchange(words, row, at, others, chance)
    else:
        words[row][at] = str(int(word) + chance.choice(_NEAR))


def _borrow(words: Words, row: int, at: int, others: Cases, chance: random.Random) -> None:
    found = [word for word in _at(others, row, at) if _NUMBER.fullmatch(word)]
    if found:
        words[row][at] = chance.choice(found)


def _swap(words: Words, row: int, at: int, others: Cases, chance: random.Random) -> None:
    line = words[row]
    other = chance.randrange(len(line))
    line[at], line[other] = line[other], line[at]


def _shuffle(words: Words, row: int, at: int, others: Cases, chance: random.Random) -> None:
    letters = list(words[row][at])
    chance.shuffle(letters)
    words[row][at] = "".join(letters)


def _exchange(words: Words, row: int, at: int, others: Cases, chance: random.Random) -> None:
    word = words[row][at]
    known = sorted(set(word).union(*_at(others, row, at)))
    place = chance.randrange(len(word))
    words[row][at] = word[:place] + chance.choice(known) + word[place + 1 :]


def _at(cases: Cases, row: int, at: int) -> list[str]:
    """Return the words at the same place in other cases."""
    lines = [case[row].split() for case in cases if row < len(case)]
    return [line[at] for line in lines if at < len(line)]


def in_shape(lines: Sequence[str], cases: Cases) -> bool:
    """Return whether every property that all the `cases` share is also true of these lines.

    The properties are the values or letters of each line, lengths that a preceding number gives, the order of adjacent
    numbers, and whether lines are sorted, without duplicates, or a permutation.
    """
    shared = frozenset.intersection(*(frozenset(_traits(case)) for case in cases))
    if not shared <= frozenset(_traits(lines)):
        return False
    rows = range(min(map(len, (lines, *cases))))
    return all(_seen(lines[row].split(), [case[row].split() for case in cases]) for row in rows)


Trait = tuple[str, *tuple[int, ...]]


def _traits(lines: Sequence[str]) -> Iterator[Trait]:
    """Yield the properties of the lines of a case."""
    split = [line.split() for line in lines]
    for row, words in enumerate(split):
        if not all(map(_NUMBER.fullmatch, words)):
            continue
        values = [int(word) for word in words]
        yield from ((name, row) for name, holds in _of_a_line(values) if holds)
        for at, value in enumerate(values[:_HEAD]):
            yield from (("words", row, at, other) for other, line in enumerate(split) if len(line) == value)
            yield from (("letters", row, at, other) for other, line in enumerate(lines) if len(line) == value)
            yield from (("at most", row, at, then) for then, next_ in enumerate(values[:_HEAD]) if value <= next_)
            yield from (("below", row, at, then) for then, next_ in enumerate(values[:_HEAD]) if value < next_)


def _of_a_line(values: Sequence[int]) -> Sequence[tuple[str, bool]]:
    return (
        ("sorted", list(values) == sorted(values)),
        ("distinct", len(set(values)) == len(values)),
        ("permutation", sorted(values) == list(range(1, len(values) + 1))),
    )


def _seen(line: Sequence[str], seen: Sequence[Sequence[str]]) -> bool:
    """Return whether numbers are within the range of those seen, and other words consist of letters seen."""
    words = [word for other in seen for word in other]
    if all(map(_NUMBER.fullmatch, (*words, *line))):
        low, high = min(map(int, words), default=0), max(map(int, words), default=0)
        zeros = any(word != str(int(word)) for word in words)
        return all(low <= int(word) <= high and (zeros or word == str(int(word))) for word in line)
    return set("".join(line)) <= set("".join(words))
