"""No text of a model, of a judge, juror, reviewer or augmenter makes a shipped scorer, parser or protocol raise."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.hostile_play import HARD, Use, fault_of, play, scorers_of, uses_of

import creval
import creval_testing
from creval.engine.run_options import RunOptions
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex

pytestmark = pytest.mark.model  # they open an encoder

PLUGINS = load_plugins()
SHOWN = Path(creval_testing.__file__).parent / "example_tasks"
RESOURCES = {"embedding": "embedded/minilm", "entailment": "cosine/0.85"}
OWN = Path(__file__).parent / "hostile_tasks"
OWNERS = ["local", *sorted({head.plugin for head in TaskIndex(PLUGINS).headers()})]
"""The plugins that have tasks, and the files next to them. Which uses each has is known when its test runs."""
REPEATED = {"diversity/distinct", "diversity/set_distance"}
"""Scorers of several answers to a doc: played as one run."""

OTHERS = {
    "diversity/diversity.distinct_classifier",
    "lmeval/lmeval",
    "lmeval/lmeval_code",
    "reasoning_gym/reasoning_gym",
}
"""Scorers that call functions of others: of a user's own task, whose exceptions are errors of that task; of Reasoning
Gym, which its plugin's own tests play with hostile answers; and one that needs a classifier that must be fetched."""


@functools.cache
def uses() -> list[Use]:
    """All uses: no worker but the one that plays them loads all tasks."""
    return uses_of(PLUGINS, [*sorted(SHOWN.glob("*.yaml")), *sorted(OWN.glob("[!_]*.yaml"))])


def uses_in(owner: str) -> list[Use]:
    return [use for use in uses() if use.task.plugin == owner]


def test_every_use_has_an_owner() -> None:
    assert sorted(map(str, uses())) == sorted(str(use) for owner in OWNERS for use in uses_in(owner))


def test_every_registered_scorer_is_played() -> None:
    registered = {each.qualified for each in PLUGINS.registry.all() if each.kind == "scorer"}
    played = set().union(*(scorers_of(use, PLUGINS) for use in uses()))
    assert registered - played - OTHERS == set(), "give it a task in tests/scoring/hostile_tasks"
    repeated = [each for each in PLUGINS.registry.all() if each.kind == "scorer" and each.qualified in REPEATED]
    assert len(repeated) == len(REPEATED)
    assert {each.scorer_traits({}).unit for each in repeated} == {"doc"}


@pytest.mark.parametrize("owner", OWNERS)
def test_no_hard_text_makes_it_raise(owner: str) -> None:
    for use in uses_in(owner):
        faults = [fault_of(said, score, use, PLUGINS) for said, score in play(use, HARD, PLUGINS, RESOURCES)]
        assert [each for each in faults if each] == []


PIECES = st.sampled_from(
    [
        *("[[", "]]", "[[YES]]", "[[NO]]", "[[POINT]]", "[[Score]]", "([0.5])", "([NO])", "Score: ", "/5", " out of "),
        *('{"score": ', '{"words": [', "NaN", "-Infinity", "1e999", "9" * 40, "\x00", "\ud800", "\u2028", "\n", "- "),
        *("def solve():\n    ", "```python\n", "```", "not ", "lambda: ", "1+", "(" * 40, "Step 1: ", "<ANSWER>"),
        *("for loop", "QA1", "first", "tie", "**", "\\boxed{", "\\frac{1}{0}", "[[[", "}}", '", "', "paths", "->"),
    ]
)
TEXTS = st.lists(PIECES | st.text(st.characters(codec=None), max_size=6), min_size=1, max_size=12).map("".join)


@pytest.mark.parametrize("owner", OWNERS)
def test_no_text_makes_it_raise(owner: str) -> None:
    """Few runs of several texts each: a task and its resources are opened once per run."""

    @settings(max_examples=2, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(st.lists(TEXTS, min_size=2, max_size=2))
    def played(use: Use, texts: list[str]) -> None:
        faults = [fault_of(said, score, use, PLUGINS) for said, score in play(use, texts, PLUGINS, RESOURCES)]
        assert [each for each in faults if each] == []

    for use in uses_in(owner):
        played(use)


def test_scorers_of_several_answers_take_any(tmp_path: Path) -> None:
    said = tmp_path / "said.jsonl"
    rows = [
        {"task": "mode_collapse", "doc": "salt", "repeat": at, "answers": [text]}
        for at, text in enumerate([*HARD, "It rained."])
    ]
    said.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options: dict[str, Any] = {"repeats": len(rows), "docs": ("salt",), "offline": True, "output": tmp_path / "run"}
    done = creval.run([str(SHOWN / "mode_collapse.yaml")], f"replay/{said}", RunOptions(**options))
    (task,) = done.results["tasks"]
    assert task["counts"]["errored"] == 0
    assert all(0 <= each["value"] <= 2 for each in task["metrics"])
