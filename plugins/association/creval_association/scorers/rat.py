"""Remote Associates Test (Mednick 1962; arXiv:2605.13450, section 2.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from creval.plugin import Context, Score, ScorerInput

__all__ = ["Rat"]

_ENDINGS = ("s", "es", "ing", "ed")


@dataclass(frozen=True)
class Rat:
    """1 if the first alphabetic token of the answer is the solution (doc field `solution`), in any letter case.

    `rat_lenient` also accepts the solution with -s, -es, -ing or -ed added or removed. A chatty answer ("The answer is
    cheese") is wrong: the task asks for the word only. An answer without letters is unparsed.
    """

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Return one score for each item, in order."""
        return [self._score_sample(item) for item in items]

    def _score_sample(self, item: ScorerInput) -> Score:
        found = re.search(r"[a-zA-Z]+", str(item.value or ""))
        if found is None:
            return Score({}, failure="no word in the answer")
        word, solution = found.group().lower(), str(item.doc["solution"]).lower()
        exact = word == solution
        near = word in _forms(solution) or solution in _forms(word)
        return Score({"rat": float(exact), "rat_lenient": float(exact or near)}, {"word": word})


def _forms(word: str) -> set[str]:
    return {word + ending for ending in _ENDINGS}
