"""What a task is stays what it was: names, content and hashes of the shipped tasks, and keys that come later."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from support.toy_plugins import toy_plugins, write_task

from creval.plugins.loader import load_plugins
from creval.tasks import load_task, task_model
from creval.tasks.index import TaskIndex
from creval.tasks.sections import dataset_section
from creval.tasks.task_model import ComponentRef, MetricSpec

KNOWN: dict[str, Any] = json.loads((Path(__file__).parent / "identity.json").read_text("utf-8"))
"""By qualified name: the task's own version, its plugin's version, its hash, and a digest of its content."""
LATER = ("range", "binary", "cluster", "template", "parity")
"""Keys that the format did not have then; they change neither hash nor score."""
INDEX = TaskIndex(load_plugins())


def digest(content: Any) -> str:
    """The sha256 of a task's resolved content, without its text for readers and the keys that came later."""

    def kept(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: kept(member) for key, member in value.items() if key not in LATER}
        return [kept(member) for member in value] if isinstance(value, list) else value

    text = json.dumps(
        kept({key: value for key, value in content.items() if key != "description"}),
        sort_keys=True,
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_shipped_task_is_what_it_was_until_its_version_is_raised(name: str) -> None:
    recorded, task = KNOWN[name], INDEX.load(name)
    if task.version != recorded["version"]:
        assert [int(part) for part in task.version.split(".")] > [int(part) for part in recorded["version"].split(".")]
        return
    assert digest(task.resolved) == recorded["content"]
    if task.plugin_version == recorded["plugin_version"]:
        assert task.hash == recorded["hash"]


def _hash(folder: Path, **changes: str) -> str:
    return TaskIndex(toy_plugins()).load(write_task(folder, **changes)).hash


def test_a_key_of_a_metric_that_comes_later_counts_only_where_it_is_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _hash(tmp_path)
    spec = MetricSpec("m", "m", ComponentRef("mean"), stated=frozenset({"name", "failed"}))
    later = dataclasses.make_dataclass(
        "Later", [("weight", float, dataclasses.field(default=1.0))], bases=(MetricSpec,), frozen=True
    )
    silent = later("m", "m", ComponentRef("mean"), stated=spec.stated)
    assert silent.content() == spec.content()
    for weight in (1.0, 2.0):
        stated = later("m", "m", ComponentRef("mean"), stated=spec.stated | {"weight"}, weight=weight)
        assert stated.content() == {**spec.content(), "weight": weight}
    monkeypatch.setattr("creval.tasks.sections.scoring_section.MetricSpec", later)
    assert _hash(tmp_path) == before


def test_a_default_that_changes_changes_no_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _hash(tmp_path)
    changed = dataclasses.make_dataclass(
        "Changed", [("ci", str, dataclasses.field(default="none"))], bases=(MetricSpec,), frozen=True
    )
    monkeypatch.setattr("creval.tasks.sections.scoring_section.MetricSpec", changed)
    assert _hash(tmp_path) == before
    assert _hash(tmp_path, metrics="metrics: [{name: length, failed: zero, ci: none}]") != before


def test_a_key_of_the_dataset_that_comes_later_counts_only_where_it_is_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _hash(tmp_path)
    for module in (load_task, dataset_section):
        monkeypatch.setattr(module, "OWN_KEYS", (*dataset_section.OWN_KEYS, "sample"))
    assert _hash(tmp_path) == before
    sampled = [
        _hash(tmp_path, dataset=f"dataset: {{source: file, file: docs.jsonl, sample: {{n: {size}, seed: 1}}}}")
        for size in (1, 2)
    ]
    assert len({before, *sampled}) == 3


def test_what_shapes_only_intervals_is_no_other_task(tmp_path: Path) -> None:
    metrics = "metrics: [{name: length, failed: zero, range: [0, null]}]"
    assert _hash(tmp_path, metrics=metrics, cluster="cluster: trial") == _hash(tmp_path)


def test_every_key_of_a_metric_is_hashed_or_said_not_to_be() -> None:
    names = {field.name for field in dataclasses.fields(MetricSpec)}
    assert names >= {*task_model._SILENT, *task_model._NEVER_HASHED, "name", "source", "primary", "aggregate"}


def test_the_name_of_an_aggregation_does_not_depend_on_who_else_has_one(tmp_path: Path) -> None:
    plugins = toy_plugins()
    file = write_task(tmp_path)
    before = TaskIndex(plugins).load(file).hash
    plugins.registry.scoped("blue").add("aggregation", "mean", "support.toy_plugins:Letters")
    assert TaskIndex(plugins).load(file).hash == before
