"""Estimates: intervals, what is undefined, what is refused."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from creval.errors import ScoringError
from creval.scoring.clusters import Clusters
from creval.scoring.intervals import Scale
from creval.scoring.median import Median
from creval.scoring.metric_estimate import estimate
from creval.scoring.ratio import Mean, PassAtK, Rate


def one_each(values) -> Clusters:
    return Clusters.group(values, range(len(values)))


class ByHand:
    """A third party's aggregation: only the two methods of the protocol."""

    def value(self, clusters):
        return float(np.concatenate(list(clusters)).max()) if clusters else None

    def standard_error(self, clusters):
        return None


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30))
def test_the_t_interval_is_scipy_s(values):
    found = estimate(Mean(), one_each(values), "t", seed=0)
    error = stats.sem(values)
    if error > 1e-9:
        low, high = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=error)
        assert (found.ci_low, found.ci_high) == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))
        assert (found.n, found.clusters, found.method) == (len(values), len(values), "t")


@given(st.integers(0, 40), st.integers(2, 40))
def test_the_interval_of_a_share_is_scipy_s(hits, docs):
    hits = min(hits, docs)
    found = estimate(Rate(), one_each([1.0] * hits + [0.0] * (docs - hits)), "auto", seed=0)
    exact = stats.binomtest(hits, docs).proportion_ci(0.95, "exact")
    assert (found.ci_low, found.ci_high) == (pytest.approx(exact.low, abs=1e-9), pytest.approx(exact.high, abs=1e-9))
    assert found.method == "clopper_pearson"


def test_repeats_of_a_doc_are_no_further_tries():
    once, often = (Clusters.group([1.0, 0.0, 1.0] * times, [0, 1, 2] * times) for times in (1, 8))
    first, second = (estimate(Mean(), each, "auto", 0, Scale(binary=True)) for each in (once, often))
    assert (first.ci_low, first.ci_high) == pytest.approx((second.ci_low, second.ci_high))


def test_none_of_three_is_no_certain_zero():
    found = estimate(Mean(), one_each([0.0, 0.0, 0.0]), "auto", 0, Scale(binary=True))
    assert (found.ci_low, found.ci_high) == (0.0, pytest.approx(1 - 0.025 ** (1 / 3)))


@pytest.mark.parametrize("method", ["auto", "t", "cluster_bootstrap"])
@pytest.mark.parametrize("value", [0.0, 0.1, 71.3])
def test_scores_that_are_all_equal_have_no_interval_but_a_reason(method, value):
    found = estimate(Mean(), one_each([value] * 7), method, seed=0)
    assert (found.ci_low, found.ci_high, found.method) == (None, None, "none")
    assert found.no_interval == "nothing varies between the docs"


def test_an_interval_stays_in_the_range_without_being_cut():
    values = one_each([0.0, 0.1, 199.0])
    wide, within, half = (
        estimate(Mean(), values, "auto", 0, scale) for scale in (Scale(), Scale(0, 200), Scale(0, None))
    )
    assert wide.ci_low < 0 and wide.ci_high > 200 and wide.method == "t"
    assert 0 < within.ci_low < within.value < within.ci_high < 200 and within.method == "logit_t"
    assert 0 < half.ci_low < half.value < wide.ci_high < half.ci_high and half.method == "log_t"
    under = estimate(Mean(), one_each([0.0, -0.1, -199.0]), "auto", 0, Scale(None, 0))
    assert (under.ci_low, under.ci_high) == (-half.ci_high, -half.ci_low)


def test_far_from_its_bounds_an_interval_is_that_of_t():
    values = np.random.default_rng(3).normal(100, 1, 50)
    plain, within = (estimate(Mean(), one_each(values), "auto", 0, scale) for scale in (Scale(), Scale(0, 200)))
    assert (within.ci_low, within.ci_high) == (
        pytest.approx(plain.ci_low, abs=1e-3),
        pytest.approx(plain.ci_high, abs=1e-3),
    )


_RANGES = st.sampled_from([(0, 1), (-1, 1), (0, 200), (0, None), (-1, None), (None, 5), (2.5, 2.75)])
_PLACES = st.floats(0, 1) | st.sampled_from([0.0, 1.0])


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(_PLACES, min_size=1, max_size=4), min_size=2, max_size=12),
    _RANGES,
    st.sampled_from([Mean(), Median(), ByHand(), Rate(), PassAtK(1)]),
    st.sampled_from(["auto", "cluster_bootstrap"]),
    st.integers(0, 1000),
)
def test_no_interval_leaves_the_declared_range(docs, bounds, aggregation, method, seed):
    """Nor does one leave out its own number."""
    low, high = bounds
    low, width = (low, 10 if high is None else high - low) if low is not None else (high - 10, 10)
    values = np.array([low + width * place for doc in docs for place in doc])
    labels = [number for number, doc in enumerate(docs) for _ in doc]
    weights = np.random.default_rng(seed).integers(1, 61, len(values)) * 1.0 if seed % 2 else None
    clusters = Clusters.group(values, labels, weights if isinstance(aggregation, Mean) else None)
    with patch("creval.scoring.intervals.REPLICATES", 50):
        found = estimate(aggregation, clusters, method, seed, Scale(*bounds))
    if getattr(aggregation, "share", False):
        bounds = (0, 1)
    if found.ci_low is not None:
        assert bounds[0] is None or bounds[0] <= found.ci_low
        assert bounds[1] is None or found.ci_high <= bounds[1]
        assert method != "auto" or found.ci_low - 1e-9 <= found.value <= found.ci_high + 1e-9


@pytest.mark.parametrize("noise", [[0, 4.4e-16, 0, 0], [0.1 + 0.2, 0.3, 0.3], [1e-13, 0.0, 0.0], [-2e-16, 2e-16, 0.0]])
@pytest.mark.parametrize("scale", [Scale(), Scale(0, None), Scale(0, 1), Scale(-1, 1)])
def test_values_equal_but_for_rounding_have_no_interval(noise, scale):
    for aggregation in (Mean(), Median(), ByHand()):
        found = estimate(aggregation, one_each([*noise, *noise]), "auto", 0, scale)
        assert (found.ci_low, found.no_interval) == (None, "nothing varies between the docs")


def test_a_score_outside_the_range_makes_no_interval():
    found = estimate(Mean(), one_each([0.5, 1.5]), "auto", 0, Scale(0, 1))
    assert (found.value, found.ci_low) == (1.0, None)
    assert found.no_interval == "a score of 1.5 lies outside the declared range"
    assert estimate(Mean(), one_each([0.5, 1 + 1e-7]), "auto", 0, Scale(0, 1)).ci_low is not None  # rounding


def test_a_share_of_scores_on_another_scale_lies_in_0_to_1():
    found = estimate(Rate(at_least=100), one_each([150.0, 20.0, 180.0]), "auto", 0, Scale(0, 200))
    assert found.method == "clopper_pearson"
    assert 0 <= found.ci_low < found.value < found.ci_high <= 1


def test_pass_at_k_counts_only_docs_with_an_estimate():
    """Three docs with two tries each and five with one: the same as the three alone."""
    tries = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    three = Clusters.group(tries, [0, 0, 1, 1, 2, 2])
    eight = Clusters.group([*tries, *[1.0] * 5], [0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7])
    for method in ("auto", "t", "cluster_bootstrap"):
        assert estimate(PassAtK(k=2), eight, method, 0) == estimate(PassAtK(k=2), three, method, 0)
    found = estimate(PassAtK(k=2), eight, "t", 0)
    assert (found.clusters, found.n) == (3, 6)


def test_pass_at_k_with_one_usable_doc_has_neither_error_nor_interval():
    clusters = Clusters.group([1.0, 0.0, 1.0, 0.0], [0, 0, 1, 2])
    found = estimate(PassAtK(k=2), clusters, "auto", 0)
    assert (found.value, found.clusters) == (1.0, 1)
    assert (found.standard_error, found.ci_low, found.no_interval) == (None, None, "there is one doc only")


def test_the_median_of_four_docs_has_neither_error_nor_interval():
    found = estimate(Median(), one_each([1.0, 2.0, 3.0, 9.0]), "auto", 0)
    assert (found.value, found.standard_error, found.ci_low) == (2.5, None, None)
    assert found.no_interval == "there are fewer than 5 docs"
    found = estimate(Median(), one_each([1.0, 2.0, 3.0, 4.0, 9.0]), "auto", 0)
    assert (found.ci_low, found.ci_high, found.method) == (1.0, 9.0, "order_statistics")


def test_trials_are_named_where_they_are_the_unit():
    found = estimate(Mean(), Clusters.trials([1.0, 2.0, 4.0]), "auto", 0)
    assert (found.unit, found.clusters, found.method) == ("trial", 3, "t")
    assert found.standard_error == pytest.approx(stats.sem([1.0, 2.0, 4.0]))
    assert estimate(Mean(), Clusters.trials([1.0]), "auto", 0).no_interval == "there is one trial only"


@pytest.mark.parametrize("method", ["t", "cluster_bootstrap"])
def test_95_of_100_intervals_hold_the_truth(method):
    """400 studies of 50 docs x 3 dependent repeats: 95 % coverage within four standard errors of the share."""
    random = np.random.default_rng(5)
    hits = 0
    for study in range(400):
        labels = np.repeat(np.arange(50), 3)
        values = np.repeat(random.normal(2.0, 1.0, 50), 3) + random.normal(0, 0.3, 150)
        found = estimate(Mean(), Clusters.group(values, labels), method, seed=study)
        hits += found.ci_low <= 2.0 <= found.ci_high
    assert 0.90 < hits / 400 < 0.99


def test_ignoring_the_repeats_would_be_far_too_sure():
    """The same studies with every sample taken as a doc of its own: the mutant that clustering guards against."""
    random = np.random.default_rng(5)
    hits = 0
    for _ in range(400):
        values = np.repeat(random.normal(2.0, 1.0, 50), 3) + random.normal(0, 0.3, 150)
        found = estimate(Mean(), one_each(values), "t", seed=0)
        hits += found.ci_low <= 2.0 <= found.ci_high
    assert hits / 400 < 0.85


@pytest.mark.parametrize("aggregation", [Mean(), Rate(at_least=0.5), Median(), PassAtK(k=2, at_least=0.5)])
def test_the_bootstrap_is_repeatable(aggregation):
    random = np.random.default_rng(1)
    clusters = Clusters.group(random.random(60), np.repeat(np.arange(20), 3))
    first, again = (estimate(aggregation, clusters, "cluster_bootstrap", seed) for seed in (1, 1))
    assert first == again
    assert first.ci_low <= first.value <= first.ci_high


def test_another_seed_gives_another_interval():
    clusters = one_each(np.random.default_rng(1).random(60))
    assert len({estimate(Mean(), clusters, "cluster_bootstrap", seed).ci_low for seed in range(5)}) == 5


@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(0, 1, width=16), min_size=3, max_size=8, unique=True))
def test_any_aggregation_can_be_bootstrapped(values):
    """It has no standard error, so that the default bootstraps it too."""
    found = estimate(ByHand(), one_each(values), "cluster_bootstrap", seed=0)
    assert found.value == max(values)
    assert min(values) <= found.ci_low < found.ci_high <= max(values)
    assert estimate(ByHand(), one_each(values), "auto", seed=0) == found
    assert estimate(ByHand(), one_each(values), "t", seed=0).no_interval == "the aggregation has no standard error"


class Plain(Mean):
    """The mean without the fast way."""

    def __getattribute__(self, name):
        if name == "parts":
            raise AttributeError(name)
        return super().__getattribute__(name)

    def value(self, clusters):
        return Mean().value(clusters)

    def standard_error(self, clusters):
        return Mean().standard_error(clusters)


def test_the_fast_bootstrap_gives_what_the_plain_one_gives():
    clusters = Clusters.group(np.random.default_rng(2).random(30), np.repeat(np.arange(10), 3))
    fast, plain = (estimate(a, clusters, "cluster_bootstrap", 9) for a in (Mean(), Plain()))
    assert (fast.ci_low, fast.ci_high) == pytest.approx((plain.ci_low, plain.ci_high), rel=1e-12)


def test_one_doc_has_a_value_and_no_uncertainty():
    found = estimate(Mean(), Clusters.group([1.0, 0.0], [0, 0]), "cluster_bootstrap", seed=0)
    assert found.value == 0.5
    assert (found.standard_error, found.ci_low, found.ci_high, found.method) == (None, None, None, "none")


def test_no_docs_have_no_value():
    found = estimate(Mean(), Clusters.group([], []), "t", seed=0)
    assert (found.value, found.n, found.clusters) == (None, 0, 0)


def test_what_is_no_number_is_an_error():
    with pytest.raises(ScoringError, match="not a finite number"):
        estimate(Mean(), one_each([1.0, float("nan")]), "t", seed=0)

    class Broken(ByHand):
        def value(self, clusters):
            return float("nan")

    with pytest.raises(ScoringError, match="not a number"):
        estimate(Broken(), one_each([1.0, 2.0]), "none", seed=0)


def test_none_is_a_method():
    found = estimate(Mean(), one_each([1.0, 2.0]), "none", seed=0)
    assert (found.ci_low, found.method) == (None, "none")
    assert found.standard_error == pytest.approx(0.5)


def test_a_hundred_thousand_samples_hold_little_memory():
    """Counted by tracemalloc: the blocks of the bootstrap, not 2,000 x 100,000 numbers at once (1.6 GB)."""
    import tracemalloc

    values = np.random.default_rng(0).random(100_000)
    clusters = Clusters.group(values, np.repeat(np.arange(25_000), 4))
    tracemalloc.start()
    estimate(Mean(), clusters, "cluster_bootstrap", seed=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000
