"""Reads `tests:`, the gold answer and the mutants of a task with their expected outcomes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from creval.errors import nearest
from creval.tasks.sections.scoring_section import ScoreNames
from creval.tasks.sections.section_reader import Reading
from creval.tasks.task_model import Bounds, Example, Said
from creval.tasks.yaml.nodes import KeyPath, Node, plain
from creval.types.sample import Status
from creval.types.tools import tool_calls_from_json

__all__ = ["Known", "read_examples"]

_WAYS = ("answer", "answers", "baseline")


class Known(NamedTuple):
    """The names that a test may use: the task's scores, conditions and roles."""

    scores: ScoreNames | None
    conditions: Sequence[str]
    roles: Sequence[str]


def read_examples(reading: Reading, known: Known) -> Sequence[Example]:
    """Read the section."""
    examples = []
    seen: set[str] = set()
    for path, node in reading.entries("tests"):
        name = node.value["name"]
        if name.value in seen:
            reading.add(name.place, f"two tests are called {name.value!r}", (*path, "name"), "Rename one of them.")
        seen.add(name.value)
        if _check(reading, node, path, known):
            examples.append(_example(plain(node)))
    return tuple(examples)


def _check(reading: Reading, node: Node, path: KeyPath, known: Known) -> bool:
    before, scores = len(reading.problems), known.scores
    condition, roles = node.get("condition"), node.get("roles")
    if condition is not None and condition.value not in known.conditions:
        near = nearest(condition.value, known.conditions)
        fix = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known.conditions)}."
        reading.add(condition.place, f"the task has no condition {condition.value!r}", (*path, "condition"), fix)
    for name, member in (roles.value if roles is not None else {}).items():
        if name not in known.roles:
            fix = f"There are: {', '.join(known.roles)}." if known.roles else "It asks none."
            reading.add(member.key or member.place, f"the task asks no role {name!r}", (*path, "roles", name), fix)
    ways = [way for way in _WAYS if node.get(way) is not None]
    if len(ways) != 1:
        reading.add(node.place, f"a test has exactly one of {', '.join(_WAYS)}", path)
    baseline = node.get("baseline")
    baselines = reading.section("baselines")
    if baseline is not None and (baselines is None or baselines.get(baseline.value) is None):
        message = f"the task names no baseline {baseline.value!r}"
        reading.add(baseline.place, message, (*path, "baseline"), "Add it to baselines.")
    stated = node.get("scores")
    if stated is not None and node.value["status"].value == Status.ERRORED:
        message = "a test that ends as errored states no scores"
        reading.add(stated.place, message, (*path, "scores"))
    for name, member in (stated.value if stated is not None else {}).items():
        if scores is not None and not scores.has(name):
            place = member.key or member.place
            reading.add(place, f"no scorer of the task returns {name!r}", (*path, "scores", name), scores.fix(name))
        bounds = _bounds(plain(member))
        if bounds.low > bounds.high:
            reading.add(member.place, "min is above max", (*path, "scores", name))
    return len(reading.problems) == before


def _bounds(value: float | Mapping[str, float]) -> Bounds:
    if isinstance(value, Mapping):
        return Bounds(value.get("min", -math.inf), value.get("max", math.inf))
    return Bounds(value, value)


def _example(entry: Mapping[str, Any]) -> Example:
    doc = entry.get("doc")
    answers = entry.get("answers", [entry["answer"]] if "answer" in entry else [])
    finish_reason = entry.get("finish_reason", "stop")
    return Example(
        name=entry["name"],
        doc=doc if doc is None or isinstance(doc, Mapping) else str(doc),
        answers=tuple(_completions(answer, finish_reason) for answer in answers),
        status=Status(entry["status"]),
        scores={name: _bounds(value) for name, value in entry.get("scores", {}).items()},
        baseline=entry.get("baseline"),
        condition=entry.get("condition"),
        roles={
            role: tuple(_scripted_answer(each, "stop") for each in said)
            for role, said in entry.get("roles", {}).items()
        },
    )


def _completions(answer: Any, finish_reason: str) -> tuple[Said, ...]:
    """Return what one call gets: one completion, or several."""
    return tuple(_scripted_answer(each, finish_reason) for each in (answer if isinstance(answer, list) else [answer]))


def _scripted_answer(entry: str | Mapping[str, Any], finish_reason: str) -> Said:
    if isinstance(entry, str):
        return Said(entry, finish_reason)
    calls = tool_calls_from_json(entry.get("tool_calls"))
    return Said(**{"finish_reason": "tool_calls" if calls else finish_reason, **entry, "tool_calls": calls})
