"""Tests that a task states: judges, several completions, log-probabilities and conditions can be scripted."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from support.chat_server import ChatServer
from support.commands import creval as command
from support.judged import HOOKS, PARTS, write_judged
from support.parrot import parrot

import creval
from creval.engine.run_options import RunOptions
from creval.errors import TaskError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_testing.task_examples import run_examples

GOLD = """
tests:
  - name: gold
    answer: word0
    roles: {judge: [{when: Kind of, text: "7"}, {when: Rate, text: "3"}]}
    status: scored
    scores: {rated: 3, kind: 7, size: 5}
  - name: asked_once_more
    answer: word0
    roles: {judge: [{when: Kind of, text: "7"}, "what?", "4"]}
    status: scored
    scores: {rated: 4}
  - name: no_verdict
    answer: word0
    roles: {judge: [{when: Kind of, text: "7"}]}
    status: errored
  - {name: unscripted, answer: word0, status: errored}
"""
SAMPLED = """
    from creval.plugin import Score

    class Sampled:
        def score(self, items, context):
            return [self.one(item) for item in items]

        def one(self, item):
            completions = [c for call in item.calls for c in call.reply.completions]
            tokens = [token.logprob for c in completions for token in c.logprobs or ()]
            cut = sum(c.finish_reason == "length" for c in completions)
            unread = sum(not parsed.ok for parsed in item.parsed)
            numbers = {"read": len(item.values), "cut": cut, "unread": unread, "logprob": sum(tokens)}
            return Score({name: float(value) for name, value in numbers.items()})

    class Strict:
        def score(self, items, context):
            return [Score({"strict": float(len(item.values))}) for item in items]

    class Many:
        async def run(self, session):
            reply = await session.ask(session.prompt(), n=3, tolerate=("length", "refusal"))
            more = await session.ask(session.prompt(), tolerate=("length",))
            for completion in [*reply.completions, *more.completions]:
                session.answer(completion.text)
"""
SAMPLED_HOOKS = """
    from creval.plugin import hookimpl

    @hookimpl
    def creval_components(registry):
        names = ("read", "cut", "unread", "logprob")
        registry.add("scorer", "sampled", "creval_judged_parts:Sampled", produces=names, reads_some=True)
        registry.add("scorer", "strict", "creval_judged_parts:Strict", produces=("strict",))
        registry.add("protocol", "many", "creval_judged_parts:Many")
"""
SAMPLED_TASK = """\
schema: 1
task: sampled
version: 1.0.0
title: Many answers at once
dataset: {source: file, file: judged.jsonl, id: id}
conditions: {temperature: [0.5, 1.5]}
protocol: many
prompt: [{role: user, content: "Say {{ word }}"}]
parse: {regex: "word[0-9]"}
score: [sampled, strict]
metrics:
  - {name: read, failed: zero}
  - {name: strict, failed: zero}
tests:
  - name: some_of_four
    condition: temperature=1.5
    answers:
      - - {text: word1, logprobs: [[word1, -0.5]]}
        - {text: wor, finish_reason: length}
        - {text: "", finish_reason: content_filter}
      - {text: word2, logprobs: [[wo, -0.25], [rd2, -1.25, [[rd1, -2.0]]]]}
    status: unparsed
  - name: one_by_one
    answers: [word1, word2, word3, word4]
    status: scored
    scores: {read: 4, cut: 0, unread: 0, logprob: 0, strict: 4}
"""


def outcomes(task: str, **given: object) -> list:
    plugins = load_plugins()
    (found,) = TaskIndex(plugins).expand([task])
    return asyncio.run(run_examples(found, RunOptions(offline=True, **given), plugins))


def test_a_judge_is_scripted_and_a_test_never_asks_a_real_one(install, tmp_path: Path) -> None:
    install("judged", HOOKS, PARTS)
    task = write_judged(tmp_path, model="openai/gpt-4o")
    Path(task).write_text(Path(task).read_text() + GOLD)
    found = outcomes(task)
    assert [(each.example, list(each.faults)) for each in found] == [
        (name, []) for name in ("gold", "asked_once_more", "no_verdict", "unscripted")
    ]
    assert "no number" not in str(found[2].score.reason)
    assert "0 answers of the judge" in str(found[3].score.reason)
    assert found[3].score.scores == {"size": 5.0}


def test_many_answers_are_scripted_with_what_scorers_see_of_them(install, tmp_path: Path) -> None:
    install("judged", SAMPLED_HOOKS, SAMPLED)
    write_judged(tmp_path, docs=1)
    task = tmp_path / "sampled.yaml"
    task.write_text(SAMPLED_TASK)
    some, one_by_one = outcomes(str(task))
    assert (some.faults, one_by_one.faults) == ([], [])
    assert some.score.scores == {"read": 2.0, "cut": 1.0, "unread": 2.0, "logprob": -2.0}
    assert some.score.key.condition == "temperature=1.5"
    assert some.score.missing["strict"].status == "unparsed"
    assert "2 of 4 answers could not be read" in some.score.missing["strict"].reason


@pytest.mark.parametrize(
    ("written", "status", "text"),
    [
        ("word0", "scored", "word0"),
        ("{text: word0}", "scored", "word0"),
        ("{text: word0, finish_reason: length}", "truncated", None),
        ("{text: word0, logprobs: [[word0, -0.1]]}", "scored", "word0"),
        ("[{text: word0}]", "scored", "word0"),
        ("{tool_calls: [{name: look}]}", "unparsed", None),
    ],
)
def test_one_answer_is_written_in_every_form_of_a_completion(
    make_task, written: str, status: str, text: str | None
) -> None:
    task = make_task(extra=f"tests:\n  - {{name: one, answer: {written}, status: {status}}}\n")
    (outcome,) = outcomes(str(task))
    assert outcome.faults == []
    assert (outcome.score.scores == {"exact_match": 1.0}) == (text is not None)


BY_BASELINE = """
baselines: {ceiling: target}
tests:
  - {name: gold, baseline: ceiling, status: scored, scores: {exact_match: 1}}
  - {name: of_one_doc, doc: d0, baseline: ceiling, status: scored, scores: {exact_match: 1}}
"""


def test_the_gold_of_a_baseline_is_played_for_more_than_the_first_doc(make_task) -> None:
    task = Path(make_task(docs=40, extra=BY_BASELINE))
    assert [each.faults for each in outcomes(str(task))] == [[], []]
    data = task.with_suffix(".jsonl")
    rows = data.read_text().splitlines()
    data.write_text("\n".join([*rows[:-1], '{"id": "d39", "word": "word39", "target": ["", "word39"]}']))
    gold, of_one_doc = outcomes(str(task))
    assert of_one_doc.faults == []
    assert gold.score.key.doc == "d39"
    assert gold.faults and all("of the doc 'd39'" in fault for fault in gold.faults)


COUNTED_HOOKS = """
    from creval.plugin import hookimpl

    @hookimpl
    def creval_components(registry):
        registry.add("embedding", "counted", "creval_counted_parts:opened")
        registry.add("scorer", "near", "creval_counted_parts:Near", produces=("near",), uses=("embedding",))
"""
COUNTED = """
    from creval.plugin import Score

    DONE = []

    class Counted:
        name, dimension, has, embed = "counted", 1, None, None  # nothing is embedded

        def close(self):
            DONE.append("closed")

    def opened(model, options):
        DONE.append("opened")
        return Counted()

    class Near:
        def score(self, items, context):
            DONE.append(context.resource("embedding").name)
            return [Score({"near": 1.0}) for item in items]
"""


def test_what_a_task_measures_with_is_opened_once_for_all_its_tests(install, make_task) -> None:
    install("counted", COUNTED_HOOKS, COUNTED)
    tests = "".join(f"  - {{name: t{number}, answer: word0, status: scored}}\n" for number in range(3))
    task = Path(make_task(extra=f"resources: {{embedding: counted/any}}\ntests:\n{tests}"))
    task.write_text(task.read_text().replace("exact_match", "near"))
    assert [each.faults for each in outcomes(str(task))] == [[], [], []]
    assert sys.modules["creval_counted_parts"].DONE == ["opened", "counted", "counted", "counted", "closed"]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (("roles: {judge: [{when", "roles: {juge: [{when"), "the task asks no role 'juge'"),
        (("answer: word0", "answer: word0\n    condition: hot"), "no condition 'hot'"),
        (('text: "7"}', 'txt: "7"}'), "txt"),
    ],
)
def test_what_a_test_names_must_be_there(install, tmp_path: Path, change, match) -> None:
    install("judged", HOOKS, PARTS)
    task = write_judged(tmp_path, model="openai/gpt-4o")
    Path(task).write_text(Path(task).read_text() + GOLD.replace(*change, 1))
    with pytest.raises(TaskError, match=match):
        outcomes(task)


def test_replays_carry_finish_reasons_and_log_probabilities(install, tmp_path: Path, options) -> None:
    install("judged", SAMPLED_HOOKS, SAMPLED)
    write_judged(tmp_path, docs=1)
    task = tmp_path / "sampled.yaml"
    task.write_text(SAMPLED_TASK.replace("[0.5, 1.5]", "[0.5]").replace("=1.5", "=0.5"))
    said = [{"text": "word1", "logprobs": [["word1", -0.5]]}, {"text": "word2", "finish_reason": "length"}, "word3"]
    line = {"task": "sampled", "doc": "d0", "condition": "temperature=0.5", "answers": [said, "word4"]}
    (tmp_path / "answers.jsonl").write_text(json.dumps(line) + "\n")
    result = creval.run([str(task)], f"replay/{tmp_path / 'answers.jsonl'}", options())
    assert result.metrics("sampled")["read"]["value"] == 4
    scores = json.loads((result.folder / "scores" / "sampled.jsonl").read_text())["scores"]
    assert (scores["cut"], scores["logprob"]) == (1.0, -0.5)


def test_a_run_is_replayed_with_its_judge(install, tmp_path: Path, options, monkeypatch) -> None:
    install("judged", HOOKS, PARTS)
    task = write_judged(tmp_path, docs=3, repeats=2)
    with ChatServer(answer=lambda r: parrot(r) if r.prompt.startswith("Say") else str(len(r.prompt))) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        first = creval.run([task], "hosted_vllm/x", options(roles={"judge": "hosted_vllm/judge"}))
    replay = f"replay/{first.folder}"
    again = creval.run([task], replay, options(roles={"judge": replay}, output=tmp_path / "again"))
    assert again.results["tasks"][0]["metrics"] == first.results["tasks"][0]["metrics"]


def test_validate_runs_judged_tests_without_a_key(install, tmp_path: Path, monkeypatch) -> None:
    install("judged", HOOKS, PARTS)
    task = write_judged(tmp_path, model="openai/gpt-4o")
    Path(task).write_text(Path(task).read_text() + GOLD)
    done = command(tmp_path, "validate", task, "--tests", PYTHONPATH=str(tmp_path / "site"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 tests run" in done.stdout
