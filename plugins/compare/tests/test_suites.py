"""Suites that report numbers of their own, compared as wholes: by hand from the differences of their tasks."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from support.small_suite import SUITE, YES, write_small_suite

import creval
from creval import RunOptions, run
from creval.errors import RunError, UnknownNameError


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("suite")
    suite = write_small_suite(folder)
    made = [folder / "runs" / name for name in ("floor", "ceiling", "part")]
    for place, limit in zip(made, (None, None, 8), strict=True):
        model = "baseline/ceiling" if place.name == "ceiling" else "baseline/floor"
        run([suite], model, RunOptions(output=place, limit=limit))
    return made


def test_a_suites_difference_adds_those_of_its_tasks(folders: list[Path]) -> None:
    found = {(each.task, each.metric): each for each in creval.compare(folders[:2]).comparisons}
    assert list(found) == [("both", "exact_match"), ("both", "pooled"), ("a", "exact_match"), ("b", "exact_match")]
    macro, pooled = (found["both", name].contrasts[0].difference for name in ("exact_match", "pooled"))
    a, b = (found[name, "exact_match"].contrasts[0].difference for name in YES)
    assert macro.one == pytest.approx((0.9 + 17 / 30) / 2) and macro.other == pytest.approx((0.1 + 13 / 30) / 2)
    assert pooled.value == pytest.approx(0.25 * a.value + 0.75 * b.value)
    assert (macro.docs, macro.test, macro.method) == (40, "t", "t")
    assert macro.low is not None and macro.high is not None and macro.low < macro.value < macro.high < 0
    assert found["both", "exact_match"].contrasts[0].verdict == "worse"


def test_the_interval_of_a_suite_is_by_hand(folders: list[Path]) -> None:
    """Bonett and Price for each task, then Welch and Satterthwaite."""
    squares, centre = [], 0.0
    for right, count in YES.values():
        gained, lost = count - right, right
        first, second = (gained + 1) / (count + 2), (lost + 1) / (count + 2)
        centre += (first - second) / 2
        squares.append(((first + second - (first - second) ** 2) / (count + 2) / 4, count - 1))
    error = math.sqrt(sum(square for square, _ in squares))
    freedom = error**4 / sum(square**2 / free for square, free in squares)
    (macro, *_) = creval.compare(folders[:2], tasks=["both"]).comparisons
    difference = macro.contrasts[0].difference
    reach = stats.t.ppf(0.975, freedom)
    assert (difference.low, difference.high) == pytest.approx((centre - reach * error, centre + reach * error))
    assert difference.p_value == pytest.approx(2 * stats.t.cdf(-abs(centre) / error, freedom))


def test_numbers_of_suites_are_adjusted_apart_from_tasks(folders: list[Path]) -> None:
    found = creval.compare(folders[:2])
    tests = {(each.task, each.metric): each.tests for each in found.comparisons}
    assert tests == {
        ("both", "exact_match"): 1,
        ("both", "pooled"): 1,
        ("a", "exact_match"): 2,
        ("b", "exact_match"): 2,
    }
    asked = creval.compare(folders[:2], metrics=["exact_match", "pooled"])
    assert [each.tests for each in asked.comparisons] == [2, 2, 2, 2]
    assert any("2 metrics asked for of suites are adjusted by Holm for 2 tests" in note for note in asked.notes)


def test_a_suite_is_chosen_by_name_and_ranked(folders: list[Path], said: Any) -> None:
    only = creval.compare(folders[:2], tasks=["both"], primary=True)
    assert [(each.task, each.metric) for each in only.comparisons] == [("both", "exact_match")]
    tasks = creval.compare(folders[:2], tasks=["a"])
    assert [each.task for each in tasks.comparisons] == ["a"]
    ranked = creval.compare(folders, tasks=["both"], metrics=["pooled"])
    (pooled,) = ranked.comparisons
    assert pooled.docs == 16 and [each.run for each in pooled.ranking][-1] == 1
    assert any("the docs that were chosen" in note for note in ranked.notes)
    code, out, _ = said("compare", str(folders[0]), str(folders[1]), "--task", "both", "--all")
    assert code == 0 and "pooled" in out and "worse" in out
    with pytest.raises(UnknownNameError, match="both"):
        creval.compare(folders[:2], tasks=["bot"])


def test_a_suite_of_other_tasks_is_not_compared(folders: list[Path], tmp_path: Path) -> None:
    here = folders[0].parent.parent
    (here / "other.yaml").write_text(SUITE.replace("[./a.yaml, ./b.yaml]", "[./a.yaml]"))
    run([str(here / "other.yaml")], "baseline/floor", RunOptions(output=tmp_path / "other"))
    found = creval.compare([folders[0], tmp_path / "other"])
    assert [each.task for each in found.comparisons] == ["a"]
    assert any("both: exact_match not compared" in note for note in found.notes)


def test_a_changed_task_of_a_suite_is_refused(folders: list[Path], tmp_path: Path) -> None:
    suite = write_small_suite(tmp_path)
    (tmp_path / "b.yaml").write_text((tmp_path / "b.yaml").read_text().replace("{{ id }}", "{{ id }}?"))
    run([suite], "baseline/floor", RunOptions(output=tmp_path / "run"))
    with pytest.raises(RunError, match="'b' differ in the task itself"):
        creval.compare([folders[0], tmp_path / "run"], tasks=["both"])
    assert creval.compare([folders[0], tmp_path / "run"], tasks=["both"], force=True).comparisons
