"""The clue game in both roles: scorers and baselines."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from creval.plugin import Context, Score, ScorerInput, Turn
from creval_wordgames.clue_solver import is_legal, reaches, vocabulary
from creval_wordgames.connections import normal

_DENIALS = frozenset({"not", "no", "avoid", "avoided", "except", "without", "never", "unlike"})

__all__ = ["BestClue", "ClueGiven", "ClueGuesses", "IntendedWords", "NearestWords", "RandomClue", "RandomWords"]


def _board_fault(fields: Mapping[str, Any]) -> str | None:
    own, others = fields.get("own"), fields.get("others")
    for name, words in (("own", own), ("others", others)):
        if not isinstance(words, list) or not words or not all(isinstance(word, str) and word for word in words):
            return f"the field {name!r} must be a list of words"
    words = [normal(word) for word in [*fields["own"], *fields["others"]]]
    return None if len(set(words)) == len(words) else "a word is on the board twice"


class ClueGiven:
    """Scores a clue by a guesser that names the words of the board nearest to it, by cosine of the embedding.

    `reach` is the number of own words nearer than every other word. `points` is the clue's number if it is at most
    the reach, else 0: one wrong word loses all. An illegal clue (several words, a word of the board or part of one)
    has neither.
    """

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a board cannot be scored."""
        return _board_fault(fields)

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Return one score for each item, in order."""
        return [self._score_sample(item, context) for item in items]

    def _score_sample(self, item: ScorerInput, context: Context) -> Score:
        clue, number = str(item.value["clue"]), int(item.value["number"])
        own, others = item.doc["own"], item.doc["others"]
        legal = is_legal(clue, [*own, *others])
        reach = reaches(context.resource("embedding"), [clue], own, others)[0] if legal else 0
        points = number if 1 <= number <= reach else 0
        details = {"clue": clue, "number": number, "legal": legal}
        return Score({"points": float(points), "reach": float(reach)}, details)


class ClueGuesses:
    """Scores the first words of the board that the last list of an answer names, as many as the clue's number.

    `share` is how many of them are own words before the first that is not, over the number; `all_right` whether all
    are. Words that are not on the board and repeated ones are passed over; of a phrase its words of the board count.
    """

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a board cannot be scored."""
        number = fields.get("number")
        if not isinstance(number, int) or number < 1:
            return "the field 'number' must be a whole number from 1"
        return _board_fault(fields)

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Return one score for each item, in order."""
        return [self._score_sample(item) for item in items]

    def _score_sample(self, item: ScorerInput) -> Score:
        number = int(item.doc["number"])
        own = {normal(word) for word in item.doc["own"]}
        board = own | {normal(word) for word in item.doc["others"]}
        lists = item.value if isinstance(item.value, list) else []
        given = [list(map(str, words)) for words in reversed(lists) if isinstance(words, list)]
        plain = [words for words in given if any(normal(word) in board for word in words)]  # before mentions
        named = [[word for phrase in words for word in _on_board(phrase, board)] for words in plain or given]
        guesses = list(dict.fromkeys(next((words for words in named if words), [])))[:number]
        right = next((place for place, word in enumerate(guesses) if word not in own), len(guesses))
        return Score({"share": right / number, "all_right": float(right == number)}, {"guesses": guesses})


def _on_board(phrase: str, board: Collection[str]) -> Sequence[str]:
    """Return the words of the board in a phrase; none if it says what is not chosen."""
    if normal(phrase) in board:
        return [normal(phrase)]
    words = phrase.split()
    if any(normal(word) in _DENIALS for word in words):
        return []
    return [word for word in map(normal, words) if word in board]


class RandomClue:
    """A random legal word of the vocabulary, with the number 1."""

    def reply(self, turn: Turn) -> str:
        """Return JSON."""
        return _clue(turn.random.choice(_legal(turn)), 1)


class BestClue:
    """The clue of the vocabulary with the greatest reach, by exhaustive search; the first of several."""

    def reply(self, turn: Turn) -> str:
        """Return JSON."""
        clues = _legal(turn)
        found = reaches(turn.context.resource("embedding"), clues, turn.doc["own"], turn.doc["others"])
        return _clue(clues[int(np.argmax(found))], max(1, *found))


def _legal(turn: Turn) -> list[str]:
    board = [*turn.doc["own"], *turn.doc["others"]]
    return [word for word in vocabulary() if is_legal(word, board)]


def _clue(word: str, number: int) -> str:
    return json.dumps({"clue": word, "number": number})


class RandomWords:
    """Random words of the board, as many as the clue's number."""

    def reply(self, turn: Turn) -> str:
        """Return JSON."""
        return json.dumps(turn.random.sample([*turn.doc["own"], *turn.doc["others"]], turn.doc["number"]))


class IntendedWords:
    """The words that the clue is meant for."""

    def reply(self, turn: Turn) -> str:
        """Return JSON."""
        return json.dumps(turn.doc["intended"])


class NearestWords:
    """The words of the board nearest to the clue, by cosine of the task's embedding."""

    def reply(self, turn: Turn) -> str:
        """Return JSON."""
        board = [*turn.doc["own"], *turn.doc["others"]]
        rows = np.asarray(turn.context.resource("embedding").embed([turn.doc["clue"], *board]), dtype=np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        order = np.argsort(-(rows[1:] @ rows[0]), kind="stable")[: turn.doc["number"]]
        return json.dumps([board[place] for place in order])
