"""`replay/FILE`."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from creval.errors import CrevalError, DataError, FatalModelError, UsageError
from creval.models.budget import Budget
from creval.models.model_options import ModelOptions
from creval.models.open_model import open_model
from creval.types.messages import Completion, GenerateRequest, Reply, TokenLogprob, Usage
from creval.types.reply_json import reply_to_json


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def replayed(registry: Any, path: Path, *requests: GenerateRequest) -> list[Reply]:
    async def go() -> list[Reply]:
        model = open_model(f"replay/{path}", registry, ModelOptions(offline=True, budget=Budget(max_cost=0.0)))
        try:
            return [await model.generate(request) for request in requests]
        finally:
            await model.close()

    return asyncio.run(go())


def test_each_sample_and_call_gets_its_own_answer(registry, ask, tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        {"task": "t", "doc": "a", "condition": "temperature=1.0", "repeat": 1, "answers": ["one", "two"]},
        "",
        {"task": "t", "doc": 7, "answers": ["least"]},
        {"task": "t", "doc": 7, "role": "judge", "answers": ["verdict"]},
    )
    asked = [
        ask(doc="a", condition="temperature=1.0", repeat=1, call=1),
        ask(doc="a", condition="temperature=1.0", repeat=1, call=0),
        ask(doc="7"),
        ask(doc="7", role="judge"),
    ]
    replies = replayed(registry, path, *asked)
    assert [reply.text for reply in replies] == ["two", "one", "least", "verdict"]
    assert replies[0].cost == 0.0


def test_several_completions(registry, ask, tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        {"task": "t", "doc": "plain", "answers": ["a", "b", "c"]},
        {"task": "t", "doc": "lists", "answers": [["a", "b"], "then"]},
    )
    plain, listed, then = replayed(
        registry, path, ask(doc="plain", n=3), ask(doc="lists", n=2), ask(doc="lists", call=1)
    )
    assert [c.text for c in plain.completions] == ["a", "b", "c"]
    assert [c.text for c in listed.completions] == ["a", "b"]
    assert then.text == "then"


FULL = Reply(
    (Completion("cut", "length", "thought", (TokenLogprob("cut", -0.5),)),),
    Usage(3, 2, 1),
    cost=0.5,
    latency=1.0,
    model="m",
)


def test_samples_of_an_earlier_run_are_replayed_call_by_call(registry, ask, tmp_path: Path) -> None:
    key = {"task": "t", "doc_id": "d", "condition": "default", "repeat": 0, "doc": {"question": "?"}}
    calls = [
        {"role": "target", "kept": 0, "messages": [], "reply": reply_to_json(FULL)},
        {"role": "judge", "kept": 0, "messages": [], "reply": reply_to_json(Reply((Completion("verdict"),)))},
        {"role": "target", "kept": 0, "messages": [], "reply": None, "error": "HTTP 500"},
    ]
    line = {**key, "status": "errored", "answers": ["cut"], "calls": calls}
    path = write(tmp_path / "samples.jsonl", line)
    first, judged = replayed(registry, path, ask(doc="d"), ask(doc="d", role="judge"))
    assert first.completions == FULL.completions
    assert (first.usage, first.model, judged.text) == (FULL.usage, "m", "verdict")
    with pytest.raises(FatalModelError, match="HTTP 500"):
        replayed(registry, path, ask(doc="d", call=1))


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"doc": "other"}, "doc 'other'.*no line"),
        ({"doc": "a", "repeat": 1}, "repeat 1"),
        ({"doc": "a", "condition": "temperature=2"}, "temperature=2"),
        ({"doc": "a", "role": "judge"}, "role 'judge'"),
        ({"doc": "a", "call": 1}, "1 answer, and this is call 2"),
        ({"doc": "a", "n": 2}, "1 completions instead of 2"),
    ],
)
def test_a_missing_answer_names_the_sample(registry, ask, tmp_path: Path, request_: dict[str, Any], words: str) -> None:
    path = write(tmp_path / "a.jsonl", {"task": "t", "doc": "a", "answers": ["x"]})
    with pytest.raises(FatalModelError, match=words) as caught:
        replayed(registry, path, ask(**request_))
    assert "task 't'" in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{broken", "a.jsonl:2"),
        ("[1, 2]", "a.jsonl:2"),
        ('{"doc": "a", "answers": []}', "task"),
        ('{"task": "t", "doc": "a", "answers": "text"}', "is not a list"),
        ('{"task": "t", "doc": "a"}', "answers"),
        ('{"task": "t", "doc": {"id": "a"}, "answers": []}', "is not a name"),
        ('{"task": "t", "doc": "ok", "answers": ["again"]}', "there twice"),
        ("[" * 50_000, "a.jsonl:2"),
    ],
)
def test_a_wrong_line_is_reported_with_its_number(registry, ask, tmp_path: Path, line: str, words: str) -> None:
    """Before the first answer is given, whichever it is."""
    path = write(tmp_path / "a.jsonl", {"task": "t", "doc": "ok", "answers": ["x"]}, line)
    with pytest.raises(DataError, match=words):
        replayed(registry, path, ask(task="t", doc="ok"))


def test_a_recording_that_rests_answers_all_the_same(registry, ask, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *({"task": "t", "doc": str(n), "answers": [f"of {n}"]} for n in range(3)))

    async def go() -> list[str]:
        model = open_model(f"replay/{path}", registry, ModelOptions(offline=True, budget=Budget(max_cost=0.0)))
        first = await model.generate(ask(doc="2"))
        model.rest()
        model.rest()
        second = await model.generate(ask(doc="0"))
        await model.close()
        return [first.text, second.text]

    assert asyncio.run(go()) == ["of 2", "of 0"]


def test_a_whole_run_folder_is_replayed(registry, ask, tmp_path: Path) -> None:
    (tmp_path / "samples").mkdir()
    for task in ("one", "two"):
        write(tmp_path / "samples" / f"{task}.jsonl", {"task": task, "doc": "0", "answers": [f"of {task}"]})
    replies = replayed(registry, tmp_path, ask(task="two"), ask(task="one"))
    assert [reply.text for reply in replies] == ["of two", "of one"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no recorded samples"):
        replayed(registry, tmp_path / "empty")


def test_no_file(registry, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        replayed(registry, tmp_path / "absent.jsonl")


def test_an_empty_recorded_answer_is_an_answer(registry, ask, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"task": "t", "doc": "0", "answers": [""]})
    assert replayed(registry, path, ask())[0].text == ""


def test_a_replay_is_within_max_calls(registry, ask, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"task": "t", "doc": "0", "answers": ["x"]})
    model = open_model(f"replay/{path}", registry, ModelOptions(budget=Budget(max_calls=0)))
    with pytest.raises(Exception, match="max-calls"):
        asyncio.run(model.generate(ask()))


def test_opened_without_a_file_name(registry) -> None:
    with pytest.raises(UsageError):
        open_model("replay/", registry)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_run_folder_is_replayed_through_no_link_or_pipe(registry, tmp_path: Path, make: Any) -> None:
    (tmp_path / "run" / "samples").mkdir(parents=True)
    make(tmp_path / "run" / "samples" / "toy.jsonl")
    with pytest.raises(CrevalError, match=r"is a link|is not a plain file"):
        open_model(f"replay/{tmp_path / 'run'}", registry)


def test_a_ledger_without_an_end_is_reported(registry, tmp_path: Path) -> None:
    for name in ("samples", "calls"):
        (tmp_path / "run" / name).mkdir(parents=True)
    (tmp_path / "run" / "samples" / "toy.jsonl").write_text("")
    with (tmp_path / "run" / "calls" / "judge.jsonl").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(DataError, match="longer than"):
        open_model(f"replay/{tmp_path / 'run'}", registry).prepare()
