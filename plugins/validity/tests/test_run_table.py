"""Run folders as rows: names of columns and models, repeats, versions, and folders that are no runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.run_folders import write_run

from creval.errors import DataError, RunError
from creval_validity.tables.aliases import shipped_aliases
from creval_validity.tables.inputs import Columns, InputRequest, assemble, choose_columns
from creval_validity.tables.run_table import RunScores, column_name, read_runs

COUNTS = {"scored": 30, "unparsed": 0, "truncated": 0, "refused": 0, "errored": 0, "skipped": 0}


def metric(name: str, value: float | None, primary: bool = True, condition: str | None = None) -> dict[str, Any]:
    return {
        "name": name,
        "condition": condition,
        "value": value,
        "n": 30,
        "clusters": 30,
        "standard_error": 1.0,
        "ci_low": None,
        "ci_high": None,
        "confidence": 0.95,
        "method": "none",
        "failed": "zero",
        "n_failed": 0,
        "counts": COUNTS,
        "higher_is_better": True,
        "primary": primary,
        "unit": None,
    }


def task(name: str, *metrics: dict[str, Any], hash: str = "a" * 64, **changes: Any) -> dict[str, Any]:
    return {
        "task": name,
        "qualified": f"association/{name}",
        "title": name,
        "version": "1.0.0",
        "plugin_version": "0.1.0",
        "hash": hash,
        "dataset": "sha256:0",
        "planned": 30,
        "docs": 30,
        "dataset_docs": 30,
        "docs_digest": "0" * 64,
        "repeats": 1,
        "identity": "0" * 64,
        "generation_overrides": {},
        "counts": COUNTS,
        "routes": {},
        "instruments": {},
        "usage": {
            "calls": 30,
            "input_tokens": 0,
            "output_tokens": 0,
            "reasoning_tokens": 0,
            "cost": 0.0,
            "unpriced_calls": 0,
        },
        "first_errors": [],
        "metrics": list(metrics),
        **changes,
    }


def run(folder: Path, model: str, *tasks: dict[str, Any], status: str = "done") -> Path:
    return write_run(folder, model, tasks, status=status)


def read(*folders: Path, repeated: Any = "error", mixed: bool = False) -> RunScores:
    return read_runs(folders, shipped_aliases(), repeated, mixed)


@pytest.mark.parametrize(
    ("task_name", "metric_name", "primary", "column"),
    [
        ("dat", "dat", True, "dat"),
        ("cdat", "cdat_n", True, "cdat_n"),
        ("cdat", "cdat_a", False, "cdat_a"),
        ("drat_k2", "drat", True, "drat_k2"),
        ("drat_k2", "drat[embedded/minilm]", True, "drat_k2[embedded/minilm]"),
        ("drat", "survivors", False, "drat.survivors"),
        ("drat@strict", "drat", True, "drat@strict"),
        ("drat@strict", "drat[a/b]", True, "drat@strict[a/b]"),
        ("association.drat", "drat", True, "drat"),
        ("drat@strict", "survivors[a/b]", False, "drat.survivors@strict[a/b]"),
    ],
)
def test_names_of_columns(task_name: str, metric_name: str, primary: bool, column: str) -> None:
    assert column_name(task_name, metric_name, primary) == column


def test_runs_become_rows(tmp_path: Path) -> None:
    first = run(
        tmp_path / "a",
        "openrouter/openai/gpt-4.1-mini",
        task("dat", metric("dat", 81.5), metric("dat", 80.0, condition="temperature=1.0"), metric("valid", 0.9, False)),
        task("rat", metric("rat", None)),
    )
    second = run(tmp_path / "b", "hosted_vllm/me/My.Model", task("dat", metric("dat", 70.25)))
    found = read(first, second)
    assert found.table.cells() == {"gpt-4-1-mini": {"dat": 81.5, "dat.valid": 0.9}, "my-model": {"dat": 70.25}}
    assert found.primary == ("dat",)


def test_metrics_on_another_scale_are_brought_to_the_tables(tmp_path: Path) -> None:
    tasks = (
        task("rat", metric("rat", 0.9)),
        task("cdat", metric("cdat_n", 68.0), metric("cdat_a", 43.5, False), metric("cdat_a[a/b]", 30.0, False)),
    )
    row = read(run(tmp_path / "a", "openai/gpt-5", *tasks)).table.cells()["gpt-5"]
    assert row == {"rat": 90.0, "cdat_n": 68.0, "cdat_a": 143.5, "cdat_a[a/b]": 30.0}
    shifted = task("cdat", metric("cdat_n", 68.0), metric("cdat_a", 143.5, False))
    assert read(run(tmp_path / "b", "openai/o3", shifted)).table.cells()["o3"]["cdat_a"] == 143.5


def test_a_model_run_twice(tmp_path: Path) -> None:
    folders = [
        run(tmp_path / name, "openai/gpt-5", task("dat", metric("dat", value)))
        for name, value in (("a", 80.0), ("b", 82.0))
    ]
    with pytest.raises(DataError, match="gpt-5 has 2 values of dat"):
        read(*folders)
    assert read(*folders, repeated="mean").table.cells() == {"gpt-5": {"dat": 81.0}}
    assert read(*folders, repeated="last").table.cells() == {"gpt-5": {"dat": 82.0}}


def test_versions_of_a_task_do_not_mix_silently(tmp_path: Path) -> None:
    one = run(tmp_path / "a", "openai/gpt-5", task("dat", metric("dat", 80.0)))
    two = run(tmp_path / "b", "openai/gpt-4o", task("dat", metric("dat", 70.0), hash="b" * 64))
    three = run(tmp_path / "c", "openai/o3", task("dat", metric("dat", 75.0), dataset="sha256:1"))
    for other in (two, three):
        with pytest.raises(DataError, match="2 different versions of its task or data"):
            read(one, other)
    mixed = read(one, two, mixed=True)
    assert len(mixed.table.models) == 2
    assert "2 different versions" in mixed.notes[0]


def test_settings_of_the_user_make_a_column_of_their_own(tmp_path: Path) -> None:
    """Such a number is in no column with plain ones, and so next to no published one."""
    own = {"generation_overrides": {"temperature": None}, "condition_overrides": {}, "replaced_data": "x.jsonl"}
    plain = run(tmp_path / "a", "openai/gpt-5", task("dat", metric("dat", 80.0)))
    other = run(tmp_path / "b", "openai/o3", task("dat", metric("dat", 70.0), **own))
    assert read(plain, other).primary == ("dat", "dat[temperature=null, data=x.jsonl]")


def test_lost_samples_are_reported(tmp_path: Path) -> None:
    counts = {**COUNTS, "scored": 25, "errored": 4, "skipped": 1}
    found = read(run(tmp_path / "a", "openai/gpt-5", task("dat", metric("dat", 80.0), counts=counts)))
    assert found.notes == (f"{tmp_path / 'a'}: 5 of 30 samples of dat errored or were skipped",)


def test_a_run_that_stopped_early_is_reported(tmp_path: Path) -> None:
    found = read(run(tmp_path / "a", "openai/gpt-5", task("dat", metric("dat", 80.0)), status="budget"))
    assert found.notes == (f"{tmp_path / 'a'} did not finish (budget)",)


def test_folders_that_are_no_runs(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunError, match=r"no run\.json"):
        read(tmp_path / "empty")
    for number, text in enumerate(("{", "[]", "{}", '{"model": "m", "tasks": [{"task": "dat"}]}', '{"tasks": []}')):
        folder = run(tmp_path / str(number), "openai/gpt-5", task("dat", metric("dat", 80.0)))
        (folder / "results.json").write_text(text, encoding="utf-8")
        with pytest.raises(RunError, match=r"results\.json|no metric"):
            read(folder)


def test_runs_without_any_value(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no metric with a value"):
        read(run(tmp_path / "a", "openai/gpt-5", task("dat", metric("dat", None))))


def test_only_primary_metrics_are_taken_by_themselves(tmp_path: Path) -> None:
    tasks = [
        task("dat", metric("dat", 80.0), metric("dat_words", 9.5, False)),
        task("drat@strict", metric("drat", 30.0), metric("survivors", 4.0, False)),
        task("kumo_easy", metric("success", 0.5)),
    ]
    found = assemble(InputRequest(runs=(str(run(tmp_path / "a", "openai/gpt-5", *tasks)),)))
    columns = choose_columns(found, Columns())
    assert columns.tests == ("dat", "drat@strict")
    assert "kumo_easy" in columns.unused
    named = choose_columns(found, Columns(tests=("kumo_easy", "drat.survivors@strict")))
    assert named.tests == ("kumo_easy", "drat.survivors@strict")


def test_the_form_is_that_of_the_results_schema(tmp_path: Path) -> None:
    """The results that these tests write are what creval writes."""
    from creval.runs.schemas import check_results

    folder = run(tmp_path / "a", "openai/gpt-5", task("dat", metric("dat", 80.0)))
    check_results(json.loads((folder / "results.json").read_text(encoding="utf-8")))
