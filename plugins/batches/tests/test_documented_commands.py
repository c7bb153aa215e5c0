"""The page on batches: what it leaves and collects runs as printed, against a server that speaks the protocol."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from support.batch_server import BatchServer
from support.commands import creval

pytestmark = pytest.mark.model

PAGE = Path(__file__).resolve().parents[3] / "docs" / "batches.md"
LINE = re.compile(r"^(creval [^\n#]*runs/mine[^\n#]*)", re.MULTILINE)


def run(folder: Path, server: BatchServer, text: str) -> subprocess.CompletedProcess[str]:
    resources = ["--resource", "embedding=embedded/minilm"] if "--tasks" in text else []
    return creval(folder, *shlex.split(text)[1:], *resources, OPENAI_API_KEY="made-up-key", OPENAI_BASE_URL=server.url)


def test_left_and_collected_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CREVAL_PLUGINS")
    leave, look, collect, judge = LINE.findall(PAGE.read_text(encoding="utf-8"))
    with BatchServer(answer="forty-two") as server:
        server.held = True
        left = run(tmp_path, server, leave)
        assert left.returncode == 4, left.stderr
        assert "1 batch pending: 0 of 3" in left.stderr
        assert "Collect them with: creval resume runs/mine" in left.stderr
        assert run(tmp_path, server, look).returncode == 4
        server.held = False
        collected = run(tmp_path, server, collect)
        assert collected.returncode == 0, collected.stderr
        assert "--batch" in judge  # drat asks no judge, so this one refuses; test_runs_in_batches has judged tasks
        assert run(tmp_path, server, judge).returncode == 2
    assert server.sizes == [sum(server.billed.values())]
    assert server.paid_twice == []
    assert not server.requests
    everything = "".join(path.read_text() for path in (tmp_path / "runs" / "mine").rglob("*.json*"))
    assert "made-up-key" not in everything
