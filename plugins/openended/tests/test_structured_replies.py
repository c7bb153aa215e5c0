"""Replies of the jury as JSON under a schema: by a scripted judge in every branch, and whole by a real small model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from judged_support import CRITERIA, Asked, JudgeWorld, score_one

import creval
from creval.plugin import Status, open_run
from creval_openended.cli.discussion import discussion
from creval_openended.judging.jury import Jury
from creval_openended.judging.replies import ANALYSTS, Analyst, UnreadableReplyError
from creval_openended.judging.reply_forms import forms_of

USUAL: dict[str, Any] = {
    "start": {"points": ["Rope.", "Bucket."]},
    "turn": {"answers": "", "opinion": "It holds.", "queries": []},
    "confidence": {"explanation": "All agree.", "score": 0.8, "stance": "YES"},
    "verdict": {"verdict": "YES", "explanation": "It holds."},
}


def said_by(**changed: Any) -> Any:
    """A judge that keeps the schema, but for the kinds of questions that are named."""

    def script(asked: Asked) -> str:
        reported = {**USUAL, **changed}[asked.kind]
        found = reported(asked) if callable(reported) else reported
        return found if isinstance(found, str) else json.dumps(found)

    return script


def structured(**settings: Any) -> Jury:
    return Jury(CRITERIA, replies="structured", **settings)


def test_each_question_carries_its_schema_and_a_note_and_the_calls_are_those_of_the_paper() -> None:
    world = JudgeWorld(said_by())
    found = score_one(structured(), world)
    assert len(world.asked) == 26 and found.scores["overall"] == 1 and found.missing == {}
    for asked in world.asked:
        form = asked.settings["response_format"]
        fields = form["json_schema"]["schema"]["properties"]
        assert form["type"] == "json_schema" and asked.text.rpartition("\n\n")[2].startswith("Reply with one JSON")
        assert all(f'"{name}"' in asked.text.rpartition("\n\n")[2] for name in fields)
    (turn, *_) = world.of("turn")
    to = turn.settings["response_format"]["json_schema"]["schema"]["properties"]["queries"]["items"]["properties"]["to"]
    assert turn.by == "problem" and to["enum"] == ["solution", "criterion"]


def test_written_replies_are_the_default_and_send_nothing() -> None:
    world = JudgeWorld(
        said_by(start="[[POINT]] Rope.", turn="[[Opinion]]: Yes.", confidence="[[1]]", verdict="[[YES]]")
    )
    assert score_one(Jury(CRITERIA), world).scores["overall"] == 1
    assert all("response_format" not in asked.settings and "JSON" not in asked.text for asked in world.asked)


def test_questions_reach_the_one_they_name_and_answers_become_fragments() -> None:
    def turn(asked: Asked) -> dict[str, Any]:
        to = {"solution": "criterion", "problem": "solution"}.get(asked.by)
        queries = [{"to": to, "question": f"What says {to}?"}] if to else []
        return {"answers": f"Answer of {asked.by}.", "opinion": f"Opinion of {asked.by}.", "queries": queries}

    world = JudgeWorld(said_by(turn=turn))
    found = score_one(structured(), world)
    first = dict(found.details or {})["jury"]["criteria"]["feasibility"]
    texts = [fragment["text"] for fragment in first["fragments"]]
    assert "Answer of criterion." in texts and "Answer of problem." not in texts  # nobody had asked the problem analyst
    assert any("Question from the solution analyst: What says criterion?" in asked.text for asked in world.of("turn"))
    assert first["turns"][1]["text"].endswith("Opinion of problem.\nTo solution analyst: What says solution?")


@pytest.mark.parametrize(
    ("kind", "reply", "reason"),
    [
        ("turn", "[[Opinion]]: It holds.", "not JSON"),
        ("turn", {"answers": "", "opinion": " ", "queries": []}, "opinion is empty"),
        ("turn", {"answers": "", "opinion": "Yes.", "queries": ["Why?"]}, "queries is not a list"),
        ("turn", {"opinion": "Yes.", "queries": []}, "no field 'answers'"),
        ("confidence", {"score": 7, "stance": "YES"}, "not between 0 and 1"),
        ("confidence", {"score": "high", "stance": "YES"}, "not a number"),
        ("confidence", "[0.5]", "no field 'score'"),
        ("verdict", {"verdict": "PERHAPS"}, "not one of YES and NO"),
        ("verdict", '{"verdict": "YE', "not JSON"),
    ],
)
def test_what_keeps_no_schema_costs_its_criterion_alone(kind: str, reply: Any, reason: str) -> None:
    usual = said_by()

    def bad(asked: Asked) -> str:
        if asked.kind == kind and asked.about == "safety":
            return reply if isinstance(reply, str) else json.dumps(reply)
        return str(usual(asked))

    found = score_one(structured(), JudgeWorld(bad))
    assert set(found.missing) == {"safety", "overall"} and found.missing["safety"].status is Status.ERRORED
    assert reason in found.missing["safety"].reason and found.scores["feasibility"] == 1


TEXT = st.text(min_size=1, max_size=30).filter(str.strip)
QUERY = st.fixed_dictionaries({"to": st.sampled_from([*ANALYSTS, "plumber"]), "question": TEXT})


@given(TEXT, st.lists(QUERY, max_size=4), st.sampled_from(ANALYSTS))
def test_a_turn_comes_back(opinion: str, queries: list[dict[str, str]], speaker: Analyst) -> None:
    text = json.dumps({"answers": "", "opinion": opinion, "queries": queries})
    form = forms_of("structured", 150).turn(speaker)
    turn = form.read(text)
    assert turn.opinion == opinion.strip() and opinion.strip() in form.display(text)
    kept = [query for query in queries if query["to"] not in (speaker, "plumber")]
    assert sum(map(len, turn.questions.values())) == len(kept)
    assert len(turn.unaddressed) == len(queries) - len(kept)


@given(st.text(alphabet='{}[]":,0123456789.YESNOpointsverdictscore ', max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    forms = forms_of("structured", 20)
    for form in (forms.points, forms.turn("problem"), forms.confidence, forms.verdict):
        try:
            form.read(text)  # type: ignore[attr-defined]
        except UnreadableReplyError as error:
            assert str(error)


SMALL = """\
schema: 1
include: openended/jury
task: small
version: 1.0.0
roles:
  judge:
    prompts:
      start_problem: &start
        - {role: user, content: "Solution: {{ solution }} Problem: {{ problem }} {{ criteria }} Say what matters."}
      start_solution: *start
      start_criterion:
        - {role: user, content: "Solution: {{ solution }} Problem: {{ problem }} What does {{ criterion }} demand?"}
      turn:
        - {role: user, content: "Solution: {{ solution }} {{ discussion }} {{ analyst }}, is it {{ criterion }}?"}
      confidence:
        - {role: user, content: "Solution: {{ solution }} {{ discussion }} How sure are you on {{ criterion }}?"}
      verdict:
        - {role: user, content: "Solution: {{ solution }} {{ discussion }} Your verdict on {{ criterion }}?"}
score:
  - openended.jury:
      replies: structured
      words: 8
      k: 1
      j: 1
      l: 1
      rounds: 1
      criteria: [{name: feasibility, definition: It can be done.}]
metrics: [{name: feasibility, failed: exclude, binary: true}]
tests: null
"""


def test_a_small_model_discusses_a_solution_to_its_verdict(small_model: str, tmp_path: Path) -> None:
    """SmolLM2 keeps no written format. Here it does, from the first point to the verdict; what it says is poor.

    What the questions share is at their beginning, so that llama.cpp reads it once.
    """
    pair = {"id": "p1", "problem": "Get a bucket out of a well. You have rope.", "solution": "Step 1: Lower a loop."}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair) + "\n", "utf-8")
    (tmp_path / "small.yaml").write_text(SMALL, "utf-8")
    options = creval.RunOptions(
        output=tmp_path / "run",
        offline=True,
        data={"small": tmp_path / "pairs.jsonl"},
        roles={"judge": small_model},
        resources={"embedding": "embedded/minilm"},
    )
    creval.run([str(tmp_path / "small.yaml")], "given/solution", options)
    (score,) = open_run(tmp_path / "run").scores()
    assert score.missing == {} and score.scores["feasibility"] in (0, 1) and score.scores["judge_calls"] >= 10
    assert 0 <= score.scores["confidence"] <= 1 and score.scores["judge_output_tokens"] > 0
    shown = CliRunner().invoke(discussion, [str(tmp_path / "run")], catch_exceptions=False)
    assert shown.exit_code == 0 and "Round 1, criterion analyst, confidence" in shown.output
