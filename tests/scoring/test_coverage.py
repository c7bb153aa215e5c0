"""Intervals that cover: simulated studies, and the table of docs/statistics.md that is made of them."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from creval.scoring.clusters import Clusters
from creval.scoring.intervals import Scale
from creval.scoring.metric_estimate import estimate
from creval.scoring.ratio import Mean

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    path = ROOT / "benchmarks" / "coverage" / "coverage.py"
    spec = importlib.util.spec_from_file_location("coverage_simulation", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table(simulation: ModuleType) -> dict[str, list[float]]:
    return simulation.table()


def test_95_of_100_intervals_hold_the_truth_at_every_number_of_docs(table: dict[str, list[float]]) -> None:
    """Normal, skewed and 0/1 scores, dependent repeats, unequal docs and weights, 2 docs to 100; RAT is 30 at .97."""
    assert len(table) == 17
    for label, shares in table.items():
        assert min(shares) >= 0.935, label


def test_the_page_shows_what_the_simulation_finds(table: dict[str, list[float]]) -> None:
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    for label, shares in table.items():
        line = re.search(rf"^\| {re.escape(label)} \|(.+)\|$", page, re.MULTILINE)
        assert line is not None, label
        assert [float(cell) for cell in line.group(1).split("|")] == pytest.approx(shares, abs=0.002), label


@pytest.mark.parametrize("index", range(17))
@pytest.mark.parametrize("docs", [2, 10])
def test_the_simulated_intervals_are_those_of_a_metric(simulation: ModuleType, index: int, docs: int) -> None:
    """The vectorised studies and `estimate` agree on single studies, so that the table speaks of the product."""
    row = simulation.ROWS[index]
    truth = row.truths[-1]
    hits = 0
    simulation.STUDIES, before = 60, simulation.STUDIES
    try:
        made = simulation.studies(row, docs, truth)
        expected = simulation.coverage(row, docs, truth)
    finally:
        simulation.STUDIES = before
    for values, kept, weights in zip(*made, strict=True):
        keep = kept.ravel() > 0
        labels = np.repeat(np.arange(docs), row.repeats)[keep]
        clusters = Clusters.group(values.ravel()[keep], labels, weights.ravel()[keep] if row.weights else None)
        found = estimate(Mean(), clusters, "auto", seed=0, scale=Scale(*row.bounds, row.binary))
        hits += found.ci_low <= truth <= found.ci_high
    assert hits / 60 == pytest.approx(expected)


def test_the_bootstrap_of_two_docs_is_a_coin_toss(simulation: ModuleType) -> None:
    """Why the default is another one: the interval can only reach from the lower doc to the higher."""
    values = simulation.studies(simulation.ROWS[0], 2, 1.0).values
    held = []
    for study in values[:200]:
        found = estimate(Mean(), Clusters.group(study.ravel(), [0, 1]), "cluster_bootstrap", seed=0)
        assert (found.ci_low, found.ci_high) == pytest.approx((study.min(), study.max()))
        held.append(found.ci_low <= 1.0 <= found.ci_high)
    assert 0.35 < np.mean(held) < 0.65
