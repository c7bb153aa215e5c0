"""KUMO by tool calls: the task's own floor and ceiling, and games against a server over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer, Received

from creval import RunOptions, RunResult, run
from creval.engine.run import resume
from creval.runs.jsonl import read_lines

TASK = "kumo_tools"


def calls(*named: tuple[str, Any]) -> Answer:
    """Return an answer that calls tools; arguments are an object, or a text as it is."""
    listed = [
        {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": tool, "arguments": said if isinstance(said, str) else json.dumps(said)},
        }
        for number, (tool, said) in enumerate(named)
    ]
    return Answer("", finish_reason="tool_calls", message={"content": None, "tool_calls": listed})


def choices(received: Received, tool: str) -> list[str]:
    """Return what a tool of the request may be called with."""
    found = next(each["function"] for each in received.body["tools"] if each["function"]["name"] == tool)
    (argument,) = found["parameters"]["properties"].values()
    return list(argument["enum"])


def all_then_guess(received: Received) -> Answer:
    """Take all actions in one turn, then name the first truth."""
    results = [message for message in received.body["messages"] if message["role"] == "tool"]
    if not results:
        return calls(*(("act", {"action": name}) for name in choices(received, "act")))
    asked = next(message for message in received.body["messages"] if message.get("tool_calls"))
    assert [each["id"] for each in asked["tool_calls"]] == [each["tool_call_id"] for each in results]
    assert all("observation" in message["content"] for message in results)
    return calls(("predict", {"truth": choices(received, "predict")[0]}))


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., RunResult]:
    def start(server: ChatServer, **more: Any) -> RunResult:
        given = {"limit": "4", "repeats": 1, "output": tmp_path / "run", "base_url": server.url, **more}
        return run([TASK], "chat/m", RunOptions(**given))

    return start


def lines(result: Any) -> list[dict[str, Any]]:
    return list(read_lines(result.folder / "samples" / f"{TASK}.jsonl"))


def test_several_calls_in_a_turn_are_kept_replayed_and_scored(play, tmp_path: Path) -> None:
    with ChatServer(all_then_guess) as server:
        result = play(server)
        assert result.results["tasks"][0]["counts"]["scored"] == 4
        assert len(server.requests) == 8
    for line in lines(result):
        first, second = line["calls"]
        assert [tool["name"] for tool in first["tools"]] == ["act", "predict"] and "tools" not in second
        said = first["reply"]["completions"][0]["tool_calls"]
        assert len(said) == 6 and len(line["outcome"]["tests"]) == 6
        assert [message["role"] for message in second["messages"]] == ["assistant", *["tool"] * 6]
        assert second["messages"][0]["tool_calls"] == said
    again = run([TASK], f"replay/{result.folder}", RunOptions(limit="4", repeats=1, output=tmp_path / "again"))
    metrics = [
        {metric["name"]: metric["value"] for metric in each.results["tasks"][0]["metrics"]} for each in (result, again)
    ]
    assert metrics[0] == metrics[1]


def test_a_game_by_tools_continues_where_it_was_stopped(play) -> None:
    with ChatServer(all_then_guess) as server:
        result = play(server, max_calls=4, concurrency=1)
        assert resume(result.folder, max_calls=20).results["tasks"][0]["counts"]["scored"] == 4
        assert len(server.requests) == 8


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (calls(("act", '{"action": ')), "the arguments are not a JSON object: '{\"action\": '"),
        (calls(("look", {"at": "door"})), "'look' is none of the tools"),
        (calls(("act", {"action": "nothing"})), "'nothing' is none of what act takes"),
        (calls(("predict", {"action": "x"})), "'None' is none of what predict takes"),
        (Answer("I think it is the first one."), "the answer calls no tool"),
    ],
)
def test_what_is_no_move_ends_the_game_as_unparsed(answer, reason, play) -> None:
    with ChatServer(lambda received: answer) as server:
        result = play(server, limit="1")
    (line,) = lines(result)
    assert (line["status"], line["reason"], line["outcome"]["end"]) == ("unparsed", reason, "unparsed")
    flags = line["calls"][0]["reply"].get("flags", [])
    assert ("malformed_arguments" in flags) == ("not a JSON object" in reason)
