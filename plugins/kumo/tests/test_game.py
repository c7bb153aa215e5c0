"""A whole game over the network: a real chat-completions server plays, the engine scores."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer, HttpError, Received

from creval import RunOptions, run
from creval_kumo.games.instance import Instance
from creval_kumo.search.golden import golden_of, golden_run
from creval_kumo.search.limits import Limits
from creval_kumo.task.answer import read_name
from creval_kumo.task.datasets import KumoDocs

TASK = """
include: kumo_easy
task: one_game
dataset: {generator: {kumo: {domains: medical, count: 1}}}
"""
GAME = next(iter(KumoDocs("medical", count=1, seed=1).docs())).fields
VALID = GAME["valid_truths"][0]
WRONG = next(truth for truth in GAME["truths"] if truth != VALID)
FIRST, SECOND = GAME["actions"][:2]
GOLDEN = golden_run(GAME)


def tag(name: str) -> str:
    return f"I think so.\n<ANSWER> {name} </ANSWER>"


def play(
    tmp_path: Path, script: Callable[[Received], Any] | Sequence[Any]
) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """Play one game once; return (its score, its sample, the server)."""
    task = tmp_path / "one_game.yaml"
    task.write_text(TASK)
    with ChatServer(script) as server:
        options = RunOptions(
            base_url=server.url, output=tmp_path / "run", repeats=1, max_retries=0, allowed_error_share=1.0
        )
        result = run([str(task)], "openai/test", options)
    lines = [(result.folder / folder / "one_game.jsonl").read_text() for folder in ("scores", "samples")]
    score, sample = (json.loads(line) for line in lines)
    return score, sample, server


def replies(*names: str) -> list[Answer]:
    return [Answer(tag(name)) for name in names]


def test_a_golden_game(tmp_path: Path) -> None:
    score, sample, server = play(tmp_path, replies(*GOLDEN.tests, VALID))
    assert score["status"] == "scored"
    n = len(GOLDEN.tests)
    assert score["scores"] == {
        "success_rate": 1,
        "tests": n,
        "paper_compat": n + 2,
        "relative_action_count": 0,
        "parse_error_rate": 0,
    }
    assert sample["outcome"]["tests"] == list(GOLDEN.tests)
    check_prompts(server.requests)


def check_prompts(requests: list[Received]) -> None:
    """The first message holds lists and book; each turn shows what was observed; old instructions are dropped."""
    first, last = requests[0].body["messages"], requests[-1].body["messages"]
    assert [message["role"] for message in first] == ["system", "user"]
    assert json.dumps(GAME["truths"]) in first[0]["content"] and GAME["book"].strip() in first[0]["content"]
    assert first[1]["content"].startswith("In this round, choose an `action_name`")
    assert [message["role"] for message in last] == ["system", "user", *["assistant", "user"] * (len(requests) - 1)]
    assert last[1]["content"] == "Begin the game."
    for message, test in zip(last[3::2], GOLDEN.tests, strict=True):
        shown = json.dumps({"action": test, "observation": GAME["observations"][test]})
        assert message["content"].startswith(f"Result of your previous action: {shown}")
    assert "In this round" in last[-1]["content"]
    assert all("In this round" not in message["content"] for message in last[:-1])


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([VALID], {"success_rate": 1, "tests": 0, "paper_compat": 2}),
        ([WRONG], {"success_rate": 0, "tests": 0, "paper_compat": 7}),
        ([FIRST, FIRST, FIRST, VALID], {"success_rate": 1, "tests": 3, "paper_compat": 5}),
        ([FIRST, SECOND, WRONG], {"success_rate": 0, "tests": 2, "paper_compat": 7}),
    ],
)
def test_counts(tmp_path: Path, names: list[str], expected: dict[str, float]) -> None:
    score, _, _ = play(tmp_path, replies(*names))
    golden = GOLDEN.compat_length
    relative = (expected["paper_compat"] - golden) / golden
    assert score["scores"] == {**expected, "relative_action_count": relative, "parse_error_rate": 0}


@pytest.mark.parametrize(
    "answer",
    [
        tag(VALID.upper()),
        tag(VALID.lower()),
        tag(f"{FIRST}, {VALID}"),
        tag("Nothing Of The Kind"),
        tag("${truth_name}"),
        f"I am done: {VALID}",
        "<ANSWER>  </ANSWER>",
    ],
)
def test_what_is_neither_action_nor_truth_ends_the_game_as_a_failure(tmp_path: Path, answer: str) -> None:
    score, sample, _ = play(tmp_path, [Answer(tag(FIRST)), Answer(answer), *replies(VALID)])
    assert score["status"] == "unparsed" and score["reason"]
    assert (sample["outcome"]["end"], sample["outcome"]["last_answer"]) == ("unparsed", answer)
    failed = {"success_rate": 0, "tests": 1, "paper_compat": 7, "parse_error_rate": 1}
    assert {name: score["scores"][name] for name in failed} == failed
    assert len(sample["calls"]) == 2


def test_the_last_of_several_tags_counts(tmp_path: Path) -> None:
    score, _, _ = play(tmp_path, [Answer(f"{tag(WRONG)} No. {tag('${' + VALID + '}')}")])
    assert score["scores"]["success_rate"] == 1


def test_fifty_turns_and_no_more(tmp_path: Path) -> None:
    score, sample, server = play(tmp_path, lambda request: Answer(tag(FIRST)))
    assert len(server.requests) == 50
    assert score["status"] == "scored"
    assert sample["outcome"]["end"] == "out of turns"
    ended = {"success_rate": 0, "tests": 50, "paper_compat": 7, "parse_error_rate": 0}
    assert {name: score["scores"][name] for name in ended} == ended


def test_a_prediction_in_the_fiftieth_turn_counts(tmp_path: Path) -> None:
    score, _, _ = play(tmp_path, replies(*[FIRST] * 49, VALID))
    assert (score["scores"]["success_rate"], score["scores"]["tests"]) == (1, 49)


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (Answer("I will think about it until", finish_reason="length"), "truncated"),
        (Answer("", refusal="I cannot help with that."), "refused"),
        (Answer("", finish_reason="content_filter"), "refused"),
    ],
)
def test_cut_and_declined_games_are_failures(tmp_path: Path, reply: Answer, status: str) -> None:
    score, _, _ = play(tmp_path, [Answer(tag(FIRST)), reply])
    assert score["status"] == status
    failed = {"success_rate": 0, "tests": 1, "paper_compat": 7, "parse_error_rate": 1}
    assert {name: score["scores"][name] for name in failed} == failed


def test_a_game_that_the_provider_broke_has_no_score(tmp_path: Path) -> None:
    score, _, _ = play(tmp_path, [Answer(tag(FIRST)), HttpError(500, {"message": "oops"})])
    assert score["status"] == "errored"
    assert score["scores"] == {}


def test_the_metrics_count_failures_but_not_errors(tmp_path: Path) -> None:
    """Five tries: right, wrong, unparsed, cut, errored. Four count."""
    ends = [
        Answer(tag(VALID)),
        Answer(tag(WRONG)),
        Answer("no tag"),
        Answer("cut", finish_reason="length"),
        HttpError(500, {"message": "oops"}),
    ]
    task = tmp_path / "one_game.yaml"
    task.write_text(TASK)
    with ChatServer(ends) as server:
        options = RunOptions(
            base_url=server.url,
            output=tmp_path / "run",
            repeats=5,
            max_retries=0,
            concurrency=1,
            allowed_error_share=1.0,
        )
        metrics = run([str(task)], "openai/test", options).metrics("one_game")
    values = {name: metric["value"] for name, metric in metrics.items()}
    golden = GOLDEN.compat_length
    assert values == pytest.approx(
        {
            "success_rate": 1 / 4,
            "tests": 0,
            "paper_compat": (2 + 7 * 3) / 4,
            "relative_action_count": ((2 - golden) / golden + 3 * (7 - golden) / golden) / 4,
            "parse_error_rate": 2 / 4,
        }
    )


def reasoning_player(request: Received) -> Answer:
    """Plays from the prompts alone: reads the book and the results as a model would, tests in order, then predicts."""
    messages = request.body["messages"]
    system = messages[0]["content"]
    truths = json.loads(re.search(r"^Possible .*?: (\[.*\])$", system, re.MULTILINE)[1])  # type: ignore[index]
    actions = json.loads(re.search(r"^Available .*?: (\[.*\])$", system, re.MULTILINE)[1])  # type: ignore[index]
    left = list(truths)
    seen = [json.loads(m[1]) for one in messages[2:] if (m := re.search(r"action: (\{.*?\})$", one["content"], re.M))]
    for result in seen:
        section = system.split(f"### {result['action']}\n")[1].split("\n###")[0]
        for line in re.findall(r"^- If the result is (.*)$", section, re.MULTILINE):
            shown, effect = line.rsplit(": ", 1)
            limits = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", shown)[:2]]
            value = result["observation"]
            hit = shown == f'"{value}"' if isinstance(value, str) else limits[0] <= value <= limits[1]
            if hit and effect.startswith("rule out"):
                left = [truth for truth in left if truth not in effect]
    taken = [result["action"] for result in seen]
    return Answer(tag(left[0] if len(left) == 1 else next(a for a in actions if a not in taken)))


def test_the_prompts_alone_tell_all_that_is_needed(tmp_path: Path) -> None:
    with ChatServer(reasoning_player) as server:
        options = RunOptions(base_url=server.url, output=tmp_path / "run", repeats=1, limit="first:5")
        result = run(["kumo_easy_chemical", "kumo_hard_chemical"], "openai/test", options)
    for task in ("kumo_easy_chemical", "kumo_hard_chemical"):
        assert result.metrics(task)["success_rate"]["value"] == 1


def test_a_game_whose_optimum_is_not_proven_keeps_its_other_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def limited(doc: dict[str, Any]) -> Any:
        return golden_of(Instance.from_doc(doc), Limits(nodes=1), engine="python")

    monkeypatch.setattr("creval_kumo.task.scoring.golden_run", limited)
    score, _, _ = play(tmp_path, replies(FIRST, VALID))
    assert score["scores"] == {"success_rate": 1, "tests": 1, "paper_compat": 3, "parse_error_rate": 0}
    assert "not proven" in json.dumps(score)


@pytest.mark.parametrize(
    "change", [{"valid_truths": [WRONG]}, {"valid_truths": []}, {"valid_truths": VALID}, {"outcomes": []}]
)
def test_an_unsound_game_of_a_file_is_refused_before_the_model_is_asked(tmp_path: Path, change: dict[str, Any]) -> None:
    file = tmp_path / "unsound.jsonl"
    file.write_text(json.dumps({**GAME, **change}) + "\n")
    with ChatServer([]) as server:
        options = RunOptions(base_url=server.url, repeats=1, data={"kumo": file}, output=tmp_path / "unsound")
        result = run(["kumo"], "openai/x", options)
        assert server.requests == []
    (task,) = result.results["tasks"]
    assert task["counts"]["errored"] == 1 and "valid-truth-not-singled-out" in task["first_errors"][0]["reason"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("<ANSWER>Fe\u200bver</ANSWER>", "Fever"),
        ("<ANS\u200bWER>\ufeffFever\u2028</ANSWER>", "Fever"),
        ("<ANSWER>${Fever\ufeff}</ANSWER>", "Fever"),
        ("<ANSWER>\u200b</ANSWER>", None),
    ],
)
def test_characters_that_nobody_sees_are_no_part_of_a_name(text: str, name: str | None) -> None:
    assert read_name(text) == name
