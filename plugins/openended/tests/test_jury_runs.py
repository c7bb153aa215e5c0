"""The jury in whole runs: a judge behind a real server, and a real small model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from judged_support import kind_of
from support.chat_server import Answer, ChatServer, HttpError, Received

import creval
from creval.engine.run import rescore
from creval.plugin import Status, UsageError, open_run

USUAL = {
    "start": "[[POINT]] Rope holds. [[POINT]] The steps follow.",
    "turn": "[[General thoughts/opinion]]: It holds.",
    "confidence": "Thus, [[0.8]]. ([YES])",
    "verdict": "[[YES]] It holds.",
}
JUDGE = {"judge": "hosted_vllm/judge"}


def usual(request: Received) -> Answer:
    return Answer(USUAL[kind_of(request.prompt)[0]])


def pairs(tmp_path: Path, count: int) -> Path:
    file = tmp_path / "pairs.jsonl"
    rows = [{"id": f"p{i}", "problem": f"Cross river {i}.", "solution": f"Step 1: Swim {i}."} for i in range(count)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def options(tmp_path: Path, **more: Any) -> creval.RunOptions:
    given: dict[str, Any] = {"resources": {"embedding": "embedded/minilm"}, "roles": JUDGE, "max_retries": 0, **more}
    return creval.RunOptions(output=tmp_path / "run", **given)


def test_one_failing_call_among_eight_solutions_repeats_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    healed = False

    def failing(request: Received) -> Any:
        wanted = kind_of(request.prompt)[0] == "verdict" and "Swim 3." in request.prompt and "safety" in request.prompt
        return HttpError(400) if wanted and not healed else usual(request)

    data = {"jury": pairs(tmp_path, 8)}
    with ChatServer(failing) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        creval.run(["jury"], "given/solution", options(tmp_path, data=data))
        assert len(server.requests) == 8 * 26
        scores = {score.key.doc: score for score in open_run(tmp_path / "run").scores()}
        assert set(scores["p3"].missing) == {"safety", "overall", "abstained"}
        assert scores["p3"].status_of("safety") is Status.ERRORED and scores["p3"].scores["feasibility"] == 1
        assert all(score.scores["overall"] == 1 for doc, score in scores.items() if doc != "p3")
        healed = True
        rescore(tmp_path / "run")
        assert len(server.requests) == 8 * 26 + 1  # the one that had failed
    assert {score.scores["overall"] for score in open_run(tmp_path / "run").scores()} == {1.0}


def test_a_second_scoring_asks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(usual) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        creval.run(["jury"], "given/solution", options(tmp_path, data={"jury": pairs(tmp_path, 1)}))
        first = len(server.requests)
        rescore(tmp_path / "run")
        assert first == len(server.requests) == 26
    (score,) = open_run(tmp_path / "run").scores()
    assert score.scores["judge_input_tokens"] > 0  # what the verdict took, whoever paid for it


def test_answers_that_were_given_before_are_judged_without_asking_the_model_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answering(request: Received) -> Answer:
        return usual(request) if request.body["model"] == "judge" else Answer("Step 1: Swim across.")

    with ChatServer(answering) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        data = {"jury": pairs(tmp_path, 1)}
        creval.run(["jury"], "hosted_vllm/solver", options(tmp_path, data=data))
        asked = [request.body["model"] for request in server.requests]
        assert asked == ["solver", *["judge"] * 26]
        again = creval.RunOptions(
            output=tmp_path / "again", resources={"embedding": "embedded/minilm"}, roles=JUDGE, data=data
        )
        creval.run(["jury"], f"replay/{tmp_path / 'run'}", again)
        assert [request.body["model"] for request in server.requests[27:]] == ["judge"] * 26
    assert all("Step 1: Swim across." in request.prompt for request in server.requests[1:])
    (score,) = open_run(tmp_path / "again").scores()
    assert score.scores["overall"] == 1


def test_a_missing_embedding_is_an_error_before_any_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(usual) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        given = options(tmp_path, resources={"embedding": "sentence-transformers/no/such"}, offline=False)
        with pytest.raises(UsageError, match="no/such"):
            creval.run(["jury"], "given/solution", given)
        assert server.requests == []


def test_a_solution_that_is_not_in_the_doc_is_the_sample_s_error(tmp_path: Path) -> None:
    data = {"jury": pairs(tmp_path, 1)}
    creval.run(["jury"], "given/answer", options(tmp_path, data=data, roles={"judge": "baseline/floor"}))
    (sample,) = open_run(tmp_path / "run").samples()
    assert sample.status is Status.ERRORED and "no text 'answer'" in str(sample.reason)


@pytest.mark.parametrize("name", ["hypogen", "bookmia"])
def test_other_domains_tell_the_judge_their_whole_problem(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = {"embedding": "embedded/minilm", "entailment": "exact"}
    with ChatServer(usual) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        given = options(tmp_path, resources=resources, limit="first:1")
        creval.run([f"{name}_jury_own"], "baseline/ceiling", given)
        asked = server.requests[0].prompt
    (sample,) = open_run(tmp_path / "run").samples()
    assert all(str(sample.doc[field]) in asked for field in sample.doc if field != "id")
    (score,) = open_run(tmp_path / "run").scores()
    assert score.scores["overall"] == 1 and score.scores["semantic_entropy"] == pytest.approx(2.302585, abs=1e-5)
    primary = open_run(tmp_path / "run").results["tasks"][0]["metrics"]
    named = {metric["name"] for metric in primary}
    assert "overall[hosted_vllm/judge, embedded/minilm]" in named or any(
        each.startswith("overall[") and "hosted_vllm/judge" in each for each in named
    )
    assert any(each == "semantic_entropy[exact]" for each in named)  # the judge has no part in it
