"""Tasks that offer tools (`tools:`), by the protocol `chat`, against a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support.chat_server import Answer, ChatServer, Received

import creval
from creval.engine.run import rescore, resume
from creval.errors import TaskError
from creval.plugins.loader import load_plugins
from creval.runs.jsonl import read_lines
from creval.tasks.index import TaskIndex

TOOLS = """\
tools:
  - name: look
    description: Look at a place.
    parameters: {type: object, properties: {at: {type: string}}, required: [at]}
"""


def call(word: str, arguments: str | None = None) -> Answer:
    said = json.dumps({"at": word}) if arguments is None else arguments
    listed = [{"id": "a", "type": "function", "function": {"name": "look", "arguments": said}}]
    return Answer("", finish_reason="tool_calls", message={"content": None, "tool_calls": listed})


def by_word(received: Received) -> Answer:
    """Look at the word that the prompt names."""
    return call(received.prompt.rpartition(" ")[2])


@pytest.fixture
def task(make_task, tmp_path: Path) -> str:
    path = make_task(docs=4, extra=TOOLS)
    rows = [json.loads(line) for line in (tmp_path / "parrot.jsonl").read_text().splitlines()]
    for row in rows:
        row["target"] = json.dumps([{"name": "look", "arguments": {"at": row["word"]}}])
    (tmp_path / "parrot.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def lines(result: Any) -> list[dict[str, Any]]:
    return list(read_lines(result.folder / "samples" / "parrot.jsonl"))


def test_calls_are_the_answer_of_a_chat(task, options, tmp_path):
    with ChatServer(by_word) as server:
        result = creval.run([task], "chat/m", options(base_url=server.url, cache=True))
        assert server.requests[0].body["tools"][0]["function"]["description"] == "Look at a place."
        assert result.results["tasks"][0]["metrics"][0]["value"] == 1.0
        asked = len(server.requests)
        assert rescore(result.folder).results["tasks"] == resume(result.folder).results["tasks"]
        given = options(base_url=server.url, cache=True, output=tmp_path / "second")
        assert creval.run([task], "chat/m", given).results["tasks"][0]["metrics"][0]["value"] == 1.0
        assert len(server.requests) == asked  # from the answer cache
    schema = json.loads((Path(creval.__file__).parent / "schemas" / "sample.schema.json").read_text())
    for line in lines(result):
        jsonschema.Draft202012Validator(schema).validate(line)
        assert [tool["name"] for tool in line["calls"][0]["tools"]] == ["look"]
    replayed = creval.run([task], f"replay/{result.folder}", options(output=tmp_path / "third"))
    assert replayed.results["tasks"][0]["metrics"][0]["value"] == 1.0


def test_malformed_arguments_stay_as_they_are(task, options):
    with ChatServer(lambda received: call("x", '{"at": wor')) as server:
        result = creval.run([task], "chat/m", options(base_url=server.url))
    line = lines(result)[0]
    assert json.loads(line["answers"][0]) == [{"name": "look", "arguments": '{"at": wor'}]
    (said,) = line["calls"][0]["reply"]["completions"][0]["tool_calls"]
    assert said["malformed"] is True and line["calls"][0]["reply"]["flags"] == ["malformed_arguments"]


def test_a_call_of_a_tool_that_nobody_offered_is_no_answer(make_task, options):
    with ChatServer(by_word) as server:
        result = creval.run([make_task(docs=1)], "chat/m", options(base_url=server.url))
        assert "tools" not in server.requests[0].body
    (line,) = lines(result)
    assert (line["status"], line["reason"]) == ("unparsed", "the model called a tool in place of an answer")


def test_by_reference_tools_are_kept_by_name(task, options):
    Path(task).write_text(Path(task).read_text() + "store: reference\n")
    with ChatServer(by_word) as server:
        result = creval.run([task], "chat/m", options(base_url=server.url))
    (tool,) = lines(result)[0]["calls"][0]["tools"]
    assert set(tool) == {"name", "digest"}


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("tools: [{name: look up}]", "tools"),
        ("tools: [{name: look, parameters: {properties: {}}}]", "type"),
        ("tools: [{name: look, parameters: {type: string}}]", "type"),
        ("tools: [{name: look, about: x}]", "about"),
        ("tools: []", "tools"),
    ],
)
def test_faulty_tools_are_refused(written, fault, make_task):
    path = Path(make_task(docs=1))
    path.write_text(path.read_text() + written + "\n")
    with pytest.raises(TaskError, match=fault):
        TaskIndex(load_plugins()).expand([str(path)])


def test_tools_are_part_of_what_the_task_is(make_task):
    plain = TaskIndex(load_plugins()).expand([make_task(docs=1)])[0].hash
    assert TaskIndex(load_plugins()).expand([make_task(docs=1, extra=TOOLS)])[0].hash != plain
