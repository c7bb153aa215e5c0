"""The metrics of all shipped tasks: what they are called, and between which values they lie."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from creval.plugins.loader import load_plugins
from creval.plugins.registry import ANY_SCORE, BINARY
from creval.tasks.index import TaskIndex
from creval.tasks.task_model import MetricSpec, Task


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


_UNBOUNDED = re.compile(
    r"relative_action_count|tests|paper_compat|novelty_rank|(judge_(calls|(input|output)_)?)?tokens"
    r"|judge_calls|tokens_per_call|chains|chain_words|valid_words|survivors|fluency|out_of_vocabulary"
    r"|creative_utility(_\w+)?@1.0|printed|readable|rescued|distinct|valid(_\w+)?|paths|useful"
)
"""Counts, and utilities that grow with them: nothing bounds them from above."""


def test_every_metric_declares_between_which_values_it_lies(tasks: list[Task]) -> None:
    for name, metric in _metrics(tasks):
        if metric.binary or metric.aggregate.name in ("rate", "pass@k", "all", "consistency"):
            continue
        low, high = metric.range
        assert low is not None, name
        assert high is not None or _UNBOUNDED.fullmatch(metric.name), name


def test_every_scorer_declares_what_its_scores_can_be() -> None:
    """Those of the core and of openended, whose tasks others write; the judges by their scale, labels and criteria."""
    scorers = [each for each in load_plugins().registry.all() if each.kind == "scorer"]
    given = {"criteria": [{"name": "clear", "definition": "x"}], "scale": [1, 5], "name": "style", "prompt": "x"}
    for scorer in scorers:
        if scorer.plugin in ("core", "openended"):
            known = set(scorer.produces) - {ANY_SCORE}
            assert {name for name in known if scorer.range_of(name, given) is None} == set(), scorer.name
    by_name = {each.name: each for each in scorers}
    assert by_name["judge"].range_of("style", given) == (1, 5)
    assert by_name["judge"].range_of("judge", {"labels": {"good": 1, "bad": 0}}) == BINARY
    assert by_name["judge"].range_of("judge", {"against": "rival"}) == (0, 1)
    assert by_name["openended.jury"].range_of("clear", given) == BINARY
