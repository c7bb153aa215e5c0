"""Evaluation results in a model's own repository: by the Hub's rules, shown and agreed to first, as a pull request."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.hub_server import HubServer

import creval
from creval.errors import DataError, UsageError
from creval_hub.cli.push import push
from creval_hub.model_results import check_entry, model_results, propose_results, result_file

BENCHMARK = "bench/toy"
ENTRY: dict[str, Any] = {"dataset": {"id": BENCHMARK, "task_id": "toy"}, "value": 0.5, "date": "2026-01-31"}


@pytest.fixture
def model_run(run_folder: Path) -> Path:
    """The run as one of a hosted model."""
    for name in ("run.json", "results.json"):
        text = (run_folder / name).read_text()
        data = json.loads(text)
        data["roles"]["target"] = "openai/some-model"
        if "model" in data:
            data["model"] = "openai/some-model"
        (run_folder / name).write_text(json.dumps(data))
    return run_folder


def test_entries_survive_the_hubs_own_reader(model_run: Path) -> None:
    from huggingface_hub import parse_eval_result_entries

    results = model_results(creval.open_run(model_run), BENCHMARK, "https://huggingface.co/datasets/ada/runs")
    (entry,) = parse_eval_result_entries([dict(one.entry) for one in results])
    assert (entry.dataset_id, entry.task_id) == (BENCHMARK, "toy")
    assert entry.value == pytest.approx(1 / 3)
    assert "1 unparsed" in str(entry.notes) and "95% interval" in str(entry.notes)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"value": math.nan}, "finite"),
        ({"value": "0.5"}, "finite"),
        ({"value": True}, "finite"),
        ({"verifyToken": "x"}, "verifyToken"),
        ({"date": "31.01.2026"}, "ISO 8601"),
        ({"date": "2026-02-31"}, "ISO 8601"),
        ({"dataset": {"id": "toy", "task_id": "toy"}}, "owner/name"),
        ({"dataset": {"id": BENCHMARK}}, "task_id"),
        ({"dataset": {"id": BENCHMARK, "task_id": "toy", "split": "x"}}, "task_id"),
        ({"source": {"name": "x"}}, "url"),
    ],
)
def test_what_the_library_lets_through_is_refused(change: dict[str, Any], what: str) -> None:
    check_entry(ENTRY)
    with pytest.raises(UsageError, match=what):
        check_entry({**ENTRY, **change})


def test_of_a_lower_is_better_metric_and_of_no_model_there_is_none(model_run: Path, run_folder: Path) -> None:
    data = json.loads((model_run / "results.json").read_text())
    data["tasks"][0]["metrics"][0]["higher_is_better"] = False
    (model_run / "results.json").write_text(json.dumps(data))
    with pytest.raises(UsageError, match="high to low"):
        model_results(creval.open_run(model_run), BENCHMARK)
    manifest = json.loads((model_run / "run.json").read_text())
    manifest["roles"]["target"] = "baseline/floor"
    (model_run / "run.json").write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match="not a model"):
        model_results(creval.open_run(model_run), BENCHMARK)


def test_a_pull_request_is_opened_once_after_it_was_agreed_to(hub: HubServer, model_run: Path) -> None:
    model = hub.add("openai/some-model", {"README.md": b"a model"}, kind="model")
    hub.add(BENCHMARK, {"eval.yaml": b"name: toy\ntasks:\n- {id: toy}\n"})
    arguments = [str(model_run), "--model-repo", "openai/some-model", "--dataset", BENCHMARK]
    refused = CliRunner().invoke(push, arguments, input="n\n")
    assert refused.exit_code == 1 and "task_id: toy" in refused.output and not model.requests
    agreed = CliRunner().invoke(push, arguments, input="y\n")
    assert agreed.exit_code == 0, agreed.output
    assert len(model.requests) == 1 and len(model.commits) == 2  # main is as it was
    proposed = model.branches["refs/pr/1"][-1].files[".eval_results/creval-toy.yaml"].decode()
    results = model_results(creval.open_run(model_run), BENCHMARK)
    assert proposed == result_file(results)
    with pytest.raises(UsageError, match="is open"):
        propose_results(results, "openai/some-model")


def test_the_benchmark_has_to_exist(hub: HubServer, model_run: Path) -> None:
    hub.add("openai/some-model", {}, kind="model")
    results = model_results(creval.open_run(model_run), BENCHMARK)
    with pytest.raises(DataError, match="no such repository"):
        propose_results(results, "openai/some-model")
    hub.add(BENCHMARK, {"data.csv": b"a\n"})
    with pytest.raises(DataError, match=r"no eval\.yaml"):
        propose_results(results, "openai/some-model")
    hub.add(BENCHMARK, {"eval.yaml": b"name: toy\ntasks:\n- {id: other}\n"})
    with pytest.raises(DataError, match="no task 'toy'"):
        propose_results(results, "openai/some-model")
