"""A finished run is stored in Trackio's own database, offline; without a project nothing is imported."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from creval_trackio.plugin import PROJECT

TASK = """\
schema: 1
task: spelled
version: 1.0.0
title: Spelling
dataset: {source: file, file: words.jsonl, id: word}
prompt: [{role: user, content: "Write {{ word }}."}]
score: {exact_match: word}
metrics: [{name: exact_match, failed: zero}]
baselines: {floor: {fixed: no}, ceiling: {target: word}}
"""


@pytest.fixture
def task(tmp_path: Path) -> str:
    (tmp_path / "spelled.yaml").write_text(TASK)
    (tmp_path / "words.jsonl").write_text('{"word": "sun"}\n{"word": "tea"}\n')
    return str(tmp_path / "spelled.yaml")


def test_a_run_is_in_trackio(task: str, run_task: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trackio.sqlite_storage import SQLiteStorage

    monkeypatch.setattr("trackio.utils.TRACKIO_DIR", tmp_path / "trackio")
    monkeypatch.setattr("trackio.sqlite_storage.TRACKIO_DIR", tmp_path / "trackio")
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    monkeypatch.setenv(PROJECT, "our-project")
    done = run_task(task, "baseline/ceiling")
    (logged,) = SQLiteStorage.get_logs("our-project", done.folder.name)
    assert logged["spelled/exact_match"] == 1.0
    assert (logged["spelled/exact_match/n"], logged["spelled/samples/scored"]) == (2.0, 2.0)
    config = SQLiteStorage.get_run_config("our-project", done.folder.name)
    assert config["model"] == "baseline/ceiling"
    assert config["tasks"]["spelled"]["hash"] == done.results["tasks"][0]["hash"]


def test_without_a_project_nothing_happens(task: str, run_task: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PROJECT, raising=False)
    monkeypatch.delitem(sys.modules, "creval_trackio.sending", raising=False)
    run_task(task, "baseline/floor")
    assert "creval_trackio.sending" not in sys.modules
