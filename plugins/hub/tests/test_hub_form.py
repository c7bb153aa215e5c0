"""The Hub's eval.yaml: plain tasks have it, whole and closed; for others every reason is reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.toy_plugins import sound_task

from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_hub.hub_form import HubForm, hub_form

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "tasks"
ENTRY = {"id", "config", "split", "field_spec", "solvers", "scorers", "shuffle_choices", "epochs", "epoch_reducer"}
SOLVERS = {"prompt_template", "system_message", "multiple_choice", "generate"}
SCORERS = {"includes", "match", "pattern", "exact", "choice"}
"""What inspect-ai's task model allows (the names of the Hub's list)."""


def form(folder: Path, **changes: str) -> HubForm:
    plain = {
        "dataset": "dataset: {source: file, file: docs.jsonl}",
        "parse": "parse: text",
        "score": "score: exact_match",
        "metrics": "metrics: [{name: exact_match, failed: zero}]",
    }
    (folder / "docs.jsonl").write_text('{"word": "a", "target": "a", "options": ["a", "b"], "right": 0}\n')
    file = folder / "toy.yaml"
    file.write_text(sound_task(**{**plain, **changes}))
    return hub_form(TaskIndex(load_plugins()).load(file))


def entry(made: HubForm) -> dict[str, Any]:
    assert made.reasons == []
    assert made.data is not None
    assert set(made.data) == {"name", "description", "evaluation_framework", "tasks"}
    (task,) = made.data["tasks"]
    assert set(task) <= ENTRY
    assert {each["name"] for each in task["solvers"]} <= SOLVERS
    assert {each["name"] for each in task["scorers"]} <= SCORERS
    return dict(task)


def test_a_plain_task(tmp_path: Path) -> None:
    task = entry(form(tmp_path))
    assert task["field_spec"] == {"input": "word", "target": "target"}
    assert task["solvers"] == [{"name": "prompt_template", "args": {"template": "Say {prompt}"}}, {"name": "generate"}]
    assert task["scorers"] == [{"name": "match", "args": {"location": "exact", "ignore_case": False}}]


def test_data_of_the_hub_keep_config_and_split(tmp_path: Path) -> None:
    dataset = f"dataset: {{source: huggingface, dataset: a/b, revision: {'a' * 40}, config: c, split: validation}}"
    task = entry(form(tmp_path, dataset=dataset, repeats="repeats: 4"))
    assert (task["config"], task["split"], task["epochs"]) == ("c", "validation", 4)


def test_renamed_and_fixed_fields(tmp_path: Path) -> None:
    dataset = "dataset: {source: file, file: docs.jsonl, fields: {ask: word, goal: {value: x}}}"
    changes = {"prompt": "prompt:\n  - {role: user, content: '{{ ask }}'}", "score": "score: {exact_match: goal}"}
    assert entry(form(tmp_path, dataset=dataset, **changes))["field_spec"] == {"input": "word", "target": "literal:x"}


def test_a_multiple_choice(tmp_path: Path) -> None:
    made = form(
        tmp_path,
        dataset="dataset: {source: file, file: docs.jsonl, choices: {from: options, answer: right, seed: 1}}",
        prompt="prompt:\n  - {role: user, content: '{{ word }}\\n{{ options }}'}",
        parse="parse: choice",
    )
    task = entry(made)
    assert task["field_spec"] == {"input": "word", "target": "right", "choices": "options"}
    assert task["shuffle_choices"] is True
    assert task["scorers"] == [{"name": "choice"}]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"conditions": "conditions: {temperature: [0, 1]}"}, "several conditions"),
        ({"few_shot": "few_shot: {n: 1}"}, "few-shot"),
        ({"parse": "readings: {a: text}", "metrics": "metrics: [{name: exact_match@a, failed: zero}]"}, "readings"),
        ({"generation": "generation: {n: 3}"}, "several answers"),
        ({"dataset": "dataset: {source: file, file: docs.jsonl, sample: {n: 1, seed: 1}}"}, "fixed subset"),
        ({"dataset": "dataset: {source: file, file: docs.jsonl, fields: {target: {from: word, pattern: a}}}"}, "cuts"),
        ({"prompt": "prompt:\n  - {role: user, content: '{{ word | upper }}'}"}, "one field of the data"),
        ({"prompt": "prompt:\n  - {role: user, content: '{{ word }} {{ target }}'}"}, "one field of the data"),
        ({"parse": "parse: [lines, words]"}, "no scorer that does what exact_match does with lines and words"),
        ({"score": "score: {exact_match: {reduce: best}}"}, "best-of-n"),
    ],
)
def test_what_has_no_place_is_reported(tmp_path: Path, changes: dict[str, str], reason: str) -> None:
    made = form(tmp_path, **changes)
    assert made.data is None
    assert any(reason in each for each in made.reasons), made.reasons


def test_an_example_of_the_page() -> None:
    assert hub_form(TaskIndex(load_plugins()).load(EXAMPLES / "judged.yaml")).reasons
