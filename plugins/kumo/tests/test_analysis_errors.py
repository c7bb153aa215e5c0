"""Parse errors and tokens: the paper's numbers from the published runs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from statistics import fmean

import pytest

from creval_kumo.analysis.domain_names import PAPER_PUBLISHED
from creval_kumo.analysis.errors import GameCost, Rates, rates

ABOVE = {"claude-3.5-haiku", "deepseek-r1", "o1-mini", "deepseek-v2.5"}
"""Four models lie above the range that the paper gives; it leaves four out of the range and mean, by other names."""


@pytest.fixture(scope="module")
def published(reference_data: Path) -> dict[tuple[str, str], Rates]:
    """Rates over the paper's five domains. One file holds 130 rows, seeds repeated: its first 50 are the run."""
    games = []
    with gzip.open(reference_data / "kumo" / "model_runs_compact.jsonl.gz", "rt") as lines:
        for line in lines:
            run = json.loads(line)
            if run["domain"] in PAPER_PUBLISHED:
                games += [
                    GameCost(run["model"], run["difficulty"], run["domain"], bool(error), tokens)
                    for _, tries in run["per_seed"][:50]
                    for _, _, _, error, tokens in tries
                ]
    return {(one.difficulty, one.model): one for one in rates(games)}


def test_every_model_played_250_games_five_times(published: dict[tuple[str, str], Rates]) -> None:
    assert len(published) == 46
    assert {(one.domains, one.games) for one in published.values()} == {(5, 1250)}


@pytest.mark.parametrize(
    ("level", "least", "most", "mean"),
    [("easy", 2937.00, 8121.88, 6126.35), ("hard", 5395.78, 22605.71, 16002.93)],
)
def test_tokens_are_those_of_the_papers_text(
    published: dict[tuple[str, str], Rates], level: str, least: float, most: float, mean: float
) -> None:
    """The range of "Statistical study of KUMO" to the last digit, its mean to within one of the last digit."""
    tokens = [one.tokens for (of, model), one in published.items() if of == level and model not in ABOVE]
    assert len(tokens) == 19
    assert round(min(tokens), 2) == least
    assert round(max(tokens), 2) == most
    assert fmean(tokens) == pytest.approx(mean, abs=0.0101)
    assert min(published[level, model].tokens for model in ABOVE) > most


def test_the_small_models_have_the_most_parse_errors(published: dict[tuple[str, str], Rates]) -> None:
    """The paper names LLaMA-3.2-3B, Qwen2.5-3B, LLaMA-3.1-8B and Gemma-2-9B, in easy and hard games."""
    for level in ("easy", "hard"):
        of_level = sorted((one for one in published.values() if one.difficulty == level), key=lambda o: -o.parse_errors)
        assert {one.model for one in of_level[:4]} == {
            "llama-3.2-3b-instruct", "qwen2.5-3b-instruct", "llama-3.1-8b-instruct", "gemma-2-9b-it",
        }  # fmt: skip


def test_every_domain_counts_the_same_however_many_games_it_has() -> None:
    games = [GameCost("m", "easy", "a", True, 100)] * 3 + [GameCost("m", "easy", "b", False, 300)]
    (found,) = rates(games)
    assert found == Rates("m", "easy", domains=2, games=4, parse_errors=0.5, tokens=200.0)


def test_order_by_difficulty_then_model() -> None:
    games = [GameCost(model, level, "d", False, 1) for model in "ba" for level in ("hard", "easy")]
    assert [(one.difficulty, one.model) for one in rates(games)] == [
        ("easy", "a"), ("easy", "b"), ("hard", "a"), ("hard", "b"),
    ]  # fmt: skip
