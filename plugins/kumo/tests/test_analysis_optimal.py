"""Optimal action counts: the paper's means from the published golden runs, and the command on real games."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.errors import UsageError
from creval_kumo.analysis.commands.optimal import OptimalAnalysis
from creval_kumo.analysis.domain_names import PAPER_PUBLISHED
from creval_kumo.analysis.optimal import ALL, OptimalCount, distributions
from creval_kumo.published.published_domains import read_domains, read_instances
from creval_kumo.search.golden import golden_of


@pytest.fixture(scope="module")
def golden(reference_data: Path) -> list[OptimalCount]:
    with gzip.open(reference_data / "kumo" / "golden_trajectories.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        OptimalCount(row["difficulty"], row["domain"], row["n_tests"])
        for row in rows
        if row["domain"] in PAPER_PUBLISHED
    ]


def test_the_published_golden_runs_give_the_means_of_figure_6c(golden: list[OptimalCount]) -> None:
    found = {(one.difficulty, one.domain): one for one in distributions(golden)}
    easy, hard = found["easy", ALL], found["hard", ALL]
    assert (easy.games, hard.games) == (250, 250)
    assert round(easy.mean_compat, 2) == 3.92
    assert round(hard.mean_compat, 2) == 6.69
    assert round(easy.mean_tests, 2) == 1.92
    assert round(hard.mean_tests, 2) == 4.69


def test_the_most_frequent_hard_game_takes_two_actions_by_the_paper_and_none_in_truth(
    golden: list[OptimalCount],
) -> None:
    hard = next(one for one in distributions(golden) if (one.difficulty, one.domain) == ("hard", ALL))
    assert hard.mode_tests == 0
    assert dict(hard.counts)[0] == 35
    assert all(number <= 35 for _, number in hard.counts)


def test_most_easy_games_take_three_to_five_actions_by_the_paper(golden: list[OptimalCount]) -> None:
    easy = next(one for one in distributions(golden) if (one.difficulty, one.domain) == ("easy", ALL))
    assert sum(number for tests, number in easy.counts if 3 <= tests + 2 <= 5) > easy.games / 2


def test_our_golden_runs_on_the_published_easy_games_have_about_the_same_mean(
    golden: list[OptimalCount], reference_data: Path
) -> None:
    """Equally good actions are chosen by another rule, so single runs differ; their mean hardly does."""
    folder = reference_data / "kumo"
    known = read_domains(folder / "seed_configs.jsonl.gz")
    ours = [
        len(golden_of(game).tests)
        for name in PAPER_PUBLISHED
        for game in read_instances(folder / "instances" / f"{name}.easy.jsonl.gz", known[name])
    ]
    theirs = [count.tests for count in golden if count.difficulty == "easy"]
    assert len(ours) == len(theirs) == 250
    assert fmean(ours) == pytest.approx(fmean(theirs), abs=0.05)


def test_by_hand() -> None:
    counts = [OptimalCount("easy", "b", 1), OptimalCount("easy", "a", 3), OptimalCount("easy", "a", 1)]
    a, b, both = distributions(counts)
    assert (a.domain, b.domain, both.domain) == ("a", "b", ALL)
    assert a.counts == ((1, 1), (3, 1))
    assert (a.mean_tests, a.mean_compat, a.mode_tests) == (2.0, 4.0, 1)
    assert both.counts == ((1, 2), (3, 1))


@given(st.lists(st.builds(OptimalCount, st.sampled_from("xy"), st.sampled_from("ab"), st.integers(0, 16)), min_size=1))
def test_all_together_is_the_sum_of_the_domains(counts: list[OptimalCount]) -> None:
    found = distributions(counts)
    for level in {count.difficulty for count in counts}:
        whole = next(one for one in found if (one.difficulty, one.domain) == (level, ALL))
        parts = [one for one in found if one.difficulty == level and one.domain != ALL]
        assert whole.games == sum(part.games for part in parts)
        assert whole.mean_tests == pytest.approx(fmean(c.tests for c in counts if c.difficulty == level))
    assert distributions(reversed(counts)) == found


def test_the_command_solves_the_games_of_a_task(tmp_path: Path) -> None:
    output = OptimalAnalysis().run([], task=("kumo_easy",), output=str(tmp_path))
    assert [row[1] for row in output.rows] == ["chemical", "education", "fantasy", "medical", "music", ALL]
    assert [row[2] for row in output.rows] == [50] * 5 + [250]
    assert all(row[5] == pytest.approx(row[3] + 2) for row in output.rows)
    with (tmp_path / "optimal.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert sum(int(row["games"]) for row in rows if row["domain"] == ALL) == 250
    assert (tmp_path / "optimal.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "optimal.svg").read_text()


def test_without_games_the_command_says_what_to_name() -> None:
    with pytest.raises(UsageError, match="--task"):
        OptimalAnalysis().run([])


def test_a_task_of_another_benchmark_is_refused() -> None:
    with pytest.raises(UsageError, match="not a task of KUMO"):
        OptimalAnalysis().run([], task="rat")
