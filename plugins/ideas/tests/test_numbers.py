"""What is computed: lengths, flexibility and average, by hand and against the published numbers."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from creval.plugin import SampleKey, ScoreRecord, Status
from creval.plugins.loader import load_plugins
from creval.scoring.clusters import Clusters
from creval.scoring.intervals import Scale
from creval.scoring.metric_estimate import estimate
from creval.tasks.index import TaskIndex
from creval_ideas.aggregation import Average, Flexibility, average_of
from creval_ideas.idea import Idea

NAMES = ("originality", "feasibility", "clarity", "fluency")
IDEAS = [(8, 6, 7, 7), (6, 6, 6, 10), (4, 7, 8, 1), (9, 3, 5, 7), (5, 5, 5, 5)]
"""Their means are 7, 7, 5, 6 and 5."""


def records(rows: Any) -> list[ScoreRecord]:
    return [
        ScoreRecord(
            SampleKey("ideas_own", str(number), "default", 0),
            Status.SCORED,
            {name: value for name, value in zip(NAMES, row, strict=True) if value is not None},
        )
        for number, row in enumerate(rows)
    ]


def number(aggregation: Any, rows: Any) -> float | None:
    aggregation.read(records(rows))
    found: float | None = aggregation.value([np.array([place], dtype=float) for place in range(len(rows))])
    return found


def test_flexibility_is_a_quantile_of_means() -> None:
    """Sorted 5, 5, 6, 7, 7: the 30th percentile lies at place 1.2, so at 5.2."""
    assert number(Flexibility(), IDEAS) == pytest.approx(5.2)
    assert number(Flexibility(quantile=0.5), IDEAS) == pytest.approx(6)
    assert number(Flexibility(NAMES[:2], 0), IDEAS) == pytest.approx(5)  # means of two: 7, 6, 5.5, 6, 5
    assert number(Flexibility(), [*IDEAS, (1, 1, 1, None)]) == pytest.approx(5.2)
    assert number(Flexibility(), [(1, 1, 1, None)]) is None
    assert number(Flexibility(), []) is None


def test_average_counts_each_dimension_alike() -> None:
    """Means over ideas 6.4, 5.4, 6.2, 6, and 5.2: 29.2 / 5."""
    assert number(Average(), IDEAS) == pytest.approx(5.84)
    without = [*IDEAS, (12.4, 11.4, 12.2, None)]  # it raises three means by 1, and has no part in the others
    assert number(Average(), without) == pytest.approx(5.84 + 3 / 5)
    assert number(Average(), [(1, 1, 1, None)]) is None


def test_an_interval_is_drawn_over_keywords() -> None:
    made = Average()
    made.read(records(IDEAS * 4))
    clusters = Clusters.group([float(place) for place in range(20)], [place // 2 for place in range(20)])
    found = estimate(made, clusters, "auto", 1, Scale(1, 10))
    assert found.method == "cluster_bootstrap"
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert found.ci_low < 5.84 < found.ci_high


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x" * 101, None),
        (" " + "x" * 100, "more than 100 characters, this has 100"),
        ("x" * 2499, None),
        ("x" * 2500, "fewer than 2500 characters"),
        ("word " * 199, None),
        ("word " * 200, "fewer than 200 words, this has 200"),
        ("\u200b" * 150, "more than 100 characters, this has 0"),
        (3, "a text"),
    ],
)
def test_lengths_that_count(text: Any, fault: str | None) -> None:
    read = Idea().parse(text)
    assert read.ok is (fault is None)
    assert fault is None or fault in str(read.reason)


@pytest.fixture
def published() -> dict[str, dict[str, float]]:
    """The published numbers by model."""
    file = next(folder / "published.csv" for name, folder in load_plugins().task_folders if name == "ideas")
    found: dict[str, dict[str, float]] = defaultdict(dict)
    with file.open(encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            found[row["model"]][row["metric"]] = float(row["value"])
    return found


def test_published_averages_are_means_of_the_dimensions(published: dict[str, dict[str, float]], parity: Any) -> None:
    pairs = []
    for numbers in published.values():
        average = numbers.pop("average")
        assert len(numbers) == 4
        pairs.append((average_of(list(numbers.values())), average))
    assert len(pairs) == 20 and all(ours == pytest.approx(theirs, abs=1e-9) for ours, theirs in pairs)
    against = (
        "Average in each row of results/LiveIdeaBench-202412.csv, from its four numbers; verdicts were not at hand"
    )
    parity.add("liveideabench", {"against": against, "commit": "6fc8285269c7679ed427b20864d1f1b127b1a228"}, pairs, 1e-9)


def test_published_flexibilities_are_whole_ninths(published: dict[str, dict[str, float]]) -> None:
    """As means over two scores by three judges and one letter are; what the docstring of the aggregation says."""
    values = [numbers["flexibility"] for numbers in published.values()]
    assert all(abs(9 * value - round(9 * value)) < 2e-5 for value in values)
    assert any(abs(2 * value - round(2 * value)) > 0.01 for value in values)


@pytest.mark.parametrize("name", ["ideas_own", "ideas_own_one", "liveideabench"])
def test_a_letter_is_no_article(name: str) -> None:
    task = TaskIndex(load_plugins()).load(name)
    ref = next(ref for ref in task.score if ref.parameters.get("name") == "fluency")
    (given,) = ref.parameters["parse"]
    pattern = re.compile(given.parameters["pattern"], re.IGNORECASE)
    for text, letter in {
        "B": "B",
        "**c**.": "c",
        "Answer: D": "D",
        "Final answer is A\n": "A",
        "A: they ask different questions": "A",
        "A\n\nThey differ.": "A",
        "A close look shows that they are similar: C": None,
        "a similar idea": None,
        "Both ask the same.": None,
        "Dull.": None,
    }.items():
        found = pattern.search(text)
        assert (found[1] if found else None) == letter, text
