"""Programs run only where this very command allows it: what a file says of consent counts for nothing."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.commands import creval as command

import creval
from creval.engine.manifest import read_options
from creval.engine.run import rescore, resume
from creval.engine.run_options import Rescoring, RunOptions
from creval.errors import TaskError
from creval.plugin import UsageError
from creval.plugins.loader import load_plugins
from creval.runs.folder import RunFolder
from creval.runs.run_commands import CONSENTS, resume_command, score_command
from creval.tasks.index import TaskIndex
from creval_sweeps.estimate import estimate_run
from creval_testing.task_examples import run_examples

PLUGIN = """
    from creval.plugins import hookimpl

    @hookimpl
    def creval_components(registry):
        registry.add("scorer", "runs", "creval_coder_parts:Runs", produces=("right",), uses=("sandbox",), waits=True)
"""
PARTS = """
    from creval.plugin import Score
    from creval.plugin.programs import Program

    class Runs:
        async def score(self, items, context):
            scores = []
            for item in items:
                results = await context.resource("sandbox").run(Program(item.answers[0]), [b"21"])
                scores.append(Score({"right": float(results[0].stdout == b"42\\n")}))
            return scores
"""
TASK = """\
schema: 1
task: doubling
version: 1.0.0
title: Double a number
dataset: {source: file, file: docs.jsonl, id: id}
prompt: [{role: user, content: "Write a program that doubles its input."}]
score: runs
resources: {sandbox: bubblewrap}
metrics: [{name: right, aggregate: mean, failed: zero}]
tests:
  - {name: gold, answer: "print(2 * int(input()))", status: scored, scores: {right: 1}}
  - {name: mutant, answer: "print(3 * int(input()))", status: scored, scores: {right: 0}}
"""


@pytest.fixture
def task(install: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if shutil.which("bwrap") is None:
        pytest.skip("no bubblewrap on this machine")
    install("coder", PLUGIN, PARTS)
    monkeypatch.setenv("CREVAL_PLUGINS", "coder,sandbox")
    (tmp_path / "docs.jsonl").write_text('{"id": "a"}\n{"id": "b"}\n')
    (tmp_path / "answers.jsonl").write_text(
        "".join(
            json.dumps({"task": "doubling", "doc": doc, "condition": "default", "repeat": 0, "answers": [answer]})
            + "\n"
            for doc, answer in (("a", "print(int(input()) * 2)"), ("b", "print(41)"))
        )
    )
    (tmp_path / "doubling.yaml").write_text(TASK)
    return str(tmp_path / "doubling.yaml")


@pytest.fixture
def folder(task: str, tmp_path: Path) -> Path:
    """A run made with consent, as a stranger may send it: its manifest says so, and says it again."""
    options = RunOptions(output=tmp_path / "run", allow_code_execution=True)
    result = creval.run([task], f"replay/{tmp_path / 'answers.jsonl'}", options)
    assert result.metrics("doubling")["right"]["value"] == 0.5
    assert json.loads((result.folder / "run.json").read_text())["options"]["allow_code_execution"] is True
    return result.folder


REFUSED = "runs code that the model wrote"


def test_a_run_needs_consent(task: str, tmp_path: Path) -> None:
    options = RunOptions(output=tmp_path / "run")
    with pytest.raises(UsageError, match=REFUSED):
        creval.run([task], f"replay/{tmp_path / 'answers.jsonl'}", options)
    assert not (tmp_path / "run").exists()


def test_a_task_says_which_distribution_its_sandbox_is_part_of(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREVAL_PLUGINS", "coder")
    monkeypatch.setattr("creval.plugins.distributions.installed_version", lambda name: None)
    with pytest.raises(TaskError) as caught:
        creval.run([task], "baseline/floor", RunOptions(allow_code_execution=True))
    assert str(caught.value).partition(":8:")[2] == (
        "22: [resources.sandbox] the sandbox 'bubblewrap' is part of creval-sandbox, which is not installed. "
        "pip install creval-sandbox"
    )


def test_scoring_again_needs_it_again(folder: Path) -> None:
    before = (folder / "results.json").read_bytes()
    with pytest.raises(UsageError, match=REFUSED):
        rescore(folder)
    assert (folder / "results.json").read_bytes() == before
    again = rescore(folder, Rescoring(allow_code_execution=True))
    assert again.results["tasks"] == json.loads(before)["tasks"]


def test_resuming_needs_it_again(folder: Path) -> None:
    (folder / "scores" / "doubling.jsonl").unlink()
    with pytest.raises(UsageError, match=REFUSED) as caught:
        resume(folder)
    assert "--allow-code-execution" in str(caught.value)
    assert resume(folder, allow_code_execution=True).results["tasks"][0]["metrics"][0]["value"] == 0.5


@pytest.mark.parametrize("consent", CONSENTS)
def test_no_reader_of_a_manifest_gives_consent(consent: str) -> None:
    assert getattr(read_options({consent: True}), consent) is False
    assert getattr(Rescoring().applied(RunOptions(**{consent: True})), consent) is False


def test_the_examples_of_a_task_need_it(task: str) -> None:
    plugins = load_plugins()
    (read,) = TaskIndex(plugins).expand([task])
    with pytest.raises(UsageError, match=REFUSED):
        asyncio.run(run_examples(read, RunOptions(), plugins))
    outcomes = asyncio.run(run_examples(read, RunOptions(allow_code_execution=True), plugins))
    assert [list(outcome.faults) for outcome in outcomes] == [[], []]


def test_a_dry_run_names_it_and_runs_nothing_without_it(task: str, tmp_path: Path) -> None:
    model = f"replay/{tmp_path / 'answers.jsonl'}"
    (words,) = estimate_run([task], model, RunOptions()).missing
    assert words.startswith("sandbox of doubling: ") and "--allow-code-execution" in words
    assert not estimate_run([task], model, RunOptions(allow_code_execution=True)).missing


def test_on_the_command_line(folder: Path, tmp_path: Path) -> None:
    """Each command knows the flag, and what is printed to resume the run carries it."""
    for word in ("score", "resume", "validate", "play"):
        said = command(tmp_path, word, "--help").stdout
        assert "--allow-code-execution" in said and "--trust-remote-code" in said
    manifest = RunFolder.open(folder).read_manifest()
    assert resume_command(folder, manifest) == f"creval resume {folder} --allow-code-execution"
    assert score_command(folder) == f"creval score {folder} --allow-code-execution"
    manifest["options"] |= {"allow_code_execution": False, "trust_remote_code": True}
    assert resume_command(folder, manifest) == f"creval resume {folder} --trust-remote-code"
    manifest["options"]["trust_remote_code"] = False
    assert resume_command(folder, manifest) == f"creval resume {folder}"
