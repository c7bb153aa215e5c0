"""What a task was held against is shown, changes no hash, and is not passed on to who includes the task."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from creval.cli.commands.tasks.show import show
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex

PARITY = {"against": "theirs", "answers": 4, "agreement": 0.75, "worst": 0.5}


@pytest.mark.parametrize("task", ["cdat", "create_released", "kumo_published_easy"])
def test_what_ours_were_held_against_is_shown(task: str) -> None:
    shown = CliRunner().invoke(show, [task])
    assert "answers agree with" in " ".join(shown.output.split()), shown.output
    stated = TaskIndex(load_plugins()).load(task).parity
    assert stated["agreement"] == 1.0
    assert f"{stated['answers']:,} answers agree" in shown.output


def test_variants_and_tasks_that_include_another_have_none() -> None:
    index = TaskIndex(load_plugins())
    assert not index.load("create").parity
    assert not index.load("create_verbalized").parity


def test_it_is_no_part_of_the_hash(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("include: association/cdat\ntask: own\n")
    index = TaskIndex(load_plugins())
    before = index.load(tmp_path / "own.yaml")
    assert not before.parity
    (tmp_path / "own.yaml").write_text(f"include: association/cdat\ntask: own\nparity: {json.dumps(PARITY)}\n")
    after = TaskIndex(load_plugins()).load(tmp_path / "own.yaml")
    assert after.hash == before.hash
    shown = CliRunner().invoke(show, [str(tmp_path / "own.yaml")])
    assert "75.0% of 4 answers agree with theirs; the largest difference is 0.5" in shown.output
