"""A judge that says yes to everything, through the whole path: its accuracy is the share of positive labels."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer, Received

import creval
from creval.plugin import open_run
from creval.plugin.data import DataOptions
from creval_openended.published.macgyver import ADDRESS, COMMIT, published_rows
from creval_openended.validation.agreement import JuryAgreement

TASK = """\
schema: 1
include: openended/jury_zero_shot
task: {name}
version: 1.0.0
title: Labelled solutions, judged in one call
dataset: {{source: macgyver_labelled, file: null, criterion: {name}, id: id}}
score:
  - openended.single: {{criteria: [{{name: {name}, positive: "yes", negative: "no", definition: As labelled.}}]}}
metrics:
  - {{name: overall, failed: exclude, primary: true}}
tests: null
"""
SETS = {"feasibility": (803, 491, None), "effectiveness": (208, 92, 300)}
"""How many of a set are positive and negative, and how many are drawn of it: `test_jury_agreement` counts the whole."""


@pytest.fixture
def cache(
    reference_data: Path, workbook: Path, read_once: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A cache that holds the workbook and the results, as fetching leaves them there."""
    data = tmp_path / "cache" / "data"
    data.mkdir(parents=True)
    shutil.copy(workbook, data / f"macgyver-{COMMIT[:12]}.xlsx")
    results = (reference_data / "macgyver" / "benchmark_results.json").read_bytes()
    (data / f"macgyver-results-{COMMIT[:12]}.json").write_bytes(results)
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    assert len(published_rows(ADDRESS, DataOptions(cache=tmp_path / "cache", offline=True))) == 1683
    return tmp_path / "cache"


@pytest.mark.parametrize("name", list(SETS))
def test_always_yes_gets_the_base_rate(name: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each solution of A20's sets is judged by a call of its own; the labels come with the docs of the run."""
    yes, no, drawn = SETS[name]
    (tmp_path / "task.yaml").write_text(TASK.format(name=name), "utf-8")
    asked: list[str] = []

    def say_yes(request: Received) -> Answer:
        asked.append(request.prompt)
        return Answer("[[yes]] ([0.9])")

    with ChatServer(say_yes) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        options = creval.RunOptions(output=tmp_path / "run", roles={"judge": "hosted_vllm/judge"}, limit=drawn)
        creval.run([str(tmp_path / "task.yaml")], "given/solution", options)
    found: Any = JuryAgreement().run([str(tmp_path / "run")])
    (row,) = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    assert (row["criterion"], row["n"], row["abstained"]) == (name, yes + no, 0)
    assert row["accuracy"] == row["yes"] == pytest.approx(yes / (yes + no))
    assert row["AUARC"] == pytest.approx(row["accuracy"]) and row["kappa"] == 0
    solutions = {(sample.doc["problem"], sample.doc["solution"]) for sample in open_run(tmp_path / "run").samples()}
    assert len(solutions) <= len(asked) <= yes + no  # the same words about the same problem are paid once
