"""Several readings of the same answers, and one scorer under several names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.chat_server import Answer, ChatServer

import creval
from creval.data.check_task_data import check_components
from creval.engine.event_loop import drive
from creval.errors import TaskError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_testing.task_examples import run_examples

TASK = """\
schema: 1
task: sums
version: 1.0.0
title: Sums
dataset: {source: file, file: sums.jsonl, id: id}
prompt: [{role: user, content: "What is {{ question }}?"}]
readings:
  strict: {regex: "#### (-?[0-9]+)"}
  flexible: [last_number]
score: exact_match
metrics:
  - {name: exact_match@strict, failed: zero}
  - {name: exact_match@flexible, failed: zero}
tests:
  - {name: gold, answer: "So #### 3", status: scored, scores: {exact_match@strict: 1, exact_match@flexible: 1}}
  - {name: loose, answer: "So it is 3.", status: unparsed, scores: {exact_match@flexible: 1}}
  - {name: wrong, answer: "#### 4", status: scored, scores: {exact_match@strict: 0, exact_match@flexible: 0}}
  - {name: none, answer: "I cannot say", status: unparsed}
"""
SAID = {"1+2": "#### 3", "2+2": "It is 4", "3+3": "#### 6, or 7", "4+4": "No idea"}


def write(folder: Path, *changes: tuple[str, str]) -> str:
    rows = [{"id": q, "question": q, "target": str(eval(q))} for q in SAID]
    (folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = TASK
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "sums.yaml").write_text(text)
    return str(folder / "sums.yaml")


@pytest.fixture
def run(tmp_path, options):
    def go(*changes: tuple[str, str], **given):
        with ChatServer(lambda r: Answer(SAID[r.prompt[8:-1]])) as server:
            result = creval.run([write(tmp_path, *changes)], "hosted_vllm/x", options(base_url=server.url, **given))
            return result, len(server.requests)

    return go


def scores(result) -> dict[str, dict[str, float]]:
    lines = (result.folder / "scores/sums.jsonl").read_text().splitlines()
    return {line["doc_id"]: line["scores"] for line in map(json.loads, lines)}


def test_each_reading_scores_the_same_answers(run):
    result, asked = run()
    assert asked == 4
    found = {name: (m["value"], m["counts"]["unparsed"]) for name, m in result.metrics("sums").items()}
    assert found == {"exact_match@strict": (0.5, 2), "exact_match@flexible": (0.5, 1)}
    assert scores(result) == {
        "1+2": {"exact_match@strict": 1, "exact_match@flexible": 1},
        "2+2": {"exact_match@flexible": 1},
        "3+3": {"exact_match@strict": 1, "exact_match@flexible": 0},
        "4+4": {},
    }
    lines = map(json.loads, (result.folder / "scores/sums.jsonl").read_text().splitlines())
    kept = {line["doc_id"]: (line.get("value"), line.get("route"), line["status"]) for line in lines}
    assert kept["3+3"] == ({"strict": "6", "flexible": 7.0}, "strict: regex; flexible: last_number", "scored")
    assert kept["2+2"][2] == kept["4+4"][2] == "unparsed"


def test_the_readings_agree_with_a_task_of_each(run, tmp_path):
    both, _ = run()
    for name, parser in (("strict", "{regex: '#### (-?[0-9]+)'}"), ("flexible", "last_number")):
        old = TASK[TASK.index("readings:") : TASK.index("score:")]
        metrics = TASK[TASK.index("  - {name: exact_match@strict, f") :]
        one = (old, f"parse: {parser}\n"), (metrics, "  - {name: exact_match, failed: zero}\n")
        alone, _ = run(*one, output=tmp_path / name)
        metric, own = both.metrics("sums")[f"exact_match@{name}"], alone.metrics("sums")["exact_match"]
        for key in ("value", "n", "n_failed", "clusters", "standard_error", "counts"):
            assert metric[key] == own[key], (name, key)


def test_a_scorer_may_name_its_reading_and_its_score(run):
    metrics = TASK[TASK.index("metrics:") :]
    result, _ = run(
        (
            "score: exact_match",
            "score: [{exact_match: {reading: strict, as: exact}}, {name: numeric, reading: flexible}]",
        ),
        (metrics, "metrics: [{name: exact, failed: zero}, {name: numeric@flexible, failed: zero}]\n"),
    )
    assert {name: m["value"] for name, m in result.metrics("sums").items()} == {"exact": 0.5, "numeric@flexible": 0.5}


def test_the_same_scorer_under_two_names(run):
    old = TASK[TASK.index("readings:") :]
    result, _ = run(
        (
            old,
            "parse: last_number\nscore: [{numeric: {as: near, absolute: 1}}, numeric]\n"
            "metrics: [{name: near, failed: zero}, {name: numeric, failed: zero}]\n",
        )
    )
    assert {name: m["value"] for name, m in result.metrics("sums").items()} == {"near": 0.75, "numeric": 0.5}
    assert result.metrics("sums")["near"]["definition"]["binary"] is True


BAD = [
    (("score: exact_match", "score: {exact_match: {reading: strickt}}"), "no reading 'strickt'"),
    (("score: exact_match", "score: [exact_match, exact_match]"), "both return 'exact_match@strict'.*as: NAME"),
    (("score: exact_match", "score: {exact_match: {as: 3x}}"), "'3x' is not a name for a score"),
    (("score: exact_match", "parse: text\nscore: exact_match"), "readings replace parse"),
    (("strict: {regex", "strict: {regexx"), "regexx"),
    (("exact_match@strict, failed", "exact_match@strct, failed"), "no scorer of the task returns 'exact_match@strct'"),
    (("strict: {regex", "3x: {regex"), "3x"),
]


@pytest.mark.parametrize(("change", "said"), BAD)
def test_what_a_task_with_readings_may_not_say(tmp_path, change, said):
    with pytest.raises(TaskError) as error:
        TaskIndex(load_plugins()).expand([write(tmp_path, change)])
    assert re.search(said, " ".join(f"{each.message} {each.fix}" for each in error.value.problems))


def test_a_reading_that_gives_what_no_scorer_takes(tmp_path):
    def problems(*changes: tuple[str, str]) -> list[str]:
        (task,) = TaskIndex(load_plugins()).expand([write(tmp_path, *changes)])
        return [problem.message for problem in check_components(task, load_plugins().registry)]

    (said,) = problems(("strict: {regex", "strict: json_array\n  other: {regex"))
    assert "takes a number or a text, but the reading 'strict' gives a list" in said
    assert not problems()


def test_the_tests_of_the_task_hold(tmp_path):
    (task,) = TaskIndex(load_plugins()).expand([write(tmp_path)])
    outcomes = drive(run_examples(task, creval.RunOptions(offline=True), load_plugins()))
    assert [(each.example, list(each.faults)) for each in outcomes] == [
        (n, []) for n in ("gold", "loose", "wrong", "none")
    ]


def test_the_hash_of_a_task_without_readings_is_as_it_was(tmp_path):
    def hashed(*changes):
        return TaskIndex(load_plugins()).expand([write(tmp_path, *changes)])[0].hash

    old = TASK[TASK.index("readings:") :]
    plain = "parse: last_number\nscore: numeric\nmetrics: [{name: numeric, failed: zero}]\n"
    assert hashed((old, plain)) == HASH
    assert hashed() != hashed(("flexible: [last_number]", "flexible: last_number\n  third: text"))
    assert hashed() == hashed(("flexible: [last_number]", "flexible: last_number"))


HASH = "64a6afb1b7f19cb4d03758559c823c75418a62b65f368fd111692f31ff27d3fc"
