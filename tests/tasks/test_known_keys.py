"""The keys that a message about an unknown one lists are those that may stand there, all of them and no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from creval.plugins.loader import load_plugins
from creval.tasks.sections.dataset_section import OWN_KEYS
from creval.tasks.yaml import schema as schemas
from creval_testing.check_files import check

UNKNOWN = "zzqx"
TASK: dict[str, Any] = {
    "schema": 1,
    "task": "toy",
    "version": "1.0.0",
    "title": "A toy",
    "source": {"url": "https://example.org"},
    "parity": {"none": "nothing to be held against"},
    "dataset": {
        "source": "file",
        "file": "docs.jsonl",
        "sample": {"n": 1, "seed": 1},
        "fields": {"target": {"from": "word"}},
        "choices": {"from": "options", "answer": "right"},
    },
    "few_shot": {"n": 1},
    "generation": {"temperature": 0},
    "conditions": {"temperature": [0]},
    "protocol": {"name": "chat"},
    "prompt": [{"role": "user", "content": "{{ word }}"}],
    "tools": [{"name": "look"}],
    "human": {"prompt": "{{ word }}"},
    "roles": {"judge": {"prompts": {"rate": [{"role": "user", "content": "{{ answer }}"}]}}},
    "parse": [{"name": "choice", "options": ["A", "B"]}, {"last_number": {"refine": True}}],
    "score": [{"name": "exact_match"}, {"numeric": {"absolute": 1}}, {"judge": {"prompt": "rate", "scale": [1, 5]}}],
    "metrics": [{"name": "exact_match", "failed": "zero", "aggregate": {"name": "mean"}}],
    "baselines": {"ceiling": {"name": "target"}, "floor": {"fixed": {"text": "A"}}},
    "tests": [{"name": "gold", "status": "scored", "answers": [{"text": "a"}], "scores": {"exact_match": {"min": 0}}}],
}
PLACES = [
    *((), ("source",), ("parity",), ("dataset",), ("dataset", "sample"), ("dataset", "fields", "target")),
    *(("dataset", "choices"), ("few_shot",), ("generation",), ("conditions",), ("protocol",), ("prompt", 0)),
    *(("tools", 0), ("human",), ("roles", "judge"), ("parse", 0), ("parse", 1, "last_number"), ("score", 0)),
    *(("score", 1, "numeric"), ("score", 2, "judge"), ("metrics", 0), ("metrics", 0, "aggregate")),
    *(("baselines", "ceiling"), ("baselines", "floor", "fixed"), ("tests", 0), ("tests", 0, "answers", 0)),
    ("tests", 0, "scores", "exact_match"),
]


def at(tree: Any, place: tuple[str | int, ...]) -> dict[str, Any]:
    for step in place:
        tree = tree[step]
    found: dict[str, Any] = tree
    return found


def problems(folder: Path, tree: dict[str, Any]) -> list[Any]:
    file = folder / "toy.yaml"
    file.write_text(json.dumps(tree))
    return list(check([file], load_plugins()))


def names_in(part: Any) -> set[str]:
    """Return every key that any schema knows."""
    if isinstance(part, list):
        return set().union(*map(names_in, part))
    if not isinstance(part, dict):
        return set()
    own = part.get("properties")
    return set(own if isinstance(own, dict) else ()).union(*map(names_in, part.values()))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)) or "task")
def test_all_that_may_stand_there_is_listed(
    place: tuple[str | int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("_MAX_UNKNOWN", "_MAX_FAULTS"):
        monkeypatch.setattr(schemas, limit, 10_000)
    (tmp_path / "docs.jsonl").write_text('{"word": "a", "options": ["a", "b"], "right": 0}\n')
    tree = json.loads(json.dumps(TASK))
    own = at(tree, place)
    own[UNKNOWN] = [1]
    (listing,) = [each.fix for each in problems(tmp_path, tree) if UNKNOWN in each.message]
    listed = set(listing.partition(": ")[2].rstrip(".").split(", "))
    parameters = [component.parameters for component in load_plugins().registry.all()]
    candidates = names_in([*map(schemas.load_schema, ("task", "suite", "run_file")), *parameters]) | listed
    kept = set(OWN_KEYS) if place == ("dataset",) else set()  # with a wrong value of one the rest is not looked at
    own |= {key: [1] for key in candidates - own.keys() - kept}
    unknown = {each.message.split("'")[1] for each in problems(tmp_path, tree) if _is_unknown(each.message)}
    assert UNKNOWN in unknown
    assert listed == {key for key in own if key not in unknown} | kept


def _is_unknown(message: str) -> bool:
    return message.startswith("unknown key '") or message.endswith("can be varied by conditions")
