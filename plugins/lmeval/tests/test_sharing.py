"""A run of lm-eval's tasks is pushed, pulled, compared and shown as any other."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.hub_server import HubServer
from support.lmeval_server import GeneratingServer

from creval import RunOptions, open_run, run
from creval.cli.main import invoke


def test_a_run_is_shared_and_compared(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants  # it keeps what the environment says at its first import

    from creval_hub.pull import pull_runs
    from creval_hub.push import push_runs

    for name, value in (("DISABLE_XET", True), ("OFFLINE", False), ("CACHE", str(tmp_path / "cache"))):
        monkeypatch.setattr(constants, f"HF_HUB_{name}", value)
    with GeneratingServer() as server, HubServer({"hf_test": "ada"}) as hub:
        server.restart()
        options = RunOptions(base_url=server.url, output=tmp_path / "run")
        here = open_run(run(["lmeval/sciq", "lmeval/gsm8k"], "chat/mock", options).folder)
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("HF_TOKEN", "hf_test")
        push_runs([here], "ada/runs")
        ((folder, _),) = pull_runs("ada/runs", tmp_path / "back")
    there = open_run(folder)
    assert list(there.scores()) == list(here.scores())
    assert [there.result(task)["metrics"] for task in ("sciq", "gsm8k")] == [
        here.result(task)["metrics"] for task in ("sciq", "gsm8k")
    ]
    assert invoke(["compare", str(here.folder), str(folder)]) == 0
    assert invoke(["report", str(folder), "--html", str(tmp_path / "page.html")]) == 0
    assert "exact_match,strict-match" in (tmp_path / "page.html").read_text(encoding="utf-8")
