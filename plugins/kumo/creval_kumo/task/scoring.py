"""Scorer `kumo_play`: success and the counts of actions (paper 002, "Evaluation metrics", Eqs. 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from creval.plugin import Context, Score, ScorerInput
from creval_kumo.games.counting import compat_length, relative_action_count
from creval_kumo.search.golden import golden_run
from creval_kumo.search.limits import NotProvenError

__all__ = ["KumoPlay"]


class KumoPlay:
    """Scores a game.

    - `success_rate`: 1 if the predicted truth is a valid one, else 0.
    - `tests`: actions taken, without the prediction.
    - `paper_compat`: tests + 2 for a success, number of actions + 1 otherwise (see `creval_kumo.games.counting`).
    - `relative_action_count`: (L - O) / O in that count, O that of optimal play on the same observations. A game
      whose optimum is not proven within the search's limit is left out of this metric, and its details say
      `not_proven`.
    - `parse_error_rate`: 1 if the game ended with an answer that could not be parsed, was cut or was declined: the
      released code counts all three as parse errors (Fig. 6a).
    """

    def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Return the scores of each game; games that ended early count as failures."""
        return [self._score(item) for item in items]

    def _score(self, item: ScorerInput) -> Score:
        outcome = item.outcome
        tests = len(outcome.get("tests", ()))
        success = outcome.get("prediction") in item.doc["valid_truths"]
        length = compat_length(tests, success, len(item.doc["actions"]))
        scores = {
            "success_rate": float(success),
            "tests": float(tests),
            "paper_compat": float(length),
            "parse_error_rate": float(outcome.get("end") in ("unparsed", "unfinished")),
        }
        details: dict[str, Any] = {"prediction": outcome.get("prediction")}
        try:
            golden = golden_run(item.doc)
        except NotProvenError as error:
            return Score(scores, {**details, "not_proven": str(error.what)})
        scores["relative_action_count"] = relative_action_count(length, len(golden.tests))
        return Score(scores, {**details, "golden_tests": list(golden.tests)})
