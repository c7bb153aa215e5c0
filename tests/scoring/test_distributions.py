"""Quantiles of our own next to SciPy's, and what a run imports."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import betainc, betaincinv, ndtri, stdtrit
from support.imports import imported_by

from creval.scoring.distributions import beta_cdf, beta_quantile, t_quantile
from creval.scoring.intervals import clopper_pearson, quantile, transformed_interval

FREEDOMS = (0.5, 0.8, 1, 1.01, 1.5, 2, 2.7, 3, 5, 9, 10, 17, 29.5, 30, 63, 99.3, 500, 999, 1e4, 123456.7, 1e6, 1e7)
SIZES = (1, 1.5, 2, 3, 5, 10, 12.3, 20, 50, 100, 300, 1000, 10_000)
SHARES = (1e-6, 0.001, 0.01, 0.1, 0.2, 1 / 3, 0.5, 0.75, 0.9, 0.99, 0.999)
TAILS = (0.0005, 0.005, 0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975, 0.995)


def test_quantiles_of_t_are_those_of_scipy() -> None:
    for freedom in FREEDOMS:
        for confidence in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999):
            expected = float(stdtrit(freedom, (1 + confidence) / 2))
            assert t_quantile(freedom, confidence) == pytest.approx(expected, rel=1e-12, abs=0), freedom
    assert t_quantile(math.inf, 0.95) == pytest.approx(float(ndtri(0.975)), rel=1e-12)
    assert math.isnan(t_quantile(0.0, 0.95)) and math.isnan(t_quantile(math.nan, 0.95))


def test_quantiles_of_beta_are_those_of_scipy() -> None:
    for size in SIZES:
        for hits in (share * size for share in SHARES):
            for a, b in ((max(hits, 0.01), size - hits + 1), (hits + 1, size - hits)):
                for tail in TAILS:
                    expected = float(betaincinv(a, b, tail))
                    found = beta_quantile(a, b, tail)
                    assert found == pytest.approx(expected, rel=1e-12, abs=1e-250), (a, b, tail)
    assert (beta_quantile(2, 3, 0), beta_quantile(2, 3, 1)) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("a", "b", "tail", "expected"),
    [  # SciPy is off by 4e-10 and 4e-8 here; these are of 40 digits
        (1000.0, 99001.0, 0.995, 0.0108287434304269645),
        (1000.0, 999001.0, 0.995, 0.00108328646029166308),
    ],
)
def test_quantiles_of_large_numbers_are_right_where_scipy_is_not(
    a: float, b: float, tail: float, expected: float
) -> None:
    assert beta_quantile(a, b, tail) == pytest.approx(expected, rel=1e-12, abs=0)


def test_shares_of_beta_are_those_of_scipy() -> None:
    for a in (0.5, 1, 3.5, 20, 400):
        for b in (0.5, 2, 9.5, 400):
            for x in (0.0, 1e-9, 0.01, 0.3, 0.5, 0.9, 1.0):
                assert beta_cdf(a, b, x) == pytest.approx(float(betainc(a, b, x)), rel=1e-12, abs=1e-300), (a, b, x)


def test_one_number_and_an_array_of_them_give_the_same_interval() -> None:
    one, many = clopper_pearson(0.3, 40, 0.95), clopper_pearson(np.array([0.3]), np.array([40.0]), 0.95)
    assert [float(end) for end in one] == pytest.approx([float(end[0]) for end in many], rel=1e-12)
    assert quantile(7.5, 0.9) == pytest.approx(float(quantile(np.array([7.5]), 0.9)[0]), rel=1e-12)
    low, high = transformed_interval(0.5, 1e4, 2.0, 0.0, 1.0)
    assert (float(low), float(high)) == (0.0, 1.0)  # nothing overflows


RUN = """
import dataclasses, re, sys
made = []

def counting(make):
    def counted(*given, **options):
        if sys._getframe(1).f_globals["__name__"].startswith("creval."):
            made.append(make.__name__)
        return make(*given, **options)
    return counted

re.compile, dataclasses.dataclass = counting(re.compile), counting(dataclasses.dataclass)
from creval.cli.main import invoke
assert invoke(["--tasks", "rat", "--model", "baseline/ceiling", "--limit", "20", "--output", {folder!r}]) == 0
assert made.count("compile") <= {patterns}, made.count("compile")
assert made.count("dataclass") <= {classes}, made.count("dataclass")
"""
UNNEEDED = {
    *("scipy", "litellm", "datasets", "torch", "transformers", "pandas", "onnxruntime", "pyarrow", "networkx", "numba"),
    *("matplotlib", "aiohttp", "ray", "sklearn", "tokenizers", "safetensors", "importlib.metadata", "email.message"),
    *("regex", "sqlite3", "jsonschema", "referencing", "attr", "rich.progress", "rich._emoji_codes"),
    *("creval.parsing.json.scan", "creval_encoders.vector_cache", "creval.types.programs", "creval.types.screens"),
    "importlib.resources",
}
PATTERNS, CLASSES = 50, 98  # that a run makes, of the 200 and 125 of the core


def test_a_run_of_rat_imports_only_what_it_needs(tmp_path: Path) -> None:
    loaded = imported_by(RUN.format(folder=str(tmp_path / "run"), patterns=PATTERNS, classes=CLASSES))
    assert sorted(UNNEEDED & loaded) == []
    assert "creval.scoring.distributions" in loaded  # so an interval was computed
    ours = {name for name in loaded if name.startswith("creval_")}  # two for each distribution that is installed
    assert len(loaded - ours) < 615, len(loaded - ours)
