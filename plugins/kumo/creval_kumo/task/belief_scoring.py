"""Scorer `kumo_belief`: success and soundness in games whose results are evidence only (reliability below 1)."""

from __future__ import annotations

from collections.abc import Sequence

from creval.plugin import Context, Score, ScorerInput
from creval_kumo.games.belief import attainable, most_probable, posterior
from creval_kumo.games.instance import Instance
from creval_kumo.games.reliability import need_uncertain

__all__ = ["KumoBelief"]


class KumoBelief:
    """Scores a game of reliability below 1 (see `creval_kumo.games.belief`).

    - `success_rate`: 1 if the valid truth was named, else 0.
    - `tests`: actions taken, including repeats and without the prediction.
    - `posterior`: probability of the named truth given the observations before it was named. For any player it has
      the same expected mean as `success_rate`, with a smaller error. None for a game without a prediction.
    - `most_probable_rate`: 1 if a truth was named and no other was more probable given the observations, else 0. It
      does not depend on luck.
    - `attainable_success`: highest probability of a truth after all actions of the game; its mean is the success rate
      that the best player can expect. It does not depend on the play.
    - `parse_error_rate`: 1 if the game ended with an answer that could not be parsed, was cut or was declined.

    There is no relative action count: Algorithm 3's E[S] depends on the truths that are left, and here all of them are.
    """

    def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Return the scores of each game; one that ended early counts as a failure.

        Raises UsageError for games with certain results.
        """
        return [self._score(item) for item in items]

    def _score(self, item: ScorerInput) -> Score:
        game, outcome = Instance.from_doc(item.doc), item.outcome
        need_uncertain(game.reliability, f"{item.key.task}, doc {item.key.doc}")
        taken, named = list(outcome.get("tests", ())), outcome.get("prediction")
        beliefs = posterior(game, taken)
        scores = {
            "success_rate": float(named in game.valid_truths),
            "tests": float(len(taken)),
            "most_probable_rate": float(named in most_probable(beliefs)),
            "attainable_success": float(attainable(game)),
            "parse_error_rate": float(outcome.get("end") in ("unparsed", "unfinished")),
        }
        if named is not None:
            scores["posterior"] = float(beliefs[named])
        return Score(scores, {"posterior": {truth: float(p) for truth, p in beliefs.items()}, "prediction": named})
