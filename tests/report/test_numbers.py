"""Numbers of tables: one rule, the same precision within an interval."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.format import cell, counted, decimals, number, there_are


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.6073, "0.607"),
        (1.0, "1.000"),
        (2.8, "2.800"),
        (0.0, "0.000"),
        (-0.0, "0.000"),
        (9.9996, "10.00"),
        (97.318, "97.32"),
        (99.996, "100.0"),
        (1234.56, "1234.6"),
        (0.000123, "0.00012"),
        (3.2e-9, "3.2e-09"),
        (float("inf"), "inf"),
        (12, "12"),
        (True, "yes"),
        (None, "–"),
    ],
)
def test_a_cell(value: object, shown: str) -> None:
    assert cell(value) == shown


def test_one_thing_is_in_the_singular() -> None:
    said = [counted(1, "docs"), counted(2, "docs"), counted(0, "docs"), counted(1, "rows that fit")]
    assert said == ["1 doc", "2 docs", "0 docs", "1 row that fit"]
    assert [counted(1, plural) for plural in ("JSON values", "tries", "batches", "boxes")] == [
        *("1 JSON value", "1 try", "1 batch", "1 box")
    ]
    assert [there_are(1, "choices"), there_are(1200, "choices")] == ["there is 1 choice", "there are 1,200 choices"]


def test_bounds_take_the_decimals_of_their_value() -> None:
    places = decimals(1.8)
    assert [number(bound, places) for bound in (0.8, 2.80, -0.0001, 12.5)] == ["0.800", "2.800", "0.000", "12.500"]


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9))
def test_what_is_shown_is_the_value_up_to_its_precision(value: float) -> None:
    shown = float(number(value))
    assert shown == pytest.approx(value, rel=0.06, abs=0.0)
    assert (shown == 0) == (value == 0)
