"""The examples of the tasks, on rows in the form of the authors' files."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import creval
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_testing.task_examples import run_examples

ROWS: dict[str, dict[str, Any]] = {
    "aut": {"input": {"text": "Uses for a sieve?", "others": {"object": "sieve"}}},
    "ttct": {"input": {"text_cot": "What could go wrong?"}},
    "ttcw": {"input": {"others": {"plot": "A child is exchanged."}}},
    "cs4": {"input": {"text": "Write a story about tea.", "others": {"constraints": ["It is dark."]}}},
    "short_story": {"input": {"others": {"items": ["a", "b", "c"], "boring_theme": "letters"}}},
}


@pytest.mark.parametrize("name", ROWS)
def test_the_examples_of_the_tasks_on_a_copy(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"meta_data": {"id": f"{number}_NewYorker"}, **ROWS[name]} for number in range(12)]
    (tmp_path / f"creativityprism_{name}.json").write_text(json.dumps(rows))
    monkeypatch.setenv("CREVAL_DATA", str(tmp_path))
    plugins = load_plugins()
    task = TaskIndex(plugins).load(f"creativityprism_{name}")
    outcomes = asyncio.run(run_examples(task, creval.RunOptions(offline=True), plugins))
    assert len(outcomes) >= 4 and [fault for each in outcomes for fault in each.faults] == []
