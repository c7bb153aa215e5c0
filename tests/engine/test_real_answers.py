"""Answers as servers really send them: what is no answer is scored as none, and what is odd is counted."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer, HttpError, Raw, Received
from support.parrot import parrot

import creval
from creval.errors import BudgetError, FatalModelError, UsageError
from creval.runs.jsonl import read_lines
from creval.runs.schemas import check

MODEL = "hosted_vllm/parrot"


def run(make_task: Any, options: Any, reply: Any, **given: Any) -> Any:
    """A run against a server that answers with `reply`, a function from what the parrot would say."""
    changes = {name: given.pop(name) for name in list(given) if name not in ("docs", "repeats", "conditions", "extra")}
    with ChatServer(lambda request: reply(parrot(request), request)) as server:
        result = creval.run([make_task(**given)], MODEL, options(base_url=server.url, **changes))
    return SimpleNamespace(folder=result.folder, results=result.results, metrics=result.metrics, server=server)


def task_of(result: Any) -> dict[str, Any]:
    return result.results["tasks"][0]  # type: ignore[no-any-return]


def samples_of(result: Any) -> list[dict[str, Any]]:
    found = list(read_lines(result.folder / "samples" / "parrot.jsonl"))
    for sample in found:
        check("sample", sample)
    return found


def reasons(result: Any) -> set[tuple[str, str]]:
    scores = read_lines(result.folder / "scores" / "parrot.jsonl")
    return {(score["status"], score.get("reason", "")) for score in scores}


@pytest.mark.parametrize(
    "around",
    [
        "<think>perhaps word9, or word8</think>\n\n{}",
        "perhaps word9</think>{}",
        "<thinking>word9</thinking>{}<reasoning>word8</reasoning>",
        "<|channel|>analysis<|message|>word9<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
    ],
)
def test_thinking_is_taken_out_before_the_answer_is_scored(make_task, options, around):
    result = run(make_task, options, lambda word, _: Answer(around.format(word)))
    assert result.metrics("parrot")["right"]["value"] == 0.75
    assert task_of(result)["flags"] == {"thinking": 8}
    sample = samples_of(result)[0]
    completion = sample["calls"][0]["reply"]["completions"][0]
    word = sample["doc"]["word"]
    assert (sample["answers"], completion["text"], completion["raw"]) == ([word], word, around.format(word))
    assert "word9" in completion["reasoning"]


def test_thinking_that_never_ends_is_no_answer(make_task, options):
    result = run(make_task, options, lambda word, _: Answer(f"<think>it is {word}"))
    assert task_of(result)["counts"]["unparsed"] == 8
    assert task_of(result)["flags"] == {"endless_thinking": 8, "thinking": 8}
    assert reasons(result) == {("unparsed", "the model's thinking never ends, so there is no answer")}
    assert result.metrics("parrot")["right"]["value"] == 0.0


def test_thinking_that_the_limit_cut_is_truncated(make_task, options):
    result = run(make_task, options, lambda word, _: Answer(f"<think>it is {word}", finish_reason="length"))
    assert task_of(result)["counts"]["truncated"] == 8


def test_a_task_may_keep_the_reasoning(make_task, options):
    result = run(make_task, options, lambda word, _: Answer(f"<think>x</think>{word}"), extra="reasoning: keep\n")
    assert samples_of(result)[0]["answers"][0].startswith("<think>")
    assert task_of(result)["flags"] == {}


@pytest.mark.parametrize(
    "extra",
    [
        "parse: [{tagged: thinking}]\n",
        "parse: [{regex: '<thinking>(.*)</thinking>'}]\n",
    ],
)
def test_tags_that_the_task_reads_itself_are_left_alone(make_task, options, extra):
    result = run(make_task, options, lambda word, _: Answer(f"<thinking>{word}</thinking> done"), extra=extra)
    assert result.metrics("parrot")["right"]["value"] == 0.75
    assert task_of(result)["flags"] == {}


def test_tags_that_the_prompt_names_are_left_alone(make_task, options, tmp_path):
    task = make_task()
    text = (tmp_path / "parrot.yaml").read_text().replace("Say {{ word }}", "Think in <thinking> tags. Say {{ word }}")
    (tmp_path / "parrot.yaml").write_text(text)
    with ChatServer(lambda request: Answer(f"<thinking>{parrot(request)}</thinking>")) as server:
        result = creval.run([task], MODEL, options(base_url=server.url))
    assert samples_of(result)[0]["answers"][0].startswith("<thinking>")


def test_the_answers_of_players_are_taken_word_for_word(make_task, options, install):
    hooks = """
        from creval.plugins import hookimpl

        @hookimpl
        def creval_components(registry):
            registry.add("baseline", "thinker", "creval_think_parts:Thinker")
    """
    parts = """
        class Thinker:
            def reply(self, turn):
                return "<think>" + turn.doc["word"]
    """
    install("think", hooks, parts)
    result = creval.run([make_task(extra="baselines: {floor: thinker}\n")], "baseline/floor", options())
    assert {sample.get("reason") for sample in samples_of(result)} == {None}
    assert samples_of(result)[0]["answers"] == ["<think>word0"]


def usage(tokens: int, reasoning: int = 0) -> dict[str, Any]:
    details = {"completion_tokens_details": {"reasoning_tokens": reasoning}}
    return {"usage": {"prompt_tokens": 5, "completion_tokens": tokens, **details}}


@pytest.mark.parametrize(
    ("generation", "said", "status", "flags"),
    [
        ({}, (16, 0), "truncated", {"at_limit": 8}),
        ({}, (30, 14), "truncated", {"at_limit": 8}),
        ({"max_tokens": None, "max_completion_tokens": 40}, (40, 0), "truncated", {"at_limit": 8}),
        ({"max_tokens": None, "extra": {"num_predict": 40}}, (40, 0), "truncated", {"at_limit": 8}),
        ({}, (15, 0), "scored", {}),
        ({}, (17, 0), "scored", {"over_limit": 8}),
        ({"max_tokens": 15}, (15, 0), "scored", {}),
        ({"n": 2}, (16, 0), "scored", {}),
    ],
)
def test_whole_answers_at_the_limit_are_cut(make_task, options, generation, said, status, flags):
    more = {"extra": "parse: [{regex: 'word[0-9]+'}]\n"}
    reported = usage(*said)
    result = run(make_task, options, lambda word, _: Answer(word, extra=reported), generation=generation, **more)
    counts = task_of(result)["counts"]
    assert (counts[status], task_of(result)["flags"]) == (8, flags)
    if status == "truncated":
        assert reasons(result) == {
            ("truncated", "the answer was cut at the token limit although the server reports it as whole")
        }


CALL = {"tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Answer("", message={"content": None, "reasoning": "hm"}, cost=0.5), "the model reasoned, but gave no answer"),
        (Answer("", "tool_calls", message={"content": None, **CALL}, cost=0.5), "the model called a tool"),
        (Answer("", message={"content": None, **CALL}, cost=0.5), "the model called a tool"),
        (Answer("<think>only this</think>", cost=0.5), "the model reasoned, but gave no answer"),
    ],
)
def test_no_content_is_one_try_unparsed_and_counted(make_task, options, reply, reason):
    result = run(make_task, options, lambda *_: reply)
    assert len(result.server.requests) == 8
    assert task_of(result)["counts"]["unparsed"] == 8
    assert (task_of(result)["usage"]["calls"], task_of(result)["usage"]["cost"]) == (8, 4.0)
    ((status, said),) = reasons(result)
    assert (status, reason in said) == ("unparsed", True)


def test_an_answer_that_stays_empty_counts_as_the_models_own(make_task, options):
    result = run(make_task, options, lambda *_: Answer("", cost=0.5))
    assert len(result.server.requests) == 16
    assert task_of(result)["counts"]["unparsed"] == 8
    used = task_of(result)["usage"]
    assert (used["calls"], used["lost_tries"], used["cost"]) == (8, 8, 8.0)
    assert result.metrics("parrot")["right"]["value"] == 0.0


@pytest.mark.parametrize("finish", ["abort", "error", None, "", "cancelled"])
def test_an_answer_that_broke_off_is_never_the_models_fault(make_task, options, finish):
    def once_broken(word: str, request: Received) -> Answer:
        return Answer(word) if request.seen else Answer(word[:3], finish, cost=0.5)

    result = run(make_task, options, once_broken)
    assert task_of(result)["counts"]["scored"] == 8
    assert (task_of(result)["usage"]["lost_tries"], task_of(result)["usage"]["cost"]) == (8, 4.0)
    again = run(make_task, options, lambda word, _: Answer(word, finish, cost=0.5), max_retries=0, output=None)
    assert task_of(again)["counts"]["errored"] == 8
    assert (task_of(again)["usage"]["calls"], task_of(again)["usage"]["cost"]) == (0, 4.0)


def test_after_a_402_nothing_more_is_asked_though_answers_came_before(make_task, options):
    def poor(request: Received) -> HttpError | None:
        return HttpError(402, {"message": "Insufficient credits"}) if int(parrot(request)[4:]) >= 3 else None

    with ChatServer(poor, answer=parrot) as server:
        tasks = [make_task("one", docs=50), make_task("two", docs=50)]
        with pytest.raises(FatalModelError, match=r"402[\s\S]*Add credit"):
            creval.run(tasks, MODEL, options(base_url=server.url, concurrency=1, limit="first:10"))
    assert len(server.requests) == 4
    assert len(list(read_lines(options().output / "samples" / "one.jsonl"))) == 4


def test_max_cost_stops_a_call_that_has_to_be_paid_again_and_again(make_task, options):
    with ChatServer(lambda request: Answer("wo", "error", cost=0.5)) as server:
        given = options(base_url=server.url.replace("/v1", ""), max_cost=1.2, concurrency=1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENROUTER_API_KEY", "k" * 20)
            patch.setenv("OPENROUTER_API_BASE", server.url)
            result = creval.run([make_task()], "openrouter/m", options(max_cost=1.2, concurrency=1))
    assert given.max_cost == 1.2
    assert result.exit_status() == BudgetError.exit_code
    assert len(server.requests) == 2


@pytest.mark.parametrize(("extra", "conditions"), [("", "conditions: {n: [1, 3]}"), ("", "")])
def test_n_of_the_settings_is_honoured_by_chat(make_task, options, extra, conditions):
    generation = {} if conditions else {"n": 3}
    result = run(make_task, options, lambda word, _: Answer(word), conditions=conditions, generation=generation)
    asked = sorted(request.body.get("n", 1) for request in result.server.requests)
    assert asked == ([1] * 8 + [3] * 8 if conditions else [3] * 8)
    assert {len(sample["answers"]) for sample in samples_of(result)} == set(asked)


def test_n_that_a_protocol_would_overrule_is_refused(make_task, options, server):
    task = make_task(extra="protocol: {chat: {n: 2}}\n")
    with pytest.raises(UsageError, match="n=3 cannot be used"):
        creval.run([task], MODEL, options(base_url=server.url, generation={"n": 3}))
    assert not server.requests


def test_a_prompt_that_the_server_cut_is_flagged(make_task, options, tmp_path):
    task = make_task()
    long = "and " * 3000
    text = (tmp_path / "parrot.yaml").read_text().replace('"Say', f'"{long}Say')
    (tmp_path / "parrot.yaml").write_text(text)
    cached = {"prompt_tokens": 50, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 2950}}

    def answer(request: Received) -> Answer:
        number = int(parrot(request)[4:])
        used = cached if number % 2 else {"prompt_tokens": 1000, "completion_tokens": 2}
        return Answer(parrot(request), extra={"usage": used})

    with ChatServer(answer) as server:
        result = creval.run([task], MODEL, options(base_url=server.url))
    assert task_of(result)["flags"] == {"cut_prompt": 4}
    assert task_of(result)["counts"]["scored"] == 8


def test_a_fixed_seed_with_repeats_is_reported_with_the_way_out(make_task, options, server, caplog):
    creval.run([make_task(repeats=2)], MODEL, options(base_url=server.url, generation={"seed": 7}))
    assert "--generation seed=sample" in caplog.text
    caplog.clear()
    changes = {"generation": {"seed": "sample"}, "output": None}
    creval.run([make_task(repeats=2)], MODEL, options(base_url=server.url, **changes))
    assert caplog.text == ""


def test_a_reply_with_numbers_that_are_no_numbers_ends_nothing(make_task, options):
    data = (
        '{"choices": [{"index": 0, "message": {"content": "word1"}, "finish_reason": "stop", "logprobs": {"content": '
        '[{"token": "word1", "logprob": -Infinity}]}}], "usage": {"prompt_tokens": NaN, "completion_tokens": 1e999, '
        '"cost": Infinity}}'
    )
    result = run(make_task, options, lambda *_: Raw(data.encode()), generation={"logprobs": True})
    assert task_of(result)["counts"]["scored"] == 8
    assert task_of(result)["flags"] == {"logprobs_dropped": 8}
    json.loads((result.folder / "results.json").read_text(), parse_constant=pytest.fail)
