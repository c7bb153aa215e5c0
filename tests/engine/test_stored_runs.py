"""Runs that an earlier version made, half done, in `stored_runs`: they open, go on, are scored again and reported.

`local` was stopped by --max-calls after nine samples of sixteen; `plugins` was killed: a sample of each task is
missing, and a line is torn. Where they were made stands as @FOLDER@, the server as @SERVER@.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer

from creval.engine import run as engine_run
from creval.engine.run import rescore, resume
from creval.plugins.loader import load_plugins
from creval.runs.folder import RunFolder
from creval.runs.jsonl import read_lines

STORED = Path(__file__).parent / "stored_runs"


@pytest.fixture
def unpack(tmp_path: Path, server: ChatServer) -> Callable[[str], Path]:
    """Copy the stored runs here and return the folder of one."""

    def make(name: str) -> Path:
        shutil.copytree(STORED, tmp_path / "old" / "runs")
        for file in ("spelling.yaml", "spelling.jsonl"):
            (tmp_path / "old" / "runs" / file).rename(tmp_path / "old" / file)
        for file in (tmp_path / "old").rglob("*.json*"):
            text = file.read_text("utf-8").replace("@FOLDER@", str(tmp_path / "old")).replace("@SERVER@", server.url)
            file.write_text(text, "utf-8")
        return tmp_path / "old" / "runs" / name

    return make


@pytest.fixture
def as_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """All installed plugins, at the versions that the stored run names: a newer one is another task by rule."""
    monkeypatch.delenv("CREVAL_PLUGINS")
    then = {plugin["name"]: plugin["version"] for plugin in _manifest(STORED / "plugins")["plugins"]}

    def load() -> Any:
        plugins = load_plugins()
        infos = tuple(replace(info, version=then.get(info.name, info.version)) for info in plugins.infos)
        return replace(plugins, infos=infos)

    monkeypatch.setattr(engine_run, "load_plugins", load)


def _manifest(folder: Path) -> Any:
    return json.loads((folder / "run.json").read_text("utf-8"))


def _lines(folder: Path, kind: str, task: str) -> list[Any]:
    return list(read_lines(folder / kind / f"{task}.jsonl"))


def test_a_run_of_a_local_task_goes_on(unpack: Callable[[str], Path], server: ChatServer) -> None:
    folder = unpack("local")
    before = _lines(folder, "samples", "spelling")
    finished = resume(folder, max_calls=100)
    assert len(server.requests) == 16 - 9
    assert _lines(folder, "samples", "spelling")[:9] == before
    (task,) = finished.results["tasks"]
    assert (task["counts"]["scored"], task["hash"]) == (16, _manifest(folder)["tasks"][0]["hash"])
    assert [metric["value"] for metric in task["metrics"]] == [1.0] * 6


def test_a_run_of_a_local_task_is_scored_again(unpack: Callable[[str], Path], server: ChatServer) -> None:
    folder = unpack("local")
    old = json.loads((folder / "results.json").read_text("utf-8"))["tasks"][0]
    (task,) = rescore(folder).results["tasks"]
    assert server.requests == []
    assert task["counts"] == old["counts"] and task["counts"]["skipped"] == 7
    values = [[metric[key] for key in ("name", "condition", "value", "n")] for metric in task["metrics"]]
    assert values == [[metric[key] for key in ("name", "condition", "value", "n")] for metric in old["metrics"]]


@pytest.mark.usefixtures("as_then")
def test_a_run_of_plugins_tasks_that_are_variants_now_goes_on(unpack: Callable[[str], Path]) -> None:
    folder = unpack("plugins")
    kept = {task: _lines(folder, "samples", task) for task in ("drat_k2", "kumo_easy_medical")}
    finished = resume(folder)
    for task in finished.results["tasks"]:
        assert task["counts"]["scored"] == 4
        assert _lines(folder, "samples", task["task"])[: len(kept[task["task"]])] == kept[task["task"]]
    again = rescore(folder)
    assert [task["metrics"] for task in again.results["tasks"]] == [
        task["metrics"] for task in finished.results["tasks"]
    ]


@pytest.mark.parametrize("name", ["local", "plugins"])
def test_a_stored_run_holds_no_path_of_a_machine(name: str) -> None:
    text = "".join(file.read_text("utf-8") for file in (STORED / name).rglob("*.json*"))
    assert "/tmp" not in text and "/work" not in text and "/home" not in text
    assert RunFolder.open(STORED / name).read_manifest()["status"] in ("budget", "running")
