"""Scorer `kumo_play`: success and the counts of actions.

Source: paper 002, "Evaluation metrics", Eqs. 3 and 4. The released code counts the prediction twice: a run of n
tests has length n + 2, a failed run N_action + 1; with the golden run's length in the same count the published
relative action counts come out. Both counts are given.
"""

from __future__ import annotations

from collections.abc import Sequence

from creval.types.components import Context, Scorable, Score
from creval_kumo.golden import golden_run

__all__ = ["KumoPlay"]


class KumoPlay:
    """Scores a game.

    - `success`: 1 where the predicted truth is a valid one, else 0.
    - `tests`: actions taken, the prediction not among them.
    - `paper_compat`: tests + 2 for a success, number of actions + 1 otherwise.
    - `relative_action_count`: (L - O) / O in the compat count, O that of optimal play on the same observations.
    - `unparsed_answer`: 1 where the game ended with an answer that could not be read.
    """

    scores_failures = True

    def score(self, items: Sequence[Scorable], context: Context) -> list[Score]:
        """Return the five scores of each game; games that ended early count as failures."""
        return [self._score(item) for item in items]

    def _score(self, item: Scorable) -> Score:
        outcome = item.outcome
        golden = golden_run(item.doc)
        tests = len(outcome.get("tests", ()))
        success = outcome.get("prediction") in item.doc["valid_truths"]
        compat = tests + 2 if success else len(item.doc["actions"]) + 1
        scores = {
            "success": float(success),
            "tests": float(tests),
            "paper_compat": float(compat),
            "relative_action_count": (compat - golden.compat_length) / golden.compat_length,
            "unparsed_answer": float(outcome.get("end") == "unparsed"),
        }
        return Score(scores, {"golden_tests": list(golden.tests), "prediction": outcome.get("prediction")})
