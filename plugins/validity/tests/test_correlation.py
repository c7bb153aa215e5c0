"""Pearson, semi-partial, p and Fisher's interval: hand-worked cases and independent paths."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.errors import DataError, UsageError
from creval_validity.stats.correlation import (
    coupling,
    fisher_interval,
    p_value,
    pearson,
    specificity,
    stars,
    validity,
)
from creval_validity.stats.sample import PairedSample, residual


def random_sample(seed: int, n: int = 20, k: int = 2) -> PairedSample:
    rng = np.random.default_rng(seed)
    g = rng.normal(size=(n, k))
    y = g @ rng.normal(size=k) + rng.normal(size=n)
    x = 0.5 * y + rng.normal(size=n)
    return PairedSample(x, y, g)


def test_pearson_by_hand() -> None:
    # x - mean: -2 -1 0 1 2; y - mean: -2 0 -1 1 2; product 9, squares 10 and 10
    assert pearson(np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 3, 2, 4, 5])) == pytest.approx(0.9)


def test_specificity_by_hand() -> None:
    """y = g + e with e orthogonal to g; x = e: validity is corr(e, g + e), specificity is 1."""
    g = np.array([-1.0, -1, 1, 1, -1, 1])
    e = np.array([1.0, -1, 1, -1, 0, 0])
    assert g @ e == 0
    sample = PairedSample(e, g + e, g[:, None])
    # var(g + e) = 6 + 4, var(e) = 4, cov = 4
    assert validity(sample).r == pytest.approx(4 / math.sqrt(40))
    assert specificity(sample).r == pytest.approx(1.0)
    assert coupling(sample.y, sample.controls) == pytest.approx(math.sqrt(6 / 10))


def test_specificity_residualises_the_benchmark_only() -> None:
    """A semi-partial correlation: it is not the partial one that residualises the test too."""
    sample = random_sample(3)
    both = pearson(residual(sample.x, sample.controls), residual(sample.y, sample.controls))
    assert abs(specificity(sample).r) < abs(both)


@pytest.mark.parametrize("seed", range(5))
def test_against_scipy_and_least_squares(seed: int) -> None:
    from scipy import stats

    sample = random_sample(seed)
    r, p = stats.pearsonr(sample.x, sample.y)
    found = validity(sample)
    assert (found.r, found.p) == (pytest.approx(r), pytest.approx(p))
    low, high = stats.pearsonr(sample.x, sample.y).confidence_interval(0.95)
    assert (found.fisher.low, found.fisher.high) == (pytest.approx(low), pytest.approx(high))
    design = np.column_stack([np.ones(sample.n), sample.controls])
    solved, *_ = np.linalg.lstsq(design, sample.y, rcond=None)
    left = sample.y - design @ solved
    assert specificity(sample).r == pytest.approx(np.corrcoef(sample.x, left)[0, 1])


def test_p_value_by_hand() -> None:
    """r = .5, n = 27, k = 2: t = .5 sqrt(23 / .75); the two-sided p from the t distribution."""
    from scipy import stats

    t, p = p_value(0.5, 27, 2)
    assert t == pytest.approx(0.5 * math.sqrt(23 / 0.75))
    assert p == pytest.approx(2 * stats.t.sf(t, 23))
    assert p_value(-0.5, 27, 2) == (pytest.approx(-t), pytest.approx(p))


@pytest.mark.parametrize(
    ("r", "n", "k", "expected"),
    [(0.57, 21, 0, 0.008), (0.52, 21, 2, 0.02), (0.41, 27, 2, 0.05), (0.76, 40, 0, 0.001)],
)
def test_p_values_that_the_paper_states(r: float, n: int, k: int, expected: float) -> None:
    """Section 4.4: r = .57 has p = .008 and r|g = .52 has p = .02 on 21 models."""
    p = p_value(r, n, k)[1]
    assert p < expected if expected in (0.05, 0.001) else p == pytest.approx(expected, abs=0.003)


def test_more_controls_leave_fewer_degrees_of_freedom() -> None:
    assert p_value(0.4, 20, 2)[1] > p_value(0.4, 20, 0)[1]
    low, high = fisher_interval(0.4, 20, 2), fisher_interval(0.4, 20, 0)
    assert low.low < high.low < 0.4 < high.high < low.high


def test_a_perfect_correlation_has_no_error() -> None:
    found = validity(PairedSample(np.arange(5.0), 2 * np.arange(5.0) + 1))
    assert found.r == pytest.approx(1.0)
    assert found.p == pytest.approx(0.0, abs=1e-12)
    assert found.fisher.low <= found.fisher.high <= 1.0


def test_stars() -> None:
    assert [stars(p) for p in (0.05, 0.049, 0.01, 0.009, 0.001, 0.0009)] == ["", "*", "*", "**", "**", "***"]


@pytest.mark.parametrize(
    ("x", "y", "g", "words"),
    [
        ([1, 2, 3], [1, 3, 2], None, "3 models have every score; 4 models are needed"),
        ([1, 2, 3, 4, 5], [1, 3, 2, 5, 4], [[1, 2], [2, 1], [3, 3], [4, 1], [5, 2]], "6 models are needed with 2"),
        ([2, 2, 2, 2], [1, 3, 2, 4], None, "is the same for all 4 models"),
        ([1, 2, 3, 4], [7, 7, 7, 7], None, "is the same for all 4 models"),
        ([1, 2, math.nan, 4], [1, 3, 2, 4], None, "not finite"),
        ([1, 2, 3, math.inf], [1, 3, 2, 4], None, "not finite"),
        ([1, 2, 3, 4, 5], [1, 3, 2, 4, 5], [[1], [2], [math.nan], [4], [5]], "not finite"),
        ([1, 2, 3, 4], [1, 3, 2], None, "do not pair"),
    ],
)
def test_what_cannot_be_correlated(x: list[float], y: list[float], g: list[list[float]] | None, words: str) -> None:
    with pytest.raises(DataError, match=words):
        sample = PairedSample(
            np.array(x, float), np.array(y, float), np.empty((0, 0)) if g is None else np.array(g, float)
        )
        specificity(sample)


def test_dependent_controls_are_refused() -> None:
    sample = random_sample(1, k=1)
    doubled = np.column_stack([sample.controls[:, 0], 2 * sample.controls[:, 0] + 1])
    with pytest.raises(DataError, match="linearly dependent"):
        specificity(PairedSample(sample.x, sample.y, doubled))


def test_a_control_that_is_the_benchmark_leaves_nothing() -> None:
    sample = random_sample(1, k=1)
    with pytest.raises(DataError, match="nothing is left"):
        specificity(PairedSample(sample.x, sample.y, sample.y[:, None] * 3 - 2))


@pytest.mark.parametrize("confidence", [0.0, 1.0, 1.5])
def test_a_confidence_outside_0_to_1(confidence: float) -> None:
    with pytest.raises(UsageError, match="not between 0 and 1"):
        fisher_interval(0.3, 20, 0, confidence)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(8, 40), st.integers(1, 4), st.floats(0.01, 1e6), st.floats(-1e6, 1e6))
def test_scale_and_shift_change_nothing(seed: int, n: int, k: int, scale: float, shift: float) -> None:
    sample = random_sample(seed, n=max(n, k + 4), k=k)
    moved = PairedSample(sample.x * scale + shift, sample.y * 3 - 1, sample.controls * scale - shift)
    assert validity(moved).r == pytest.approx(validity(sample).r, abs=1e-5)
    assert specificity(moved).r == pytest.approx(specificity(sample).r, abs=1e-5)
