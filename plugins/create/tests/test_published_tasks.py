"""The tasks over the published queries, on an imported set with Table 4's counts: examples, floor, ceiling."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from create_support import metrics, rows, serve
from support.commands import creval

from creval.engine.run_options import RunOptions
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_create.cli.importing import import_published
from creval_create.queries.published import RELATIONS
from creval_testing.task_examples import run_examples

STRATEGIES = ("_creative", "_verbalized", "_iterate", "_resample")
NAMES = ("", *STRATEGIES, "_released", *(f"_released{name}" for name in STRATEGIES), "_unfiltered")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder with an imported set; half of the source paths run from a work to its people."""
    folder = tmp_path_factory.mktemp("published")
    lines = []
    for relation, (label, count) in RELATIONS.items():
        for number in range(count):
            start, other, category = f"{label} {number}", f"{label} other {number}", f"{label} group {number}"
            pairs = [[start, label, category], [other, label, category]]
            if number % 2:
                pairs = [[category, label, start], [category, label, other]]
            lines.append(
                json.dumps(
                    {
                        "query": f"How are {start} and someone who lives in town {number} connected?",
                        "entity_a": start,
                        "rel_b": "residence",
                        "entity_b": f"town {number}",
                        "description": f"Q{number}__{relation}",
                        "triple1_labels": pairs[0],
                        "triple2_labels": pairs[1],
                        "triple3_labels": [other, "residence", f"town {number}"],
                    }
                )
            )
    (folder / "train.jsonl").write_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CREVAL_CACHE", str(folder / "cache"))
        done = CliRunner().invoke(import_published, [str(folder / "train.jsonl")])
    assert done.exit_code == 0 and "0 remarks" in done.output, done.output
    return folder / "cache"


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_end_as_stated(imported: Path, name: str, monkeypatch: Any, minilm: Any) -> None:
    monkeypatch.setenv("CREVAL_CACHE", str(imported))
    plugins = load_plugins()
    task = TaskIndex(plugins).load(f"create_published{name}")
    outcomes = asyncio.run(run_examples(task, RunOptions(offline=True), plugins))
    assert len(outcomes) >= 4
    assert [f"{each.example}: {fault}" for each in outcomes for fault in each.faults] == []


@pytest.mark.parametrize(("baseline", "triples"), [("floor", 1), ("ceiling", 3)])
def test_floor_and_ceiling_give_one_strict_path(
    imported: Path, tmp_path: Path, baseline: str, triples: int, minilm: Any
) -> None:
    with serve() as server:
        done = creval(
            tmp_path, "--tasks", "create_published", "--model", f"baseline/{baseline}", "--limit", "8",
            "--output", baseline, "--role", "judge=hosted_vllm/judge",
            HOSTED_VLLM_API_BASE=server.url, CREVAL_CACHE=str(imported),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = metrics(tmp_path / baseline)
    assert found["valid_strict"] == found["printed"] == 1
    assert found["creative_utility@0.9"] <= 5
    paths = [score["value"]["paths"][0]["triples"] for score in rows(tmp_path / baseline, "scores", "create_published")]
    assert {len(path) for path in paths} == {triples}


def test_without_a_cache_there_is_one_message_offline(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    done = creval(tmp_path, "--tasks", "create_published", "--model", "baseline/floor", "--offline")
    assert done.returncode == 2 and "--data create_published=FILE" in done.stderr and "not in the cache" in done.stderr
