"""A run that is killed at any moment, and resumed, ends with the numbers and answers of one that was not."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest
from support.forked import Begun, begun
from support.lmeval_server import GeneratingServer

import creval
from creval import RunOptions, open_run
from creval.engine.run import resume

pytestmark = pytest.mark.kills
lm_eval = pytest.importorskip("lm_eval", reason="no lm-eval: pip install 'lm-eval==0.4.13' tenacity")
TASKS = ["lmeval/anagrams1", "lmeval/piqa"]


def numbers(folder: Path) -> dict[str, float]:
    run = open_run(folder)
    return {f"{task}/{name}": each["value"] for task in run.tasks for name, each in _metrics(run, task).items()}


def _metrics(run: object, task: str) -> dict[str, dict[str, float]]:
    return {each["name"]: each for each in run.result(task)["metrics"]}  # type: ignore[attr-defined]


def play(folder: Path, url: str) -> None:
    creval.run(TASKS, "chat/mock", RunOptions(output=folder, base_url=url, concurrency=1))


def begin(folder: Path, url: str) -> Begun:
    """Start the run in a process of its own, to be killed."""
    words = ["--tasks", ",".join(TASKS), "--model", "chat/mock", "--base-url", url, "--concurrency", "1"]
    caches = {"HF_DATASETS_CACHE": str(Path.cwd() / "hf")}
    return begun([*words, "--output", str(folder)], Path.cwd(), {**os.environ, **caches})


def test_a_killed_run_is_resumed(home: Path, server: GeneratingServer) -> None:
    server.restart()
    play(home / "whole", server.url)
    whole = len([path for path, _ in server.requests if path.startswith("/v1")])
    server.requests.clear()
    server.restart()
    reached, killed = threading.Event(), threading.Event()
    answer = server.answer

    def counted(path: str, body: dict[str, object]) -> tuple[int, object]:
        found = answer(path, body)
        if len([one for one, _ in server.requests if one.startswith("/v1")]) >= whole // 2:
            reached.set()
            killed.wait(120)  # on a busy machine the kill may come late
        return found

    server.answer = counted  # type: ignore[method-assign]
    try:
        running = begin(home / "killed", server.url)
        assert reached.wait(120)
        assert running.kill() == -signal.SIGKILL
        killed.set()
        resume(home / "killed")
    finally:
        server.answer = answer  # type: ignore[method-assign]
    assert numbers(home / "killed") == numbers(home / "whole")
    sent = len([path for path, _ in server.requests if path.startswith("/v1")])
    assert whole // 2 <= sent <= whole + 2  # what was in flight is asked again, and no more
