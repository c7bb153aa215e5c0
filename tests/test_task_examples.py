"""Every task ships a gold answer and mutants with their stated outcomes; here they run for every installed task."""

from __future__ import annotations

import asyncio

import pytest

from creval.data.mirror import REMOTE_KEY
from creval.engine.examples import run_examples
from creval.engine.options import RunOptions
from creval.errors import DataError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval.tasks.model import Task
from creval.types.sample import Status

PLUGINS = load_plugins()
INDEX = TaskIndex(PLUGINS)
NAMES = [f"{header.plugin}/{header.name}" for header in INDEX.headers() if header.kind == "task"]
OFFLINE = {"embedding": "embedded/minilm", "entailment": "cosine/0.85"}
"""Instruments that need no network. The bounds that tasks state hold for these too."""


def load(name: str) -> Task:
    return INDEX.load(name)


def comes_from_elsewhere(task: Task) -> bool:
    return bool(PLUGINS.registry.get("source", task.dataset.source).parameters.get(REMOTE_KEY))


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_task_end_as_stated(name: str) -> None:
    task = load(name)
    resources = {kind: spec for kind, spec in OFFLINE.items() if kind in task.resources}
    try:
        options = RunOptions(resources=resources, offline=True, allow_code_execution=True)
        outcomes = asyncio.run(run_examples(task, options, PLUGINS))
    except DataError:
        if comes_from_elsewhere(task):
            pytest.skip("its data come from elsewhere; the tests of its plugin run its examples on a copy")
        raise
    assert [f"{each.example}: {fault}" for each in outcomes for fault in each.faults] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_task_ships_gold_and_mutants(name: str) -> None:
    examples = load(name).examples
    assert any(example.status is Status.SCORED for example in examples), "no gold answer"
    assert any(example.status is Status.UNPARSED for example in examples), "no answer that cannot be read"
    assert len(examples) >= 4


@pytest.mark.parametrize("name", NAMES)
def test_a_task_names_a_floor_and_a_ceiling(name: str) -> None:
    assert set(load(name).baselines) == {"floor", "ceiling"}
