"""The metrics of all shipped tasks: what they are called."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval.tasks.model import MetricSpec, Task


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    index = TaskIndex(load_plugins())
    return [index.load(f"{head.plugin}/{head.name}") for head in index.headers() if head.kind == "task"]


def _metrics(tasks: list[Task]) -> Iterator[tuple[str, MetricSpec]]:
    for task in tasks:
        for metric in task.metrics:
            yield f"{task.qualified} {metric.name}", metric


def test_a_metric_and_its_score_have_one_name(tasks: list[Task]) -> None:
    """Except where a second number is made of the score by another aggregation: pass@5 of pass@1."""
    assert len(tasks) > 100
    called = {name: metric.source for name, metric in _metrics(tasks) if metric.aggregate.name == "mean"}
    assert {name: source for name, source in called.items() if name.split()[-1] != source} == {}
