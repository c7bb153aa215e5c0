"""The metrics of all shipped tasks: what they are called, and between which values they lie."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from creval.plugins.loader import load_plugins
from creval.plugins.registry import ANY_SCORE, BINARY, Component
from creval.tasks.index import TaskIndex
from creval.tasks.task_model import MetricSpec, Task

_REGISTRY = load_plugins().registry
_SCORERS = [each for each in _REGISTRY.all() if each.kind == "scorer"]


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
    r"|creative_utility(_\w+)?@1.0|printed|readable|rescued|distinct|valid(_\w+)?|paths|useful|points|reach|strength"
    r"|(classes|distinct)_\w+"
)
"""Counts, and utilities that grow with them: nothing bounds them from above."""


def test_every_metric_declares_between_which_values_it_lies(tasks: list[Task]) -> None:
    for name, metric in _metrics(tasks):
        if metric.binary or metric.aggregate.name in ("rate", "pass@k", "all", "consistency"):
            continue
        low, high = metric.range
        assert low is not None, name
        assert high is not None or _UNBOUNDED.fullmatch(metric.name), name


_GIVEN = {"criteria": [{"name": "clear", "definition": "x"}], "scale": [1, 5], "name": "style", "prompt": "x"}


@pytest.mark.parametrize("scorer", _SCORERS, ids=lambda scorer: scorer.qualified)
def test_every_scorer_declares_what_its_scores_can_be(scorer: Component) -> None:
    """A task that uses one, of whoever, needs no range of its own; judges go by their scale, labels and criteria."""
    known = set(scorer.produces) - {ANY_SCORE}
    assert {name for name in known if scorer.range_of(name, _GIVEN) is None} == set()


@pytest.mark.parametrize(
    ("name", "score", "given", "expected"),
    [
        ("judge", "style", _GIVEN, (1, 5)),
        ("judge", "judge", {"labels": {"good": 1, "bad": 0}}, BINARY),
        ("judge", "judge", {"against": "rival"}, (0, 1)),
        ("openended.jury", "clear", _GIVEN, BINARY),
        ("rat", "rat", {}, BINARY),
        ("dat", "dat", {"words": 10}, (0, 200)),
        ("cdat", "cdat_a", {}, (-100, 100)),
        ("cdat", "cdat_a", {"appropriateness_scale": "shifted"}, (0, 200)),
        ("drat", "survivors", {}, (0, 10)),
        ("drat", "survivors", {"words": 7}, (0, 7)),
        ("association/pace", "chain_words", {"length": 12}, (1, 12)),
        ("kumo_play", "success_rate", {}, BINARY),
        ("kumo_play", "relative_action_count", {}, (-1, None)),
        ("kumo_belief", "posterior", {}, (0, 1)),
        ("neocoder_tests", "pass@1", {}, BINARY),
        ("neocoder_pass_any", "pass@1", {}, (0, 1)),
        ("neocoder_best", "neogauge", {}, (0, 1)),
        ("create", "creative_utility@0.0", {}, (0, 5)),
        ("create", "creative_utility_shared@0.9", {}, (0, 50)),
        ("create", "creative_utility@0.9", {"variant": "released"}, (0, 55)),
        ("create", "creative_utility@0.9", {"variant": "released", "discount": "equation"}, (0, 50)),
        ("create", "creative_utility@0.5", {"discount": "released"}, (0, 15)),
        ("create", "creative_utility@1.0", {"variant": "released"}, (0, None)),
    ],
)
def test_the_range_follows_the_parameters(name: str, score: str, given: dict[str, object], expected: object) -> None:
    assert _REGISTRY.get("scorer", name).range_of(score, given) == expected


OF_THEIR_DOCS = {"wordgames/clues_give"}
"""Six words of a board are the player's own: plugins/wordgames/tests/test_clues.py. openended counts candidates."""


def test_a_task_states_no_narrower_range_than_its_scorer(tasks: list[Task]) -> None:
    """Or a score that its scorer may give would lie outside. Those of `OF_THEIR_DOCS` know what their docs hold."""
    for task in tasks:
        scorers = [(_REGISTRY.get("scorer", ref.name), ref.parameters) for ref in task.score]
        declared = {name: each.range_of(name, given) for each, given in scorers for name in each.produces}
        for metric in task.metrics:
            found = declared.get(metric.source)
            if found is None or task.plugin == "openended" or task.qualified in OF_THEIR_DOCS:
                continue
            assert metric.binary == (found == BINARY), f"{task.qualified} {metric.name}"
            if isinstance(found, tuple):
                low, high = metric.range
                assert low is not None, f"{task.qualified} {metric.name}"
                assert low <= (found[0] or 0), f"{task.qualified} {metric.name}"
                wide = high is None or (found[1] is not None and high >= found[1])
                assert wide, f"{task.qualified} {metric.name}"
