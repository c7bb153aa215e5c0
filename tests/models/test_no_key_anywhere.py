"""Keys in the environment reach no file, error, log or description, whatever the server does with them."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer, HttpError, Raw, Received

from creval.errors import ModelError
from creval.models.open_model import open_model

KEY = "sk-live-Zx81kQpLm02VvWq7Tr5Yb9Nd"


def echoing(request: Received) -> Any:
    """Every way in which a server may give a key back in an error."""
    sent = KEY
    assert sent in f"{request.headers.get('Authorization')} {request.path}"
    ways = [
        HttpError(401, {"message": f"bad key {sent}", "code": "invalid_api_key"}),
        HttpError(400, {"message": f"headers were {{'Authorization': 'Bearer {sent}'}}"}),
        HttpError(500, f"<html><title>{sent}</title></html>"),
        HttpError(403, {"message": f"{sent[:9]}***{sent[-6:]} may not"}),
        Raw(f"not JSON but {sent}".encode()),
        Raw(f'{{"error": {{"message": "upstream said {sent}", "code": 400}}}}'.encode()),
        HttpError(400, {"message": f"filtered {sent}", "code": "content_filter"}),
        Answer("fine"),
    ]
    return ways[int(request.prompt)]


@pytest.fixture(params=["", f"?api-version=1&subscription={KEY}"], ids=["in the environment", "in a query"])
def query(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The query of the server's address; without one the key is in the environment."""
    if not request.param:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return str(request.param)


def test_no_key_anywhere(query: str, registry, ask, fast, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []

    async def go(url: str) -> None:
        options = dataclasses.replace(fast, base_url=url + query, cache=tmp_path / "answers.sqlite", max_retries=1)
        model = open_model("openai/m", registry, options)
        for i in range(8):
            try:
                seen.append(repr(await model.generate(ask(str(i), doc=str(i)))))
            except ModelError as error:
                seen.extend([str(error), repr(error), repr(error.args), repr(error.__cause__), error.what])
        seen.extend([repr(model.describe()), repr(model), repr(model.stats()), repr(model._parts)])
        await model.close()

    with caplog.at_level(logging.DEBUG), ChatServer(echoing) as server:
        asyncio.run(go(server.url))
    assert server.requests
    assert len(seen) > 30
    everything = "\n".join([*seen, caplog.text])
    files = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for piece in (KEY, KEY[8:20], "Yb9Nd", "Zx81kQ"):
        assert piece not in everything
        assert piece.encode() not in files
