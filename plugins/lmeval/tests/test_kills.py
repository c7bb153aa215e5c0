"""A run that is killed at any moment, and resumed, ends with the numbers and answers of one that was not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.lmeval_server import GeneratingServer

from creval import open_run

pytestmark = pytest.mark.kills
lm_eval = pytest.importorskip("lm_eval", reason="no lm-eval: pip install 'lm-eval==0.4.13' tenacity")
TASKS = "lmeval/anagrams1,lmeval/piqa"


def command(*words: str) -> list[str]:
    return [sys.executable, "-c", "import sys; from creval.cli.main import main; sys.exit(main())", *words]


def numbers(folder: Path) -> dict[str, float]:
    run = open_run(folder)
    return {f"{task}/{name}": each["value"] for task in run.tasks for name, each in _metrics(run, task).items()}


def _metrics(run: object, task: str) -> dict[str, dict[str, float]]:
    return {each["name"]: each for each in run.result(task)["metrics"]}  # type: ignore[attr-defined]


def test_a_killed_run_is_resumed(home: Path, server: GeneratingServer) -> None:
    server.restart()
    asked = (*("--tasks", TASKS, "--model", "chat/mock", "--base-url", server.url), "--concurrency", "1")
    subprocess.run(command(*asked, "-o", "whole"), check=True, cwd=home, env=os.environ, capture_output=True)
    whole = len([path for path, _ in server.requests if path.startswith("/v1")])
    server.requests.clear()
    server.restart()
    running = subprocess.Popen(command(*asked, "-o", "killed"), cwd=home, env=os.environ, stdout=subprocess.DEVNULL)
    reached = threading.Event()
    answer = server.answer

    def counted(path: str, body: dict[str, object]) -> tuple[int, object]:
        found = answer(path, body)
        if len([one for one, _ in server.requests if one.startswith("/v1")]) >= whole // 2:
            reached.set()
        return found

    server.answer = counted  # type: ignore[method-assign]
    try:
        assert reached.wait(120)
        running.send_signal(signal.SIGKILL)
        running.wait()
        subprocess.run(command("resume", "killed"), check=True, cwd=home, env=os.environ, capture_output=True)
    finally:
        server.answer = answer  # type: ignore[method-assign]
    assert numbers(home / "killed") == numbers(home / "whole")
    sent = len([path for path, _ in server.requests if path.startswith("/v1")])
    assert sent <= whole + 2  # what was in flight is asked again, and no more
