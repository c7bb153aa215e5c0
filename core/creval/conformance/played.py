"""Rules on what comes out: the stated examples, floor below ceiling, the same twice, parsers against any text."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from creval.conformance.hostile import HOSTILE, SPOKEN
from creval.conformance.subject import Subject, play
from creval.engine.task_examples import run_examples
from creval.errors import CrevalError
from creval.parsing.chain import build_chain
from creval.tasks.model import ComponentRef, Said, Task
from creval.types.components import Parsed
from creval.types.sample import Status

__all__ = ["answers", "examples", "frame", "parsers", "repeatable"]

FEWEST = 3


def examples(subject: Subject, name: str) -> Iterator[str]:
    """The task states a gold answer and mutants, one that cannot be read among them, and each ends as stated."""
    task = subject.load(name)
    stated = [example.status for example in task.examples]
    if Status.SCORED not in stated:
        yield "`tests` has no gold answer: none with status: scored"
    if Status.UNPARSED not in stated:
        yield "`tests` has no answer that cannot be read: none with status: unparsed"
    if len(stated) < FEWEST:
        yield f"`tests` has {len(stated)} answers: state at least {FEWEST}"
    subject.need_data(task)
    for outcome in asyncio.run(run_examples(task, subject.options(task), subject.plugins)):
        yield from (f"{outcome.example}: {fault}" for fault in outcome.faults)


def answers(subject: Subject, name: str) -> Iterator[str]:
    """No answer of a model makes the protocol, a parser or a scorer raise: none ends as errored.

    The answers take the place of those of the task's first gold example; other roles say what that example scripts.
    """
    task = subject.load(name)
    gold = next((each for each in task.examples if each.status is Status.SCORED and each.player is None), None)
    if gold is None:
        return
    subject.need_data(task)
    spoken = [
        replace(gold, name=repr(text[:20]), answers=[[Said(text)] for _ in gold.answers], scores={}) for text in SPOKEN
    ]
    played = replace(task, examples=spoken)
    for outcome in asyncio.run(run_examples(played, subject.options(task), subject.plugins)):
        reason = outcome.score.reason or ""
        if outcome.score.status is Status.ERRORED and _SCRIPT_ENDS not in reason:
            yield f"the answer {outcome.example} ends as errored: {reason[:160]}"


_SCRIPT_ENDS = "more is asked for"
"""The example scripts fewer answers than are asked for: nothing that the task is at fault for."""


def frame(subject: Subject, name: str) -> Iterator[str]:
    """The task names a floor and a ceiling, and one of its metrics has the ceiling on its better side.

    Not always the primary one: random words are further apart than the best appropriate ones.
    """
    task = subject.load(name)
    missing = [player for player in ("floor", "ceiling") if player not in task.baselines]
    if missing:
        yield f"`baselines` names no {' and no '.join(missing)}"
        return
    subject.need_data(task)
    directed = {metric.name for metric in task.metrics if metric.higher_is_better is not None}
    if not directed:
        return
    low, high = (_values(subject.played(task, player)["metrics"]) for player in ("floor", "ceiling"))
    compared = [(name, *_oriented(task, name, low.get(name), high.get(name))) for name in sorted(directed)]
    if not any(floor is not None and ceiling is not None and floor < ceiling for _, floor, ceiling in compared):
        said = ", ".join(f"{name}: {low.get(name)} and {high.get(name)}" for name in sorted(directed))
        yield f"no metric tells the floor from the ceiling ({said})"


def _oriented(task: Task, name: str, low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """Return both numbers so that more is better."""
    better = next(metric.higher_is_better for metric in task.metrics if metric.name == name)
    sign = 1 if better else -1
    return (None if low is None else sign * low), (None if high is None else sign * high)


def repeatable(subject: Subject, name: str) -> Iterator[str]:
    """Two runs of the floor by one seed are the same: questions, answers and scores."""
    task = subject.load(name)
    if "floor" not in task.baselines:
        return
    subject.need_data(task)
    first, second = subject.played(task, "floor"), play(subject, task, "floor")
    for what in ("questions", "answers", "scores"):
        if first[what] != second[what]:
            key = next(key for key in first[what] if first[what][key] != second[what].get(key))
            yield f"the {what} of {key} differ between two runs by one seed: draw from `turn.random`, not from chance"
            return


def parsers(subject: Subject) -> Iterator[str]:
    """The chains of parsers that the tasks use, and the plugin's parsers alone, take any text without raising."""
    chains: dict[str, tuple[str, list[ComponentRef]]] = {}
    for name in subject.tasks:
        try:
            task = subject.load(name)
        except CrevalError:
            continue
        if task.parse:
            chains.setdefault(repr(list(task.parse)), (f"the parsers of {name}", list(task.parse)))
    for component in subject.plugins.registry.all():
        free = not component.parameters.get("required")
        if component.kind == "parser" and component.plugin == subject.name and free:
            ref = ComponentRef(component.qualified)
            chains.setdefault(repr([ref]), (f"the parser {component.name}", [ref]))
    for who, refs in chains.values():
        yield from _tried(who, refs, subject)


def _tried(who: str, refs: list[ComponentRef], subject: Subject) -> Iterator[str]:
    try:
        chain = build_chain(refs, subject.plugins.registry)
    except CrevalError as error:
        yield f"{who} cannot be made: {error.what}"
        return
    for text in HOSTILE:
        shown = repr(text if len(text) <= 20 else f"{text[:20]}...")
        try:
            parsed = chain.parse(text)
        except (Exception, SystemExit) as error:
            yield f"{who} raised {type(error).__name__} on {shown}: {str(error)[:120]}"
            return
        if not isinstance(parsed, Parsed) or (not parsed.ok and not parsed.reason):
            yield f"{who} gave no reason for not reading {shown}"
            return


def _values(metrics: list[dict[str, Any]]) -> dict[str, float | None]:
    """The values over all conditions, by the metric's name without the instruments in brackets."""
    return {each["name"].partition("[")[0]: each["value"] for each in metrics if each["condition"] is None}
