"""Runs of models that spell more or less well, for the tests of commands that read runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer, HttpError, Received

import creval
from creval.cli.main import invoke

__all__ = ["DOCS", "RIGHT", "TASK", "make_runs", "runs", "said"]

Said = Callable[..., tuple[int, str, str]]

DOCS = [f"w{i:02}" for i in range(20)]
RIGHT = {"weak": set(range(8)), "strong": set(range(2, 20)), "alike": set(range(3, 20))}
"""Which words each model writes as asked."""

TASK = """\
schema: 1
task: spelling
version: 1.0.0
title: Spelling
dataset: {source: file, file: words.jsonl, id: id}
protocol: chat
prompt:
  - {role: user, content: "Write the word {{ word }}."}
generation: {max_tokens: 16}
parse: [text]
score: [exact_match]
metrics:
  - {name: accuracy, from: exact_match, aggregate: mean, failed: zero, primary: true, binary: true, range: [0, 1]}
  - {name: errors, from: exact_match, aggregate: mean, failed: zero, higher_is_better: false}
"""


def _answer(request: Received) -> Answer | HttpError:
    model = request.body["model"]
    word = request.prompt.rsplit(" ", 1)[-1].rstrip(".")
    number = int(word[1:])
    if model == "faulty" and number == 0:
        return HttpError(400)
    return Answer(word if number in RIGHT.get(model, RIGHT["weak"]) else "none")


def make_runs(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Make the runs weak, strong, alike (20 words each), faulty (one errored), part (12 of strong), trials_..."""
    (folder / "words.jsonl").write_text(
        "".join(
            json.dumps({"id": f"d{word}", "word": word, "target": word, "pair": f"p{int(word[1:]) // 2}"}) + "\n"
            for word in DOCS
        )
    )
    (folder / "spelling.yaml").write_text(TASK)
    (folder / "trials.yaml").write_text(
        "include: ./spelling.yaml\ntask: trials\ncluster: trial\n"
        "metrics: [{name: accuracy, from: exact_match, aggregate: mean, failed: zero, range: [0, 1]}]\n"
    )
    (folder / "groups.yaml").write_text(
        "include: ./spelling.yaml\ntask: groups\n"
        "metrics: [{name: whole, from: exact_match, group: pair, aggregate: all, failed: zero}]\n"
    )
    (folder / "conditions.yaml").write_text("include: ./spelling.yaml\ntask: hot\nconditions: {temperature: [0, 1]}\n")
    patch.chdir(folder)
    patch.setenv("CREVAL_CACHE", str(folder / "cache"))
    with ChatServer(_answer) as server:
        patch.setenv("HOSTED_VLLM_API_BASE", server.url)

        def run(name: str, model: str, *tasks: str, **options: Any) -> None:
            asked = creval.RunOptions(output=folder / name, allowed_error_share=1.0, **options)
            creval.run(tasks or ["./spelling.yaml"], f"hosted_vllm/{model}", asked)

        for model in ("weak", "strong", "alike", "faulty"):
            run(model, model)
        run("part", "strong", limit=12)
        run("groups_part", "strong", "./groups.yaml", limit="first:9")
        for model in ("weak", "strong"):
            run(f"groups_{model}", model, "./groups.yaml")
            run(f"trials_{model}", model, "./trials.yaml", "./conditions.yaml", repeats=2)
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The folder of the runs, which is the current one while a module's tests run."""
    with pytest.MonkeyPatch.context() as patch:
        yield make_runs(tmp_path_factory.mktemp("runs"), patch)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs a command line in this process: its exit code, what it prints, and what it complains about."""

    def command(*words: str) -> tuple[int, str, str]:
        code = invoke(list(words))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command
