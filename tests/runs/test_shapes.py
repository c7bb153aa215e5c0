"""A value of another kind anywhere in a file of a run is one message with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import creval
from creval.api import load_result
from creval.engine.run_options import RunOptions
from creval.errors import RunError
from creval.runs.shapes import misshapen


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run as creval writes it."""
    place = tmp_path_factory.mktemp("shapes") / "run"
    return creval.run(["rat"], "baseline/ceiling", RunOptions(limit=2, offline=True, output=place)).folder


@pytest.mark.parametrize(
    ("file", "at", "value"),
    [
        ("run", "origins", -1),
        ("run", "tasks/0/planned", None),
        ("run", "tasks/0/task", []),
        ("run", "tasks/0/conditions", [[]]),
        ("run", "roles/target", {"model": "x", "base_url": "http://198.51.100.7"}),
        ("run", "options/executor", ["ray://198.51.100.7:1"]),
        ("run", "options/data", ["x"]),
        ("run", "options/max_cost", "x"),
        ("results", "tasks/0/dataset", [{}]),
        ("results", "tasks/0/qualified", ["a"]),
        ("results", "tasks/0/metrics/0/cluster", {"a": 1}),
        ("results", "tasks/0/metrics/0/counts", []),
        ("results", "tasks/0/generation_overrides", ["a"]),
        ("results", "tasks/0/metrics/0/value", 10**30),
        ("results", "tasks/0/metrics/0", {}),
        ("run", "tasks/0/conditions/0", {}),
    ],
)
def test_a_value_of_another_kind_is_named_by_its_place(folder: Path, file: str, at: str, value: Any) -> None:
    path = folder / f"{file}.json"
    sound = path.read_text()
    data = json.loads(sound)
    assert misshapen(file, data) is None
    *outer, last = (int(part) if part.isdigit() else part for part in at.split("/"))
    inner = data
    for part in outer:
        inner = inner[part]
    inner[last] = value
    path.write_text(json.dumps(data))
    try:
        with pytest.raises(RunError, match=f"see {at}|not a manifest"):
            creval.open_run(folder).results  # noqa: B018
        if file == "results":
            with pytest.raises(RunError, match=f"see {at}"):
                load_result(folder)
    finally:
        path.write_text(sound)


@pytest.mark.parametrize(
    ("rows", "key", "value"),
    [
        ("samples", "answers", [1]),
        ("samples", "calls", [{"role": "target", "kept": 0, "messages": ["x"]}]),
        ("samples", "reason", ["x"]),
        ("samples", "calls", [{"role": "target"}]),
        ("scores", "route", ["x"]),
    ],
)
def test_a_row_of_another_shape_is_reported_with_its_line(folder: Path, rows: str, key: str, value: Any) -> None:
    path = folder / rows / "rat.jsonl"
    sound = path.read_text()
    first, *others = sound.splitlines()
    path.write_text("\n".join([json.dumps(json.loads(first) | {key: value}), *others, ""]))
    try:
        with pytest.raises(RunError, match=r"rat\.jsonl:1"):
            list(creval.open_run(folder).scored())
    finally:
        path.write_text(sound)


def test_a_reply_without_numbers_is_reported(folder: Path) -> None:
    path = folder / "samples" / "rat.jsonl"
    sound = path.read_text()
    first, *others = sound.splitlines()
    row = json.loads(first)
    reply = {"completions": [{"text": "x"}], "usage": {"input_tokens": ["a"]}}
    row["calls"] = [{"role": "target", "kept": 0, "messages": [], "reply": reply}]
    path.write_text("\n".join([json.dumps(row), *others, ""]))
    try:
        with pytest.raises(RunError, match="input_tokens is not a number"):
            list(creval.open_run(folder).samples())
    finally:
        path.write_text(sound)
