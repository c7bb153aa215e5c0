"""Reads `parse:`, `score:` and `metrics:`, which lead from answers to numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from creval.errors import Problem, nearest
from creval.plugins.registry import ANY_SCORE, Range
from creval.tasks.sections.section_reader import Reading
from creval.tasks.task_components import ComponentReader, FoundComponent, Written, unfold
from creval.tasks.task_model import CombinedMetric, ComponentRef, MetricSpec, ScorerRef
from creval.tasks.yaml.nodes import KeyPath, Node, plain
from creval.types.kinds import Kind

__all__ = [
    "ScoreNames",
    "produced_scores",
    "read_combined",
    "read_list",
    "read_metrics",
    "read_readings",
    "read_scorers",
]

DEFAULT_AGGREGATION = "mean"
_OF_COMBINED = ("name", "of", "ci", "higher_is_better", "primary", "unit", "description", "by")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")
_TURN = re.compile(r"[1-9][0-9]{0,3}")
_TURNS = "@*"
_TURN_OF = re.compile(r"@([1-9][0-9]{0,3})\b")


def read_list(reading: Reading, key: str, kind: Kind) -> Sequence[FoundComponent]:
    """Read a list of components, or a single one."""
    found = [reading.component(kind, node, path) for path, node in reading.entries(key)]
    return [component for component in found if component is not None]


def read_readings(reading: Reading) -> Mapping[str, Sequence[FoundComponent]]:
    """Return the parsers of each named reading of the answers."""
    node = reading.section("readings")
    if node is None:
        return {}
    if reading.section("parse") is not None:
        fix = "Keep one of them; parse: null removes an included parse."
        reading.add(node.key or node.place, "readings replace parse", ("readings",), fix)
    found = {}
    for path, name, member in reading.members("readings"):
        items = [((*path, i), item) for i, item in enumerate(member.value)] if member.is_list else [(path, member)]
        parsers = [reading.component("parser", item, at) for at, item in items]
        found[name] = [parser for parser in parsers if parser is not None]
    return found


def read_scorers(reading: Reading, readings: Mapping[str, Sequence[FoundComponent]]) -> Sequence[FoundComponent]:
    """Read the scorers; one that names no reading scores each of them, under different names."""
    scorers = []
    for position, (path, node) in enumerate(reading.entries("score")):
        given = unfold(node, path)
        if isinstance(given, Problem):
            reading.problems.append(given)
            continue
        found, options = _read_scorer(reading, given)
        if found is None:
            continue
        single = len(found.component.produces) == 1 and ANY_SCORE not in found.component.produces
        if not (options or readings):
            scorers.append(found)
            continue
        reading_name = options.get("reading")
        for name in [reading_name] if reading_name is not None else [*readings] or [""]:
            called = (name, options.get("as", ""), _suffix(name, options), single, position)
            scorers.append(found._replace(ref=ScorerRef(found.ref.name, found.ref.parameters, *called)))
    return scorers


def _suffix(reading: str, options: Mapping[str, str]) -> str:
    """Return the suffix of a score's name: the reading, unless the file names both the score and the reading."""
    return "" if "as" in options and "reading" in options else reading


def _read_scorer(reading: Reading, given: Written) -> tuple[FoundComponent | None, Mapping[str, str]]:
    """Return a scorer, and its keys that are not parameters: `reading` and `as`."""
    component = reading.registry.find("scorer", given.name)
    parameter_schemas = component.parameters.get("properties", {}) if component is not None else {}
    option_nodes = {key: given.parameters.get(key) for key in ("reading", "as") if key not in parameter_schemas}
    options = {key: node for key, node in option_nodes.items() if node is not None}
    remaining = {key: node for key, node in given.parameters.value.items() if key not in options}
    parameters = Node(remaining, given.parameters.place, given.parameters.key)
    written = given._replace(parameters=parameters, other_keys=(*given.other_keys, *option_nodes))
    scorer = ComponentReader(reading.registry, reading.owner.plugin, reading.problems).resolve("scorer", written)
    readings = list(reading.value("readings", {}))
    for key, node in options.items():
        path = (*given.path, key)
        if key == "as" and not (isinstance(node.value, str) and _NAME.fullmatch(node.value)):
            reading.add(node.place, f"{node.value!r} is not a name for a score", path, "Use letters, digits and _.")
        elif key == "reading" and node.value not in readings:
            fix = f"There are: {', '.join(readings)}." if readings else "Add readings: {NAME: its parsers}."
            reading.add(node.place, f"the task has no reading {node.value!r}", path, fix)
    return scorer, {key: str(node.value) for key, node in options.items()}


class ScoreNames:
    """The names of the scores that a task's scorers produce.

    If `is_open`, a scorer names some at run time, and any name may be right.

    `givers` maps each score to its scorer and the scorer's own name for it; in `rating@*` the `*` is the number of a
    turn.
    """

    def __init__(
        self, givers: Mapping[str, tuple[FoundComponent, str]], open_givers: Sequence[FoundComponent] = ()
    ) -> None:
        self.names = list(givers)
        self.is_open = bool(open_givers)
        self._givers = givers
        self._open_givers = open_givers

    def range_of(self, name: str) -> Range | None:
        """Return the range of a score, if its scorer declares one."""
        given = self._giver(name)
        givers = (
            [given] if given is not None else [(found, _scorer_name(found.ref, name)) for found in self._open_givers]
        )
        for found, raw in givers:
            said = None if raw is None else found.component.range_of(raw, found.ref.parameters)
            if said is not None:
                return said
        return None

    def has(self, name: str) -> bool:
        return self.is_open or self._giver(name) is not None

    def is_mean_of_turns(self, name: str) -> bool:
        """Whether a score is a mean over turns whose parts (`NAME@1` ...) its scorer also produces."""
        given = self._givers.get(name)
        return given is not None and any(
            found is given[0] and raw == f"{given[1]}{_TURNS}" for found, raw in self._givers.values()
        )

    def fix(self, name: str) -> str:
        turn = _TURN_OF.search(name)
        known = [each.replace("*", turn[1] if turn else "1") for each in self.names]
        near = nearest(name, known)
        if near:
            return f"Did you mean {near[0]!r}?"
        return f"The scorers return: {', '.join(known)}." if known else "The scorers return no score."

    def _giver(self, name: str) -> tuple[FoundComponent, str] | None:
        """Return the scorer of a score, and the scorer's own name for it."""
        if name in self._givers:
            return self._givers[name]
        for pattern, (found, raw) in self._givers.items():
            stem, star, end = pattern.partition("*")
            turn = name.removeprefix(stem).removesuffix(end) if star and name.startswith(stem) else ""
            if star and name == f"{stem}{turn}{end}" and _TURN.fullmatch(turn):
                return found, raw.replace("*", turn)
        return None


def produced_scores(reading: Reading, scorers: Sequence[FoundComponent]) -> ScoreNames | None:
    """Collect what the scorers produce; None if one of the scorers is unknown."""
    giver: dict[str, tuple[FoundComponent, str]] = {}
    open_givers: list[FoundComponent] = []
    for found in scorers:
        for raw in found.component.scores_of(found.ref.parameters):
            name = _score_name(found.ref, raw)
            if raw == ANY_SCORE:
                open_givers.append(found)
            elif name in giver:
                other = giver[name][0].component.name
                message = f"the scorers {other!r} and {found.component.name!r} both return {name!r}"
                fix = "Keep one of them, or give one another name: as: NAME."
                reading.add(found.written.node.place, message, found.written.path, fix)
            else:
                giver[name] = (found, raw)
    node = reading.section("score")
    written = len(node.value) if node is not None and node.is_list else 1
    read = len({found.ref.position if isinstance(found.ref, ScorerRef) else id(found) for found in scorers})
    return ScoreNames(giver, open_givers) if read == written else None


def _scorer_name(ref: ComponentRef, name: str) -> str | None:
    """Return the scorer's own name for a score of the task, or None if the scorer does not produce it."""
    return ref.own(name) if isinstance(ref, ScorerRef) else name


def _score_name(ref: ComponentRef, score: str) -> str:
    return ref.named(score) if isinstance(ref, ScorerRef) and score != ANY_SCORE else score


def read_metrics(reading: Reading, scores: ScoreNames | None) -> Sequence[tuple[MetricSpec, FoundComponent]]:
    """Read the metrics; the first is primary unless another one is marked as primary."""
    metrics: list[tuple[MetricSpec, FoundComponent]] = []
    seen: set[str] = set()
    for path, node in reading.entries("metrics"):
        name = node.value["name"]
        if name.value in seen:
            reading.add(name.place, f"two metrics are called {name.value!r}", (*path, "name"), "Rename one of them.")
        seen.add(name.value)
        if node.get("of") is not None:
            continue
        source = node.get("from") or name
        if scores is not None and not scores.has(source.value):
            at = (*path, "from") if node.get("from") else (*path, "name")
            reading.add(source.place, f"no scorer of the task returns {source.value!r}", at, scores.fix(source.value))
        aggregation = _aggregation(reading, node, path)
        if aggregation is not None:
            _check_scores(reading, aggregation, (*path, "aggregate"), (node, scores))
            metric = _metric(node, source.value, aggregation, None if scores is None else scores.range_of(source.value))
            _check_range(reading, metric, (*path, "range"), node)
            _check_weight(reading, metric, (*path, "weight"), (node, scores))
            _check_by(reading, metric, path, node)
            metrics.append((metric, aggregation))
    if _check_primary(reading) and metrics:
        first, found = metrics[0]
        metrics[0] = (_with_primary(first), found)
    return metrics


def _check_scores(
    reading: Reading, aggregation: FoundComponent, path: KeyPath, at: tuple[Node, ScoreNames | None]
) -> None:
    """Check that an aggregation's parameter `scores`, if it is a list, names scores of the task."""
    node, scores = at
    named = aggregation.ref.parameters.get("scores")
    if scores is None or not isinstance(named, list | tuple):
        return
    for name in named:
        if not scores.has(name):
            reading.add(
                node.value["aggregate"].place, f"no scorer of the task returns {name!r}", path, scores.fix(name)
            )


def read_combined(reading: Reading, metrics: Sequence[MetricSpec]) -> Sequence[CombinedMetric]:
    """Read the metrics that are made of others."""
    known = {metric.name: metric for metric in metrics}
    combined = []
    for path, node in reading.entries("metrics"):
        of = node.get("of")
        if of is None:
            continue
        ((how, listed),) = of.value.items()
        for key in [key for key in node.value if key not in _OF_COMBINED]:
            message = f"a metric of metrics has no {key!r}: its parts have"
            fix = f"It may have {', '.join(_OF_COMBINED)}."
            if key == "average":  # its parts may not have it either
                message = "no mean over groups can be made of a metric of metrics (yet)"
                fix = "Leave out average; by: FIELD reports the metric for each group."
            reading.add(node.value[key].place, message, (*path, key), fix)
        for index, part in enumerate(listed.value):
            at = (*path, "of", how, index)
            if part.value not in known:
                near = nearest(str(part.value), known)
                fix = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known)}."
                reading.add(part.place, f"no metric with its own scores is called {part.value!r}", at, fix)
            elif known[part.value].group is not None or known[part.value].average != "micro":
                what = f"{part.value!r} is a number over groups, so it cannot be part of another metric"
                reading.add(part.place, what, at, "Name a metric without group and average.")
        entry = plain(node)
        identity = (entry["name"], how, tuple(map(str, entry["of"][how])))
        metric = CombinedMetric(*identity, **{key: entry[key] for key in _OF_COMBINED[2:] if key in entry})
        _check_by(reading, metric, path, node)
        combined.append(metric)
    if combined and not metrics:
        reading.add(reading.root.place, "every metric combines others", ("metrics",), "Add those that it combines.")
    return tuple(combined)


def _check_by(reading: Reading, metric: MetricSpec | CombinedMetric, path: KeyPath, node: Node) -> None:
    """Check `by`, a field of the docs whose values appear in the results."""
    by, average = node.get("by"), node.get("average")
    if by is None:
        if average is not None:
            reading.add(average.place, "an average over groups needs by", (*path, "average"), "Add by: FIELD.")
        return
    at = (*path, "by")
    if reading.value("store", "whole") == "reference":
        what = "the results would contain values of the docs, which store: reference forbids"
        reading.add(by.place, what, at, "Leave out by.")
    if isinstance(metric, MetricSpec) and metric.group is not None:
        reading.add(by.place, "a metric has either group or by", at, "Leave out one of them.")


def _aggregation(reading: Reading, node: Node, path: KeyPath) -> FoundComponent | None:
    written = node.get("aggregate")
    if written is not None:
        return reading.component("aggregation", written, (*path, "aggregate"))
    reader = ComponentReader(reading.registry, reading.owner.plugin, reading.problems)
    return reader.resolve("aggregation", Written(DEFAULT_AGGREGATION, node, Node({}, node.place), path))


def _metric(node: Node, source: str, aggregation: FoundComponent, declared: Range | None) -> MetricSpec:
    """Make a metric; without `range` and `binary` it has what its scorer declares."""
    entry = plain(node)
    optional = (
        "ci",
        "failed",
        "failed_value",
        "higher_is_better",
        "primary",
        "unit",
        "description",
        "binary",
        "weight",
        "group",
        "by",
        "average",
    )
    options = {key: entry[key] for key in optional if key in entry}
    if "range" in entry:
        options["range"] = tuple(entry["range"])
    elif "binary" not in entry and declared is not None:
        options |= {"binary": True} if isinstance(declared, str) else {"range": _with_failures(declared, options)}
    return MetricSpec(name=entry["name"], source=source, aggregate=aggregation.ref, stated=frozenset(entry), **options)


def _with_failures(declared: tuple[float | None, float | None], options: Mapping[str, Any]) -> tuple[Any, Any]:
    """Widen a declared range to include the value of a failed answer."""
    low, high = declared
    if options.get("failed", "zero") != "zero":
        return declared
    failed_value = options.get("failed_value", 0.0)
    return (None if low is None else min(low, failed_value)), (None if high is None else max(high, failed_value))


def _check_range(reading: Reading, metric: MetricSpec, path: KeyPath, node: Node) -> None:
    """Check that the value of a failed answer is within the declared range, as intervals have to be."""
    place = (node.get("range") or node).place
    low, high = metric.range
    if low is not None and high is not None and not low < high:
        reading.add(place, f"the range ends at {high:g} and begins at {low:g}", path, "Write [lowest, highest].")
        return
    if metric.binary and metric.range not in ((None, None), (0, 1)):
        reading.add(place, "the scores of a binary metric are 0 or 1", path, "Leave out the range.")
    low, high = (0.0, 1.0) if metric.binary else (low, high)
    counts = metric.failed_value
    outside = (low is not None and counts < low) or (high is not None and counts > high)
    if metric.failed == "zero" and outside:
        message = f"a failed answer counts {counts:g}, which lies outside the range"
        reading.add(place, message, path, "Widen the range, or set failed_value.")


def _check_weight(reading: Reading, metric: MetricSpec, path: KeyPath, context: tuple[Node, ScoreNames | None]) -> None:
    """Check a weight: a score of the task, in a mean (also of logarithms) over the samples that have both scores."""
    node, scores = context
    weight = node.get("weight")
    if weight is None or metric.weight is None:
        return
    if scores is not None and not scores.has(metric.weight):
        message = f"no scorer of the task returns {metric.weight!r}"
        reading.add(weight.place, message, path, scores.fix(metric.weight))
    elif scores is not None and scores.is_mean_of_turns(metric.source) and scores.is_mean_of_turns(metric.weight):
        message = f"{metric.source!r} and {metric.weight!r} are means over turns, which cannot weight each other"
        fix = f"Weight each turn: from: {metric.source}@1, weight: {metric.weight}@1. Or leave out weight."
        reading.add(weight.place, message, path, fix)
    if metric.aggregate.name not in (DEFAULT_AGGREGATION, "perplexity"):
        message = f"a weight works with the mean, not with {metric.aggregate.name}"
        reading.add(weight.place, message, path, "Leave out aggregate, or the weight.")
    if metric.failed != "exclude":
        message = "an answer that failed has no weight, so it cannot count as zero"
        reading.add(weight.place, message, path, "Write failed: exclude.")


def _with_primary(metric: MetricSpec) -> MetricSpec:
    return replace(metric, primary=True)


def _check_primary(reading: Reading) -> bool:
    """Refuse a second primary metric. Return whether none is stated."""
    primary = [
        (path, node)
        for path, node in reading.entries("metrics")
        if (flag := node.get("primary")) and flag.value is True
    ]
    for path, node in primary[1:]:
        flag = node.value["primary"]
        reading.add(flag.place, "a second metric is called primary", (*path, "primary"), "Keep one of them.")
    return not primary
