"""Every place that lists the statuses lists all of them."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from creval.runs.folder import REDO_STATUSES
from creval.types.metrics import StatusCounts
from creval.types.sample import Status

ROOT = Path(__file__).resolve().parents[2]
ALL = [status.value for status in Status]


def lists_of_statuses(node: Any) -> list[list[str]]:
    """The enums and required keys of a schema that name a status."""
    if isinstance(node, list):
        return [found for each in node for found in lists_of_statuses(each)]
    if not isinstance(node, dict):
        return []
    own = [node[key] for key in ("enum", "required") if isinstance(node.get(key), list) and "scored" in node[key]]
    return own + [found for value in node.values() for found in lists_of_statuses(value)]


def test_every_list_of_statuses_is_whole() -> None:
    assert [field.name for field in fields(StatusCounts)] == ALL
    assert StatusCounts(**dict.fromkeys(ALL, 1)).total == len(ALL)
    for name in ("sample", "score", "results", "policy"):
        found = lists_of_statuses(json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text("utf-8")))
        assert found
        assert all(sorted(each) == sorted(ALL) for each in found), name
    assets = ROOT / "plugins" / "page" / "creval_page" / "assets"
    line = re.search(r"const STATUSES = (\[.*\]);", (assets / "base.js").read_text("utf-8"))
    assert line is not None and json.loads(line[1]) == ALL
    colours = (assets / "page.css").read_text("utf-8")
    assert all(f"--{status}:" in colours for status in ALL)


def test_a_status_is_scored_a_failure_of_the_model_or_made_again() -> None:
    failures = [status.value for status in Status if status.is_failure]
    assert sorted(["scored", *failures, *REDO_STATUSES]) == sorted(ALL)
