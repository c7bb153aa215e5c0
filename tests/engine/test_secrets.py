"""No file of a run contains a key, whichever part writes it; hiding keys damages nothing."""

from __future__ import annotations

import base64
import json
import urllib.parse

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.chat_server import Answer, ChatServer, HttpError, Received
from support.parrot import parrot

import creval
from creval.engine.run import rescore, resume
from creval.errors import UsageError
from creval.runs.schemas import check

KEY = "sk-or-v1-0123456789abcdef0123456789abcdef"
MODEL = "hosted_vllm/parrot"
JUDGE = 'another\\secret"with-quotes-1234'


def test_no_file_of_a_run_holds_a_key(make_task, options, monkeypatch, tmp_path):
    """The server echoes the Authorization header in answers, refusals, reasoning and errors."""
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", KEY)
    monkeypatch.setenv("OTHER_SERVICE_TOKEN", JUDGE)

    def echo(request: Received) -> Answer | HttpError:
        key = request.headers["Authorization"].removeprefix("Bearer ")
        number = int(parrot(request).removeprefix("word")) % 7
        replies = [
            Answer(f"your key is {key}"),
            Answer(f"and {JUDGE}", reasoning=f"I saw {key}"),
            Answer("", refusal=f"not for {key}"),
            HttpError(400, {"message": f"Incorrect key: {key}"}),
            HttpError(400, f"<html>{key}</html>"),
            Answer(f"{base64.b64encode(f'user:{key}'.encode()).decode()} {urllib.parse.quote(key, safe='')}"),
            Answer(" ".join(key)),
        ]
        return replies[number]

    with ChatServer(echo) as server:
        url = server.url.replace("http://", "http://user:hunter2-password@") + "?api-key=querysecret"
        seen = creval.run(
            [make_task(docs=21)], "hosted_vllm/parrot", options(base_url=server.url, command=f"creval {KEY}")
        )
        assert all(request.headers["Authorization"] == f"Bearer {KEY}" for request in server.requests)
        with pytest.raises(creval.CrevalError):
            creval.run([make_task()], "hosted_vllm/parrot", options(base_url=url, output=tmp_path / "other_run"))
    assert seen.results["tasks"][0]["counts"]["errored"] == 6
    files = [path for path in (tmp_path / "run").rglob("*") if path.suffix in {".json", ".jsonl"}]
    text = b"".join(path.read_bytes() for path in files)
    assert len(text) > 5_000
    hidden = [KEY, KEY[:20], JUDGE, JUDGE.replace("\\", "\\\\").replace('"', '\\"'), "hunter2-password", "querysecret"]
    hidden += [
        base64.b64encode(KEY.encode()).decode(),
        base64.b64encode(f"user:{KEY}".encode()).decode(),
        " ".join(KEY),
    ]
    assert [secret for secret in hidden if secret.encode() in text] == []


def test_a_harmless_query_is_stored_and_resumed(make_task, server, options):
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
        fix = r"it is not stored completely\n.*--base-url 'http.*\?api-version=1&sig=\*\*\*'"
        with pytest.raises(UsageError, match=fix) as lacking:
            resume(folder)
        with pytest.raises(UsageError, match="not at http://other/v1") as other:
            resume(folder, base_url=f"http://other/v1?sig={secret}")
        assert len(server.requests) == 2
        resume(folder, base_url=url)
        assert server.requests[2].path == f"/v1/chat/completions?api-version=1&sig={secret}"
    assert json.loads((folder / "run.json").read_text())["options"]["base_url"].endswith("?api-version=1&sig=***")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 5
    assert [file for file in files if secret.encode() in file.read_bytes()] == []
    assert secret not in f"{lacking.value} {other.value}"


def whole(folder):
    """Every line of the folder keeps to its schema, and no sample occurs twice; returns the samples."""
    samples = [json.loads(line) for line in (folder / "samples" / "parrot.jsonl").read_text().splitlines()]
    for sample in samples:
        check("sample", sample)
    for line in (folder / "scores" / "parrot.jsonl").read_text().splitlines():
        check("score", json.loads(line))
    check("results", json.loads((folder / "results.json").read_text()))
    check("run", json.loads((folder / "run.json").read_text()))
    assert len({(s["doc_id"], s["condition"]) for s in samples}) == len(samples)
    return samples


WORDS = st.sampled_from(
    ["word3", "d3", "temperature=0.5", "scored", "answers", "doc_id", "parrot", "task", "completions", "finish_reason"]
)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    variables=st.dictionaries(
        st.sampled_from(["SORT_KEY", "MY_TOKEN", "PASSWORD", "SECRET_SAUCE", "HOSTED_VLLM_API_KEY"]),
        WORDS | st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20),
        min_size=1,
    )
)
def test_no_environment_damages_a_run(variables, make_task, options, monkeypatch, tmp_path_factory):
    conditions = "conditions: {temperature: [0.5, 1.0]}"
    task = make_task(conditions=conditions)
    folder = tmp_path_factory.mktemp("run") / "run"
    with monkeypatch.context() as context, ChatServer(answer=parrot) as server:
        for name, value in variables.items():
            context.setenv(name, value)
        creval.run([task], MODEL, options(base_url=server.url, output=folder, limit="first:4"))
        before = whole(folder)
        samples = folder / "samples" / "parrot.jsonl"
        samples.write_text("".join(samples.read_text().splitlines(keepends=True)[:5]))
        resume(folder)
        assert len(server.requests) == 11  # eight, and the three that were taken away
        rescore(folder)
        assert [s["doc"] for s in whole(folder)[:5]] == [s["doc"] for s in before[:5]]
        assert len(whole(folder)) == 8


def test_the_value_of_a_variable_called_like_a_key_is_no_secret_in_an_answer(make_task, server, options, monkeypatch):
    monkeypatch.setenv("SORT_KEY", "word1")
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", "EMPTY")
    result = creval.run([make_task()], MODEL, options(base_url=server.url))
    assert result.to_rows()[0]["value"] == 0.75


def test_a_key_in_the_path_of_an_address_reaches_no_file(make_task, options, monkeypatch, tmp_path):
    secret = "Zx81kQpLm02VvWq7Tr5"
    monkeypatch.setenv("GATEWAY_TOKEN", secret)
    with ChatServer(answer=parrot, prefix=f"/{secret}") as server:
        folder = creval.run([make_task()], MODEL, options(base_url=server.url, limit="first:2")).folder
    assert server.requests
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert [file for file in files if secret.encode() in file.read_bytes()] == []
    assert "/***/" in json.loads((folder / "run.json").read_text())["options"]["base_url"]
