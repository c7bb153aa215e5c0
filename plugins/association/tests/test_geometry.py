"""The shared formulas against loops that follow the paper's sums index by index."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from creval_association.geometry import chain_distance, mean_pairwise_distance, unit

rows = arrays(np.float64, st.tuples(st.integers(2, 9), st.integers(2, 6)), elements=st.floats(-5, 5)).filter(
    lambda x: bool((np.linalg.norm(x, axis=1) > 1e-3).all())
)


def cos(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


@settings(max_examples=200, deadline=None)
@given(rows)
def test_mean_pairwise_distance_is_equation_1(x: np.ndarray) -> None:
    n = len(x)
    expected = sum(1 - cos(x[i], x[j]) for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
    assert mean_pairwise_distance(unit(x)) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(rows)
def test_chain_distance_is_equation_4(x: np.ndarray) -> None:
    n = len(x)
    expected = sum(sum(1 - cos(x[i], x[j]) for j in range(i)) / i for i in range(1, n)) / (n - 1)
    assert chain_distance(unit(x)) == pytest.approx(expected, abs=1e-9)


def test_by_hand() -> None:
    right_angles = np.eye(3)
    assert mean_pairwise_distance(right_angles) == pytest.approx(1.0)
    assert mean_pairwise_distance(np.array([[1.0, 0], [-1, 0]])) == pytest.approx(2.0)
    # x, y, x: the second is 1 from the first; the third is 0 from the first and 1 from the second, 0.5 on average.
    assert chain_distance(np.array([[1.0, 0], [0, 1], [1, 0]])) == pytest.approx(0.75)
