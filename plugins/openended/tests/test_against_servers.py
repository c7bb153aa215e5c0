"""Step by step against a real server that speaks the real protocol, and by a real small model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from openended_support import choices
from support.chat_server import Answer, ChatServer, Received, Script

import creval
from creval.plugin import ScoreRecord, open_run

OFFLINE = {"entailment": "cosine/0.85", "embedding": "embedded/minilm"}
FULL = Answer("Step 1: Begin.\nStep 2: Go on.\nStep 3: End.")


def solve(tmp_path: Path, script: Script, task: str = "macgyver_own") -> tuple[ScoreRecord, dict[str, Any], ChatServer]:
    """One problem; returns its score, its outcome, and the server."""
    with ChatServer(script) as server:
        creval.run(
            tasks=[task],
            model="hosted_vllm/solver",
            options=creval.RunOptions(output=tmp_path / "run", limit=1, base_url=server.url, resources=OFFLINE),
        )
    run = open_run(tmp_path / "run")
    return next(iter(run.scores())), dict(next(iter(run.samples())).outcome), server


def steps_of(texts: list[str], **settings: Any) -> Script:
    def script(request: Received) -> Answer:
        if "STOP" not in request.prompt:
            return FULL
        return Answer(extra={"choices": choices(texts[: int(request.body.get("n", 1))], **settings)})

    return script


def test_ten_candidates_come_in_one_call_with_log_probabilities(tmp_path: Path) -> None:
    texts = [f"Step: Take thing {i} of many." for i in range(10)]
    score, outcome, server = solve(tmp_path, steps_of(texts, logprob=-0.5))
    assert [request.body.get("n", 1) for request in server.requests] == [1, 10, 10, 10]
    asked = server.requests[1].body
    assert (asked["temperature"], asked["top_p"], asked["logprobs"]) == (1, 0.9, True)
    assert len(outcome["steps"]) == 3 and outcome["steps"][0]["candidates"][0]["mean"] == pytest.approx(-0.5)
    assert score.scores["semantic_entropy"] == pytest.approx(score.scores["semantic_entropy_count"])


def test_a_server_that_ignores_n_is_asked_until_there_are_ten(tmp_path: Path) -> None:
    def one_at_a_time(request: Received) -> Answer:
        return FULL if "STOP" not in request.prompt else Answer(f"Step: Take thing {request.seen}.", choices=1)

    score, outcome, _ = solve(tmp_path, one_at_a_time)
    assert all(len(step["candidates"]) == 10 for step in outcome["steps"]) and score.scores["candidates"] == 10


def test_without_log_probabilities_the_count_stays_and_the_reason_is_kept(tmp_path: Path) -> None:
    score, _, _ = solve(tmp_path, steps_of(["Step: Count the coins."] * 5 + ["Step: Wait for the night."] * 5))
    assert score.scores["semantic_entropy_count"] == pytest.approx(0.6931, abs=1e-4)
    assert "semantic_entropy" not in score.scores and "log-probabilities" in score.missing["semantic_entropy"].reason
    (task,) = open_run(tmp_path / "run").results["tasks"]
    primary = next(metric for metric in task["metrics"] if metric["name"].startswith("semantic_entropy["))
    assert primary["value"] is None and primary["counts"]["errored"] == 1


def test_all_stop_is_unparsed_with_the_reason(tmp_path: Path) -> None:
    score, _, _ = solve(tmp_path, steps_of(["STOP"] * 10))
    assert score.status.value == "unparsed" and score.reason == "no first step: 10 stop"


def test_one_cut_and_one_refused_of_ten_are_left_out_and_counted(tmp_path: Path) -> None:
    def script(request: Received) -> Answer:
        if "STOP" not in request.prompt:
            return FULL
        made = choices(["Step: Count the coins."] * 10, logprob=-0.1)
        made[3]["finish_reason"] = "length"
        made[7]["finish_reason"] = "content_filter"
        return Answer(extra={"choices": made})

    score, _, _ = solve(tmp_path, script)
    assert score.status.value == "scored" and score.scores["candidates"] == 8
    assert score.details["dropped"] == {"cut": 3, "refused": 3}


def test_candidates_of_five_thousand_words(tmp_path: Path) -> None:
    texts = [" ".join(f"word{(i * k) % 977}" for i in range(5000)) for k in range(1, 11)]
    score, outcome, _ = solve(tmp_path, steps_of(texts, logprob=-1.0))
    assert score.status.value == "scored" and outcome["steps"][0]["candidates"][0]["tokens"] == 5000
    assert 0 <= score.scores["semantic_entropy"] <= 2.3026 and score.scores["naive_entropy"] == pytest.approx(2.302585)


def test_thinking_and_its_tokens_enter_no_candidate(tmp_path: Path) -> None:
    texts = [f"<think>step {i} or STOP?</think>Step: Count the coins." for i in range(10)]
    score, outcome, _ = solve(tmp_path, steps_of(texts, logprob=-0.25))
    assert all(each["text"] == "Step: Count the coins." for step in outcome["steps"] for each in step["candidates"])
    assert score.scores["semantic_entropy_count"] == 0


DOMAIN = """
schema: 1
include: openended/{name}_own
task: small_{name}
version: 1.0.0
protocol: {{openended.stepwise: {{n: 3, steps: [2, 2]}}}}
generation: {{max_tokens: 12}}
"""


@pytest.mark.parametrize("name", ["macgyver", "bookmia"])  # a problem; a text that goes on
def test_a_small_model_with_real_log_probabilities(name: str, small_model: str, tmp_path: Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(DOMAIN.format(name=name), "utf-8")
    creval.run(
        tasks=[str(file)],
        model=small_model,
        options=creval.RunOptions(output=tmp_path / "run", limit=1, offline=True, seed=5, resources=OFFLINE),
    )
    run = open_run(tmp_path / "run")
    (sample,) = run.samples()
    steps = sample.outcome["steps"]
    assert 1 <= len(steps) <= 3 and all(len(step["candidates"]) == 3 for step in steps)
    usable = [each for step in steps for each in step["candidates"] if each["kind"] == "usable"]
    assert all(each["mean"] is not None and each["mean"] <= 0 for each in usable)
    assert all(each["total"] == pytest.approx(each["mean"] * each["tokens"]) for each in usable)
    (score,) = run.scores()
    if score.status.value == "scored":
        assert 0 <= score.scores["semantic_entropy"] <= score.scores["naive_entropy"] + 1e-9
