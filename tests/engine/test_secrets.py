"""Keys of the environment stand in no file of a run, whoever writes them."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.chat_server import Answer, ChatServer, HttpError, Received
from support.parrot import parrot

import creval
from creval.engine.run import resume
from creval.errors import UsageError
from creval.runs.secrets import Secrets

KEY = "sk-or-v1-0123456789abcdef0123456789abcdef"
MODEL = "hosted_vllm/parrot"
JUDGE = 'another\\secret"with-quotes-1234'


def test_no_file_of_a_run_holds_a_key(make_task, options, monkeypatch, tmp_path):
    """The server echoes the Authorization header in answers, refusals, reasoning and errors."""
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", KEY)
    monkeypatch.setenv("OTHER_SERVICE_TOKEN", JUDGE)

    def echo(request: Received) -> Answer | HttpError:
        key = request.headers["Authorization"].removeprefix("Bearer ")
        number = int(parrot(request).removeprefix("word")) % 5
        replies = [
            Answer(f"your key is {key}"),
            Answer(f"and {JUDGE}", reasoning=f"I saw {key}"),
            Answer("", refusal=f"not for {key}"),
            HttpError(400, {"message": f"Incorrect key: {key}"}),
            HttpError(400, f"<html>{key}</html>"),
        ]
        return replies[number]

    with ChatServer(echo) as server:
        url = server.url.replace("http://", "http://user:hunter2-password@") + "?api-key=querysecret"
        seen = creval.run(
            [make_task(docs=20)], "hosted_vllm/parrot", options(base_url=server.url, command=f"creval {KEY}")
        )
        assert all(request.headers["Authorization"] == f"Bearer {KEY}" for request in server.requests)
        with pytest.raises(creval.CrevalError):
            creval.run([make_task()], "hosted_vllm/parrot", options(base_url=url, output=tmp_path / "other_run"))
    assert seen.results["tasks"][0]["counts"]["errored"] == 8
    files = [
        path for path in options().output.parent.rglob("*") if path.is_file() and path.suffix in {".json", ".jsonl"}
    ]
    text = b"".join(path.read_bytes() for path in files if "run" in path.parts or "b" in path.parts)
    assert len(text) > 5_000
    hidden = [KEY, KEY[:20], JUDGE, JUDGE.replace("\\", "\\\\").replace('"', '\\"'), "hunter2-password", "querysecret"]
    hidden.append(base64.b64encode(KEY.encode()).decode())
    assert [secret for secret in hidden if secret.encode() in text] == []


def test_a_harmless_query_is_stored_and_gone_on_with(make_task, server, options):
    url = f"{server.url}?api-version=2026-01-01"
    folder = creval.run([make_task()], MODEL, options(base_url=url, limit="first:2")).folder
    manifest = json.loads((folder / "run.json").read_text())
    assert manifest["options"]["base_url"] == manifest["models"]["target"]["base_url"] == url
    samples = folder / "samples" / "parrot.jsonl"
    samples.write_text(samples.read_text().splitlines(keepends=True)[0])
    resume(folder)
    assert [request.path for request in server.requests] == ["/v1/chat/completions?api-version=2026-01-01"] * 3


def test_a_query_that_may_be_secret_reaches_no_file_and_is_asked_for_again(make_task, options, tmp_path):
    secret = "Zx81kQpLm02VvWq7"

    with ChatServer(answer=lambda request: f"you sent {request.path}") as server:
        url = f"{server.url}?api-version=1&sig={secret}"
        folder = creval.run([make_task()], MODEL, options(base_url=url, limit="first:2")).folder
        samples = folder / "samples" / "parrot.jsonl"
        samples.write_text(samples.read_text().splitlines(keepends=True)[0])
        cure = r"is stored nowhere\n.*--base-url 'http.*\?api-version=1&sig=\*\*\*'"
        with pytest.raises(UsageError, match=cure) as lacking:
            resume(folder)
        with pytest.raises(UsageError, match="not at http://other/v1") as other:
            resume(folder, base_url=f"http://other/v1?sig={secret}")
        assert len(server.requests) == 2
        resume(folder, base_url=url)
        assert server.requests[2].path == f"/v1/chat/completions?api-version=1&sig={secret}"
    assert json.loads((folder / "run.json").read_text())["options"]["base_url"].endswith("?api-version=1&sig=***")
    assert "sig=[key]" in samples.read_text()
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert len(files) >= 5
    assert [file for file in files if secret.encode() in file.read_bytes()] == []
    assert secret not in f"{lacking.value} {other.value}"


def test_what_counts_as_secret():
    secrets = Secrets(
        {"A_KEY": "0123456789abc", "TOKEN": "short", "KEY_FILE": "/home/me/key.json", "HOME": "0123456789ab"}
    )
    assert secrets.hide(b"0123456789abc short /home/me/key.json") == b"[key] short /home/me/key.json"


@given(st.text(min_size=12, max_size=40).filter(lambda s: not any(c.isspace() for c in s) and s[0] not in "/~"))
def test_any_secret_is_hidden_in_any_json(secret):
    line = json.dumps({"text": f"<{secret}>"}, ensure_ascii=False).encode("utf-8", "replace")
    hidden = Secrets({"MY_API_KEY": secret}).hide(line)
    assert secret.isdigit() or json.loads(hidden) == {"text": "<[key]>"}
