"""The difference of two runs against scipy on the same pairs, by simulation, and by what must hold of any data."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from creval.scoring.clusters import Clusters
from creval.scoring.intervals import ANY, Scale
from creval.scoring.median import Median
from creval.scoring.ratio import Mean, PassAtK, Rate
from creval_compare.metric_comparison import letters, pairs
from creval_compare.paired import (
    POWER,
    Difference,
    Pairs,
    compare_pairs,
    detectable_mean,
    detectable_share,
    paired_means,
)
from creval_compare.significance import ALPHA, holm, mcnemar, swap_test
from creval_compare.trials import compare_trials

BINARY = Scale(0.0, 1.0, True)


def clusters(docs: Sequence[Sequence[float]]) -> Clusters:
    labels = [number for number, values in enumerate(docs) for _ in values]
    return Clusters.group([value for values in docs for value in values], labels)


def paired(one: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> Pairs:
    return Pairs(tuple(f"d{i:03}" for i in range(len(one))), clusters(one), clusters(other))


def singles(one: Sequence[float], other: Sequence[float]) -> Pairs:
    return paired([[value] for value in one], [[value] for value in other])


def mean_difference(a: Any, b: Any, axis: int = -1) -> Any:
    return np.mean(b, axis=axis) - np.mean(a, axis=axis)


def test_values_by_doc_are_compared_over_the_docs_that_both_have() -> None:
    one, other = {"b": 0.0, "a": 1.0, "c": 0.0, "x": 9.0}, {"a": 1.0, "b": 1.0, "c": 0.5, "y": 9.0}
    assert paired_means(one, other) == compare_pairs(Mean(), paired([[1], [0], [0]], [[1], [1], [0.5]]))._replace()
    shares = paired_means({"a": 0.0, "b": 1.0}, {"a": 1.0, "b": 1.0}, binary=True)
    assert (shares.docs, shares.value, shares.method, shares.gained) == (2, 0.5, "bonett_price", ("a",))
    assert paired_means({"a": 1.0}, {"b": 1.0})[:4] == (0, None, None, None)


@pytest.mark.parametrize("docs", [6, 9, 12])
def test_means_are_those_of_scipy(docs: int) -> None:
    random = np.random.default_rng(docs)
    one, other = random.normal(size=docs), random.normal(0.8, 1, size=docs)
    found = compare_pairs(Mean(), singles(one, other))
    interval = stats.ttest_rel(other, one).confidence_interval(0.95)
    assert (found.value, found.low, found.high) == pytest.approx((np.mean(other - one), *interval))
    exact = stats.permutation_test((one, other), mean_difference, permutation_type="samples", n_resamples=2**docs)
    assert found.p_value == pytest.approx(max(exact.pvalue, stats.ttest_rel(other, one).pvalue))
    assert (found.method, found.test, found.docs) == ("t", "swap", docs)


def test_beyond_the_exact_test_random_swaps_come_near_it() -> None:
    random = np.random.default_rng(3)
    one, other = random.normal(size=18), random.normal(0.6, 1, size=18)
    exact = stats.permutation_test((one, other), mean_difference, permutation_type="samples", n_resamples=2**18).pvalue
    found = swap_test(Mean(), *(clusters([[x] for x in side]) for side in (one, other)), seed=1)
    assert found == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 9_999))


def test_shares_are_tested_by_exact_mcnemar_as_scipy_has_it() -> None:
    one = [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    other = [1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1]
    found = compare_pairs(Mean(), singles(one, other), BINARY)
    assert found.p_value == pytest.approx(stats.binomtest(7, 8).pvalue)
    assert (found.test, found.method, found.value) == ("mcnemar", "bonett_price", pytest.approx(0.5))
    assert (found.gained, found.lost) == (tuple(f"d{i:03}" for i in range(3, 10)), ("d002",))
    by_threshold = compare_pairs(Rate(at_least=0.5), singles([x * 0.7 for x in one], [x * 0.6 for x in other]))
    assert by_threshold == found, "a rate is a share, whatever its scores are"


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_for_any_counts(wins: int, losses: int) -> None:
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert mcnemar(wins, losses) == pytest.approx(expected)


def test_repeats_count_as_their_doc() -> None:
    """The difference of a doc's means, one per doc, is what is tested: repeats add no evidence."""
    random = np.random.default_rng(5)
    one, other = random.normal(size=(10, 4)), random.normal(0.5, 1, size=(10, 4))
    found = compare_pairs(Mean(), paired(one.tolist(), other.tolist()))
    means = one.mean(axis=1), other.mean(axis=1)
    assert (found.low, found.high) == pytest.approx(tuple(stats.ttest_rel(means[1], means[0]).confidence_interval()))
    doubled = compare_pairs(Mean(), paired(np.tile(one, 3).tolist(), np.tile(other, 3).tolist()))
    assert doubled[:6] == pytest.approx(found[:6]) and doubled.p_value == pytest.approx(found.p_value)


def test_trials_are_those_of_scipy() -> None:
    random = np.random.default_rng(8)
    one, other = random.normal(size=30), random.normal(0.7, 2, size=22)
    found = compare_trials(Mean(), (Clusters.trials(one), Clusters.trials(other)), seed=1)
    welch = stats.ttest_ind(other, one, equal_var=False)
    assert (found.low, found.high) == pytest.approx(tuple(welch.confidence_interval(0.95)))
    permuted = stats.permutation_test((one, other), mean_difference, n_resamples=9_999, rng=np.random.default_rng(0))
    assert found.p_value == pytest.approx(max(welch.pvalue, permuted.pvalue), abs=0.03)
    assert (found.method, found.test) == ("welch", "permutation")
    still = compare_trials(Mean(), (Clusters.trials([1.0] * 5), Clusters.trials([1.0] * 5)))
    assert (still.low, still.no_interval, still.p_value) == (None, "nothing varies between the trials", 1.0)


@pytest.mark.parametrize(
    ("one", "other", "scale"),
    [
        ([0, 1], [1, 1], Scale(0, 1, True)),
        ([0, 0, 0], [1, 1, 0], Scale(0, 1, True)),
        ([1, 1, 1, 0], [0, 0], Scale(0, 1, True)),
        ([1, 5], [5, 5, 4], Scale(1, 5)),
        ([-1, -0.9], [0.9, 1, -0.2], Scale(-1, 1)),
    ],
)
def test_a_difference_of_trials_stays_within_the_possible(one: list[float], other: list[float], scale: Scale) -> None:
    most = (1 if scale.high is None else scale.high) - (scale.low or 0)
    found = compare_trials(Mean(), (Clusters.trials(one), Clusters.trials(other)), scale)
    assert found.low is not None and found.high is not None and found.value is not None
    assert -most <= found.low < found.value < found.high <= most
    free = compare_trials(Mean(), (Clusters.trials(one), Clusters.trials(other)))
    assert free.low is not None and free.high is not None and max(-free.low, free.high) > most


def test_paired_means_stay_within_their_scale() -> None:
    one, other = {"a": 0.0, "b": 0.1, "c": 0.0}, {"a": 1.0, "b": 0.2, "c": 0.9}
    free, found = paired_means(one, other), paired_means(one, other, scale=(0.0, 1.0))
    assert free.high is not None and free.high > 1
    assert found.high is not None and 0.6 < found.high <= 1 and found[:4] == free[:4]


def test_the_median_is_resampled_by_docs_and_tested_by_swaps() -> None:
    random = np.random.default_rng(2)
    one, other = random.normal(size=40), random.normal(2, 1, size=40)
    found = compare_pairs(Median(), singles(one, other), seed=4)
    assert found.value == pytest.approx(np.median(other) - np.median(one)) and found.method == "cluster_bootstrap"
    boot = stats.bootstrap(
        (one, other), lambda a, b, axis: np.median(b, axis=axis) - np.median(a, axis=axis),
        paired=True, vectorized=True, method="percentile", rng=np.random.default_rng(0),
    ).confidence_interval  # fmt: skip
    assert (found.low, found.high) == pytest.approx((boot.low, boot.high), abs=0.25)
    assert found.p_value == pytest.approx(1 / 1000)
    few = compare_pairs(Median(), singles([1, 2, 3], [3, 2, 4]))
    assert (few.low, few.no_interval) == (None, "there are fewer than 5 docs")


def test_docs_with_too_few_tries_are_left_out() -> None:
    one = [[1, 0, 1], [0, 0], [1, 1, 1], [0, 0, 0]]
    other = [[1, 1, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0]]
    found = compare_pairs(PassAtK(k=3), paired(one, other))
    assert (found.docs, found.one, found.other) == (3, pytest.approx(2 / 3), pytest.approx(1))


def test_where_nothing_can_be_said_it_is_not() -> None:
    single = compare_pairs(Mean(), singles([1.0], [2.0]))
    assert (single.value, single.low, single.p_value, single.no_interval) == (1, None, None, "there is one doc only")
    empty = compare_pairs(Mean(), singles([], []))
    assert (empty.value, empty.docs) == (None, 0)
    same = compare_pairs(Mean(), singles([1.0, 2.0, 4.0], [2.0, 3.0, 5.0]))
    assert (same.low, same.no_interval) == (None, "the difference is the same on every doc")
    for found in (single, empty):
        assert found.verdict(True) == found.verdict(True, 0.5) == "cannot tell"


def test_verdicts() -> None:
    clear = Difference(20, 0.5, 0.7, 0.2, 0.1, 0.3, p_value=0.001)
    assert [clear.verdict(way) for way in (True, False, None)] == ["better", "worse", "higher"]
    assert clear.verdict(True, 0.25) == "better" and clear.verdict(True, 0.3) == "equivalent"
    open_ = Difference(20, 0.5, 0.5, 0.01, -0.1, 0.12, p_value=0.7)
    assert (open_.verdict(True), open_.verdict(True, 0.1), open_.verdict(True, 0.12)) == (
        "cannot tell", "cannot tell", "equivalent",
    )  # fmt: skip


def test_holm_as_published() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.6]) == [1.0, 1.0] and holm([]) == []


VALUES = st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=1, max_size=3), min_size=2, max_size=7)


@given(VALUES, st.data())
@settings(deadline=None)
def test_turning_the_runs_round_turns_the_difference_round(one: list[list[float]], data: st.DataObject) -> None:
    other = [data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=1, max_size=3)) for _ in one]
    forth, back = (compare_pairs(Mean(), paired(*sides)) for sides in ((one, other), (other, one)))
    assert forth.value == pytest.approx(-back.value)  # type: ignore[operator]
    assert forth.p_value == pytest.approx(back.p_value)
    if forth.low is not None and forth.high is not None:
        assert back.low == pytest.approx(-forth.high) and back.high == pytest.approx(-forth.low)
        assert forth.low <= forth.value <= forth.high  # type: ignore[operator]


@given(st.integers(1, 7), st.data())
def test_groups_say_neither_more_nor_less_than_the_pairs(count: int, data: st.DataObject) -> None:
    different = data.draw(st.sets(st.sampled_from(pairs(count)))) if count > 1 else set()
    groups = letters(count, different)
    assert all(groups)
    for one, other in pairs(count):
        assert bool(set(groups[one]) & set(groups[other])) == ((one, other) not in different)


def test_groups_of_a_chain() -> None:
    """The first and the last can be told apart, neighbours cannot."""
    assert letters(3, [(0, 2)]) == ["a", "ab", "b"]
    assert letters(4, []) == ["a"] * 4
    assert letters(3, [(0, 1), (0, 2), (1, 2)]) == ["a", "b", "c"]


def share_of(verdict: str, studies: int, seed: int, make: Any, **given: Any) -> float:
    random = np.random.default_rng(seed)
    found = [compare_pairs(Mean(), make(random), seed=study, **given).verdict(True) for study in range(studies)]
    return found.count(verdict) / studies


def normal(docs: int, shift: float = 0.0, repeats: int = 1) -> Any:
    def make(random: np.random.Generator) -> Pairs:
        difficulty = random.normal(0, 2, size=(docs, 1))
        own = [difficulty + random.normal(size=(docs, 1)) * (repeats > 1) for _ in range(2)]
        sides = [each + random.normal(size=(docs, repeats)) for each in own]
        return paired(sides[0].tolist(), (sides[1] + shift).tolist())

    return make


def coins(docs: int, repeats: int = 1) -> Any:
    def make(random: np.random.Generator) -> Pairs:
        chance = random.beta(0.7, 0.7, size=(docs, 1))
        sides = [(random.random((docs, repeats)) < chance).astype(float) for _ in range(2)]
        return paired(sides[0].tolist(), sides[1].tolist())

    return make


def skewed(docs: int) -> Any:
    def make(random: np.random.Generator) -> Pairs:
        return singles(random.exponential(size=docs), random.exponential(size=docs))

    return make


@pytest.mark.parametrize("docs", [5, 7, 12, 40])
def test_equal_models_are_called_better_in_five_of_a_hundred_at_most(docs: int) -> None:
    """By the test's own construction 2.5 of 100; 400 studies a kind, 3 standard errors allowed above that."""
    kinds: list[tuple[Any, Scale]] = [
        (normal(docs), ANY),
        (normal(docs, repeats=3), ANY),
        (skewed(docs), ANY),
        (coins(docs), BINARY),
        (coins(docs, repeats=3), BINARY),
    ]
    for number, (make, scale) in enumerate(kinds):
        found = share_of("better", 400, 100 * docs + number, make, scale=scale)
        assert found <= 0.025 + 3 * (0.025 * 0.975 / 400) ** 0.5 < 0.05
        if docs == 5:
            assert found == 0, "no test of five docs reaches 5 %"


@pytest.mark.parametrize("docs", [6, 8, 9, 10, 30])
def test_the_smallest_difference_is_found_four_times_in_five(docs: int) -> None:
    least = detectable_mean(docs, 2**0.5)
    assert least is not None
    found = share_of("better", 500, docs, normal(docs, shift=least))
    assert found == pytest.approx(POWER, abs=3.5 * (0.8 * 0.2 / 500) ** 0.5)


@pytest.mark.parametrize(("docs", "differing"), [(6, 0), (10, 3), (25, 5), (60, 24), (200, 10)])
def test_the_smallest_difference_of_shares_is_found_four_times_in_five(docs: int, differing: int) -> None:
    """Exactly, over all outcomes."""
    least = detectable_share(docs, differing)
    assert least is not None
    rate = max(least, differing / docs)
    up, down = (rate + least) / 2, (rate - least) / 2
    power = 0.0
    for m in range(docs + 1):
        share = stats.binom.pmf(m, docs, rate)
        if share > 1e-12:
            wins = [k for k in range(m + 1) if 2 * k > m and mcnemar(k, m - k) <= ALPHA]
            power += share * sum(stats.binom.pmf(k, m, up / (up + down)) for k in wins)
    assert power == pytest.approx(POWER, abs=1e-3)


def test_too_few_docs_can_show_nothing() -> None:
    assert detectable_mean(5, 1.0) is detectable_share(5, 5) is None
    assert detectable_mean(8, 0.0) is None


def test_no_difference_above_the_range_can_be_detected() -> None:
    one, other = {f"d{n}": float(n % 2) for n in range(6)}, {f"d{n}": float(n // 3) for n in range(6)}
    assert paired_means(one, other).detectable > 1  # nothing is known of the values
    assert paired_means(one, other, scale=(0.0, 1.0)).detectable is None
    assert paired_means(one, other, scale=(0.0, 100.0)).detectable is not None
    first, second = (Clusters.group([0.0, 1.0, *last], range(4)) for last in ((0.0, 1.0), (1.0, 0.0)))
    assert compare_trials(Mean(), (first, second)).detectable > 1
    assert compare_trials(Mean(), (first, second), Scale(0.0, 1.0)).detectable is None
    assert all(mcnemar(5 - k, k) > ALPHA for k in range(6))


@pytest.mark.parametrize("docs", [5, 10, 30])
def test_the_interval_of_shares_covers_the_truth(docs: int) -> None:
    """Exactly, over all outcomes, for shares of docs that either run alone meets from 0 to 1."""
    made = {
        (up, down): compare_pairs(Mean(), singles([0] * up + [1] * down + [1] * (docs - up - down),
                                                  [1] * up + [0] * down + [1] * (docs - up - down)), BINARY)
        for up, down in itertools.product(range(docs + 1), repeat=2) if up + down <= docs
    }  # fmt: skip
    outcomes = np.array(list(made))
    full = np.column_stack([outcomes, docs - outcomes.sum(axis=1)])
    low, high = (np.array([getattr(found, end) for found in made.values()]) for end in ("low", "high"))
    for up, down in itertools.product(np.linspace(0, 1, 6), repeat=2):
        if up + down <= 1:
            covers = (low - 1e-12 <= up - down) & (up - down <= high + 1e-12)
            weights = stats.multinomial.pmf(full, docs, [up, down, max(0.0, 1 - up - down)])
            assert float(weights[covers].sum()) >= 0.93, (up, down)


def _answers(random: np.random.Generator, docs: int, shares: tuple[float, float], repeats: int) -> Pairs:
    """0/1 answers of two models: a doc's difficulty is common to both (.8), its repeats depend on each other (.8)."""
    difficulty = random.normal(size=(docs, 1))
    sides = []
    for share in shares:
        level = np.sqrt(0.8) * difficulty + np.sqrt(0.2) * random.normal(size=(docs, 1))
        noise = random.normal(size=(docs, repeats))
        hits = np.sqrt(0.8) * level + np.sqrt(0.2) * noise < stats.norm.ppf(share)
        sides.append(clusters(hits.astype(float).tolist()))
    return Pairs(tuple(map(str, range(docs))), *sides)


@pytest.mark.parametrize("shares", [(0.9, 0.99), (0.1, 0.6), (0.97, 0.97)])
@pytest.mark.parametrize("docs", [5, 10, 30])
def test_the_interval_of_shares_of_several_repeats_covers_the_truth(docs: int, shares: tuple[float, float]) -> None:
    random = np.random.default_rng(docs)
    held = 0
    with patch("creval_compare.paired.swap_test", lambda *_: 0.0):  # the interval alone
        for _ in range(400):
            found = compare_pairs(Mean(), _answers(random, docs, shares, 4), BINARY)
            held += found.low <= shares[1] - shares[0] <= found.high
    assert held >= 0.935 * 400


_SCALES = st.sampled_from([ANY, BINARY, Scale(0, 1), Scale(0, None)])


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), _SCALES, st.sampled_from([Mean(), Median(), PassAtK(1)]), st.integers(0, 10**6))
def test_interval_p_value_and_verdict_agree(docs: int, scale: Scale, aggregation: Any, seed: int) -> None:
    """Whatever is drawn: 0 lies in the interval where p is above 5 %, and the verdict says so; no end is impossible."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 5, size=docs)
    shift = random.choice([0.0, 0.3, 0.9])
    sides = [[(random.random(size) < 0.5 + move).astype(float) for size in sizes] for move in (-shift / 2, shift / 2)]
    if not scale.binary and seed % 2:
        sides = [[values * random.random(len(values)) for values in side] for side in sides]
    with (
        patch("creval_compare.significance.SWAPS", 199),
        patch("creval_compare.significance.SLOW_SWAPS", 99),
        patch("creval.scoring.intervals.REPLICATES", 200),
    ):
        found = compare_pairs(aggregation, paired(*sides), scale, seed=seed)
    if found.low is None:
        return
    assert (found.low <= 0 <= found.high) == (found.p_value > ALPHA)
    assert (found.verdict(True) == "cannot tell") == (found.low <= 0 <= found.high)
    assert found.low <= found.value <= found.high or aggregation == Median()
    if scale.high is not None:
        assert -1 <= found.low <= found.high <= 1
