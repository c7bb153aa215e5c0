"""What a task was held against, or why nothing, is shown, changes no hash, and is not passed on to who includes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from creval.cli.commands.tasks import show
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex

PARITY = {"against": "theirs", "answers": 4, "agreement": 0.75, "worst": 0.5}


def shown(task: str) -> str:
    return " ".join(CliRunner().invoke(show, [task]).output.split())


@pytest.fixture(scope="module")
def index() -> TaskIndex:
    return TaskIndex(load_plugins())


def test_each_of_our_tasks_says_what_it_was_held_against_or_why_nothing(index: TaskIndex) -> None:
    tasks = [head for head in index.headers() if head.kind == "task"]
    domains = [head for head in tasks if head.name.startswith(("kumo_easy_", "kumo_hard_"))][4:]  # they are all alike
    stated = {head.name: index.load(head.qualified).parity for head in tasks if head not in domains}
    assert [task for task, parity in stated.items() if not parity] == []
    held = {task for task, parity in stated.items() if "against" in parity}
    assert {"cdat", "pace", "rat", "dat_dictionary", "create", "create_released", "neocoder_state0"} <= held
    assert {"kumo_published_easy", "kumo_published_hard", "macgyver", "hypogen", "bookmia_jury"} <= held
    assert {f"neocoder_released_state{state}" for state in range(6)} <= held
    assert all(len(parity["none"]) > 15 for parity in stated.values() if "none" in parity)


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("cdat", "parity: 100.0% of 614 compared agree with the authors' stored values"),
        ("neocoder_released_state0", "parity: 100.0% of 1 number made over 199 answers agree with Table 3's pass@1"),
        ("kumo_easy_music", "parity: none: its games are made anew"),
        ("create_verbalized", "parity: none: it is scored as create is"),
    ],
)
def test_it_is_shown(task: str, said: str) -> None:
    assert said in shown(task)


def test_numbers_are_not_passed_on_and_reasons_are(index: TaskIndex) -> None:
    assert "against" in index.load("create").parity and "none" not in index.load("create").parity
    assert set(index.load("create_verbalized").parity) == {"none"}
    assert set(index.load("drat_k2").parity) == {"none"}


def test_it_is_no_part_of_the_hash(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("include: association/cdat\ntask: own\n")
    before = TaskIndex(load_plugins()).load(tmp_path / "own.yaml")
    assert not before.parity
    assert "parity: none stated" in shown(str(tmp_path / "own.yaml"))
    for parity in (PARITY, {"none": "nobody published it"}):
        (tmp_path / "own.yaml").write_text(f"include: association/cdat\ntask: own\nparity: {json.dumps(parity)}\n")
        after = TaskIndex(load_plugins()).load(tmp_path / "own.yaml")
        assert (after.hash, dict(after.parity)) == (before.hash, parity)
    (tmp_path / "own.yaml").write_text(f"include: association/cdat\ntask: own\nparity: {json.dumps(PARITY)}\n")
    assert "75.0% of 4 compared agree with theirs; the largest difference is 0.5" in shown(str(tmp_path / "own.yaml"))


@pytest.mark.parametrize("parity", [{"against": "theirs"}, {"answers": 3}, {}])
def test_half_a_statement_is_refused_and_takes_nothing_from_what_is_included(
    parity: dict[str, Any], tmp_path: Path
) -> None:
    task = "schema: 1\ntask: own\nversion: 1.0.0\ntitle: Own\ndataset: {source: file, file: a.jsonl}\n"
    (tmp_path / "alone.yaml").write_text(f"{task}score: exact_match\nparity: {json.dumps(parity)}\n")
    done = CliRunner().invoke(show, [str(tmp_path / "alone.yaml")])
    assert done.exception is not None and "[parity]" in str(done.exception)
    (tmp_path / "own.yaml").write_text(f"include: association/cdat\ntask: own\nparity: {json.dumps(parity)}\n")
    assert "parity: none stated" in shown(str(tmp_path / "own.yaml"))
