"""Run folders with given results and scores, in the form that the engine writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["write_run"]


def write_run(
    folder: Path,
    model: str,
    results: Sequence[Mapping[str, Any]],
    scores: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    status: str = "done",
) -> Path:
    """Write a run: its manifest, the parts of results.json by task as given, and scores by task.

    A sample is next to every score. What a part leaves out (counts, planned) follows from the scores.
    """
    scores = scores or {}
    parts = [_part(dict(part), scores.get(part["task"], ())) for part in results]
    manifest = {
        "requested": [part["task"] for part in parts],
        "roles": {"target": model},
        "status": status,
        "options": {"resources": {}},
        "tasks": [_planned(part, scores.get(part["task"], ())) for part in parts],
    }
    for name in ("samples", "scores"):
        (folder / name).mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(manifest), encoding="utf-8")
    data = {"schema": 1, "creval": "0.1.0", "run": folder.name, "model": model, "roles": manifest["roles"], "seed": 0}
    (folder / "results.json").write_text(json.dumps({**data, "status": status, "tasks": parts}), encoding="utf-8")
    for task, rows in scores.items():
        for name, lines in (("scores", rows), ("samples", [_sample(row) for row in rows])):
            text = "".join(json.dumps({"task": task, **line}) + "\n" for line in lines)
            (folder / name / f"{task}.jsonl").write_text(text, encoding="utf-8")
    return folder


def _part(part: dict[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = ("scored", "unparsed", "truncated", "refused", "errored", "skipped")
    counts = {name: sum(row["status"] == name for row in rows) for name in names}
    return {"counts": counts, "planned": len(rows), "metrics": [], **part}


def _planned(part: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    conditions = dict.fromkeys(row["condition"] for row in rows)
    return {
        "task": part["task"],
        "qualified": part.get("qualified", part["task"]),
        "conditions": [{"name": name, "settings": {}} for name in conditions],
        "repeats": 1 + max((row["repeat"] for row in rows), default=0),
        "planned": part["planned"],
    }


def _sample(row: Mapping[str, Any]) -> dict[str, Any]:
    key = {name: row[name] for name in ("doc_id", "condition", "repeat")}
    rest = {"seed": 0, "started": "2026-01-01T00:00:00+00:00", "seconds": 0.0}
    return {**key, "status": "scored", "doc": {}, "answers": [""], "calls": [], **rest}
