"""What a user set in place of a task's own: said in the heading of a table, and where runs stand beside each other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from creval.api import RunResult

__all__ = ["comparison_notes", "own_settings", "setting_words"]

_ASPECTS = {
    "hash": "the task itself",
    "dataset": "data",
    "docs_digest": "docs",
    "generation_overrides": "generation settings",
    "condition_overrides": "conditions",
}


def setting_words(generation: Mapping[str, Any], conditions: Mapping[str, Sequence[Any]]) -> list[tuple[str, str]]:
    """Return (option, NAME=VALUE) as the command line takes it; the values of a condition have commas between."""
    one = [("--generation", f"{name}={_text(value)}") for name, value in generation.items()]
    return one + [("--condition", f"{name}={','.join(map(_text, values))}") for name, values in conditions.items()]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def own_settings(result: RunResult) -> list[str]:
    """Return what of a run is not as its tasks have it: settings, conditions, data, changed tasks; each said once."""
    notes: dict[str, None] = {}
    shards = {task["shard"] for task in result.results["tasks"] if task.get("shard")}
    notes.update(dict.fromkeys(f"shard {shard}: a part of the docs" for shard in sorted(shards)))
    for task in result.results["tasks"]:
        words = setting_words(task.get("generation_overrides") or {}, task.get("condition_overrides") or {})
        notes.update(dict.fromkeys(f"{option} {text}" for option, text in words))
        if task.get("replaced_data"):
            notes[f"--data {task['task']}={task['replaced_data']}"] = None
        if task.get("variant_of") and task.get("changed"):
            notes[f"{task['task']} is {task['variant_of']} with other {', '.join(task['changed'])}"] = None
    return list(notes)


def comparison_notes(results: Sequence[RunResult]) -> Iterator[str]:
    """Yield one line for each task whose runs differ in what was asked, so that their numbers do not compare."""
    by_task: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        for task in result.results["tasks"]:
            by_task.setdefault(task.get("qualified", task["task"]), []).append(task)
    for name, tasks in by_task.items():
        different = [
            words
            for key, words in _ASPECTS.items()
            if len({json.dumps(task.get(key) or None, sort_keys=True) for task in tasks}) > 1
        ]
        if different:
            yield f"numbers of {name} do not compare: these runs differ in {', '.join(different)}"
