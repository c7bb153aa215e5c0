"""Benjamini-Hochberg against scipy and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.errors import UsageError
from creval_validity.stats.multiple_testing import benjamini_hochberg


def test_by_hand() -> None:
    # .01 x 4 / 1, .02 x 4 / 2, .03 x 4 / 3, .5: the running minimum from the right
    assert benjamini_hochberg([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.04, 0.04, 0.5, 0.04])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=60))
def test_against_scipy(p: list[float]) -> None:
    from scipy.stats import false_discovery_control

    assert benjamini_hochberg(p) == pytest.approx(false_discovery_control(p, method="bh").tolist())


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=30))
def test_order_is_kept_and_q_is_no_smaller(p: list[float]) -> None:
    q = np.array(benjamini_hochberg(p))
    assert (q >= np.array(p) - 1e-15).all()
    assert (np.diff(q[np.argsort(p, kind="stable")]) >= -1e-15).all()


def test_nothing_gives_nothing() -> None:
    assert benjamini_hochberg([]) == []


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.nan])
def test_what_is_no_p_value(wrong: float) -> None:
    with pytest.raises(UsageError, match="outside 0 to 1"):
        benjamini_hochberg([0.5, wrong])
