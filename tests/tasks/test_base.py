"""A task from outside a plugin that builds on a plugin's task: its numbers never go by that task's plain names."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from support.toy_plugins import toy_plugins, write_task

from creval.data.data_options import DataOptions
from creval.data.open_dataset import open_dataset
from creval.engine.run_options import RunOptions
from creval.engine.scoring.used_resources import UsedResources, changed_sections
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval.tasks.task_model import Task
from creval_testing.check_tasks import check_data

DRAT = "schema: 1\ninclude: association/drat\ntask: drat\n"


@functools.cache
def shipped() -> TaskIndex:
    """The tasks of all plugins, looked through once."""
    return TaskIndex(load_plugins())


def load(tmp_path: Path, text: str, *others: str) -> Task:
    (tmp_path / "mine.yaml").write_text(text)
    return shipped().expand([tmp_path / "mine.yaml", *others])[0]


def names(task: Task, **resources: str) -> list[str]:
    used_resources = UsedResources.of(task, RunOptions(resources=resources), {})
    return [used_resources.metric_name(task, metric, load_plugins().registry) for metric in task.metrics]


@pytest.mark.parametrize(
    ("changed", "primary", "sections"),
    [
        ("", "drat", []),
        ("title: Mine\n", "drat", []),
        ("repeats: 3\n", "drat", ["repeats"]),
        ("score: [{drat: {quantile: 0.8}}]\n", "drat[min_survivors=default, quantile=0.8, utility=default]", ["score"]),
        ("score: [{drat: {utility: max, quantile: 0.8, min_survivors: 3}}]\n", "drat[quantile=0.8]", ["score"]),
        ("resources: {embedding: embedded/minilm}\n", "drat[embedded/minilm]", ["resources"]),
        ("metrics: [{name: drat, failed: exclude}]\n", "drat[failed=exclude]", ["metrics"]),
        ("metrics: [{name: drat, failed: zero, aggregate: median}]\n", "drat[aggregate=median]", ["metrics"]),
        ("metrics: [{name: mine, from: drat, failed: zero}]\n", "mine", ["metrics"]),
    ],
)
def test_what_a_local_file_changes_marks_the_metric(
    tmp_path: Path, changed: str, primary: str, sections: list[str]
) -> None:
    task = load(tmp_path, DRAT + changed)
    assert task.base is not None and task.base.qualified == "association/drat"
    assert names(task)[0] == primary
    assert changed_sections(task) == sections


def test_the_plugin_s_own_resource_makes_the_name_plain_again(tmp_path: Path) -> None:
    task = load(tmp_path, DRAT + "resources: {embedding: embedded/minilm}\n")
    assert names(task, embedding="sentence-transformers/all-mpnet-base-v2")[0] == "drat"


def test_an_include_of_an_include_is_seen(tmp_path: Path) -> None:
    (tmp_path / "first.yaml").write_text(DRAT + "score: [{drat: {utility: max, quantile: 0.8, min_survivors: 3}}]\n")
    assert names(load(tmp_path, "schema: 1\ninclude: first.yaml\ntask: second\n"))[0] == "drat[quantile=0.8]"


def test_a_suite_s_overrides_mark_it_too(tmp_path: Path) -> None:
    text = "schema: 1\nsuite: mine\nversion: 1.0.0\ntitle: Mine\ntasks:\n"
    task = load(tmp_path, text + "  - {task: association/drat, as: loose, score: {drat: {quantile: 0.8}}}\n")
    assert (task.name, names(task)[0]) == ("drat@loose", "drat[quantile=0.8]")
    (tmp_path / "plain").mkdir()
    plain = load(tmp_path / "plain", text + "  - {task: association/drat, repeats: 2}\n")
    assert names(plain)[0] == "drat"


def test_variants_that_ship_keep_their_names() -> None:
    index = shipped()
    for name in ("drat_k2", "dat_dictionary", "kumo_easy_medical", "kumo_probabilistic"):
        task = index.load(name)
        assert task.base is None
        assert names(task) == [metric.name for metric in task.metrics]


def test_a_template_s_numbers_are_the_includer_s_own(tmp_path: Path) -> None:
    write_task(tmp_path / "tasks", "base.yaml", task="template: true\ntask: base")
    (tmp_path / "mine.yaml").write_text("schema: 1\ninclude: red/base\ntask: mine\n")
    index = TaskIndex(toy_plugins([("red", tmp_path / "tasks")]))
    assert index.load("red/base").template
    mine = index.load(tmp_path / "mine.yaml")
    assert (mine.base, mine.template) == (None, False)


@pytest.mark.parametrize("name", ["association/cdat", "create/create"])
def test_an_included_task_keeps_the_data_of_its_package(tmp_path: Path, name: str) -> None:
    task = load(tmp_path, f"schema: 1\ninclude: {name}\ntask: mine\n")
    dataset = open_dataset(task.dataset, load_plugins().registry, DataOptions(offline=True))
    assert len(dataset) >= 20


def test_data_that_the_includer_states_wrongly_are_named_with_its_own_line(tmp_path: Path) -> None:
    task = load(
        tmp_path,
        "schema: 1\ninclude: kumo/kumo\ntask: own\ndataset:\n  generator: {kumo: {domains: nowhere}}\n",
    )
    (problem,) = check_data(task, load_plugins().registry, DataOptions(offline=True))
    assert (problem.file, problem.line) == (tmp_path / "mine.yaml", 5)
