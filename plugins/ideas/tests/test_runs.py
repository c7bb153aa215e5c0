"""Runs of the tasks of our own: who judges, how often, and what comes of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer, Received

import creval

MARKS = {"a": (8, 6, 7), "b": (6, 6, 6), "c": (4, 7, 8), "d": (9, 3, 5)}
IDEA = (
    "Idea {}: " + "measure how this grows in the dark and compare it with what grows in the light, for one whole year."
)


def answer(request: Received) -> Answer:
    """Judges give their own marks, the letter B; models have an idea."""
    model = request.body["model"]
    if request.prompt.startswith("You judge"):
        return Answer(json.dumps(dict(zip(("originality", "feasibility", "clarity"), MARKS[model], strict=True))))
    return Answer("B.") if request.prompt.startswith("Two ideas") else Answer(IDEA.format(request.seen))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, options: Callable[..., Any]) -> Callable[..., tuple[Any, Counter[str], list]]:
    def made(task: str, model: str, **given: Any) -> tuple[Any, Counter[str], list[dict[str, Any]]]:
        with ChatServer(answer) as server:
            monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
            result = creval.run([task], model, options(**given))
            asked = Counter(each.body["model"] for each in server.requests)
        lines = (result.folder / "scores" / f"{task}.jsonl").read_text().splitlines()
        return result, asked, [json.loads(line) for line in lines]

    return made


def value(result: Any, task: str, start: str) -> float:
    return float(next(each["value"] for name, each in result.metrics(task).items() if name.startswith(start)))


def test_three_of_the_pool_judge_and_never_the_target(run: Callable[..., Any]) -> None:
    roles = {name: f"hosted_vllm/{name}" for name in "abcd"}
    result, asked, rows = run("ideas_own", "hosted_vllm/d", roles=roles, limit=3)
    assert len(rows) == 6
    for row in rows:
        for at, name in enumerate(("originality", "feasibility", "clarity")):
            given = {juror: row["scores"].get(f"{name}@{juror}") for juror in "abcd"}
            assert given == {juror: MARKS[juror][at] for juror in "abc"} | {"d": None}
        assert row["scores"]["fluency"] == 7
    assert asked["d"] == 6  # its own ideas alone
    assert asked["a"] + asked["b"] + asked["c"] == 6 * 3 + 3  # one call for the three scores, one for each pair
    assert value(result, "ideas_own", "originality") == pytest.approx(6)
    assert value(result, "ideas_own", "flexibility") == pytest.approx((6 + 19 / 3 + 7 + 7) / 4)
    means = (6, 19 / 3, 7, 7, (6 + 19 / 3 + 7 + 7) / 4)
    assert value(result, "ideas_own", "average") == pytest.approx(sum(means) / 5)


def test_the_scores_of_a_doc_have_the_same_jurors(run: Callable[..., Any]) -> None:
    roles = {name: f"hosted_vllm/{name}" for name in "abcd"}
    _, _, rows = run("ideas_own", "baseline/ceiling", roles=roles, limit=6)
    sets = set()
    for row in rows:
        drawn = {
            name: {key[-1] for key in row["scores"] if key.startswith(f"{name}@")}
            for name in ("originality", "clarity")
        }
        assert drawn["originality"] == drawn["clarity"] and len(drawn["clarity"]) == 3
        sets.add(frozenset(drawn["clarity"]))
    assert len(sets) > 1


def test_a_doc_with_one_idea_has_no_fluency(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MARKS, "judge", (5, 5, 5))
    _, asked, rows = run("ideas_own_one", "baseline/floor", roles={"judge": "hosted_vllm/judge"}, limit=2, repeats=1)
    assert {row["status"] for row in rows} == {"scored"}
    assert all("fluency" not in row["scores"] for row in rows)
    assert asked["judge"] == 2
