"""The mean of z-scores over embeddings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from creval.errors import DataError, UsageError
from creval_validity.analyses.analysis_options import with_composites
from creval_validity.stats.composite import mean_z, z_scores
from creval_validity.tables.score_table import ScoreTable

NAN = math.nan


def test_by_hand() -> None:
    first = np.array([1.0, 2, 3])  # z: -sqrt(1.5), 0, sqrt(1.5)
    second = np.array([30.0, 10, 20])  # z: sqrt(1.5), -sqrt(1.5), 0
    root = math.sqrt(1.5)
    assert mean_z([first, second], ["a", "b"]) == pytest.approx([0.0, -root / 2, root / 2])


def test_z_scores_have_mean_0_and_spread_1() -> None:
    z = z_scores(np.array([4.0, NAN, 9, 1, 7]))
    assert np.isnan(z[1])
    assert np.nanmean(z) == pytest.approx(0)
    assert np.nanstd(z) == pytest.approx(1)


def test_gaps() -> None:
    first, second = np.array([1.0, 2, NAN, 4]), np.array([1.0, NAN, NAN, 2])
    strict = mean_z([first, second], ["a", "b"])
    assert list(np.isfinite(strict)) == [True, False, False, True]
    loose = mean_z([first, second], ["a", "b"], gaps="available")
    assert list(np.isfinite(loose)) == [True, True, False, True]
    assert loose[1] == pytest.approx(z_scores(first)[1])


def test_one_column_correlates_as_itself() -> None:
    values = np.array([3.0, 1, 4, 1, 5])
    assert np.corrcoef(mean_z([values], ["a"]), values)[0, 1] == pytest.approx(1)


def test_errors() -> None:
    with pytest.raises(DataError, match="no spread"):
        mean_z([np.array([2.0, 2, 2])], ["a"])
    with pytest.raises(DataError, match="no spread"):
        mean_z([np.array([NAN, 2, NAN])], ["a"])
    with pytest.raises(UsageError, match="at least one"):
        mean_z([], [])


def test_as_a_column() -> None:
    table = ScoreTable.from_cells({"m": {"a": 1, "b": 5}, "n": {"a": 2, "b": 3}, "o": {"a": 3}})
    joined, added = with_composites(table, ["both = a + b"])
    assert added == ("both",)
    assert joined.count("both") == 2
    for wrong in ("both", "=a+b", "both=a", "both=a+"):
        with pytest.raises(UsageError, match="not a composite"):
            with_composites(table, [wrong])
    with pytest.raises(DataError, match="already"):
        with_composites(table, ["a=a+b"])
