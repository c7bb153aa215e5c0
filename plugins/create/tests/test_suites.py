"""The suites for reasoning models send what the paper gives such models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer

import creval


@pytest.mark.parametrize(
    ("suite", "sent"),
    [
        ("create_effort", [{"reasoning_effort": effort, "max_tokens": 65536} for effort in ("low", "medium", "high")]),
        ("create_budget", [{"max_tokens": 16384}, {"max_tokens": 32768}]),
    ],
)
def test_no_temperature_is_sent(suite: str, sent: list[dict[str, Any]], tmp_path: Path, minilm: Any) -> None:
    with ChatServer(answer="<answer>{}</answer>") as server:
        options = creval.RunOptions(
            base_url=server.url, limit=1, offline=True, roles={"judge": "create/shipped"}, output=tmp_path / "run"
        )
        creval.run([suite], "chat/thinker", options)
        bodies = [request.body for request in server.requests]
    reported = [{name: body[name] for name in body if name not in ("model", "messages")} for body in bodies]
    assert sorted(reported, key=str) == sorted(sent, key=str)
