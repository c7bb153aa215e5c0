"""Every Eval Ever 0.3.0: runs of every plugin fit the bundled schemas, and each known trap is kept clear of."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from support.commands import creval as command
from support.hub_runs import make_run

import creval
from creval.cli.main import invoke
from creval.errors import UsageError
from creval_hub.exports.every_eval_ever.about import About, model_info
from creval_hub.exports.every_eval_ever.export_files import export_every_eval_ever
from creval_hub.exports.parquet import write_parquet

LAB = About("Some Lab")


def read(files: list[Path]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The aggregate of an export of one task, and its lines."""
    lines = next(file for file in files if file.suffix == ".jsonl")
    whole = next(file for file in files if file.suffix == ".json")
    return json.loads(whole.read_text()), [json.loads(line) for line in lines.read_text().splitlines()]


def changed(run: Path, change: Any, name: str = "results.json") -> creval.Run:
    """The run with something of its results in another way."""
    data = json.loads((run / name).read_text())
    change(data)
    (run / name).write_text(json.dumps(data))
    return creval.open_run(run)


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    return make_run(tmp_path / "made", {"a": "yes", "b": "no", "c": "perhaps"})


def test_runs_of_every_plugin_fit(of_plugins: Path, tmp_path: Path) -> None:
    files = export_every_eval_ever(creval.open_run(of_plugins), tmp_path, LAB)
    found = {file.relative_to(tmp_path).parts[1] for file in files}
    assert {"creval-rat", "creval-kumo_easy", "creval-hypogen_own"} <= found
    for file in files:
        parts = file.relative_to(tmp_path).parts
        assert parts[0] == "data" and len(parts) == 5


def test_the_packages_own_validator_agrees(of_plugins: Path, tmp_path: Path) -> None:
    """Needs Python 3.12 and the package; CREVAL_EEE names its command."""
    validator = os.environ.get("CREVAL_EEE")
    if not validator:
        pytest.skip("CREVAL_EEE names no command every_eval_ever")
    export_every_eval_ever(creval.open_run(of_plugins), tmp_path, LAB)
    files = sorted(str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*.json*"))
    done = subprocess.run([validator, "validate", *files], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bubblewrap")
def test_of_a_task_by_reference_the_aggregates_fit(tmp_path: Path) -> None:
    options = creval.RunOptions(
        output=tmp_path / "run",
        limit="first:1",
        repeats=1,
        roles={"augmenter": "baseline/floor"},
        allow_code_execution=True,
        allowed_error_share=1.0,
    )
    run = creval.open_run(creval.run(["neocoder_own_state0"], "baseline/ceiling", options).folder)
    with pytest.raises(UsageError, match="by reference"):
        export_every_eval_ever(run, tmp_path / "all", LAB)
    assert not (tmp_path / "all").exists()
    (file,) = export_every_eval_ever(run, tmp_path / "numbers", LAB, samples=False)
    names = [one["metric_config"]["metric_name"] for one in json.loads(file.read_text())["evaluation_results"]]
    assert "pass@1" in names


def test_an_export_says_what_the_run_says(run_folder: Path, tmp_path: Path) -> None:
    run = creval.open_run(run_folder)
    whole, lines = read(export_every_eval_ever(run, tmp_path, LAB))
    (result,) = whole["evaluation_results"]
    metric = run.result("toy")["metrics"][0]
    assert result["score_details"]["score"] == metric["value"] == pytest.approx(1 / 3)
    interval = result["score_details"]["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"]) == (metric["ci_low"], metric["ci_high"])
    assert [(line["sample_id"], line["evaluation"]["score"]) for line in lines] == [
        ("a|default|0", 1.0),
        ("b|default|0", 0.0),
        ("c|default|0", 0.0),  # unparsed, and counted as 0 by the metric
    ]
    assert [line["metadata"]["status"] for line in lines] == ["scored", "scored", "unparsed"]
    assert sum(line["evaluation"]["score"] for line in lines) / len(lines) == pytest.approx(metric["value"])
    for line in lines:
        said = json.dumps(
            {"raw": line["input"]["raw"], "reference": line["input"]["reference"]},
            sort_keys=True,
            separators=(",", ":"),
        )
        assert line["sample_hash"] == hashlib.sha256(said.encode()).hexdigest()


def test_companion_path_digest_and_rows_agree(run_folder: Path, tmp_path: Path) -> None:
    whole, lines = read(export_every_eval_ever(creval.open_run(run_folder), tmp_path, LAB))
    part = whole["detailed_evaluation_results"]
    content = (tmp_path / part["file_path"]).read_bytes()
    assert part["checksum"] == hashlib.sha256(content).hexdigest()
    assert part["total_rows"] == len(lines) == 3
    assert all(line["evaluation_id"] == whole["evaluation_id"] for line in lines)


def test_a_second_export_is_the_same(run_folder: Path, tmp_path: Path) -> None:
    run = creval.open_run(run_folder)
    first = {file: file.read_bytes() for file in export_every_eval_ever(run, tmp_path, LAB)}
    second = {file: file.read_bytes() for file in export_every_eval_ever(run, tmp_path, LAB)}
    assert first == second


def test_what_has_no_number_or_no_better_side_is_left_out(run_folder: Path, tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        (metric,) = data["tasks"][0]["metrics"]
        data["tasks"][0]["metrics"] += [
            {**metric, "name": "empty", "value": None, "primary": False},
            {**metric, "name": "neutral", "higher_is_better": None, "primary": False},
            {**metric, "name": "unsure", "ci_low": None, "ci_high": None, "standard_error": None, "primary": False},
        ]

    whole, _ = read(export_every_eval_ever(changed(run_folder, change), tmp_path, LAB))
    names = {one["metric_config"]["metric_name"]: one for one in whole["evaluation_results"]}
    assert names.keys() == {"exact_match", "unsure"}
    assert names["unsure"]["score_details"]["uncertainty"].keys() == {"num_samples"}
    assert "null" not in json.dumps(whole)


def test_only_neutral_metrics_are_no_export(run_folder: Path, tmp_path: Path) -> None:
    run = changed(run_folder, lambda data: data["tasks"][0]["metrics"][0].update(higher_is_better=None))
    with pytest.raises(UsageError, match="a better direction"):
        export_every_eval_ever(run, tmp_path, LAB)


def test_bounds_are_true_or_infinite(run_folder: Path, tmp_path: Path) -> None:
    run = changed(run_folder, lambda data: data["tasks"][0]["metrics"][0]["definition"].update(range=[None, None]))
    whole, _ = read(export_every_eval_ever(run, tmp_path, LAB))
    config = whole["evaluation_results"][0]["metric_config"]
    assert (config["min_score"], config["max_score"]) == ("-Infinity", "Infinity")
    run = changed(run_folder, lambda data: data["tasks"][0]["metrics"][0]["definition"].update(range=[0.5, 1]))
    with pytest.raises(UsageError, match="outside of its declared range"):
        export_every_eval_ever(run, tmp_path, LAB)


def test_where_failures_are_left_out_their_lines_are_too(run_folder: Path, tmp_path: Path) -> None:
    run = changed(run_folder, lambda data: data["tasks"][0]["metrics"][0].update(failed="exclude"))
    whole, lines = read(export_every_eval_ever(run, tmp_path, LAB))
    assert [line["sample_id"] for line in lines] == ["a|default|0", "b|default|0"]
    counts = json.loads(whole["evaluation_results"][0]["metric_config"]["additional_details"]["counts"])
    assert counts["unparsed"] == 1


def test_other_settings_go_to_the_details_as_texts(run_folder: Path, tmp_path: Path) -> None:
    path = run_folder / "samples" / "toy.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["calls"] = [
            {
                "role": "target",
                "kept": 0,
                "messages": [{"role": "user", "content": "?"}],
                "settings": {"temperature": 0.5, "max_tokens": 9, "seed": 7, "stop": ["x"], "extra": {"a": 1}},
                "reply": {"completions": [{"text": "yes"}], "usage": {"input_tokens": 3, "output_tokens": 1}},
            }
        ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    whole, lines = read(export_every_eval_ever(creval.open_run(run_folder), tmp_path, LAB))
    config = whole["evaluation_results"][0]["generation_config"]
    assert config["generation_args"] == {"temperature": 0.5, "max_tokens": 9}
    assert config["additional_details"]["stop"] == '["x"]'
    assert all(isinstance(value, str) for value in config["additional_details"].values())
    assert lines[0]["token_usage"] == {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}


def test_dialogues_are_messages(of_plugins: Path, tmp_path: Path) -> None:
    files = export_every_eval_ever(creval.open_run(of_plugins), tmp_path, LAB)
    lines = next(file for file in files if "kumo_easy" in str(file) and file.suffix == ".jsonl")
    first = json.loads(lines.read_text().splitlines()[0])
    assert first["interaction_type"] == "multi_turn" and first["output"] is None
    assert [turn["turn_idx"] for turn in first["messages"]] == list(range(len(first["messages"])))
    assert first["answer_attribution"][0]["turn_idx"] == len(first["messages"]) - 1


def test_docs_by_reference_leave_by_no_export(run_folder: Path, tmp_path: Path) -> None:
    path = run_folder / "samples" / "toy.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["doc_digest"] = "0" * 64
        row["doc"] = {}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = creval.open_run(run_folder)
    with pytest.raises(UsageError, match="by reference"):
        export_every_eval_ever(run, tmp_path, LAB)
    assert not list(tmp_path.rglob("*_samples.jsonl"))
    (file,) = export_every_eval_ever(run, tmp_path, LAB, samples=False)
    assert "detailed_evaluation_results" not in json.loads(file.read_text())
    with pytest.raises(UsageError, match="by reference"):
        write_parquet(run, "mine", tmp_path / "tables")
    assert not (tmp_path / "tables").exists()
    *_, table = write_parquet(run, "mine", tmp_path / "tables", texts=False)
    kept = pyarrow.parquet.read_table(table).to_pylist()
    assert len(kept) == len(rows) and all(row["answers"] == [] and row["messages"] is None for row in kept)
    out = str(tmp_path / "told")
    assert invoke(["export", str(run_folder), "--format", "parquet", "-o", out]) == 2
    assert invoke(["export", str(run_folder), "--format", "parquet", "-o", out, "--without-texts"]) == 0


@pytest.mark.parametrize(
    ("spec", "base_url", "deployment"),
    [
        ("openrouter/openai/gpt-5-mini", None, "externally_managed"),
        ("openai/some-model", "http://127.0.0.1:8000/v1", "self_deployed"),
        ("openai/some-model", "http://gpu-3:8000/v1", "self_deployed"),
        ("openai/some-model", "https://models.example.org/v1", "unknown"),
        ("embedded/smollm2", None, "self_deployed"),
    ],
)
def test_how_a_model_is_marked(run_folder: Path, spec: str, base_url: str | None, deployment: str) -> None:
    def change(data: dict[str, Any]) -> None:
        data["models"]["target"] = {**data["models"]["target"], "spec": spec, "base_url": base_url}

    run = changed(run_folder, change, "run.json")
    info = model_info(run, "target", LAB)
    assert info["additional_details"]["deployment_type"] == deployment
    assert (
        model_info(run, "target", About("Lab", deployment="unknown"))["additional_details"]["deployment_type"]
        == "unknown"
    )
    if spec.startswith("openrouter"):
        assert (info["id"], info["developer"], info["inference_platform"]) == (
            "openai/gpt-5-mini",
            "openai",
            "openrouter",
        )


def test_the_command_and_its_mistakes(run_folder: Path, tmp_path: Path) -> None:
    done = command(tmp_path, "export", str(run_folder), "--format", "every-eval-ever", "-o", "out")
    assert done.returncode == 2 and "--organization" in done.stderr
    done = command(tmp_path, "export", str(run_folder), "--format", "parquet", "-o", "out")
    assert done.returncode == 0, done.stderr
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(tmp_path / "out" / "samples" / "toy.parquet").to_pylist()
    assert [row["scores"] for row in rows] == [
        [{"name": "exact_match", "value": 1.0}],
        [{"name": "exact_match", "value": 0.0}],
        [],
    ]
    metrics = pyarrow.parquet.read_table(tmp_path / "out" / "results.parquet").to_pylist()
    assert math.isclose(metrics[0]["value"], 1 / 3) and metrics[0]["unparsed"] == 1


def test_ids_with_lone_surrogates_are_written_out(tmp_path: Path) -> None:
    """JSON can name them, and UTF-8 cannot hold them."""
    folder = make_run(tmp_path / "made", {"a\ud83d": "yes", "b": "no"})
    import pyarrow.parquet

    _, samples = write_parquet(creval.open_run(folder), "one", tmp_path / "tables")
    assert [row["doc_id"] for row in pyarrow.parquet.read_table(samples).to_pylist()] == ["a\\ud83d", "b"]
    export_every_eval_ever(creval.open_run(folder), tmp_path / "out", LAB)
    (lines,) = (tmp_path / "out").rglob("*_samples.jsonl")
    ids = [json.loads(line)["sample_id"].split("|")[0] for line in lines.read_text("utf-8").splitlines()]
    assert ids == ["a\\ud83d", "b"]
