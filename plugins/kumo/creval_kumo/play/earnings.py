"""The earnings of a participant of the paper's study for a set of games.

Source: paper 002, "Design of the human experiment": "25 + success rate x 15 - #action count x 0.1" per task set, a task
set being ten games (five easy, five hard). The paper does not define the action count. We read it as the sum over the
task set: with the mean per game the third term would be a few tenths at most, and no penalty for excessive actions. The
count is of actions taken, without the prediction (`tests`); with `paper_compat` it is that of the released code for
models (tests + 2, a failed game as the number of actions + 1).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from creval.plugin import ScoreRecord

__all__ = ["COUNTS", "Earnings", "earnings"]

COUNTS = ("tests", "paper_compat")
BASE, PER_SUCCESS_RATE, PER_ACTION = 25.0, 15.0, 0.1


@dataclass(frozen=True, slots=True)
class Earnings:
    """`games` played, `successes` among them, `actions` over all of them in the chosen count."""

    games: int
    successes: int
    actions: float

    @property
    def success_rate(self) -> float | None:
        """Successes divided by games; None without a game."""
        return self.successes / self.games if self.games else None

    @property
    def total(self) -> float | None:
        """The formula's value, in the study's currency; None without a game."""
        rate = self.success_rate
        return None if rate is None else BASE + rate * PER_SUCCESS_RATE - self.actions * PER_ACTION


def earnings(scores: Iterable[ScoreRecord], count: str = "tests") -> Earnings:
    """Return the earnings for the scored games; a game without scores (errored, skipped) counts as not played."""
    games = successes = 0
    actions = 0.0
    for score in scores:
        if "success_rate" in score.scores:
            games += 1
            successes += score.scores["success_rate"] == 1.0
            actions += score.scores[count]
    return Earnings(games, successes, actions)
