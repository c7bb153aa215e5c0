"""Opening models, roles, resources and docs for commands and analyses: real server, real embedding, real files."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from support.chat_server import Answer, ChatServer
from support.run_fixtures import own_environment
from support.toy_plugins import write_task

from creval import RunOptions
from creval.errors import BudgetError, MissingPartError, UnknownNameError, UsageError
from creval.plugin import Message, SampleKey, Tool
from creval_analyses.options import command_options, open_workbench, part_options
from creval_analyses.workbench import Workbench

__all__ = ["own_environment"]

KEY = SampleKey("toy", "a", "default", 0)
QUESTION = [Message("user", "Is it good?")]


def test_a_role_is_asked_at_the_address_and_with_the_settings_of_the_options() -> None:
    with ChatServer(answer="yes") as server:
        given = {"role": ["judge=chat/m"], "base_url": server.url, "generation": ["temperature=0", "seed=null"]}
        bench = open_workbench(given, addressed="judge")
        reply = bench.work(lambda: bench.ask("judge", QUESTION, KEY, max_tokens=5))
    assert reply.text == "yes"
    body = server.requests[0].body
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0, 5)
    assert "seed" not in body
    assert bench.describe()["judge"]["usage"]["calls"] == 1


def test_a_mapping_says_what_texts_say() -> None:
    texts = open_workbench({"role": ("judge=a/b",), "resource": ["embedding=c/d"], "max_calls": 3, "task": "x"})
    mapping = open_workbench({"role": {"judge": "a/b"}, "resource": {"embedding": "c/d"}, "max_calls": 3})
    assert texts.options == mapping.options
    assert (texts.options.roles, texts.options.max_calls) == ({"judge": "a/b"}, 3)


def test_the_limit_of_calls_holds_over_all_roles() -> None:
    with ChatServer(answer="yes") as server:
        bench = open_workbench({"role": ["judge=chat/m"], "base_url": server.url, "max_calls": 1}, addressed="judge")

        async def twice() -> None:
            await bench.ask("judge", QUESTION, KEY)
            await bench.ask("judge", QUESTION, KEY)

        with pytest.raises(BudgetError):
            bench.work(twice)
    assert len(server.requests) == 1


def test_calls_about_one_thing_have_answers_of_their_own_in_the_cache(tmp_path: Path) -> None:
    with ChatServer(answer="yes") as server:
        options = RunOptions(roles={"judge": "chat/m"}, base_url=server.url, cache=True, cache_folder=tmp_path)

        def ask_twice() -> int:
            bench = Workbench(options, addressed="judge")

            async def twice() -> None:
                await bench.ask("judge", QUESTION, KEY)
                await bench.ask("judge", QUESTION, KEY)

            bench.work(twice)
            return len(server.requests)

        assert ask_twice() == 2
        assert ask_twice() == 2, "the second time both come from the cache"


def test_a_role_that_nobody_plays_is_reported() -> None:
    with pytest.raises(UsageError, match="judge"):
        Workbench().model("judge")


def test_work_can_be_done_where_a_loop_is_running() -> None:
    async def notebook() -> str:
        bench = Workbench()

        async def one() -> str:
            return "done"

        return bench.work(one)

    assert asyncio.run(notebook()) == "done"


def test_resources_are_opened_once_and_by_the_choice_of_the_options(tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("apple\npear\n")
    with Workbench(RunOptions(resources={"wordlist": f"file/{tmp_path / 'few.txt'}"})) as bench:
        words = bench.resource("wordlist", "file/none.txt")
        assert list(words.words) == ["apple", "pear"]
        assert bench.resource("wordlist", "file/none.txt") is words
        with pytest.raises(UnknownNameError, match="unknown resource 'embeded'"):
            bench.resource("embedding", "embeded/minilm")


def test_a_real_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREVAL_PLUGINS", "embedded")
    with Workbench(RunOptions(offline=True)) as bench:
        try:
            embedding = bench.resource("embedding", "embedded/minilm")
        except MissingPartError as error:
            pytest.skip(str(error))
        vectors = embedding.embed(["a dog", "a puppy", "a tax form"])
    assert vectors.shape == (3, embedding.dimension)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


def test_docs_of_a_task(tmp_path: Path) -> None:
    task = write_task(tmp_path, task="task: listed", score="score: exact_match", metrics=_METRICS)
    found = [(name, doc.fields["word"]) for name, doc in Workbench().docs([str(task)])]
    assert found == [("listed", "a"), ("listed", "b")]
    with pytest.raises(UnknownNameError):
        next(Workbench().docs(["no_such_task"]))


def test_the_context_of_a_task_reaches_its_roles(tmp_path: Path) -> None:
    roles = "roles: {judge: chat/m}"
    task = write_task(tmp_path, task="task: judged", score="score: exact_match", metrics=_METRICS, roles=roles)
    with ChatServer(answer="yes") as server:
        options = RunOptions(roles={"judge": "chat/m"}, base_url=server.url, seed=7)
        bench = Workbench(options, addressed="judge")
        context = bench.context(str(task))
        assert (context.task, context.seed) == ("judged", 7)
        assert bench.work(lambda: context.ask("judge", QUESTION, KEY)).text == "yes"


def test_a_role_may_be_asked_with_tools_and_its_calls_are_paid_once(tmp_path: Path) -> None:
    task = write_task(
        tmp_path, task="task: judged", score="score: exact_match", metrics=_METRICS, roles="roles: {judge: chat/m}"
    )
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"at": "sea"}'}}
    said = Answer("", finish_reason="tool_calls", message={"content": None, "tool_calls": [call]})
    look = Tool("look", "Look at a place.", {"type": "object", "properties": {"at": {"type": "string"}}})
    with ChatServer(lambda received: said if "tools" in received.body else Answer("none")) as server:
        bench = Workbench(RunOptions(roles={"judge": "chat/m"}, base_url=server.url), addressed="judge")
        context = bench.context(str(task))
        for _ in range(2):
            reply = bench.work(lambda: context.ask("judge", QUESTION, KEY, tools=[look]))
            assert [(each.name, each.values) for each in reply.tool_calls] == [("look", {"at": "sea"})]
        assert bench.work(lambda: context.ask("judge", QUESTION, KEY)).text == "none"
        assert len(server.requests) == 2
        assert server.requests[0].body["tools"][0]["function"]["name"] == "look"


_METRICS = "metrics:\n  - {name: exact_match, failed: zero}"


def test_the_options_of_a_command_are_those_of_creval() -> None:
    seen: dict[str, object] = {}

    @click.command()
    @command_options(part_options(roles=True, resources=True))
    def check(**given: object) -> None:
        seen.update(given)

    arguments = [
        "--role",
        "judge=a/b",
        "--resource",
        "embedding=c/d",
        "--max-calls",
        "2",
        "--offline",
        "--trust-remote-code",
    ]
    done = CliRunner().invoke(check, arguments)
    assert done.exit_code == 0, done.output
    options = open_workbench(seen, seed=7).options
    assert options.seed == 7
    assert (options.roles, options.resources) == ({"judge": "a/b"}, {"embedding": "c/d"})
    assert (options.max_calls, options.offline, options.timeout) == (2, True, 600.0)
    assert options.trust_remote_code
    shown = CliRunner().invoke(check, ["--help"]).output
    order = ["--role", "--resource", "--base-url", "--generation", "--timeout", "--max-cost", "--max-calls", "--cache"]
    places = [shown.index(flag) for flag in order]
    assert places == sorted(places)


def test_a_pair_of_another_form_is_reported() -> None:
    with pytest.raises(click.UsageError, match="--role takes NAME=VALUE"):
        open_workbench({"role": ["judge"]})
