"""The judges' calls of a sample are in its transcript, on the terminal and on the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer, Received
from support.judged import HOOKS, PARTS, write_judged

import creval
from creval.cli.main import invoke
from creval.runs.reader import open_run
from creval_page.sample_views import judge_calls


def say(request: Received) -> str:
    return "fine" if request.prompt.startswith("Say") else "4"


def test_the_calls_to_a_judge_are_with_the_sample_that_asked_first(
    install: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("judged", HOOKS, PARTS)
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", "none")
    with ChatServer(answer=say) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        options = creval.RunOptions(base_url=server.url, roles={"judge": "hosted_vllm/judge"}, output=tmp_path / "run")
        creval.run([write_judged(tmp_path, docs=2)], "hosted_vllm/target", options)
    run = open_run(tmp_path / "run")
    calls = judge_calls(run)
    assert sum(len(own) for own in calls.values()) == 3  # the kind of "fine" is one question for both docs
    assert invoke(["sample", str(run.folder), "d0", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    rated = next(judge for judge in reported["judges"] if "Rate" in judge["turns"][0]["text"])
    assert (rated["role"], rated["model"], rated["answers"][0]["text"]) == ("judge", "hosted_vllm/judge", "4")
    assert invoke(["sample", str(run.folder), "d1"]) == 0
    assert "Rate fine for word1" in capsys.readouterr().out
