"""Connections: scoring which groups of a puzzle an answer finds."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from creval.plugin import Context, Score, ScorerInput, Turn

__all__ = ["ConnectionsScore", "RandomGroups", "RightGroups", "normal", "puzzle_groups"]


def normal(word: Any) -> str:
    """Return a word normalized for case, Unicode form, spaces and punctuation; a word of only signs keeps them."""
    plain = unicodedata.normalize("NFKC", str(word)).casefold()
    return "".join(filter(str.isalnum, plain)) or "".join(plain.split())


def puzzle_groups(fields: Mapping[str, Any]) -> list[list[str]]:
    """Return the groups of a puzzle, as its field `answers` spells them: each has its `words`, or `members`."""
    return [[str(word) for word in _words_of(group)] for group in fields["answers"]]


def _words_of(group: Any) -> Any:
    return group.get("words", group.get("members")) if isinstance(group, Mapping) else None


class ConnectionsScore:
    """Scores `groups_found`, the number of the puzzle's groups in the answer, and `solved`, whether it has all.

    Groups with a word that is not on the board are ignored. The others are taken from the end of the answer: a group
    counts if it shares no word with those already taken. So a final answer replaces earlier drafts, and more guesses
    than groups do not help.
    """

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a puzzle cannot be scored."""
        answers = fields.get("answers")
        if not isinstance(answers, list) or not answers:
            return "the field 'answers' must be a list of groups"
        for group in answers:
            if not isinstance(_words_of(group), list) or not _words_of(group):
                return "each group of 'answers' must have a list of 'words' (or 'members')"
        words = [normal(word) for group in answers for word in _words_of(group)]
        return None if len(set(words)) == len(words) else "a word is in two groups"

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Return one score for each item, in order."""
        return [_scored(item) for item in items]


def _scored(item: ScorerInput) -> Score:
    right = [frozenset(map(normal, group)) for group in puzzle_groups(item.doc)]
    taken = _valid_groups(item.value, frozenset().union(*right))
    found = sum(group in taken for group in right)
    details = {"groups": [sorted(group) for group in reversed(taken)]}
    return Score({"groups_found": float(found), "solved": float(found == len(right))}, details)


def _valid_groups(value: Any, board: frozenset[str]) -> list[frozenset[str]]:
    taken: list[frozenset[str]] = []
    used: frozenset[str] = frozenset()
    for group in reversed(value if isinstance(value, list) else []):
        words = frozenset(map(normal, group)) if isinstance(group, list) else frozenset()
        if len(words) == len(group) and words and words <= board and not words & used:
            taken.append(words)
            used |= words
    return taken


class RandomGroups:
    """The words of the puzzle, divided into groups at random."""

    def reply(self, turn: Turn) -> str:
        """Return JSON."""
        groups = puzzle_groups(turn.doc)
        words = [word for group in groups for word in group]
        turn.random.shuffle(words)
        dealt = iter(words)
        return json.dumps([[next(dealt) for _ in group] for group in groups])


class RightGroups:
    """The groups of the puzzle."""

    def reply(self, turn: Turn) -> str:
        """Return JSON."""
        return json.dumps(puzzle_groups(turn.doc))
