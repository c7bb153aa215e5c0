"""A jury that judges each turn: a score of every juror and turn, and how far the jurors agree over the whole talks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer, Received

import creval
from creval import RunOptions
from creval.engine.run import resume
from creval_judges.alpha import krippendorff_alpha

TASK = """\
schema: 1
task: talk
version: 1.0.0
title: Two questions
dataset: {source: file, file: talk.jsonl, id: id}
protocol: turns
prompt: [{role: user, content: "{{ question }}"}]
prompts:
  rate: [{role: user, content: "Rate {{ turn }} of {{ id }}: {{ answer }}"}]
score: {each_turn: {score: {judge: {prompt: rate, roles: [a, b], scale: [1, 9], combine: median}}, TURNS}}
metrics: [{name: judge, failed: exclude}]
"""
MARKS = {"a": {"x": (1, 3), "y": (5, 5), "z": (9, 8)}, "b": {"x": (2, 4), "y": (5, 1), "z": (9, 9)}}
"""What each juror says of the turns of each doc."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    def script(request: Received) -> Answer:
        words = request.prompt.split()
        if words[0] != "Rate":
            return Answer("An answer.")
        return Answer(str(MARKS[request.body["model"]][words[3][0]][int(words[1]) - 1]))

    with ChatServer(script) as started:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", started.url)
        yield started


def judged(folder: Path, turns: str) -> Any:
    rows = [{"id": name, "turns": [f"{name} one?", f"{name} two?"]} for name in "xyz"]
    (folder / "talk.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "talk.yaml").write_text(TASK.replace("TURNS", turns))
    roles = {name: f"hosted_vllm/{name}" for name in "ab"}
    return creval.run([str(folder / "talk.yaml")], "hosted_vllm/m", RunOptions(output=folder / "run", roles=roles))


def by_doc(done: Any) -> dict[str, dict[str, float]]:
    lines = map(json.loads, (done.folder / "scores" / "talk.jsonl").read_text().splitlines())
    return {line["doc_id"]: line["scores"] for line in lines}


def test_every_juror_has_a_score_of_every_turn_and_the_alpha_is_of_their_means(
    server: ChatServer, tmp_path: Path
) -> None:
    done = judged(tmp_path, "turns: all")
    scores = by_doc(done)["x"]
    assert scores == {
        "judge@a@1": 1,
        "judge@a@2": 3,
        "judge@a": 2,
        "judge@b@1": 2,
        "judge@b@2": 4,
        "judge@b": 3,
        "judge@1": 1.5,
        "judge@2": 3.5,
        "judge": 2.5,
    }
    means = [[sum(turns) / 2 for turns in docs.values()] for docs in MARKS.values()]
    alpha, _, _ = krippendorff_alpha(means, "interval")
    (task,) = done.results["tasks"]
    (jury,) = task["juries"]
    assert jury == {
        "score": "judge",
        "roles": ["a", "b"],
        "level": "interval",
        "of": "means over the turns",
        "alpha": pytest.approx(alpha),
        "ci_low": None,
        "ci_high": None,
        "samples": 3,
        "verdicts": 6,
    }
    said = f"jury of judge: Krippendorff's alpha (interval) = {alpha:.3f} over 6 means over the turns on 3 samples"
    assert said in task["notes"]
    asked = len(server.requests)
    assert asked == 6 + 12 and resume(done.folder).results["tasks"][0]["juries"] == [jury]
    assert len(server.requests) == asked


def test_of_the_last_turn_the_verdicts_themselves_are_compared(server: ChatServer, tmp_path: Path) -> None:
    done = judged(tmp_path, "turns: last")
    last = [[turns[1] for turns in docs.values()] for docs in MARKS.values()]
    (jury,) = done.results["tasks"][0]["juries"]
    assert (jury["level"], jury["alpha"]) == ("ordinal", pytest.approx(krippendorff_alpha(last, "ordinal")[0]))
    assert "of" not in jury and by_doc(done)["z"] == {"judge@a": 8, "judge@b": 9, "judge": 8.5}
