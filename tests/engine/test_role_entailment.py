"""Entailment by a model in a role: asked through the ledger, named with its model, errored where it cannot be read."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer, Received
from support.parrot import parrot

import creval
from creval.engine.run import rescore, resume
from creval.engine.run_options import Rescoring, RunOptions
from creval.errors import UsageError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_analyses.workbench import Workbench
from creval_testing.task_examples import run_examples

HOOKS = """
    from creval.plugin import hookimpl

    @hookimpl
    def creval_components(registry):
        registry.add(
            "scorer", "follows", "creval_following_parts:Follows", produces=("follows",), uses=("entailment",),
            waits=True, batch_size=8,
        )
"""
PARTS = """
    import inspect
    from creval.plugin import Score

    class Follows:
        async def score(self, items, context):
            rows = context.resource("entailment").predict([(item.value, item.doc["fact"]) for item in items])
            if inspect.isawaitable(rows):
                rows = await rows
            return [Score({"follows": float(row[0])}) for row in rows]
"""
TASK = """\
schema: 1
task: following
version: 1.0.0
title: Following
dataset: {source: file, file: following.jsonl, id: id}
prompt: [{role: user, content: "Say {{ word }}"}]
resources: {entailment: exact}
score: follows
metrics: [{name: follows, failed: exclude}]
"""
OWN = """\
schema: 1
include: following.yaml
task: following_judged
resources: {entailment: role/judge}
roles: {judge: {model: hosted_vllm/judge, generation: {temperature: 0}}}
tests:
  - {name: gold, doc: d0, answer: w0, roles: {judge: [entailment]}, status: scored, scores: {follows: 1}}
  - {name: other, doc: d0, answer: w1, roles: {judge: [Hm., neutral]}, status: scored, scores: {follows: 0}}
  - {name: unread, doc: d0, answer: w1, roles: {judge: [Hm., Well.]}, status: errored}
"""
JUDGE = {"judge": "hosted_vllm/judge"}
BY_ROLE = {"entailment": "role/judge"}
MODEL = "hosted_vllm/parrot"


@pytest.fixture
def task(install: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    install("following", HOOKS, PARTS)
    monkeypatch.setenv("CREVAL_PLUGINS", "following,encoders")
    rows = [{"id": f"d{i}", "word": f"w{i}", "fact": f"fact {i % 3}"} for i in range(4)]
    (tmp_path / "following.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "following.yaml").write_text(TASK)
    (tmp_path / "judged.yaml").write_text(OWN)
    return str(tmp_path / "following.yaml")


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Do something while a judge answers what `verdict` makes of the pair; returns it with the judge's questions."""
    verdicts: list[Any] = [None]

    def script(request: Received) -> Answer:
        said = (parrot if request.prompt.startswith("Say") else verdicts[0])(request)
        return said if isinstance(said, Answer) else Answer(said)

    with ChatServer(script) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)

        def doing(verdict: Any, work: Any) -> tuple[Any, Counter[str]]:
            verdicts[0], before = verdict, len(server.requests)
            done = work()
            return done, Counter(each.prompt for each in server.requests[before:] if not each.prompt.startswith("Say"))

        yield doing


def by_number(request: Received) -> str:
    return "entailment" if "fact 1" in request.prompt else "neutral"


def scores(folder: Path) -> dict[str, Any]:
    lines = map(json.loads, (folder / "scores" / "following.jsonl").read_text().splitlines())
    return {line["doc_id"]: line["scores"].get("follows") for line in lines}


def test_a_role_judges_through_the_ledger_and_is_in_the_metric_s_name(task, judge, options):
    result, asked = judge(by_number, lambda: creval.run([task], MODEL, options(roles=JUDGE, resources=BY_ROLE)))
    assert scores(result.folder) == {"d0": 0, "d1": 1, "d2": 0, "d3": 0}
    assert result.metrics("following")["follows[role/judge=hosted_vllm/judge]"]["value"] == 0.25
    assert len(asked) == 4 and set(asked.values()) == {1}
    (entry,) = result.results["tasks"]
    assert entry["instruments"]["entailment"].startswith("role/judge@sha256:")
    assert entry["instruments"]["judge"] == "hosted_vllm/judge"
    lines = [json.loads(line) for line in (result.folder / "calls" / "judge.jsonl").read_text().splitlines()]
    assert len(lines) == 4 and {line["asked"]["doc_id"] for line in lines} == {"entailment"}

    again, asked = judge(by_number, lambda: rescore(result.folder))
    assert not asked and again.results["tasks"][0]["metrics"] == entry["metrics"]
    other, asked = judge(by_number, lambda: rescore(result.folder, Rescoring(roles={"judge": "hosted_vllm/second"})))
    assert len(asked) == 4
    assert [each["name"] for each in other.results["tasks"][0]["metrics"]] == ["follows[role/judge=hosted_vllm/second]"]


def test_an_unreadable_verdict_is_asked_once_more_and_errors_its_own_sample_alone(task, judge, options):
    seen: Counter[str] = Counter()

    def verdict(request: Received) -> str | Answer:
        seen[request.prompt] += 1
        if "w2" in request.prompt:
            return "Who knows?"
        if "w0" in request.prompt and seen[request.prompt] == 1:  # "It is no entailment" may be what was to come
            return Answer("entailment", finish_reason="length")
        return "Hm." if "w1" in request.prompt and seen[request.prompt] == 1 else by_number(request)

    result, asked = judge(
        verdict,
        lambda: creval.run([task], MODEL, options(roles=JUDGE, resources=BY_ROLE, allowed_error_share=1.0)),
    )
    assert scores(result.folder) == {"d0": 0, "d1": 1, "d2": None, "d3": 0}
    line = next(json.loads(text) for text in (result.folder / "scores/following.jsonl").open() if '"d2"' in text)
    assert line["status"] == "errored" and "cannot be read, asked 2 times: 'Who knows?'" in line["reason"]
    assert sorted(asked.values()) == [1, 2, 2, 2]
    _, asked = judge(by_number, lambda: resume(result.folder))
    assert scores(result.folder)["d2"] == 0 and sum(asked.values()) == 1


def test_a_role_needs_its_model(task, options):
    with pytest.raises(UsageError, match=r"(?s)needs a model in the role 'judge'.*--role judge="):
        creval.run([task], MODEL, options(resources=BY_ROLE))


def test_a_task_of_its_own_judge_keeps_its_plain_names_and_scripts_it(task, judge, options, tmp_path):
    result, asked = judge(by_number, lambda: creval.run([str(tmp_path / "judged.yaml")], MODEL, options()))
    assert result.metrics("following_judged")["follows"]["value"] == 0.25 and len(asked) == 4
    named = options(roles={"judge": "hosted_vllm/second"}, output=tmp_path / "second")
    result, _ = judge(by_number, lambda: creval.run([str(tmp_path / "judged.yaml")], MODEL, named))
    assert list(result.metrics("following_judged")) == ["follows[role/judge=hosted_vllm/second]"]
    plugins = load_plugins()
    (read,) = TaskIndex(plugins).expand([str(tmp_path / "judged.yaml")])
    outcomes = asyncio.run(run_examples(read, RunOptions(), plugins))
    assert [list(each.faults) for each in outcomes] == [[], [], []]


def test_a_workbench_asks_too(judge, monkeypatch):
    monkeypatch.setenv("CREVAL_PLUGINS", "encoders")
    bench = Workbench(RunOptions(roles=JUDGE))

    async def ask() -> Any:
        entailment = bench.resource("entailment", "role/judge")
        return [(await entailment.predict([("a", f"fact {i}")])).tolist() for i in (1, 2)]

    rows, asked = judge(by_number, lambda: bench.work(ask))
    assert rows == [[[1, 0, 0]], [[0, 1, 0]]] and sum(asked.values()) == 2
