"""Krippendorff's alpha against the worked examples of Krippendorff (2011)."""

from __future__ import annotations

import math

import pytest

from creval.scoring.agreement import krippendorff_alpha

NONE = math.nan


def coded(*rows: str) -> list[list[float]]:
    """Rows of one-letter codes, `.` for none."""
    return [[NONE if code == "." else float(ord(code)) for code in row.replace(" ", "")] for row in rows]


FOUR = coded("123321412...", "1233224125.3", ".3332342251.", "123324412 51.")


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_four_observers_with_missing_ratings(level, value):
    alpha, units, ratings = krippendorff_alpha(FOUR, level)
    assert (round(alpha, 3), units, ratings) == (value, 11, 40)


def test_two_observers():
    binary = krippendorff_alpha(coded("0100000010", "1110010000"), "nominal")
    several = krippendorff_alpha(coded("aabbdcccedda", "babbbcccedddd"[:12]), "nominal")
    assert (round(binary[0], 3), round(several[0], 3)) == (0.095, 0.692)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_full_agreement_chance_and_what_is_not_defined(level):
    assert krippendorff_alpha(coded("1234", "1234"), level)[0] == 1
    assert krippendorff_alpha(coded("12", "21"), level)[0] < 0
    assert krippendorff_alpha(coded("11", "11"), level)[0] is None
    assert krippendorff_alpha(coded("1.", ".2"), level) == (None, 0, 0)


def test_ratings_may_be_shifted_and_observers_exchanged():
    shifted = [[value + 7 for value in row] for row in reversed(FOUR)]
    for level in ("nominal", "ordinal", "interval"):
        assert krippendorff_alpha(shifted, level)[0] == pytest.approx(krippendorff_alpha(FOUR, level)[0])
