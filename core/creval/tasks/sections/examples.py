"""`tests:`: the gold answer and the mutants of a task, with their stated outcomes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from creval.tasks.model import Bounds, Example
from creval.tasks.sections.reading import Reading
from creval.tasks.sections.scoring import ScoreNames
from creval.tasks.yaml.nodes import KeyPath, Node, plain
from creval.types.sample import Status

__all__ = ["read_examples"]

_WAYS = ("answer", "answers", "player")


def read_examples(reading: Reading, scores: ScoreNames | None) -> Sequence[Example]:
    """Read the section."""
    examples = []
    seen: set[str] = set()
    for path, node in reading.entries("tests"):
        name = node.value["name"]
        if name.value in seen:
            reading.add(name.place, f"two tests are called {name.value!r}", (*path, "name"), "Rename one of them.")
        seen.add(name.value)
        if _check(reading, node, path, scores):
            examples.append(_example(plain(node)))
    return tuple(examples)


def _check(reading: Reading, node: Node, path: KeyPath, scores: ScoreNames | None) -> bool:
    before = len(reading.problems)
    ways = [way for way in _WAYS if node.get(way) is not None]
    if len(ways) != 1:
        reading.add(node.place, f"a test has exactly one of {', '.join(_WAYS)}", path)
    player = node.get("player")
    baselines = reading.section("baselines")
    if player is not None and (baselines is None or baselines.get(player.value) is None):
        message = f"the task names no baseline {player.value!r} that could play"
        reading.add(player.place, message, (*path, "player"), "Add it to baselines.")
    stated = node.get("scores")
    if stated is not None and node.value["status"].value not in (Status.SCORED, Status.UNPARSED):
        message = "only a test that ends as scored or unparsed can state scores"
        reading.add(stated.place, message, (*path, "scores"))
    for name, member in (stated.value if stated is not None else {}).items():
        if scores is not None and not scores.has(name):
            place = member.key or member.place
            reading.add(place, f"no scorer of the task gives {name!r}", (*path, "scores", name), scores.cure(name))
        bounds = _bounds(plain(member))
        if bounds.low > bounds.high:
            reading.add(member.place, "min is above max", (*path, "scores", name))
    return len(reading.problems) == before


def _bounds(value: float | Mapping[str, float]) -> Bounds:
    if isinstance(value, Mapping):
        return Bounds(value.get("min", -math.inf), value.get("max", math.inf))
    return Bounds(value, value)


def _example(written: Mapping[str, Any]) -> Example:
    doc = written.get("doc")
    answers = written.get("answers", [written["answer"]] if "answer" in written else [])
    return Example(
        name=written["name"],
        doc=doc if doc is None or isinstance(doc, Mapping) else str(doc),
        answers=tuple(answers),
        status=Status(written["status"]),
        scores={name: _bounds(value) for name, value in written.get("scores", {}).items()},
        player=written.get("player"),
        finish_reason=written.get("finish_reason", "stop"),
    )
