"""Every fault of the batch protocol, over real HTTP: nothing is lost, and nothing is paid twice."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from batched import FAST, answers, opened, request, said
from support.batch_server import BatchServer, Plan
from support.chat_server import Answer, ChatServer, HttpError, Received
from support.parrot import parrot

from creval.errors import ContextLengthError, FatalModelError, RetryableModelError, RunError, UsageError
from creval.types.messages import Reply
from creval_batches.buffer import RequestBuffer

TWELVE = [request(number) for number in range(12)]
WORDS = [f"word{number}" for number in range(12)]


def serving(*plans: Plan, **more: object) -> BatchServer:
    return BatchServer(plans, answer=parrot, **more)  # type: ignore[arg-type]


def test_all_go_out_in_one_batch_and_each_gets_its_answer(notes: Path) -> None:
    with serving() as server:
        replies = answers(opened(server, notes), TWELVE)
    assert said(replies) == WORDS
    assert server.sizes == [12]
    assert not server.requests  # no single call was made
    assert all(reply.flags == ("batch",) and reply.attempts == 1 for reply in replies)


@pytest.mark.parametrize(
    ("plan", "sizes"),
    [
        (Plan(shuffled=True), [12]),
        (Plan(doubled=True), [12]),
        (Plan(foreign=True), [12]),
        (Plan(doubled=True, shuffled=True, foreign=True), [12]),
        (Plan(torn=2), [12]),
        (Plan(cut=2), [12]),
        (Plan(counts=False), [12]),
        (Plan(end="expired", share=5), [12, 7]),
        (Plan(end="expired", share=0), [12, 12]),
        (Plan(end="expired", share=5, counts=False, doubled=True), [12, 7]),
        (Plan(end="failed", errors=[{"code": None, "message": "try again"}]), [12]),
        (Plan(made_unheard=True), [12]),
        (Plan(made_unheard=True, hidden=2), [12]),
        (Plan(refusals=[HttpError(503), HttpError(429, retry_after=0.01)]), [12]),
        (Plan(uploads=[HttpError(500), HttpError(429), HttpError(503)]), [12]),
        (Plan(states=["validating", "in_progress", "finalizing"], looks=3), [12]),
        (Plan(states=["in_progress", "cancelling"], end="expired", share=12, looks=2), [12]),
        (Plan(lookups=[HttpError(502), HttpError(429, retry_after=0.01)]), [12]),
    ],
    ids=str,
)
def test_a_fault_loses_nothing_and_pays_nothing_twice(plan: Plan, sizes: list[int], notes: Path) -> None:
    with serving(plan) as server:
        replies = answers(opened(server, notes), TWELVE)
    if plan.end == "failed":
        assert all(isinstance(reply, FatalModelError) and "try again" in reply.what for reply in replies)
        return
    assert said(replies) == WORDS
    assert server.sizes == sizes
    assert server.paid_twice == []
    assert len(server.billed) == 12


def test_requests_that_failed_go_out_with_the_next_batch(notes: Path) -> None:
    def lines(number: int, asked: Received) -> HttpError | None:
        return {2: HttpError(429, {"message": "slow down"}), 5: HttpError(500), 9: HttpError(503)}.get(number)

    with serving(Plan(lines=lines)) as server:
        replies = answers(opened(server, notes), TWELVE)
    assert said(replies) == WORDS
    assert server.sizes == [12, 3]
    assert [reply.attempts for reply in replies] == [1, 1, 2, 1, 1, 2, 1, 1, 1, 2, 1, 1]
    assert server.paid_twice == []


def test_what_no_try_can_mend_is_the_requests_own_error(notes: Path) -> None:
    long = {"message": "maximum context length is 4096 tokens", "code": "context_length_exceeded"}
    faults = {1: HttpError(400, long), 2: HttpError(400, {"message": "blocked", "code": "content_filter"})}
    with serving(Plan(lines=lambda number, asked: faults.get(number))) as server:
        replies = answers(opened(server, notes), TWELVE[:4])
    assert isinstance(replies[1], ContextLengthError)
    assert replies[2].completions[0].refusal == "blocked"
    assert said([replies[0], replies[3]]) == ["word0", "word3"]
    assert server.sizes == [4]


def test_a_wrong_key_within_a_batch_is_the_providers_error(notes: Path) -> None:
    with serving(Plan(lines=lambda number, asked: HttpError(401, {"message": "bad key"}))) as server:
        (reply,) = answers(opened(server, notes), TWELVE[:1])
    assert isinstance(reply, FatalModelError)
    assert reply.closed
    assert "OPENAI_API_KEY" in str(reply)


def test_a_line_at_fault_goes_and_the_rest_is_asked_again(notes: Path) -> None:
    fault = {"code": "invalid_request", "message": "Invalid temperature", "line": 3}
    with serving(Plan(end="failed", errors=[fault])) as server:
        replies = answers(opened(server, notes), TWELVE)
    assert isinstance(replies[2], FatalModelError)
    assert "Invalid temperature" in replies[2].what
    assert said(replies[:2] + replies[3:]) == WORDS[:2] + WORDS[3:]
    assert server.sizes == [12, 11]


@pytest.mark.parametrize("by_status", [True, False])
def test_more_tokens_than_the_provider_takes_go_out_in_smaller_batches(by_status: bool, notes: Path) -> None:
    with serving(most=4, by_status=by_status) as server:
        replies = answers(opened(server, notes), TWELVE)
    assert said(replies) == WORDS
    assert server.paid_twice == []
    made = [size for size in server.sizes if size <= 4]
    assert sum(made) == 12


def test_a_provider_that_takes_no_batch_at_all_ends_the_run_and_says_how_to_resume(notes: Path) -> None:
    with serving(most=0) as server:
        replies = answers(opened(server, notes), TWELVE[:2])
    assert all(isinstance(reply, RunError) and "not even one of a single request" in reply.what for reply in replies)
    assert "creval resume" in str(replies[0])
    assert not server.billed


def test_a_cancelled_batch_keeps_what_it_answered_and_asks_the_rest_when_the_run_is_resumed(notes: Path) -> None:
    with serving(Plan(end="cancelled", share=5)) as server:
        first = answers(opened(server, notes), TWELVE)
        assert said(first[:5]) == WORDS[:5]
        assert all(isinstance(each, RunError) and "was cancelled" in each.what for each in first[5:])
        again = answers(opened(server, notes), TWELVE)
    assert said(again) == WORDS
    assert server.sizes == [12, 7]
    assert server.paid_twice == []


def test_files_that_stay_short_end_the_run_and_are_fetched_when_it_is_resumed(notes: Path) -> None:
    with serving(Plan(torn=FAST.tries)) as server:
        first = answers(opened(server, notes), TWELVE)
        assert all(isinstance(each, RunError) and "are promised" in each.what for each in first)
        assert said(answers(opened(server, notes), TWELVE)) == WORDS
    assert server.sizes == [12]


@pytest.mark.parametrize("made", [True, False])
def test_a_provider_that_goes_away_while_a_batch_is_made_is_asked_at_resume(made: bool, notes: Path) -> None:
    plan = Plan(made_unheard=True, gone=True) if made else Plan(refusals=[HttpError(503)] * FAST.tries)
    with serving(plan) as server:
        first = answers(opened(server, notes), TWELVE)
        assert all(isinstance(each, RunError) and "Nothing is lost" in str(each) for each in first)
        assert '"never made"' not in notes.read_text()
        server.gone = False
        assert said(answers(opened(server, notes), TWELVE)) == WORDS
    assert server.sizes == [12]
    assert server.paid_twice == []


def test_a_file_that_cannot_be_sent_ends_the_run_and_loses_nothing(notes: Path) -> None:
    with serving(Plan(uploads=[HttpError(502)] * FAST.tries)) as server:
        first = answers(opened(server, notes), TWELVE)
        assert all(isinstance(each, RunError) and "cannot be sent" in each.what for each in first)
        assert said(answers(opened(server, notes), TWELVE)) == WORDS
    assert server.sizes == [12]


def test_an_answer_of_no_use_is_asked_for_again_and_what_it_took_is_reported(notes: Path) -> None:
    odd = {0: Answer("half", finish_reason="error"), 1: Answer("", cost=0.5)}
    with serving(Plan(lines=lambda number, asked: odd.get(number))) as server:
        replies = answers(opened(server, notes), TWELVE[:3])
    assert said(replies) == WORDS[:3]
    assert replies[0].lost.tries == replies[1].lost.tries == 1
    assert replies[1].lost.cost == 0.5
    assert server.sizes == [3, 2]


def test_tries_are_bounded(notes: Path) -> None:
    with serving(*[Plan(lines=lambda number, asked: HttpError(500))] * 9) as server:
        (reply,) = answers(opened(server, notes, max_retries=2), TWELVE[:1])
    assert isinstance(reply, RetryableModelError)
    assert "given up after 3 tries" in reply.what
    assert server.sizes == [1, 1, 1]


def test_a_server_without_batches_is_named_with_the_fix(notes: Path) -> None:
    with ChatServer() as server:
        (reply,) = answers(opened(server, notes), TWELVE[:1])  # type: ignore[arg-type]
    assert isinstance(reply, UsageError)
    assert "the server has no batches" in str(reply)
    assert "Leave --batch out" in str(reply)


def test_a_wrong_key_at_the_upload_is_the_providers_error(notes: Path) -> None:
    with serving(Plan(uploads=[HttpError(401, {"message": "Incorrect API key"})])) as server:
        (reply,) = answers(opened(server, notes), TWELVE[:1])
    assert isinstance(reply, FatalModelError)
    assert reply.closed


def test_files_hold_no_more_than_they_may(notes: Path) -> None:
    with serving() as server:
        assert said(answers(opened(server, notes, dataclasses.replace(FAST, requests=5)), TWELVE)) == WORDS
        assert sorted(server.sizes) == [2, 5, 5]
        many = dataclasses.replace(FAST, size=500)
        assert said(answers(opened(server, notes.with_name("other"), many), TWELVE)) == WORDS
    lengths = [len(data) for name, (_, data) in server.files.items() if name.startswith("file-in")]
    assert max(lengths[3:]) <= 500
    assert len(lengths) > 5


def test_several_answers_of_one_request_come_together(notes: Path) -> None:
    with serving() as server:
        (reply,) = answers(opened(server, notes), [request(1, n=3, temperature=1.0)])
    assert [each.text for each in reply.completions] == ["word1", "word1 1", "word1 2"]
    (text,) = server.files["file-in-0"][1].decode().splitlines()
    assert json.loads(text)["body"]["n"] == 3


@pytest.mark.parametrize(
    ("said_back", "asked"),
    [
        (Answer("<think>hm</think>so"), {"temperature": 0.5, "seed": 7}),
        (Answer("", refusal="I cannot help with that."), {}),
        (Answer("cut off in the mid", finish_reason="length"), {"max_tokens": 16, "stop": ["x"]}),
        (Answer("fine words", reasoning="well then"), {"logprobs": True, "top_logprobs": 2}),
        (Answer("one", extra={"provider": "Acme"}), {"response_format": {"type": "json_object"}}),
    ],
    ids=lambda value: None,
)
def test_a_batch_asks_and_reads_as_a_single_call_does(said_back: Answer, asked: dict[str, Any], notes: Path) -> None:
    from creval.models.model_options import ModelOptions
    from creval.models.open_model import open_model
    from creval.plugins import builtin as builtin_models
    from creval.plugins.registry import Registry

    question = request(1, **asked)
    with BatchServer([Plan(lines=lambda number, received: said_back)], script=lambda received: said_back) as server:
        (batched,) = answers(opened(server, notes), [question])
        registry = Registry()
        builtin_models.register_providers(registry.scoped("core"))

        async def single() -> Reply:
            model = open_model("openai/gpt-test", registry, ModelOptions(base_url=server.url))
            try:
                return await model.generate(question)
            finally:
                await model.close()

        alone = asyncio.run(single())
    assert json.loads(server.files["file-in-0"][1])["body"] == server.requests[0].body
    assert batched.flags[0] == "batch"
    assert dataclasses.replace(batched, flags=batched.flags[1:], latency=alone.latency) == alone


def test_the_same_question_twice_is_two_requests(notes: Path) -> None:
    with serving() as server:
        replies = answers(opened(server, notes), [request(1), request(1)])
    assert said(replies) == ["word1", "word1"]
    assert server.sizes == [2]
    assert all(isinstance(reply, Reply) for reply in replies)


def test_a_key_that_the_server_gives_back_is_in_no_journal(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-live-Zx81kQpLm02VvWq7Tr5Yb9Nd"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    faults = {1: HttpError(500, {"message": f"not your key {key}"})}
    answer = Answer(f"your key is {key}")
    with serving(Plan(lines=lambda number, asked: faults.get(number, answer))) as server:
        replies = answers(opened(server, notes), TWELVE[:3])
    assert key not in "".join(said(replies))
    journal = notes.read_text()
    assert '"void"' in journal
    assert '"answer"' in journal
    assert key not in journal


def test_a_batch_is_found_pages_back_by_its_name_or_its_file(notes: Path) -> None:
    with serving() as server:
        answers(opened(server, notes, dataclasses.replace(FAST, requests=1)), TWELVE[:7])
        lines = [json.loads(line) for line in notes.read_text().splitlines()]
        model = opened(server, notes.with_name("other"))
        calls = model._parts.provider._api  # type: ignore[attr-defined]

        async def look() -> list[str | None]:
            oldest = next(line["batch"] for line in lines if line.get("id") == "batch_0")
            now = time.time()
            found = [
                await calls.find(oldest, None, now),
                await calls.find("an unknown name", "file-in-0", now),
                await calls.find("an unknown name", None, now),
            ]
            await model.close()
            return [None if state is None else state.id for state in found]

        assert asyncio.run(look()) == ["batch_0", "batch_0", None]
    assert server.listings == 4 + 4 + 4


def test_no_room_for_the_file_of_a_batch_ends_the_run(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(notes.with_name("nowhere")))
    with serving() as server:
        first = answers(opened(server, notes), TWELVE[:3])
        monkeypatch.undo()
        assert all(isinstance(each, RunError) and "cannot be written" in each.what for each in first)
        assert "TMPDIR" in str(first[0])
        assert said(answers(opened(server, notes), TWELVE[:3])) == WORDS[:3]


def test_a_file_that_cannot_be_finished_keeps_nobody_waiting(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(buffer: RequestBuffer) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(RequestBuffer, "finish", full)
    with serving() as server:
        first = answers(opened(server, notes), TWELVE[:3])
    assert all(isinstance(each, RunError) and "No space left" in each.what for each in first)
