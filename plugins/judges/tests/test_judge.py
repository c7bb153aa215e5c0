"""The scorer `judge`, and the agreement of two raters."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.chat_server import Answer, ChatServer, Received
from support.parrot import parrot

import creval
from creval.errors import TaskError
from creval_agreement.two_raters import agreement, kappa

TASK = """\
schema: 1
task: judged
version: 1.0.0
title: Judged
dataset: {{source: file, file: judged.jsonl, id: id}}
prompt: [{{role: user, content: "Say {{{{ word }}}}"}}]
roles:
  judge:
    prompts:
      rate: [{{role: user, content: "Rate {prompt}"}}]
score: {{judge: {{prompt: rate, {parameters}}}}}
metrics: [{{name: {name}, failed: exclude}}]
"""
JUDGE = {"judge": "hosted_vllm/judge"}
MODEL = "hosted_vllm/parrot"


def write(folder: Path, parameters: str, prompt: str = "{{ answer }}", name: str = "judge", docs: int = 4) -> str:
    rows = "".join(json.dumps({"id": f"d{i}", "word": f"w{i}", "rival": f"r{i}"}) + "\n" for i in range(docs))
    (folder / "judged.jsonl").write_text(rows)
    (folder / "judged.yaml").write_text(TASK.format(parameters=parameters, prompt=prompt, name=name))
    return str(folder / "judged.yaml")


@pytest.fixture
def judged(monkeypatch, tmp_path, options):
    """Run a judged task; the judge says what `verdict` makes of its question and how often it was asked before."""

    def run(task: str, verdict, **given):
        def script(request: Received) -> Answer:
            said = parrot(request) if request.prompt.startswith("Say") else verdict(request.prompt[5:], request.seen)
            return said if isinstance(said, Answer) else Answer(said)

        with ChatServer(script) as server:
            monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
            result = creval.run([task], MODEL, options(roles=JUDGE, **given))
            asked = Counter(r.prompt for r in server.requests if not r.prompt.startswith("Say"))
            return result, asked

    return run


def scores(result, name: str = "judge") -> dict[str, float | None]:
    lines = (result.folder / "scores" / "judged.jsonl").read_text().splitlines()
    return {line["doc_id"]: line["scores"].get(name) for line in map(json.loads, lines)}


def test_a_number_on_the_scale(judged, tmp_path):
    result, asked = judged(write(tmp_path, "scale: [1, 5]"), lambda text, seen: f"I think {int(text[1]) + 1}")
    assert scores(result) == {"d0": 1, "d1": 2, "d2": 3, "d3": 4}
    assert set(asked.values()) == {1}


LACKING = [
    Answer("On a scale of 1 to 5", finish_reason="length"),
    Answer("4, but I will not say it", finish_reason="content_filter"),
    Answer("", refusal="I do not judge the 4 of others."),
]


@pytest.mark.parametrize("bad", ["no idea", "9", "-3", "1e999", *LACKING])
def test_an_unreadable_verdict_is_asked_once_more_and_then_errored(judged, tmp_path, bad):
    def verdict(text: str, seen: int) -> str | Answer:
        return bad if text == "w1" or (text == "w2" and seen == 0) else "3"

    result, asked = judged(write(tmp_path, "scale: [1, 5]"), verdict)
    assert scores(result) == {"d0": 3, "d1": None, "d2": 3, "d3": 3}
    assert asked == {"Rate w0": 1, "Rate w1": 2, "Rate w2": 2, "Rate w3": 1}
    metric = result.metrics("judged")["judge"]
    assert (metric["n"], metric["value"], metric["counts"]["errored"]) == (3, 3.0, 1)


def test_all_answers_to_a_doc_are_judged_at_once(judged, tmp_path):
    """Three samples of each doc, one question of it; resuming and a fourth sample ask about the new set alone."""
    listed = "{{ answers | join(' + ') }} ({{ texts | length }})"
    task = write(tmp_path, "scale: [1, 9], over: doc", listed, docs=2)
    Path(task).write_text(Path(task).read_text() + "parse: text\nrepeats: 3\n")

    def verdict(text: str, seen: int) -> str:
        assert text.count(" + ") == 2 and text.endswith("(3)")
        return "Rating: 7" if "w1" in text else "Rating: 4"

    result, asked = judged(task, verdict)
    rows = [json.loads(line) for line in (result.folder / "scores" / "judged.jsonl").read_text().splitlines()]
    assert {(row["doc_id"], row["scores"]["judge"]) for row in rows} == {("d0", 4.0), ("d1", 7.0)} and len(rows) == 6
    assert sum(asked.values()) == 2
    metric = result.metrics("judged")["judge"]
    assert (metric["value"], metric["n"], metric["clusters"]) == (5.5, 6, 2)


@pytest.mark.parametrize("more", ["against: rival, labels: {first: 1, second: 0}", "reduce: best, scale: [1, 5]"])
def test_a_set_is_no_pair_and_has_no_best_answer(judged, tmp_path, more):
    with pytest.raises(TaskError, match="over: doc cannot have"):
        judged(write(tmp_path, f"over: doc, {more}"), lambda text, seen: "1")


def test_labels_and_parsers(judged, tmp_path):
    task = write(tmp_path, "labels: {good: 1, bad: 0}, parse: [{tagged: verdict}]")
    result, _ = judged(task, lambda text, seen: f"So: <verdict>{'Good' if text == 'w2' else 'bad'}.</verdict>")
    assert scores(result) == {"d0": 0, "d1": 0, "d2": 1, "d3": 0}


def test_a_judge_s_words_may_be_loud(judged, tmp_path):
    result, asked = judged(write(tmp_path, "labels: {yes: 1, no: 0}", docs=2), lambda text, seen: "YES!")
    assert (scores(result), set(asked.values())) == ({"d0": 1, "d1": 1}, {1})


PARSED = [
    ("parse: {tagged: verdict}", "<verdict>4/5</verdict>"),
    ("parse: last_number", "I give it 4 out of 5"),
    ("parse: [last_number]", "4/5"),
    (r"parse: {regex: {pattern: '\[\[(\d)\]\]', choose: last}}", "It quotes [[2]], so [[4]]"),
    ("parse: {json_object: score}", '{"score": "4/5"}'),
]


@pytest.mark.parametrize(("parse", "said"), PARSED)
def test_the_parsers_of_a_verdict_in_any_form(judged, tmp_path, parse, said):
    result, asked = judged(write(tmp_path, f"scale: [1, 5], {parse}", docs=1), lambda text, seen: said)
    assert (scores(result), set(asked.values())) == ({"d0": 4}, {1})


QUOTING = [
    (r"parse: {regex: '\[\[(\d)\]\]'}", "It says [[2]]. Verdict: [[4]]"),
    ("parse: {tagged: verdict}", "<verdict>2</verdict> is quoted; <verdict>4</verdict>"),
    ("parse: {json_object: score}", '{"score": 2} or {"score": 4}'),
    ("parse: {json_object: score}", '{"score": true}'),
    ("parse: last_number", "3 out of 4"),
]


@pytest.mark.parametrize(("parse", "said"), QUOTING)
def test_a_verdict_that_may_be_a_quotation_is_asked_again(judged, tmp_path, parse, said):
    result, asked = judged(write(tmp_path, f"scale: [1, 5], {parse}", docs=2), lambda text, seen: said)
    assert scores(result) == {"d0": None, "d1": None}
    assert asked == {"Rate w0": 2, "Rate w1": 2}


def test_the_prompt_of_a_judge_may_be_one_of_the_task(judged, tmp_path):
    task = Path(write(tmp_path, "scale: [1, 5]", docs=1))
    text = task.read_text()
    start, end = text.index("roles:"), text.index("score:")
    prompts = text[start:end].replace("roles:\n  judge:\n    prompts:\n      rate", "roles: [judge]\nprompts:\n  rate")
    task.write_text(text[:start] + prompts + text[end:])
    result, _ = judged(str(task), lambda text, seen: "4/5")
    assert scores(result) == {"d0": 4}


def test_repeated_verdicts_are_independent_and_count_by_their_mean(judged, tmp_path):
    result, asked = judged(write(tmp_path, "scale: [1, 5], repeat: 3", docs=2), lambda text, seen: str(seen + 1))
    assert scores(result) == {"d0": 2, "d1": 2}
    assert set(asked.values()) == {3}


def test_a_pair_in_both_orders(judged, tmp_path):
    """The judge prefers the first text of w0, and w1 whichever way round; r2 always wins."""

    def verdict(text: str, seen: int) -> str:
        first = text.split(maxsplit=1)[0]
        return "first" if first in ("w0", "r0", "w1", "r2") else "second" if "3" not in first else "tie"

    task = write(tmp_path, "against: rival, both_orders: true, name: wins", "{{ first }} or {{ second }}", "wins")
    result, asked = judged(task, verdict)
    assert scores(result, "wins") == {"d0": 0.5, "d1": 1.0, "d2": 0.0, "d3": 0.5}
    assert scores(result, "wins_agrees") == {"d0": 0.0, "d1": 1.0, "d2": 1.0, "d3": 1.0}
    assert len(asked) == 8


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ("name: judge", "either a scale or labels"),
        ("scale: [1, 5], labels: {a: 1, b: 0}", "either a scale or labels"),
        ("scale: [5, 1]", "is not a scale"),
        ("scale: [1, 5], both_orders: true", "needs a pair"),
        ("against: rival, scale: [1, 5]", "by labels"),
        ("scale: [1, 5], parse: [nothing]", "unknown parser"),
        ("against: rivl", "no field 'rivl'"),
        ("scale: [1, 5], name: wins", "returns 'judge'. The scorers return: wins"),
    ],
)
def test_what_cannot_be_is_refused_before_the_first_call(tmp_path, options, parameters, match):
    with pytest.raises(TaskError, match=match):
        creval.run([write(tmp_path, parameters)], "baseline/floor", options(roles=JUDGE))


def test_of_two_judges_one_that_fails_takes_nothing_from_the_other(judged, tmp_path):
    task = Path(write(tmp_path, "scale: [1, 5], name: fair", name="fair"))
    text = task.read_text().replace("score: ", "score: [").replace("fair}}", "fair}}, {judge: PARAMETERS}]")
    text = text.replace("PARAMETERS", "{prompt: rate, scale: [1, 5], name: other, parse: {regex: 'no (.)'}}")
    task.write_text(text.replace("failed: exclude}]", "failed: exclude}, {name: other, failed: exclude}]"))
    result, _ = judged(str(task), lambda text, seen: "4")
    counts = {name: metric["counts"] for name, metric in result.metrics("judged").items()}
    assert (counts["fair"]["scored"], counts["fair"]["errored"]) == (4, 0)
    assert (counts["other"]["scored"], counts["other"]["errored"]) == (0, 4)


# --- agreement --------------------------------------------------------------------------------------


def test_agreement_by_hand():
    """Cohen's own kind of table: 20 and 15 agreed of 50, 5 and 10 not; kappa = (.7 - .5) / (1 - .5) = .4."""
    people = [1.0] * 25 + [0.0] * 25
    judge = [1.0] * 20 + [0.0] * 5 + [1.0] * 10 + [0.0] * 15
    found = agreement(people, judge)
    assert (found.n, found.accuracy) == (50, 0.7)
    assert found.balanced_accuracy == pytest.approx((0.8 + 0.6) / 2)
    assert found.kappa == pytest.approx(0.4)
    assert found.pearson == pytest.approx(0.408248, abs=1e-6)
    assert agreement([1, 1, 1], [1, 1, 1])[1:] == (1.0, 1.0, None, None, None)


@given(st.lists(st.tuples(st.sampled_from([1.0, 2.0, 3.0]), st.sampled_from([1.0, 2.0, 3.0])), min_size=2))
def test_kappa_is_bounded_symmetric_and_equals_the_library_s(pairs):
    people, judge = (list(column) for column in zip(*pairs, strict=True))
    found = kappa(people, judge)
    assert found == pytest.approx(kappa(judge, people)) if found is not None else kappa(judge, people) is None
    if found is not None:
        assert -1 <= found <= 1
        metrics = pytest.importorskip("sklearn.metrics")
        assert found == pytest.approx(metrics.cohen_kappa_score(people, judge))
