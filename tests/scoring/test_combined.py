"""Numbers made of several metrics over the same docs, and means over groups: values, errors, coverage."""

from __future__ import annotations

import numpy as np
import pytest

from creval.scoring.clusters import Clusters
from creval.scoring.combined import Combined, averaged, joined
from creval.scoring.metric_estimate import estimate
from creval.scoring.ratio import Mean, PassAtK, Rate
from creval_compare.paired import Pairs, compare_pairs


def two(first: list[float], second: list[float], rows: tuple[list[int], list[int]] | None = None) -> Clusters:
    numbers = rows or (list(range(len(first))), list(range(len(second))))
    parts = [
        (Mean(), Clusters.group(values, docs), np.array(docs))
        for values, docs in zip((first, second), numbers, strict=True)
    ]
    return joined(parts)[0]


@pytest.mark.parametrize(
    ("how", "value"),
    [("difference", 0.25), ("ratio", 1.5), ("f1", 0.6), ("harmonic_mean", 0.6), ("mean", 0.625)],
)
def test_values(how: str, value: float) -> None:
    clusters = two([1, 1, 1, 0], [1, 0, 1, 0])
    assert Combined(how, 2).value(clusters) == pytest.approx(value, abs=1e-15)


def test_f1_is_that_of_precision_and_recall_by_their_weights() -> None:
    hits, found, there = [2.0, 0.0, 3.0], [4.0, 1.0, 3.0], [3.0, 2.0, 5.0]
    parts = []
    for counts in (found, there):
        shares = [hit / count for hit, count in zip(hits, counts, strict=True)]
        parts.append((Mean(), Clusters.group(shares, range(3), np.array(counts)), np.arange(3)))
    precision, recall = 5 / 8, 5 / 10
    assert Combined("f1", 2).value(joined(parts)[0]) == pytest.approx(2 * precision * recall / (precision + recall))


@pytest.mark.parametrize(("how", "value"), [("f1", 0.0), ("ratio", None), ("difference", 0.0)])
def test_nothing_right_at_all(how: str, value: float | None) -> None:
    assert Combined(how, 2).value(two([0, 0], [0, 0])) == value


def test_a_ratio_that_divides_by_nothing_says_so() -> None:
    none = estimate(Combined("ratio", 2), two([1, 0], [0, 0]), "cluster_bootstrap", 1)
    assert (none.value, none.no_interval) == (None, "it divides by 0")
    seldom = estimate(Combined("ratio", 2), two([1, 0, 0, 1], [1, 0, 0, 0]), "cluster_bootstrap", 1)
    assert (seldom.value, seldom.ci_low) == (2.0, None) and "or have none" in str(seldom.no_interval)
    one, other = two([1, 0, 0, 1, 0, 1], [1, 0, 0, 0, 0, 0]), two([1, 1, 0, 1, 0, 1], [0, 0, 0, 1, 0, 0])
    found = compare_pairs(Combined("ratio", 2), Pairs(tuple("abcdef"), one, other), seed=1)
    assert found.p_value is not None and found.p_value <= 1 and found.low is None
    undefined = compare_pairs(Combined("ratio", 2), Pairs(tuple("abcdef"), one, two([1.0] * 6, [0.0] * 6)), seed=1)
    assert (undefined.other, undefined.no_interval) == (None, "it is undefined on one side")


def test_docs_that_only_one_part_has() -> None:
    clusters = two([1, 0, 1], [1, 1], ([0, 1, 2], [1, 5]))
    assert len(clusters) == 4
    assert Combined("difference", 2).value(clusters) == pytest.approx(2 / 3 - 1)


def test_a_part_that_is_the_other_one_differs_by_nothing() -> None:
    values = list(np.random.default_rng(0).integers(0, 2, 40).astype(float))
    found = estimate(Combined("difference", 2), two(values, values), "cluster_bootstrap", 1)
    assert (found.value, found.ci_low, found.standard_error) == (0.0, None, 0.0)


def test_the_resamples_are_paired() -> None:
    """Two scores that go together differ by less than their own spread says."""
    random = np.random.default_rng(3)
    easy = random.normal(0, 10, 200)
    second = easy + random.normal(1, 0.1, 200)
    found = estimate(Combined("difference", 2), two(list(second), list(easy)), "cluster_bootstrap", 1)
    assert found.ci_low is not None and found.ci_high is not None
    assert 0.9 < found.ci_low < 1 < found.ci_high + 0.05 < 1.1 and found.standard_error == pytest.approx(
        0.007, abs=0.002
    )


def test_coverage_of_f1() -> None:
    random, covered, studies = np.random.default_rng(7), 0, 150
    truth = 2 * 0.7 * 0.4 / 1.1
    for seed in range(studies):
        clusters = two(list((random.random(60) < 0.7) * 1.0), list((random.random(60) < 0.4) * 1.0))
        found = estimate(Combined("f1", 2), clusters, "cluster_bootstrap", seed)
        assert found.ci_low is not None and found.ci_high is not None
        covered += found.ci_low <= truth <= found.ci_high
    assert covered / studies > 0.9


def test_two_runs_are_compared_doc_by_doc() -> None:
    random = np.random.default_rng(5)
    base = random.random(120)
    one = two(list((base < 0.5) * 1.0), list((base < 0.6) * 1.0))
    other = two(list((base < 0.7) * 1.0), list((base < 0.8) * 1.0))
    found = compare_pairs(Combined("f1", 2), Pairs(tuple(map(str, range(120))), one, other), seed=1)
    assert (found.method, found.test, found.docs) == ("cluster_bootstrap", "swap", 120)
    assert found.value is not None and found.low is not None and found.p_value is not None
    assert found.value > 0.1 and found.low > 0 and found.p_value < 0.01
    same = compare_pairs(Combined("f1", 2), Pairs(tuple(map(str, range(120))), one, one), seed=1)
    assert same.value == 0 and same.p_value == 1.0


GROUPS = ["a", "a", "a", "a", "b", "b", "c"]
VALUES = [1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize(("how", "value"), [("micro", 4 / 7), ("macro", (0.75 + 0.5 + 0) / 3), ("weighted", 4 / 7)])
@pytest.mark.parametrize("aggregation", [Mean(), Rate(), PassAtK()])
def test_means_over_groups(aggregation: Mean | Rate | PassAtK, how: str, value: float) -> None:
    clusters = averaged(aggregation, Clusters.group(VALUES, range(7)), GROUPS, how)
    assert aggregation.value(clusters) == pytest.approx(value, abs=1e-15)
    found = estimate(aggregation, clusters, "auto", 0)
    assert found.ci_low is not None and found.ci_high is not None and found.ci_low < value < found.ci_high


def test_a_weighted_mean_counts_values_where_docs_have_weights() -> None:
    weights = np.array([1.0, 3.0, 1.0, 1.0])
    clusters = Clusters.group([1.0, 0.0, 1.0, 1.0], range(4), weights)
    macro = averaged(Mean(), clusters, ["a", "a", "b", "b"], "macro")
    assert Mean().value(macro) == pytest.approx((0.25 + 1) / 2)
    uneven = averaged(Mean(), clusters, ["a", "a", "a", "b"], "weighted")
    assert Mean().value(uneven) == pytest.approx((3 * 2 / 5 + 1) / 4)


def test_docs_of_several_tries_and_groups_of_one_doc() -> None:
    clusters = Clusters.group([1.0, 1.0, 0.0, 1.0, 0.0], [0, 0, 0, 1, 2])
    macro = averaged(Mean(), clusters, ["a", "b", "b"], "macro")
    assert Mean().value(macro) == pytest.approx((2 / 3 + 0.5) / 2)
    few = averaged(PassAtK(2), clusters, ["a", "b", "b"], "macro")  # the docs of b have one try each
    assert PassAtK(2).value(few) == 1.0


def test_equal_groups_change_nothing() -> None:
    random = np.random.default_rng(1)
    values = list((random.random(60) < 0.4) * 1.0)
    plain = estimate(Rate(), Clusters.group(values, range(60)), "auto", 0)
    macro = estimate(
        Rate(), averaged(Rate(), Clusters.group(values, range(60)), ["x", "y", "z"] * 20, "macro"), "auto", 0
    )
    assert (macro.value, macro.ci_low, macro.ci_high) == pytest.approx((plain.value, plain.ci_low, plain.ci_high))


def test_coverage_of_a_macro_mean_of_unequal_groups() -> None:
    random, covered, studies = np.random.default_rng(2), 0, 300
    sizes, shares = (40, 12, 5), (0.9, 0.5, 0.3)
    groups = [name for name, size in zip("abc", sizes, strict=True) for _ in range(size)]
    for _ in range(studies):
        values = [float(random.random() < p) for p, size in zip(shares, sizes, strict=True) for _ in range(size)]
        found = estimate(Rate(), averaged(Rate(), Clusters.group(values, range(57)), groups, "macro"), "auto", 0)
        assert found.ci_low is not None and found.ci_high is not None
        covered += found.ci_low <= sum(shares) / 3 <= found.ci_high
    assert covered / studies > 0.93
