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
from support.commands import creval

from creval import open_run, run
from creval.engine import run as engine_run
from creval.engine.run import rescore, resume
from creval.errors import RunError
from creval.models.answers.read_answers import READING_VERSION
from creval.plugins.loader import load_plugins
from creval.runs.folder import RunFolder
from creval.runs.jsonl import read_lines
from creval.runs.trust import Claims

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
        folder = tmp_path / "old" / "runs" / name
        Claims.of_run(_manifest(folder), folder).trust()  # `--trust`: the version that made it signed nothing
        return folder

    return make


@pytest.fixture
def as_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """All installed plugins, at the versions that the stored run names: a newer one is another task by rule."""
    monkeypatch.delenv("CREVAL_PLUGINS")
    then = {plugin["name"]: plugin["version"] for plugin in _manifest(STORED / "plugins")["plugins"]}

    def load() -> Any:
        plugins = load_plugins()
        infos = tuple(info._replace(version=then.get(info.name, info.version)) for info in plugins.infos)
        return replace(plugins, infos=infos)

    monkeypatch.setattr(engine_run, "load_plugins", load)


def _manifest(folder: Path) -> Any:
    return json.loads((folder / "run.json").read_text("utf-8"))


def _lines(folder: Path, kind: str, task: str) -> list[Any]:
    return list(read_lines(folder / kind / f"{task}.jsonl"))


def test_a_run_of_a_local_task_is_resumed(unpack: Callable[[str], Path], server: ChatServer) -> None:
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
def test_a_run_of_plugins_tasks_that_are_variants_now_is_resumed(unpack: Callable[[str], Path]) -> None:
    folder = unpack("plugins")
    manifest = _manifest(folder)
    manifest["requested"], manifest["options"]["resources"] = ["kumo_easy_medical"], {}
    manifest["tasks"] = [task for task in manifest["tasks"] if task["task"] == "kumo_easy_medical"]
    (folder / "run.json").write_text(json.dumps(manifest), "utf-8")
    kept = _lines(folder, "samples", "kumo_easy_medical")
    finished = resume(folder)
    (task,) = finished.results["tasks"]
    assert task["counts"]["scored"] == 4
    assert _lines(folder, "samples", task["task"])[: len(kept)] == kept
    assert rescore(folder).results["tasks"][0]["metrics"] == task["metrics"]


@pytest.mark.usefixtures("as_then")
def test_a_run_of_a_task_whose_version_was_raised_is_scored_again_but_is_not_resumed(
    unpack: Callable[[str], Path],
) -> None:
    folder = unpack("plugins")
    with pytest.raises(RunError, match="the task of 'drat_k2' changed since this run began"):
        resume(folder)
    (drat,) = [task for task in rescore(folder).results["tasks"] if task["task"] == "drat_k2"]
    assert (drat["counts"]["scored"], drat["counts"]["skipped"]) == (3, 1)


def test_a_run_of_older_rules_is_read_as_a_whole_by_the_new_ones_and_says_so(
    unpack: Callable[[str], Path], caplog: pytest.LogCaptureFixture
) -> None:
    folder = unpack("local")
    said = "version 1 of creval's rules; they are now read by version"
    assert rescore(folder).results["reading"] == READING_VERSION
    assert [said in message for message in caplog.messages] == [True]
    caplog.clear()
    # A score of the old rules: none of it may be left among those of the new ones.
    scores = folder / "scores" / "spelling.jsonl"
    scores.write_text(scores.read_text("utf-8").replace('"exact_match":1.0', '"exact_match":0.0'), "utf-8")
    assert '"exact_match":0.0' in scores.read_text("utf-8")
    finished = resume(folder, max_calls=100)
    assert [said in message for message in caplog.messages] == [True]
    assert finished.results["reading"] == READING_VERSION
    assert finished.results["tasks"][0]["metrics"][0]["value"] == 1.0
    manifest = _manifest(folder)
    assert manifest.get("reading", 1) == 1  # the run keeps what it was begun with
    assert [entry["reading"] for entry in manifest["rescored"]] == [READING_VERSION, READING_VERSION]
    assert [attempt.get("reading", 1) for attempt in manifest["attempts"]] == [1, READING_VERSION]


def test_a_run_of_the_same_rules_keeps_its_scores(
    make_task: Callable[..., str], server: ChatServer, options: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    folder = run([make_task()], "hosted_vllm/parrot", options(base_url=server.url, max_calls=5)).folder
    kept = _lines(folder, "scores", "parrot")
    resume(folder, max_calls=100)
    assert _lines(folder, "scores", "parrot")[:5] == kept
    assert (caplog.messages, _manifest(folder)["rescored"], _manifest(folder)["reading"]) == ([], [], READING_VERSION)


def test_a_whole_run_of_older_rules_keeps_them_until_it_is_scored_again(
    make_task: Callable[..., str], server: ChatServer, options: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    made = run([make_task()], "hosted_vllm/parrot", options(base_url=server.url))
    folder, value = made.folder, made.results["tasks"][0]["metrics"][0]["value"]
    (folder / "run.json").write_text(json.dumps({**_manifest(folder), "reading": 1}), "utf-8")
    scores = folder / "scores" / "parrot.jsonl"
    scores.write_text(scores.read_text("utf-8").replace('"exact_match":1.0', '"exact_match":0.0'), "utf-8")
    then = scores.read_bytes()
    finished = resume(folder)
    assert (finished.results["reading"], scores.read_bytes(), caplog.messages) == (1, then, [])
    assert finished.results["tasks"][0]["metrics"][0]["value"] == 0.0
    assert [attempt["reading"] for attempt in _manifest(folder)["attempts"]] == [READING_VERSION, 1]
    again = rescore(folder)
    assert again.results["reading"] == READING_VERSION and again.results["tasks"][0]["metrics"][0]["value"] == value > 0
    assert len(caplog.messages) == 1


def test_a_run_of_later_rules_is_left_alone(unpack: Callable[[str], Path]) -> None:
    folder = unpack("local")
    (folder / "run.json").write_text(json.dumps({**_manifest(folder), "reading": READING_VERSION + 1}), "utf-8")
    for work in (resume, rescore):
        with pytest.raises(RunError, match="or a later one"):
            work(folder)


def test_a_stored_run_opens_and_is_reported(unpack: Callable[[str], Path]) -> None:
    folder = unpack("local")
    opened = open_run(folder)
    assert opened.status == "budget" and len(list(opened.samples(status="scored"))) == 9
    (task,) = opened.results["tasks"]
    reported = creval(folder.parent, "report", str(folder))
    assert reported.returncode == 0, reported.stderr
    assert "spelling" in reported.stdout and task["metrics"][0]["name"] in reported.stdout


@pytest.mark.parametrize("name", ["local", "plugins"])
def test_a_stored_run_holds_no_path_of_a_machine(name: str) -> None:
    text = "".join(file.read_text("utf-8") for file in (STORED / name).rglob("*.json*"))
    assert "/tmp" not in text and "/work" not in text and "/home" not in text
    assert RunFolder.open(STORED / name).read_manifest()["status"] in ("budget", "running")
