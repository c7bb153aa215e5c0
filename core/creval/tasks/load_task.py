"""Loads a task: reads its file with includes and overrides, and turns the merged tree into a `Task`.

All problems of a task are reported together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from creval.errors import Problem, TaskError
from creval.plugins.loader import LOCAL
from creval.plugins.registry import Registry
from creval.tasks.overrides import Overrides, apply_overrides
from creval.tasks.sections.dataset_section import OWN_KEYS, read_dataset
from creval.tasks.sections.examples import Known, read_examples
from creval.tasks.sections.prompts import check_prompts, media_fields, read_prompts
from creval.tasks.sections.resource_section import check_uses, read_baselines, read_resources
from creval.tasks.sections.roles import add_asked, read_human, read_roles
from creval.tasks.sections.scoring_section import (
    ScoreNames,
    produced_scores,
    read_combined,
    read_list,
    read_metrics,
    read_readings,
    read_scorers,
)
from creval.tasks.sections.section_reader import Reading
from creval.tasks.sections.settings import read_conditions, read_generation
from creval.tasks.sections.tools_section import check_tools
from creval.tasks.task_components import ComponentReader, FoundComponent, Written
from creval.tasks.task_model import CombinedMetric, DatasetRef, Example, MetricSpec, Task, TaskSource
from creval.tasks.task_paths import Owner, TaskFile
from creval.tasks.yaml.includes import Library, included_files, read_merged
from creval.tasks.yaml.nodes import Node, format_path, plain, walk
from creval.tasks.yaml.schema import named_validator, problems_of
from creval.types.sample import Condition
from creval.types.tools import Tool

__all__ = ["Lookup", "load_task"]


DEFAULT_PROTOCOL = "chat"

_NOT_HASHED = ("title", "description", "tests", "template", "cluster", "human", "parity", "named_by")
"""Keys that describe a task, concern people alone, or affect only intervals. Every other key is hashed as stated, and
only if stated: a key that a later version adds leaves the hash of tasks without it unchanged."""

_HASHED_ALWAYS = ("source", "id")


class _Parts(NamedTuple):
    """The components of a task."""

    dataset: tuple[DatasetRef, FoundComponent] | None
    protocol: FoundComponent | None
    parse: Sequence[FoundComponent]
    readings: Mapping[str, Sequence[FoundComponent]]
    score: Sequence[FoundComponent]
    metrics: Sequence[tuple[MetricSpec, FoundComponent]]
    combined: Sequence[CombinedMetric]
    baselines: Mapping[str, FoundComponent]

    def acting(self) -> list[FoundComponent]:
        """Return the components that make and score samples; in a task with problems some may be missing."""
        return [*([self.protocol] if self.protocol else []), *self._parsers(), *self.score, *self.baselines.values()]

    def _parsers(self) -> list[FoundComponent]:
        return [parser for chain in (self.parse, *self.readings.values()) for parser in chain]

    def used(self) -> list[FoundComponent]:
        """Return all components."""
        return [*self.acting(), *([self.dataset[1]] if self.dataset else []), *(found for _, found in self.metrics)]

    def references(self) -> dict[str, Any]:
        """Return the components as fields of `Task`, for a task without problems."""
        assert self.dataset is not None and self.protocol is not None
        return {
            "dataset": self.dataset[0],
            "protocol": self.protocol.ref,
            "parse": tuple(found.ref for found in next(iter(self.readings.values()), self.parse)),
            "readings": {name: tuple(found.ref for found in chain) for name, chain in self.readings.items()},
            "score": tuple(found.ref for found in self.score),
            "metrics": tuple(metric for metric, _ in self.metrics),
            "combined": self.combined,
            "baselines": {name: found.ref for name, found in self.baselines.items()},
        }

    def canonical(self, resolved: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the sections made of components as plain data, the same however they are written."""
        assert self.dataset is not None and self.protocol is not None
        reference, source = self.dataset
        later = {
            key: resolved["dataset"][key]
            for key in OWN_KEYS
            if key not in _HASHED_ALWAYS and key in resolved["dataset"] and key not in source.ref.parameters
        }
        readings = {name: [found.canonical() for found in chain] for name, chain in self.readings.items()}
        # As written, not as resolved: the hash must not depend on which other plugins are installed.
        return {
            "dataset": [source.canonical(), reference.id_field, *([later] if later else [])],
            "protocol": self.protocol.canonical(),
            "parse": [found.canonical() for found in self.parse],
            "score": [found.canonical() for found in self.score],
            "baselines": {name: found.canonical() for name, found in self.baselines.items()},
            **({"readings": readings} if readings else {}),
            "metrics": [
                *([_metric_content(metric, found), found.canonical()] for metric, found in self.metrics),
                *(asdict(metric) for metric in self.combined),
            ],
        }


def _metric_content(metric: MetricSpec, found: FoundComponent) -> Mapping[str, Any]:
    """Return a metric's content for the hash, with the unqualified name of its aggregation."""
    content = dict(metric.content())
    return content | {"aggregate": {**content["aggregate"], "name": found.component.name}}


def build_task(root: Node, file: Path, owner: Owner, registry: Registry, find_files: bool = False) -> Task:
    """Read a task. `root` is a tree without includes (see `creval.tasks.yaml.includes`).

    With `find_files` a missing data file is a problem. Raises TaskError with every problem.
    """
    root = _without_nulls(root)
    shape = problems_of(root, named_validator("task"))
    if not root.is_mapping:
        raise TaskError(shape)
    reading = Reading(root, owner, registry, shape)
    prompts = read_prompts(reading)
    roles = read_roles(reading, prompts)
    generation = read_generation(reading)
    check_tools(reading)
    parts, scores, conditions = _read_parts(reading, find_files)
    resources = read_resources(reading)
    check_uses(reading, parts.used())
    check_prompts(reading, parts.acting(), {*prompts, *roles.prompt_names()})
    add_asked(reading, roles, parts.protocol, parts.used())
    examples = read_examples(reading, Known(scores, [condition.name for condition in conditions], roles.names))
    human = read_human(reading, parts.protocol.ref.name if parts.protocol else None)
    if shape or reading.problems:
        raise TaskError(_in_order([*shape, *reading.problems]))
    resolved = plain(reading.root)
    references = parts.references()
    media = media_fields([*prompts.values(), *(each for own in roles.prompts.values() for each in own.values())])
    if media:
        references = {**references, "dataset": replace(references["dataset"], media=media)}
    return Task(
        file=file,
        hash=_hash(resolved, parts, owner),
        prompts=prompts,
        generation=generation,
        conditions=tuple(conditions),
        resources=resources,
        roles=roles.names,
        role_models=roles.models,
        role_settings=roles.settings,
        role_prompts=roles.prompts,
        making_roles=roles.making,
        human=human,
        **references,
        **_about(reading, resolved, examples),
    )


def _read_parts(reading: Reading, find_files: bool) -> tuple[_Parts, ScoreNames | None, Sequence[Condition]]:
    """Read the sections made of components. Return the components, the names of the scores, and the conditions."""
    protocol = _read_protocol(reading)
    conditions = read_conditions(reading, protocol.component if protocol else None)
    dataset = read_dataset(reading, str(reading.value("task", "")), find_files)
    readings = read_readings(reading)
    scorers = read_scorers(reading, readings)
    scores = produced_scores(reading, scorers)
    metrics = read_metrics(reading, scores)
    parts = _Parts(
        dataset=dataset,
        protocol=protocol,
        parse=read_list(reading, "parse", "parser"),
        readings=readings,
        score=scorers,
        metrics=metrics,
        combined=read_combined(reading, [metric for metric, _ in metrics]),
        baselines=read_baselines(reading),
    )
    return parts, scores, conditions


def _about(reading: Reading, resolved: Mapping[str, Any], examples: Sequence[Example]) -> Mapping[str, Any]:
    owner = reading.owner
    return {
        "name": resolved["task"],
        "short_name": resolved["task"],
        "plugin": owner.plugin,
        "plugin_version": owner.version,
        "version": resolved["version"],
        "title": resolved["title"],
        "description": resolved.get("description", ""),
        "measures": tuple(resolved.get("measures", ())),
        "source": TaskSource(**resolved.get("source", {})),
        "requires": tuple(resolved.get("requires", ())),
        "repeats": int(resolved.get("repeats", 1)),
        "cluster": resolved.get("cluster", "doc"),
        "template": bool(resolved.get("template", False)),
        "by_reference": resolved.get("store") == "reference",
        "resolved": resolved,
        "origins": _origins(reading.root),
        "examples": tuple(examples),
        "keep_reasoning": resolved.get("reasoning") == "keep",
        "tools": tuple(Tool(**each) for each in resolved.get("tools", ())),
    }


def _without_nulls(root: Node) -> Node:
    """Remove empty sections, such as `baselines:` with nothing after it."""
    if not root.is_mapping:
        return root
    return Node({key: node for key, node in root.value.items() if node.value is not None}, root.place, root.key)


def _read_protocol(reading: Reading) -> FoundComponent | None:
    node = reading.section("protocol")
    if node is not None:
        return reading.component("protocol", node, ("protocol",)) if reading.sound(("protocol",)) else None
    root = reading.root
    reader = ComponentReader(reading.registry, reading.owner.plugin, reading.problems)
    return reader.resolve("protocol", Written(DEFAULT_PROTOCOL, root, Node({}, root.place), ("protocol",)))


def _origins(root: Node) -> Mapping[str, str]:
    """Return `file:line` of every leaf (a list of scalars counts as one)."""
    origins: dict[str, str] = {}
    inside: tuple[str | int, ...] | None = None
    for path, node in walk(root):
        if inside is not None and path[: len(inside)] == inside:
            continue
        inside = None
        flat = node.is_list and not any(member.is_mapping or member.is_list for member in node.value)
        if flat:
            inside = path
        if flat or not (node.is_mapping or node.is_list) or not node.value:
            origins[format_path(path)] = f"{node.place.file}:{node.place.line}"
    return origins


def _hash(resolved: Mapping[str, Any], parts: _Parts, owner: Owner) -> str:
    """Return the sha256 of a task's resolved content and its plugin's version, without descriptive keys."""
    content = {key: value for key, value in resolved.items() if key not in _NOT_HASHED}
    content.update(parts.canonical(resolved), plugin=owner.plugin, plugin_version=owner.version)
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _in_order(problems: Sequence[Problem]) -> Sequence[Problem]:
    """Return each problem once, by file and line."""
    return sorted(dict.fromkeys(problems), key=lambda p: (str(p.file), p.line or 0, p.column or 0))


class Lookup(Library, Protocol):
    """The part of the index that loading uses: files by name or path, and the plugin that a file belongs to."""

    def owner(self, file: Path) -> Owner: ...


def load_task(
    place: TaskFile, lookup: Lookup, registry: Registry, overrides: Sequence[Overrides] = (), find_files: bool = False
) -> Task:
    """Load one task and apply overrides in order. Raises TaskError with every problem.

    With `find_files` a missing data file is a problem too.
    """
    document = read_merged(place, lookup)
    problems: list[Problem] = list(document.problems)
    root = document.root
    if root is None:
        raise TaskError(problems)
    if root.is_mapping:
        for given in overrides:
            root, faults = apply_overrides(root, given)
            problems.extend(faults)
    try:
        task = build_task(root, place.file, lookup.owner(place.file), registry, find_files)
    except TaskError as error:
        raise TaskError([*problems, *(p for p in error.problems if p not in problems)]) from None
    if problems:
        raise TaskError(problems)
    return replace(task, base=_base(place, lookup, registry, overrides))


def _base(place: TaskFile, lookup: Lookup, registry: Registry, overrides: Sequence[Overrides]) -> Task | None:
    """Return the plugin's task that a task from outside the plugin builds on; None for the plugin's own tasks.

    A file that is only included (`_game.yaml`) and a template (`template: true`) do not count as such a task.
    """
    own = lookup.owner(place.file).plugin
    changed = any(lookup.owner(given.node.place.file).plugin != own for given in overrides)
    places = [*([place] if changed and own != LOCAL else []), *included_files(place, lookup)]
    for candidate in places:
        owner = lookup.owner(candidate.file).plugin
        shared = candidate.variant is None and candidate.file.name.startswith("_")
        if owner == LOCAL or shared or (owner == own and candidate != place):
            continue
        base = load_task(candidate, lookup, registry)
        if not base.template:
            return base
    return None
