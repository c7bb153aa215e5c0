"""What goes wrong with a model or a protocol ends in a status, never in a wrong answer."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from support.chat_server import Answer, ChatServer, Hang, HttpError, Received, Reset, Storm
from support.parrot import parrot

import creval
from creval.errors import FatalModelError, RetryableModelError
from creval.runs.jsonl import read_lines

MODEL = "hosted_vllm/parrot"


def number(request: Received) -> int:
    return int(request.prompt.removeprefix("Say word"))


def scores_of(result, task="parrot"):
    return {record["doc_id"]: record for record in read_lines(result.folder / "scores" / f"{task}.jsonl")}


def test_a_storm_of_faults_at_30_percent_is_weathered(make_task, options):
    """Every retryable fault, at 30 % of the requests: every sample is answered in the end and the number is exact."""
    storm = Storm(rate=0.3)
    with ChatServer(storm, answer=parrot) as server:
        result = creval.run([make_task(docs=120)], MODEL, options(base_url=server.url, max_retries=12))
    assert set(storm.counts) == {"429", "500", "reset", "empty", "garbage", "html", "nochoices"}
    counts = result.results["tasks"][0]["counts"]
    assert counts == {"scored": 120, "unparsed": 0, "truncated": 0, "refused": 0, "errored": 0, "skipped": 0}
    assert result.metrics("parrot")["right"]["value"] == 0.75
    assert result.exit_status() == 0


def test_a_server_that_hangs_is_asked_again(make_task, options):
    """On a busy machine other calls may take too long as well; each further request is a counted retry."""

    def hang(request: Received) -> Hang | None:
        return Hang() if request.seen == 0 and number(request) % 3 == 0 else None

    with ChatServer(hang, answer=parrot) as server:
        result = creval.run([make_task(docs=12)], MODEL, options(base_url=server.url, timeout=0.5, max_retries=3))
    assert result.results["tasks"][0]["counts"]["scored"] == 12
    (attempt,) = json.loads((result.folder / "run.json").read_text("utf-8"))["attempts"]
    assert 16 <= len(server.requests) <= 12 + attempt["models"]["target"]["retries"]
    asked = Counter(map(number, server.requests))
    assert all(asked[doc] > 1 for doc in range(0, 12, 3))


def test_without_retries_the_faulty_samples_are_errored_and_count_in_no_metric(make_task, options):
    storm = Storm(rate=0.3, seed=3)
    with ChatServer(storm, answer=parrot) as server:
        task = make_task(docs=120, failed="zero")
        result = creval.run([task], MODEL, options(base_url=server.url, max_retries=0, rate_limit_wait=0))
    empty = storm.counts["empty"]  # nothing said is the model's own, and counts 0
    errored = sum(storm.counts.values()) - empty
    counts = result.results["tasks"][0]["counts"]
    assert 20 < errored < 60
    assert (counts["errored"], counts["unparsed"], counts["scored"]) == (errored, empty, 120 - errored - empty)
    scores = scores_of(result)
    right = [record["scores"]["exact_match"] for record in scores.values() if record["status"] == "scored"]
    metric = result.metrics("parrot")["right"]
    assert metric["n"] == len(right) + empty == 120 - errored
    assert metric["value"] == pytest.approx(sum(right) / metric["n"])
    assert all(record["reason"] and not record["scores"] for record in scores.values() if record["status"] == "errored")
    assert result.exit_status() == 1
    assert result.exit_status(allowed_error_share=0.6) == 0


def script(request: Received) -> Answer | HttpError | Reset | None:
    """Docs by number: 0 cut, 1 refused, 2 filtered, 4 bad for good, the others fine."""
    return {
        0: Answer("word0 and", finish_reason="length"),
        1: Answer("", refusal="I cannot help with that."),
        2: Answer("", finish_reason="content_filter"),
        4: HttpError(400, {"message": "this prompt is not acceptable"}),
    }.get(number(request))


@pytest.mark.parametrize(("failed", "n"), [("zero", 7), ("exclude", 4)])
def test_statuses_and_what_a_metric_makes_of_them(make_task, options, failed, n):
    """Right are d5 and d6 alone: the targets of d3 and d7 are other words."""
    with ChatServer(script, answer=parrot) as server:
        result = creval.run([make_task(failed=failed)], MODEL, options(base_url=server.url))
    statuses = {doc: record["status"] for doc, record in scores_of(result).items()}
    assert statuses == {
        "d0": "truncated",
        "d1": "refused",
        "d2": "refused",
        "d3": "scored",
        "d4": "errored",
        "d5": "scored",
        "d6": "scored",
        "d7": "scored",
    }
    metric = result.metrics("parrot")["right"]
    assert metric["counts"] == {
        "scored": 4,
        "unparsed": 0,
        "truncated": 1,
        "refused": 2,
        "errored": 1,
        "skipped": 0,
    }
    assert (metric["n"], metric["n_failed"]) == (n, 3)
    assert metric["value"] == pytest.approx(2 / n)


def test_a_wrong_key_ends_the_run_at_once_with_the_reason(make_task, options):
    def refuse(request: Received) -> HttpError:
        return HttpError(401, {"message": "Incorrect API key provided"})

    with ChatServer(refuse) as server:
        with pytest.raises(FatalModelError, match=r"401|key"):
            creval.run([make_task(docs=500)], MODEL, options(base_url=server.url, concurrency=4))
        assert len(server.requests) <= 4


def test_a_server_that_is_not_there_ends_the_run_after_a_few_samples(make_task, options):
    with ChatServer() as server:
        gone = server.url
    with pytest.raises(RetryableModelError):
        creval.run([make_task(docs=500)], MODEL, options(base_url=gone, max_retries=0, concurrency=4))
    manifest = json.loads((options().output / "run.json").read_text("utf-8"))
    assert manifest["status"] == "failed"
    assert 20 <= len(list(read_lines(options().output / "samples" / "parrot.jsonl"))) <= 24


def test_one_hopeless_task_does_not_stop_the_others(make_task, options):
    def refuse_first(request: Received) -> HttpError | None:
        settings = request.body.get("temperature")
        return HttpError(404, {"message": "no such model"}) if settings == 0.1 else None

    first = make_task("first", docs=50, conditions="conditions: {temperature: [0.1]}")
    second = make_task("second", docs=8)
    with ChatServer(refuse_first, answer=parrot) as server:
        result = creval.run([first, second], MODEL, options(base_url=server.url, concurrency=4))
    counts = {task["task"]: task["counts"] for task in result.results["tasks"]}
    assert counts["second"]["scored"] == 8
    assert 1 <= counts["first"]["errored"] <= 4
    assert counts["first"]["errored"] + counts["first"]["skipped"] == 50
    assert result.metrics("first")["right"]["value"] is None
    assert result.exit_status() == 1


PROTOCOLS = """
    class Odd:
        async def run(self, session):
            number = int(session.doc.id[1:])
            if number == 0:
                raise ValueError("boom")
            if number == 1:
                session.report(score=float("nan"))
            if number == 2:
                session.report(thing=object())
            if number == 3:
                return
            if number == 4:
                try:
                    await session.ask(session.prompt())
                except Exception:
                    pass
            if number == 5:
                session.unparsed("no move in it")
            session.answer("word%d" % number)
"""
PLUGIN = """
    from creval.plugins import hookimpl

    @hookimpl
    def creval_components(registry):
        registry.add("protocol", "odd", "creval_strange_parts:Odd")
"""


def test_whatever_a_protocol_does_the_run_continues(make_task, options, install):
    install("strange", PLUGIN, PROTOCOLS)
    task = make_task(docs=8, extra="protocol: odd\n")

    def cut(request: Received) -> Answer:
        return Answer("word4", finish_reason="length")

    with ChatServer(cut) as server:
        result = creval.run([task], MODEL, options(base_url=server.url))
    found = {doc: (record["status"], record.get("reason")) for doc, record in scores_of(result).items()}
    assert found["d0"] == ("errored", "the protocol failed: ValueError: boom (creval_strange_parts.py:6)")
    assert found["d1"][0] == found["d2"][0] == "errored"
    assert "something other than plain data" in found["d1"][1]
    assert "something other than plain data" in found["d2"][1]
    assert found["d3"] == ("errored", "the protocol ended without an answer or outcome")
    assert found["d4"] == ("truncated", "the answer was cut at the token limit")
    assert found["d5"] == ("unparsed", "no move in it")
    assert found["d6"] == found["d7"] == ("scored", None)
    assert Counter(status for status, _ in found.values())["errored"] == 4
