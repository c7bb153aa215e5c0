"""Krippendorff's alpha against the worked examples of Krippendorff (2011)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from creval_judges.alpha import alpha_interval, krippendorff_alpha

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


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_the_interval_holds_alpha_and_is_one_of_docs(level: str) -> None:
    random = np.random.default_rng(4)
    truth = random.integers(1, 6, 60).astype(float)
    raters = [np.clip(truth + random.integers(-1, 2, 60), 1, 5) for _ in range(3)]
    alpha = krippendorff_alpha(raters, level)[0]
    by_sample = alpha_interval(raters, level, np.arange(60), 1)
    assert alpha is not None and by_sample is not None and by_sample[0] < alpha < by_sample[1]
    assert by_sample == alpha_interval(raters, level, np.arange(60), 1)
    twice = [np.repeat(column, 2) for column in raters]  # every doc again says nothing new
    doubled = alpha_interval(twice, level, np.repeat(np.arange(60), 2), 1)
    assert doubled is not None and doubled == pytest.approx(by_sample, abs=0.02)


def test_few_docs_have_no_interval() -> None:
    assert alpha_interval(coded("1234", "1243"), "nominal", range(4), 0) is None
    assert alpha_interval(coded("12341", "1243."), "nominal", range(5), 0) is None
    assert alpha_interval(coded("11111", "11111"), "nominal", range(5), 0) is None
    assert alpha_interval(coded("12341", "12431"), "nominal", range(5), 0) is not None


def test_the_interval_covers() -> None:
    """Two raters who agree by chance beyond a common half: alpha of many docs is the truth."""
    random = np.random.default_rng(0)

    def study(docs: int) -> list[list[float]]:
        first, second = random.integers(0, 2, (2, docs))
        return [list(first * 1.0), list(np.where(random.random(docs) < 0.5, first, second) * 1.0)]

    truth = krippendorff_alpha(study(200_000), "nominal")[0]
    assert truth is not None
    covered = 0
    for seed in range(100):
        ends = alpha_interval(study(60), "nominal", range(60), seed)
        covered += ends is not None and ends[0] <= truth <= ends[1]
    assert covered >= 88
