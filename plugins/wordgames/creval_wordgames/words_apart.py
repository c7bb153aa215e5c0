"""Words far apart: the scorer of valid words, and two baselines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import Context, Score, ScorerInput, Turn
from creval_wordgames.clue_solver import vocabulary
from creval_wordgames.connections import normal

__all__ = ["GivenWords", "ValidWords", "VariedWords"]


@dataclass(frozen=True, slots=True)
class ValidWords:
    """Scores `valid_words`: the number of the first `words` that are single words, different, and not in `given`."""

    words: int = 25

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be scored."""
        return None if isinstance(fields.get("given"), list) else "the field 'given' must be a list of words"

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Return one score for each item, in order."""
        return [self._score_sample(item) for item in items]

    def _score_sample(self, item: ScorerInput) -> Score:
        named = [str(word).strip() for word in item.value][: self.words] if isinstance(item.value, list) else []
        given = {normal(word) for word in item.doc["given"]}
        valid = {normal(word) for word in named if word.replace("-", "").replace("'", "").isalpha()} - given
        return Score({"valid_words": float(len(valid))}, {"invalid": len(named) - len(valid)})


class GivenWords:
    """The given words, repeated."""

    def reply(self, turn: Turn) -> str:
        """Return JSON."""
        return json.dumps((turn.doc["given"] * 25)[:25])


class VariedWords:
    """25 different random words."""

    def reply(self, turn: Turn) -> str:
        """Return JSON."""
        given = set(turn.doc["given"])
        return json.dumps(turn.random.sample([word for word in vocabulary() if word not in given], 25))
