"""Mean, rate, median and pass@k against closed forms, scipy and simulation."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from creval.errors import UsageError
from creval.scoring.clusters import Clusters, as_clusters
from creval.scoring.median import Median
from creval.scoring.ratio import Mean, PassAtK, Rate, degrees_of_freedom

VALUE = st.floats(-1e6, 1e6, allow_nan=False)
CLUSTERED = st.lists(st.lists(VALUE, min_size=1, max_size=5), min_size=1, max_size=12)


def arrays(clusters):
    return [np.array(cluster, dtype=float) for cluster in clusters]


# --- clusters ---------------------------------------------------------------------------------------


@given(st.lists(st.tuples(VALUE, st.integers(0, 6)), max_size=30))
def test_grouping_keeps_every_value_with_its_doc(pairs):
    grouped = Clusters.group([value for value, _ in pairs], [label for _, label in pairs])
    expected = [
        [value for value, label in pairs if label == wanted] for wanted in sorted({label for _, label in pairs})
    ]
    assert [list(cluster) for cluster in grouped] == expected
    assert list(grouped.sizes) == [len(cluster) for cluster in expected]
    assert np.allclose(grouped.sums(grouped.values), [sum(cluster) for cluster in expected], rtol=1e-9, atol=1e-3)


def test_clusters_are_a_sequence():
    grouped = Clusters.group([1, 2, 3, 4], [0, 0, 1, 2])
    assert len(grouped) == 3
    assert list(grouped[-1]) == [4]
    assert [list(cluster) for cluster in grouped[:2]] == [[1, 2], [3]]
    assert as_clusters(grouped) is grouped
    with pytest.raises(IndexError):
        grouped[3]


# --- mean and rate ----------------------------------------------------------------------------------


@given(st.lists(VALUE, min_size=2, max_size=40))
def test_with_one_value_a_doc_the_error_is_the_textbook_one(values):
    clusters = arrays([[value] for value in values])
    assert Mean().value(clusters) == pytest.approx(statistics.fmean(values), rel=1e-9, abs=1e-6)
    assert Mean().standard_error(clusters) == pytest.approx(stats.sem(values), rel=1e-6, abs=1e-6)


@given(st.lists(st.lists(VALUE, min_size=3, max_size=3), min_size=2, max_size=12))
def test_with_equal_repeats_the_error_is_that_of_the_docs_means(clusters):
    means = [statistics.fmean(cluster) for cluster in clusters]
    assert Mean().standard_error(arrays(clusters)) == pytest.approx(stats.sem(means), rel=1e-6, abs=1e-6)


@given(CLUSTERED)
def test_repeating_every_answer_adds_no_certainty(clusters):
    once, twice = arrays(clusters), arrays([cluster * 2 for cluster in clusters])
    assert Mean().value(twice) == pytest.approx(Mean().value(once), rel=1e-9, abs=1e-6)
    if len(clusters) < 2:
        assert Mean().standard_error(once) is None
    else:
        assert Mean().standard_error(twice) == pytest.approx(Mean().standard_error(once), rel=1e-6, abs=1e-6)


def test_the_clustered_error_of_a_hand_worked_case():
    """Docs {1, 3}, {5}, {2, 2, 2}: mean 15/6 = 2.5, and without each 11/4, 10/5 and 9/3."""
    clusters = arrays([[1, 3], [5], [2, 2, 2]])
    assert Mean().value(clusters) == 2.5
    squares = 0.25**2 + 0.5**2 + 0.5**2
    assert Mean().standard_error(clusters) == pytest.approx(math.sqrt(2 / 3 * squares))


@pytest.mark.parametrize("sizes", [[1, 1, 1], [2, 1, 3], [10, 1, 1, 1, 1], [4, 4, 4, 4], [60, 1, 7, 30]])
def test_the_degrees_of_freedom_are_satterthwaite_s_of_the_residuals(sizes):
    """tr(M)^2 / tr(M^2) by matrices: M is the covariance of what the jackknife squares, for independent values."""
    share = np.array(sizes) / sum(sizes)
    residual = np.eye(len(sizes)) - np.outer(np.ones(len(sizes)), share)
    moved = np.diag(share / (1 - share)) @ residual
    covariance = moved @ np.diag(1 / np.array(sizes)) @ moved.T
    expected = np.trace(covariance) ** 2 / np.trace(covariance @ covariance)
    assert degrees_of_freedom(np.array(sizes, dtype=float)) == pytest.approx(expected)
    if len(set(sizes)) == 1:
        assert expected == pytest.approx(len(sizes) - 1)


def test_rate_counts_scores_at_or_above_its_threshold():
    clusters = arrays([[0.0, 1.0], [0.5], [2.0]])
    assert Rate().value(clusters) == 0.5
    assert Rate(at_least=0.5).value(clusters) == 0.75
    assert Rate().standard_error(clusters) == Mean().standard_error(arrays([[0, 1], [0], [1]]))


def test_the_standard_error_is_the_spread_over_repeated_studies():
    """2,000 simulated studies with docs of unequal difficulty and size: the mean squared error must be met."""
    random = np.random.default_rng(7)
    estimates, claimed = [], []
    for _ in range(2_000):
        sizes = random.integers(1, 6, size=40)
        clusters = [random.normal(random.normal(0, 1), 0.5, size=size) for size in sizes]
        estimates.append(Mean().value(clusters))
        claimed.append(Mean().standard_error(clusters) ** 2)
    assert math.sqrt(np.mean(claimed)) == pytest.approx(np.std(estimates), rel=0.06)


# --- median -----------------------------------------------------------------------------------------


@given(CLUSTERED)
def test_the_median_is_numpy_s(clusters):
    assert Median().value(arrays(clusters)) == float(np.median(np.concatenate(arrays(clusters))))


def test_the_median_s_standard_error_is_the_spread_over_repeated_studies():
    random = np.random.default_rng(11)
    estimates, claimed = [], []
    for _ in range(1_000):
        clusters = [random.normal(random.normal(0, 1), 1.0, size=4) for _ in range(60)]
        estimates.append(Median().value(clusters))
        claimed.append(Median().standard_error(clusters))
    assert np.mean(claimed) == pytest.approx(np.std(estimates), rel=0.12)


@given(CLUSTERED, st.integers(0, 2**31))
def test_fast_resampling_of_the_median_is_the_median_of_the_resample(clusters, seed):
    grouped = as_clusters(arrays(clusters))
    draws = np.random.default_rng(seed).integers(0, len(clusters), size=(5, len(clusters)))
    plain = [np.median(np.concatenate([grouped[int(i)] for i in row])) for row in draws]
    assert np.allclose(Median().resample(grouped, draws), plain, rtol=1e-12, atol=1e-9)


# --- pass@k -----------------------------------------------------------------------------------------


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.integers(1, 8))
def test_pass_at_k_is_the_share_of_all_k_subsets_with_a_success(tries, k):
    clusters = arrays([[float(success) for success in tries]])
    if k > len(tries):
        assert PassAtK(k=k).value(clusters) is None
        return
    subsets = list(itertools.combinations(tries, k))
    share = sum(any(subset) for subset in subsets) / len(subsets)
    assert PassAtK(k=k).value(clusters) == pytest.approx(share)


def test_pass_at_k_averages_over_docs_and_leaves_out_docs_with_too_few_tries():
    clusters = arrays([[1, 0, 0, 0], [0, 0, 0, 0], [1]])
    assert PassAtK(k=2).value(clusters) == pytest.approx((0.5 + 0) / 2)
    assert PassAtK(k=2).standard_error(clusters) == pytest.approx(stats.sem([0.5, 0]))
    assert PassAtK(k=2).minimum_repeats == 2


def test_pass_at_k_is_unbiased():
    random = np.random.default_rng(3)
    chances = random.uniform(0, 0.6, size=4_000)
    clusters = [(random.random(5) < chance).astype(float) for chance in chances]
    assert PassAtK(k=3).value(clusters) == pytest.approx(np.mean(1 - (1 - chances) ** 3), abs=0.02)


def test_pass_at_0_is_refused():
    with pytest.raises(UsageError):
        PassAtK(k=0)


def test_nothing_has_no_value():
    for aggregation in (Mean(), Rate(), Median(), PassAtK(k=1)):
        assert aggregation.value([]) is None
        assert aggregation.standard_error([]) is None
        assert aggregation.standard_error(arrays([[1.0, 0.0]])) is None


# --- weights ----------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.integers(0, 4)), min_size=1, max_size=30))
def test_a_mean_of_shares_weighted_by_counts_is_the_pooled_share(tries):
    hits = [min(hit, count) for hit, count, _ in tries]
    counts = np.array([count for _, count, _ in tries], dtype=float)
    shares = np.array(hits) / counts
    grouped = Clusters.group(shares, [doc for _, _, doc in tries], counts)
    assert math.isclose(Mean().value(grouped), sum(hits) / counts.sum())
    alone = Clusters.trials(shares, counts)
    assert math.isclose(Mean().value(alone), sum(hits) / counts.sum())


def test_equal_weights_change_nothing():
    values, labels = [1.0, 2.0, 6.0, 4.0], [0, 0, 1, 2]
    plain, weighted = Clusters.group(values, labels), Clusters.group(values, labels, np.full(4, 3.0))
    assert math.isclose(Mean().value(plain), Mean().value(weighted))
    assert math.isclose(Mean().standard_error(plain), Mean().standard_error(weighted))
    assert weighted.of_size(2).weights.tolist() == [3.0, 3.0]


def test_the_standard_error_of_many_docs_is_the_textbook_one():
    """More docs than are taken at once."""
    values = np.random.default_rng(1).random(300_001)
    error = Mean().standard_error(Clusters.group(values, np.arange(len(values))))
    assert error == pytest.approx(values.std(ddof=1) / math.sqrt(len(values)), rel=1e-12)
    twice = Clusters.group(np.repeat(values, 2), np.repeat(np.arange(len(values)), 2))
    assert Mean().standard_error(twice) == pytest.approx(error, rel=1e-12)


@pytest.mark.parametrize("docs", [5, 6, 8, 20, 101])
def test_the_interval_of_the_median_is_that_of_the_sign_test(docs):
    """The widest pair of order statistics that leaves out 2.5 % on either side, or all values where none does."""
    clusters = arrays([[float(number)] for number in range(docs)])
    low, high = Median().interval(clusters, 0.95)
    place = max([0, *(k for k in range(docs // 2) if stats.binom.cdf(k, docs, 0.5) <= 0.025)])
    assert (low, high) == (place, docs - 1 - place)
    twice = arrays([[float(number)] * 3 for number in range(docs)])
    assert Median().interval(twice, 0.95) == (low, high)
