"""The earnings of the paper's study, by hand."""

from __future__ import annotations

import pytest

from creval.types.sample import SampleKey, ScoreRecord, Status
from creval_kumo.play.earnings import Earnings, earnings
from creval_kumo.play.screen import GameScreen


def score(success: float, tests: int, actions: int = 6) -> ScoreRecord:
    compat = tests + 2 if success else actions + 1
    scores = {"success_rate": success, "tests": float(tests), "paper_compat": float(compat)}
    return ScoreRecord(SampleKey("kumo_easy", f"d{tests}", "default", 0), Status.SCORED, scores)


NOT_PLAYED = ScoreRecord(SampleKey("kumo_easy", "x", "default", 0), Status.ERRORED)


def test_a_task_set_of_ten_games() -> None:
    """Eight of ten right with 36 actions in all: 25 + 0.8 x 15 - 36 x 0.1 = 33.4."""
    games = [score(1.0, 3)] * 8 + [score(0.0, 6)] * 2
    found = earnings(games)
    assert found == Earnings(games=10, successes=8, actions=36.0)
    assert found.total == pytest.approx(33.4)


def test_the_released_count_gives_every_failure_the_number_of_actions_plus_one() -> None:
    """8 x (3 + 2) + 2 x (6 + 1) = 54: 25 + 12 - 5.4 = 31.6."""
    games = [score(1.0, 3)] * 8 + [score(0.0, 6)] * 2
    assert earnings(games, "paper_compat").total == pytest.approx(31.6)


def test_the_best_and_an_idle_set() -> None:
    assert earnings([score(1.0, 0)] * 10).total == pytest.approx(40.0)
    assert earnings([score(0.0, 0)] * 10).total == pytest.approx(25.0)


def test_a_game_that_was_not_played_counts_nowhere() -> None:
    assert earnings([score(1.0, 2), NOT_PLAYED]) == earnings([score(1.0, 2)])
    assert earnings([NOT_PLAYED]).total is None


def test_the_closing_words_take_all_tasks_as_one_set() -> None:
    words = GameScreen().closing({"kumo_easy": [score(1.0, 2)] * 5, "kumo_hard": [score(0.0, 10, 16)] * 5})
    assert "right in 5 of 10 games and took 60 actions" in words[0]
    assert words[1].endswith("25 + 0.50 x 15 - 60 x 0.1 = 26.50")
    assert GameScreen().closing({"kumo_easy": [NOT_PLAYED]}) == []
