"""An unknown task names the distribution that has it, where that is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.toy_plugins import toy_plugins

from creval.cli.main import invoke
from creval.engine.execution import open_executor
from creval.errors import UnknownNameError
from creval.plugins import distributions
from creval.tasks.index import TaskIndex

TASKS = sorted(
    (file.parent.name, file.stem)
    for file in (Path(__file__).parents[2] / "task_yaml").glob("*/*.yaml")
    if not file.name.startswith("_")
)
SUITES = sorted(
    (file.parents[1].name, file.stem)
    for file in (Path(__file__).parents[2] / "task_yaml").glob("*/suites/*.yaml")
    if not file.name.startswith("_")
)


def test_every_task_of_this_repository_is_of_a_family_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributions, "installed_version", lambda name: None)
    assert len(TASKS) > 30
    name_of = distributions.absent_distribution_of_task
    assert len(SUITES) > 10
    wrong = [(folder, name) for folder, name in (*TASKS, *SUITES) if name_of(name) != f"creval-{folder}"]
    assert wrong == []
    assert name_of("lmeval/gsm8k") == "creval-lmeval" and name_of("reasoning_gym/x") == "creval-reasoning_gym"
    assert distributions.absent_distribution_of_task("kumo/kumo_easy") == "creval-kumo"
    assert distributions.absent_distribution_of_task("gsm8k") is None


def test_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributions, "installed_version", lambda name: None)
    with pytest.raises(UnknownNameError, match="pip install creval-kumo"):
        TaskIndex(toy_plugins()).find("kumo_hard_9x9")


def test_an_installed_one_is_not_named() -> None:
    with pytest.raises(UnknownNameError) as caught:
        TaskIndex(toy_plugins()).find("kumo_hard_9x9")
    assert "pip install" not in str(caught.value)


def test_an_analysis_a_command_and_an_executor_name_theirs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(distributions, "installed_version", lambda name: None)
    monkeypatch.setattr("creval.plugins.loader.load_plugins", toy_plugins)
    monkeypatch.setattr("creval.plugin.loading.load_plugins", toy_plugins)
    for words, distribution in (
        (["analyse", "validity", "x"], "creval-validity"),
        (["analyse", "kumo-optimal", "x"], "creval-kumo"),
        (["analyse", "diversity-across", "x"], "creval-diversity"),
        (["lmeval", "include", "x"], "creval-lmeval"),
        (["kumo"], "creval-kumo"),
    ):
        assert invoke(words) == 2
        assert f"needs {distribution}, which is not installed: pip install {distribution}" in capsys.readouterr().err
    assert invoke(["analyse", "nothing", "x"]) == invoke(["nothing"]) == 2
    assert "pip install" not in capsys.readouterr().err
    with pytest.raises(UnknownNameError, match="pip install creval-ray"):
        open_executor("ray", {}, toy_plugins().registry)
