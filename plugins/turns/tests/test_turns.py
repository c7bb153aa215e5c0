"""Conversations of several turns: what is asked, what is kept, and what a turn that fails does to the others."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.chat_server import Answer, HttpError, Received
from support.talker import Talker

import creval
from creval.cli.root import cli
from creval.engine.run import resume
from creval.engine.run_options import RunOptions
from creval_testing.scripted_models import RunTask
from creval_turns.turns import Turns

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "tasks"

TASK = """\
schema: 1
task: talk
version: 1.0.0
title: Two questions
dataset: {source: file, file: talk.jsonl, id: id}
PROTOCOL
score: {each_turn: {score: exact_match, fields: [target]}}
metrics:
  - {name: exact_match, failed: zero}
  - {name: first, from: exact_match@1, failed: zero}
  - {name: second, from: exact_match@2, failed: zero}
  - {name: third, from: exact_match@3, failed: exclude}
baselines: {floor: {fixed: no}, ceiling: turn_target}
"""
FIELD = """\
protocol: turns
prompt:
  - {role: system, content: Be brief.}
  - {role: user, content: "({{ turn }}) {{ question }}"}
"""
PROMPTS = """\
protocol: {turns: [open, close]}
prompts:
  open: [{role: system, content: Be brief.}, {role: user, content: "Name {{ id }}."}]
  close: [{role: user, content: "You named {{ answers | join(', ') }}. Turn {{ turn }}?"}]
"""
DOCS = [
    {"id": "a", "turns": ["One?", "Two?"], "target": ["1", "2"]},
    {"id": "b", "turns": ["Three?", "Four?"], "target": ["3", "4"]},
]
Make = Callable[..., str]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write a task; returns its path as --tasks takes it."""

    def write(protocol: str = FIELD, docs: Any = DOCS, extra: str = "") -> str:
        (tmp_path / "talk.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
        (tmp_path / "talk.yaml").write_text(TASK.replace("PROTOCOL\n", protocol) + extra)
        return "./talk.yaml"

    return write


@pytest.fixture
def run_task(tmp_path: Path) -> RunTask:
    return RunTask(tmp_path)


def metrics(done: Any, task: str = "talk") -> dict[str, Any]:
    return {name: metric["value"] for name, metric in done.metrics(task).items()}


def test_a_conversation_is_asked_turn_by_turn(talker: Talker, tmp_path: Path) -> None:
    for name in ("conversations.yaml", "conversations.jsonl"):
        shutil.copy(EXAMPLES / name, tmp_path)
    talker.says = lambda got: Answer("Fine. 8" if "How well does" in got.prompt else f"So: {got.prompt[:9]}")
    options = RunOptions(
        base_url=talker.url, roles={"judge": {"model": "chat/judge", "base_url": talker.url}}, concurrency=1
    )
    done = creval.run(["./conversations.yaml"], "chat/target", options)
    asked = [got.body["messages"] for got in talker.server.requests if got.body["model"] == "target"]
    first, second = asked[0], asked[1]
    assert [each["role"] for each in second] == ["system", "user", "assistant", "user"]
    assert second[:2] == first
    assert second[2]["content"] == f"So: {first[1]['content'][:9]}"
    judged = [got.prompt for got in talker.server.requests if got.body["model"] == "judge"]
    assert len(judged) == 6
    assert f"[assistant] So: {first[1]['content'][:9]}\n[user] {second[3]['content']}\n" in "".join(judged)
    assert done.metrics("conversations")["rating@2"]["value"] == 8.0


def test_prompts_quote_the_answers_before_them(make: Make, run_task: RunTask) -> None:
    done = run_task(make(PROMPTS), lambda doc: doc["target"])
    (sample, _) = creval.open_run(done.folder).samples()
    texts = [message["content"] for call in sample.calls for message in call.messages]
    assert texts == ["Be brief.", "Name a.", "1", "You named 1. Turn 2?"]
    assert list(sample.answers) == ["1", "2"]
    assert metrics(done)["exact_match"] == 1.0


def test_more_questions_than_prompts_take_the_last(make: Make, run_task: RunTask) -> None:
    protocol = PROMPTS.replace("{turns: [open, close]}", "{turns: {prompts: [open, close], field: turns}}")
    docs = [{"id": "a", "turns": ["x", "y", "z"], "target": ["1", "2", "3"]}]
    done = run_task(make(protocol, docs), lambda doc: doc["target"])
    (sample,) = creval.open_run(done.folder).samples()
    assert [call.messages[-1]["content"] for call in sample.calls][2] == "You named 1, 2. Turn 3?"
    assert metrics(done)["third"] == 1.0


def test_floor_and_ceiling(make: Make, run_task: RunTask) -> None:
    task = make()
    assert metrics(run_task(task, "baseline/ceiling")) == {"exact_match": 1, "first": 1, "second": 1, "third": None}
    assert metrics(run_task(task, "baseline/floor"))["exact_match"] == 0


def test_a_doc_without_a_turn_is_left_out_of_its_metric(make: Make, run_task: RunTask) -> None:
    docs = [*DOCS, {"id": "c", "turns": ["p", "q", "r"], "target": ["5", "6", "7"]}]
    done = run_task(make(docs=docs), lambda doc: ["5", "6", "no"] if doc["id"] == "c" else doc["target"])
    found = metrics(done)
    assert found["third"] == 0.0
    assert found["exact_match"] == pytest.approx((1 + 1 + 2 / 3) / 3)
    assert done.metrics("talk")["third"]["counts"]["scored"] == 1


@pytest.mark.parametrize(
    ("end", "status", "tolerated"),
    [("length", "truncated", "length"), ("content_filter", "refused", "refusal"), ("stop", "unparsed", "empty")],
)
def test_a_turn_that_fails_ends_the_conversation(
    make: Make, talker: Talker, end: str, status: str, tolerated: str
) -> None:
    def said(got: Received) -> Answer:
        failing = got.prompt == "(1) Three?"
        return Answer("" if failing and end == "stop" else "9", end if failing else "stop")

    talker.says = said
    options = RunOptions(base_url=talker.url)
    done = creval.run([make()], "chat/m", options)
    ends = {sample.key.doc: sample.status.value for sample in creval.open_run(done.folder).samples()}
    assert ends == {"a": "scored", "b": status}
    forgiving = FIELD.replace("turns\n", f"{{turns: {{tolerate: [{tolerated}]}}}}\n", 1)
    going_on = creval.run([make(forgiving)], "chat/m", options)
    kept = {sample.key.doc: sample for sample in creval.open_run(going_on.folder).samples()}
    assert len(kept["b"].answers) == 2
    assert kept["b"].outcome["turns"][0] == end


@pytest.mark.parametrize(("end", "text"), [("length", "2"), ("content_filter", ""), ("stop", "")])
def test_the_turns_before_a_failed_one_keep_their_scores(make: Make, talker: Talker, end: str, text: str) -> None:
    def said(got: Received) -> Answer:
        failing = got.prompt == "(2) Two?"
        return Answer(text if failing else "1" if "One" in got.prompt else "3", end if failing else "stop")

    talker.says = said
    options = RunOptions(base_url=talker.url)
    done = creval.run([make()], "chat/m", options)
    run = creval.open_run(done.folder)
    assert {score.key.doc: dict(score.scores) for score in run.scores()} == {
        "a": {"exact_match@1": 1.0},
        "b": {"exact_match@1": 1.0, "exact_match@2": 0.0, "exact_match": 0.5},
    }
    assert metrics(done) == {"exact_match": 0.25, "first": 1.0, "second": 0.0, "third": None}
    last = Path("talk.yaml").read_text().replace("fields: [target]}", "fields: [target], turns: last}")
    Path("talk.yaml").write_text(re.sub(r".*from: .*\n", "", last))
    again = creval.run(["./talk.yaml"], "chat/m", options)
    scores = {score.key.doc: dict(score.scores) for score in creval.open_run(again.folder).scores()}
    assert scores == {"a": {}, "b": {"exact_match": 0.0}}


def test_the_turns_before_a_cut_one_are_kept_and_shown(make: Make, talker: Talker) -> None:
    talker.says = lambda got: Answer("well begun", "length" if got.prompt == "(2) Two?" else "stop")
    done = creval.run([make()], "chat/m", RunOptions(base_url=talker.url))
    cut = next(sample for sample in creval.open_run(done.folder).samples() if sample.key.doc == "a")
    assert list(cut.answers) == ["well begun"]
    task = done.results["tasks"][0]
    assert task["counts"]["truncated"] == 1
    shown = CliRunner().invoke(cli, ["sample", str(done.folder), "a"])
    assert shown.exit_code == 0, shown.output
    assert "well begun" in shown.output
    assert "(2) Two?" in shown.output
    page = CliRunner().invoke(cli, ["report", str(done.folder), "--html", "page.html"])
    assert page.exit_code == 0, page.output
    packed = re.findall(r"H4sI[A-Za-z0-9+/]+=*", Path("page.html").read_text())
    reported = "".join(gzip.decompress(base64.b64decode(piece)).decode() for piece in packed)
    assert all(text in reported for text in ("(1) One?", "well begun", "(2) Two?"))


def test_a_failed_call_is_made_again_from_the_first_turn(make: Make, talker: Talker) -> None:
    def said(got: Received) -> Any:
        return HttpError(400, "no") if got.prompt == "(2) Four?" else Answer("3")

    talker.says = said
    done = creval.run([make()], "chat/m", RunOptions(base_url=talker.url))
    assert {sample.key.doc: sample.status.value for sample in creval.open_run(done.folder).samples()} == {
        "a": "scored",
        "b": "errored",
    }
    talker.says = lambda got: Answer("4" if got.prompt == "(2) Four?" else "3")
    again = resume(done.folder)
    made = {sample.key.doc: sample for sample in creval.open_run(again.folder).samples()}
    assert list(made["b"].answers) == ["3", "4"]


def test_an_unread_turn_costs_its_own_score(make: Make, run_task: RunTask) -> None:
    done = run_task(make(extra="parse: {regex: '[0-9]+'}\n"), lambda doc: ["none", doc["target"][1]])
    found = done.metrics("talk")
    assert (found["first"]["value"], found["second"]["value"], found["exact_match"]["value"]) == (0.0, 1.0, 0.0)


def test_saved_conversations_are_scored_again(make: Make, run_task: RunTask) -> None:
    done = run_task(make(), lambda doc: doc["target"])
    scored = CliRunner().invoke(cli, ["score", str(done.folder)])
    assert scored.exit_code == 0, scored.output
    assert metrics(done)["second"] == 1.0


@pytest.mark.parametrize(
    ("docs", "said"),
    [
        ([{"id": "a", "target": ["1"]}], "has no field 'turns' with its questions; it has id, target"),
        ([{"id": "a", "turns": "One?", "target": ["1"]}], "its 'turns' is not a list of questions"),
        ([{"id": "a", "turns": ["One?", " "], "target": ["1", "2"]}], "which is not a question"),
        ([{"id": "a", "turns": ["One?"], "target": "1"}], "its 'target' is not a list with an item for each turn"),
    ],
)
def test_a_doc_that_does_not_fit_is_refused_before_the_first_call(
    make: Make, run_task: RunTask, docs: Any, said: str
) -> None:
    with pytest.raises(creval.CrevalError, match=said.replace("(", r"\(")):
        run_task(make(docs=docs), "anything")


def test_mistakes_in_the_file_are_named(make: Make) -> None:
    task = make(PROMPTS.replace("[open, close]", "[open, clsoe]"))
    found = CliRunner().invoke(cli, ["validate", task])
    assert "the protocol turns needs the prompt 'clsoe', which is missing" in found.output
    assert "Did you mean 'close'?" in found.output
    task = make(FIELD.replace("protocol: turns", "protocol: {turns: {feild: turns}}"))
    found = CliRunner().invoke(cli, ["validate", task])
    assert "Did you mean 'field'?" in found.output
    task = make(extra="").replace("./", "")
    text = Path(task).read_text().replace("{score: exact_match, fields: [target]}", "{score: exact_mach}")
    Path(task).write_text(text)
    found = CliRunner().invoke(cli, ["validate", f"./{task}"])
    assert "exact_mach" in found.output
    assert "Did you mean 'exact_match'?" in found.output


def test_a_scorer_of_whole_docs_is_refused_within(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREVAL_PLUGINS", "turns,diversity,testing")
    make()
    text = Path("talk.yaml").read_text().replace("{score: exact_match, fields: [target]}", "distinct")
    text = text.replace("exact_match", "distinct")
    Path("talk.yaml").write_text(text)
    found = CliRunner().invoke(cli, ["validate", "./talk.yaml"])
    assert "so it cannot score one turn" in found.output


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=6))
def test_each_question_is_one_call(questions: list[str]) -> None:
    assert Turns().expected_calls({"turns": questions}) == (1, len(questions))
    assert Turns().doc_fault({"turns": questions}) is None


def test_a_run_that_was_stopped_is_resumed(make: Make, talker: Talker) -> None:
    talker.says = lambda got: Answer("3")
    task, options = make(), RunOptions(base_url=talker.url, concurrency=1, max_calls=3)
    folder = creval.run([task], "chat/m", options).folder
    assert len([*creval.open_run(folder).samples()]) == 1
    resume(folder, max_calls=100)
    assert [len(sample.answers) for sample in creval.open_run(folder).samples()] == [2, 2]


def test_docs_that_may_not_be_stored_are_scored_all_the_same(make: Make, run_task: RunTask) -> None:
    task = make(extra="store: reference\n")
    done = run_task(task, lambda doc: doc["target"])
    assert "One?" not in (Path(done.folder) / "samples" / "talk.jsonl").read_text()
    found = {sample.key.doc: sample.status.value for sample in creval.open_run(done.folder).samples()}
    assert found == {"a": "scored", "b": "scored"}


def test_a_dry_run_counts_the_turns(make: Make) -> None:
    shown = CliRunner().invoke(cli, ["--tasks", make(), "--model", "baseline/floor", "--dry-run"])
    assert shown.exit_code == 0, shown.output
    assert "2 to 4" in shown.output
    assert Turns(prompts=["a", "b"]).expected_calls({}) == (1, 2)


def test_rules_of_each_turn(make: Make, run_task: RunTask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREVAL_PLUGINS", "turns,text,testing")
    docs = [{"id": "a", "turns": ["In lower case?", "Two words?"], "target": [[{"case": "lower"}], [{"words": 2}]]}]
    task = make(docs=docs)
    scorer = "each_turn: {score: {rules: target}, fields: [target]}"
    text = Path("talk.yaml").read_text().replace("each_turn: {score: exact_match, fields: [target]}", scorer)
    Path("talk.yaml").write_text(text.replace("exact_match", "rules"))
    found = metrics(run_task(task, lambda doc: ["fine", "one"]))
    assert (found["first"], found["second"], found["rules"]) == (1.0, 0.0, 0.5)


def test_examples_and_instructions_are_sent_once(make: Make, run_task: RunTask) -> None:
    extra = "few_shot: {n: 1, answer: '{{ target[0] }}'}\n"
    protocol = FIELD.replace('"({{ turn }}) {{ question }}"', "\"{{ question | default('Example') }}\"")
    done = run_task(make(protocol, extra=extra), lambda doc: doc["target"])
    sample = next(creval.open_run(done.folder).samples())
    assert [len(call.messages) for call in sample.calls] == [4, 2]
    assert [message["role"] for message in sample.calls[1].messages] == ["assistant", "user"]


@pytest.mark.parametrize("form", ["turns", "text"])
def test_examples_show_their_first_question_once(make: Make, run_task: RunTask, form: str) -> None:
    extra = f"few_shot: {{n: 1, as: {form}, header: Solved.,answer: ' {{{{ target[0] }}}}'}}\n"
    done = run_task(make(extra=extra), lambda doc: doc["target"])
    assert done.results["tasks"][0]["counts"]["errored"] == 0
    calls = next(creval.open_run(done.folder).samples()).calls
    first, second = ("\n".join(str(each["content"]) for each in call.messages) for call in calls)
    assert "Solved.\n\n(1) Three?" in first
    assert "Three?" not in second and "Solved." not in second


def test_scores_by_turn_take_names_and_readings(make: Make, run_task: RunTask) -> None:
    make(extra="readings: {digits: {regex: '[0-9]+'}, whole: text}\n")
    text = Path("talk.yaml").read_text()
    text = text[: text.index("score:")] + text[text.index("baselines:") :]
    scorer = "{each_turn: {score: exact_match, fields: [target], reading: digits, as: found}}"
    metric = "{name: second, from: found_exact_match@2, failed: zero}"
    Path("talk.yaml").write_text(f"{text}score: [{scorer}]\nmetrics: [{metric}]\n")
    assert metrics(run_task("./talk.yaml", lambda doc: ["?", f"It is {doc['target'][1]}."])) == {"second": 1.0}
