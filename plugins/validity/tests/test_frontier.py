"""Theorem 1 as a property: no test breaks the bound, and some test attains it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.errors import UsageError
from creval_validity.stats.correlation import coupling, pearson, specificity, validity
from creval_validity.stats.frontier import Frontier
from creval_validity.stats.sample import PairedSample, residual

correlations = st.floats(-1.0, 1.0, allow_nan=False)


def population(covariance: np.ndarray) -> tuple[float, float, float]:
    """v, s and R of (X, Y, Z1, ..., Zk) from their covariance matrix, as Section 2.4 defines them."""
    xx, yy, xy = covariance[0, 0], covariance[1, 1], covariance[0, 1]
    beta = np.linalg.solve(covariance[2:, 2:], covariance[2:, 1])
    fitted = float(covariance[1, 2:] @ beta)
    v = xy / math.sqrt(xx * yy)
    s = (xy - covariance[0, 2:] @ beta) / math.sqrt(xx * (yy - fitted))
    return float(v), float(s), math.sqrt(max(0.0, fitted / yy))


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.floats(0.01, 30.0))
def test_no_covariance_matrix_breaks_the_bound(seed: int, k: int, skew: float) -> None:
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(k + 2, k + 2)) * np.exp(rng.normal(scale=math.log1p(skew), size=(k + 2, 1)))
    covariance = factor @ factor.T + 1e-9 * np.eye(k + 2)
    if np.linalg.cond(covariance) > 1e10:
        return
    v, s, r = population(covariance)
    frontier = Frontier(min(r, 1.0))
    slack = 1e-6
    v = max(-1.0, min(1.0, v))
    assert frontier.lower(v) - slack <= s <= frontier.upper(v) + slack
    assert abs(s) <= frontier.bound_of_absolute(v) + slack


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(7, 30), st.integers(1, 3))
def test_no_sample_breaks_the_bound(seed: int, n: int, k: int) -> None:
    """The bound is algebra of second moments, so it holds exactly in any sample, however small."""
    rng = np.random.default_rng(seed)
    g = rng.normal(size=(n, k))
    y = rng.normal(size=n) + 2 * g[:, 0]
    sample = PairedSample(rng.normal(size=n) + rng.normal() * y + rng.normal() * g[:, -1], y, g)
    frontier = Frontier(coupling(y, g))
    v, s = validity(sample).r, specificity(sample).r
    assert frontier.lower(v) - 1e-9 <= s <= frontier.upper(v) + 1e-9


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 2 * math.pi))
def test_the_bound_is_attained(seed: int, angle: float) -> None:
    """X in the plane of Yhat and Y - Yhat lies on the frontier: upper and lower edge, every angle."""
    rng = np.random.default_rng(seed)
    g = rng.normal(size=(25, 2))
    y = rng.normal(size=25) + g[:, 0]
    left = residual(y, g)
    fitted = y - y.mean() - left
    x = math.cos(angle) * fitted / np.linalg.norm(fitted) + math.sin(angle) * left / np.linalg.norm(left)
    sample = PairedSample(x, y, g)
    v, s = validity(sample).r, specificity(sample).r
    frontier = Frontier(coupling(y, g))
    assert min(abs(frontier.upper(v) - s), abs(frontier.lower(v) - s)) < 1e-6


@settings(max_examples=200, deadline=None)
@given(correlations)
def test_the_optimum_is_the_largest_sum(r: float) -> None:
    frontier = Frontier(r)
    v_best, s_best = frontier.optimum
    assert frontier.upper(v_best) == pytest.approx(s_best, abs=1e-9)
    grid = np.linspace(-1, 1, 2001)
    best = max(float(v) + frontier.upper(float(v)) for v in grid)
    assert v_best + s_best >= best - 1e-9
    assert v_best + s_best == pytest.approx(best, abs=1e-3)


@settings(max_examples=100, deadline=None)
@given(correlations, correlations)
def test_distances(r: float, v: float) -> None:
    frontier = Frontier(r)
    assert frontier.distance(*frontier.optimum) == pytest.approx(0.0)
    assert frontier.headroom(v, frontier.upper(v)) == pytest.approx(0.0, abs=1e-12)
    assert -1 - 1e-12 <= frontier.lower(v) <= frontier.upper(v) <= 1 + 1e-12


def test_values_that_the_paper_states() -> None:
    """R = .98 caps a perfectly valid test at .20 (Section 2.5)."""
    assert Frontier(0.98).upper(1.0) == pytest.approx(0.20, abs=0.005)
    assert Frontier(-0.36).optimum == Frontier(0.36).optimum


def test_equation_5_as_printed_fails_for_negative_validity() -> None:
    """With R = 0 the benchmark is its own residual, so v = -1 gives s = -1; Equation 5 would allow |s| <= -1."""
    printed = -1 * math.sqrt(1 - 0.0) + 0.0
    assert printed < 1.0
    assert Frontier(0.0).lower(-1.0) == -1.0
    assert Frontier(0.0).bound_of_absolute(-1.0) == 1.0


def test_a_perfectly_coupled_benchmark_leaves_a_perfect_test_nothing() -> None:
    assert Frontier(1.0).upper(1.0) == 0.0
    assert Frontier(0.0).upper(0.4) == pytest.approx(0.4)


@pytest.mark.parametrize("value", [1.01, -2.0, math.nan])
def test_what_is_no_correlation(value: float) -> None:
    with pytest.raises(UsageError):
        Frontier(value)
    with pytest.raises(UsageError):
        Frontier(0.5).upper(value)


def test_pearson_stays_within_one() -> None:
    x = np.array([1e-9, 2e-9, 3e-9, 4e-9]) + 1.0
    assert abs(pearson(x, 3 * x)) <= 1.0
