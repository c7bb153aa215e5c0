"""Tasks that ask the same: asked once in one run, and scored by a variant afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.chat_server import Answer, ChatServer

import creval
from creval.cli.commands.score import score
from creval.engine.run import rescore, resume
from creval.engine.run_options import Rescoring
from creval.errors import RunError
from creval_sweeps.estimate import estimate_run

TASK = """\
schema: 1
task: sums
version: 1.0.0
title: Sums
dataset: {source: file, file: sums.jsonl, id: id}
prompt: [{role: user, content: "What is {{ question }}?"}]
parse: {regex: "#### ([0-9]+)"}
score: exact_match
metrics: [{name: exact_match, failed: zero}]
variants:
  loose: {title: Loose, parse: last_number}
  both: {title: Both, parse: null, readings: {a: last_number, b: text}, metrics: [{name: exact_match@a, failed: zero}]}
  other: {title: Other, prompt: [{role: user, content: "And {{ question }}?"}]}
  cold: {title: Cold, generation: {temperature: 0}}
  fewer: {title: Fewer, dataset: {sample: {n: 2, seed: 1}}}
"""
MODEL = "hosted_vllm/x"


@pytest.fixture
def file(tmp_path: Path) -> str:
    rows = [{"id": f"d{i}", "question": f"{i}+1", "target": str(i + 1)} for i in range(4)]
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "sums.yaml").write_text(TASK)
    return str(tmp_path / "sums.yaml")


@pytest.fixture
def server():
    def script(request):
        number = int("".join(letter for letter in request.prompt.split("+")[0] if letter.isdigit())) + 1
        return Answer(f"#### {number}" if number < 3 else f"It is {number}", cost=0.5)

    with ChatServer(script) as server:
        yield server


def values(results) -> dict[str, float]:
    return {f"{t['task']} {m['name']}": m["value"] for t in results["tasks"] for m in t["metrics"]}


BOTH = {"sums exact_match": 0.5, "sums_loose exact_match": 1.0}


def test_one_run_of_both_asks_once(file, server, options):
    result = creval.run([file, f"{file}:loose"], MODEL, options(base_url=server.url))
    assert (len(server.requests), values(result.results)) == (4, BOTH)
    first, second = result.results["tasks"]
    assert (first["usage"]["calls"], second["usage"]["calls"], second["usage"]["cost"]) == (4, 0, 0)
    assert first["usage"]["cost"] > 0 and second["usage_by_role"] == {}
    assert second["notes"] == ["sums_loose has the answers of sums, which asks the same: asked once, and counted there"]
    sample = json.loads((result.folder / "samples/sums_loose.jsonl").read_text().splitlines()[0])
    assert (sample["task"], sample["shared_from"]) == ("sums_loose", "sums")
    again = resume(result.folder)
    assert (len(server.requests), values(again.results)) == (4, BOTH)
    assert values(rescore(result.folder).results) == BOTH
    assert rescore(result.folder).results["tasks"][1]["notes"] == second["notes"]
    assert len(list(creval.open_run(result.folder).samples("sums_loose"))) == 4


def test_other_questions_share_nothing(file, server, options):
    tasks = [file, *(f"{file}:{name}" for name in ("other", "cold", "fewer"))]
    result = creval.run(tasks, MODEL, options(base_url=server.url))
    assert len(server.requests) == 4 + 4 + 4 + 2
    assert not any(
        "shared_from" in line for f in (result.folder / "samples").iterdir() for line in f.read_text().splitlines()
    )


def test_a_stopped_run_shares_what_it_gets_when_resumed(file, server, options):
    result = creval.run([file, f"{file}:loose"], MODEL, options(base_url=server.url, max_calls=2, concurrency=1))
    assert [task["counts"]["skipped"] for task in result.results["tasks"]] == [2, 2]
    finished = resume(result.folder, max_calls=100)
    assert (len(server.requests), values(finished.results)) == (4, BOTH)
    assert [task["usage"]["calls"] for task in finished.results["tasks"]] == [4, 0]


def test_the_estimate_counts_them_once(file, server, options):
    found = estimate_run([file, f"{file}:loose"], MODEL, options(base_url=server.url))
    assert [row.task for row in found.tasks] == ["sums"]
    assert "sums_loose asks what sums asks: the model is asked once." in found.notes


def test_saved_answers_are_scored_by_a_variant(file, server, options):
    run = creval.run([file], MODEL, options(base_url=server.url))
    for name, expected in (("loose", BOTH), ("both", {**BOTH, "sums_both exact_match@a": 1.0})):
        scored = rescore(run.folder, Rescoring(tasks=[f"{file}:{name}"]))
        assert (len(server.requests), values(scored.results)) == (4, expected)
    assert values(resume(run.folder).results) == expected
    assert values(rescore(run.folder).results) == expected
    manifest = json.loads((run.folder / "run.json").read_text())
    assert [task.get("shares") for task in manifest["tasks"]] == [None, "sums", "sums"]
    assert (run.folder / "tasks/sums_loose.yaml").exists()


def test_from_the_command_line_into_another_folder(file, server, options):
    run = creval.run([file], MODEL, options(base_url=server.url))
    arguments = [str(run.folder), "--task", f"{file}:loose", "--output", str(run.folder) + "-2"]
    done = CliRunner().invoke(score, arguments)
    assert (done.exit_code, len(server.requests)) == (0, 4), done.output
    assert values(creval.open_run(str(run.folder) + "-2").results) == BOTH
    assert values(creval.open_run(run.folder).results) == {"sums exact_match": 0.5}


@pytest.mark.parametrize(("name", "said"), [("other", "in prompt"), ("cold", "in generation"), ("fewer", "in dataset")])
def test_a_task_that_asks_something_else_is_refused(file, server, options, name, said):
    run = creval.run([file], MODEL, options(base_url=server.url))
    before = (run.folder / "run.json").read_bytes()
    with pytest.raises(RunError, match=f"'sums_{name}' does not ask what 'sums' asked: it differs {said}"):
        rescore(run.folder, Rescoring(tasks=[f"{file}:{name}"]))
    assert (run.folder / "run.json").read_bytes() == before
    assert not (run.folder / f"samples/sums_{name}.jsonl").exists()
