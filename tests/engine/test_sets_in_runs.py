"""Answers to a doc as a set, in whole runs: batches hold docs whole, a new answer rescores its doc, one is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from creval.engine.run import resume
from creval.engine.scoring.task_scoring import doc_batches
from creval.errors import UsageError
from creval.plugins.loader import load_plugins
from creval.runs.reader import open_runs
from creval.types.sample import Sample, SampleKey, Status
from creval_compare.pairing import shared_tasks

TASK = """\
schema: 1
task: again
version: 1.0.0
title: The same again
dataset: {source: file, file: topics.jsonl, id: topic}
repeats: 3
prompt: [{role: user, content: "On {{ topic }}."}]
score: distinct
metrics: [{name: distinct, failed: exclude}]
"""


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("CREVAL_PLUGINS", "diversity")  # it has the scorer
    (tmp_path / "again.yaml").write_text(TASK)
    (tmp_path / "topics.jsonl").write_text('{"topic": "rain"}\n{"topic": "salt"}\n')
    return str(tmp_path / "again.yaml")


def lines(*answers: str) -> list[dict[str, Any]]:
    return [
        {"task": "again", "doc": doc, "repeat": repeat, "answers": [answer]}
        for doc in ("rain", "salt")
        for repeat, answer in enumerate(answers)
    ]


def test_the_mean_is_the_share_of_distinct_answers(task: str, run_task: Any, replay: Any) -> None:
    done = run_task(task, replay(lines("a", "A.", "b")))
    assert done.metrics("again")["distinct"]["value"] == pytest.approx(2 / 3)


def test_a_resumed_run_scores_the_sets_anew(task: str, run_task: Any, replay: Any) -> None:
    recorded = replay(lines("a", "b")[:5])
    done = run_task(task, recorded, max_retries=0)
    assert done.metrics("again")["distinct"]["value"] == 1.0
    assert done.results["tasks"][0]["counts"]["errored"] == 2
    with Path(recorded.removeprefix("replay/")).open("a") as file:
        for doc in ("rain", "salt"):
            file.write(json.dumps({"task": "again", "doc": doc, "repeat": 2, "answers": ["a"]}) + "\n")
    finished = resume(done.folder)
    (metric,) = finished.results["tasks"][0]["metrics"]
    assert (metric["value"], metric["n"]) == (pytest.approx(2 / 3), 6)


def test_one_answer_is_no_set(task: str, run_task: Any) -> None:
    with pytest.raises(UsageError, match="compares the answers to a doc"):
        run_task(task, "replay/none", repeats=1)


def test_batches_hold_docs_whole_in_whatever_order_samples_come() -> None:
    keys = [SampleKey("t", f"d{doc}", "default", repeat) for repeat in range(4) for doc in range(5)]
    sizes = Counter((key.doc, key.condition) for key in keys)
    batches = list(doc_batches([Sample(key, {}, Status.SCORED) for key in keys], sizes, size=3))
    for batch in batches:
        assert set(Counter(sample.key.doc for sample in batch).values()) == {4}
    assert sorted(sample.key for batch in batches for sample in batch) == sorted(keys)


def test_numbers_of_groups_are_compared_group_by_group(tmp_path: Path, run_task: Any) -> None:
    task = Path(__file__).resolve().parents[2] / "examples" / "tasks" / "choices.yaml"
    folders = [run_task(str(task), f"baseline/{player}").folder for player in ("floor", "ceiling")]
    (shared,) = shared_tasks(open_runs(list(map(str, folders))), (), False, load_plugins().registry)
    assert [key.name for key in shared.metrics] == ["exact_match", "group_accuracy", "consistency"]
