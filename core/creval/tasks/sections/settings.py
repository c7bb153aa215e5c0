"""Reads `generation:`, `conditions:` and `repeats:`: how often and with which settings the model is asked."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from creval.errors import nearest
from creval.plugins.registry import Component
from creval.tasks.sections.section_reader import Reading
from creval.tasks.yaml.nodes import KeyPath, Node, plain
from creval.tasks.yaml.schema import load_schema, problems_of, validator_for
from creval.types.sample import Condition

__all__ = [
    "CONDITION_KEY",
    "EXTRA",
    "MAX_CELLS",
    "acts_outside",
    "cells",
    "condition_name",
    "generation_settings",
    "read_conditions",
    "read_generation",
    "read_settings",
    "varied_settings",
]

CONDITION_KEY = "x-condition"
"""A mark in a protocol's parameter schema: the task's conditions may vary the parameter."""

EXTRA = "extra"
"""The key of `generation` for settings outside the chat-completions protocol."""

MAX_CELLS = 10_000
_ACTS = re.compile(
    r"(?:^|_)(?:api|base|url|urls|uri|endpoint|host|proxy|proxies|key|keys|secret|password|credential|credentials|header"
    r"|headers|client|callback|callbacks|fallbacks?|llm_provider|organization|profile|region|aws|azure|vertex|watsonx|mock"
    r"|model|file|path|folder|dir)(?:$|_)|(?:^|_)(?:ad|auth|access|session|bearer)_token|^token$"
)
_SIMPLE = re.compile(r"[A-Za-z0-9_.:-]+")


def generation_settings() -> Mapping[str, Any]:
    """Return the known generation settings, each with the JSON Schema of its value."""
    properties: Mapping[str, Any] = load_schema("task")["$defs"]["generation"]["properties"]
    return {name: schema for name, schema in properties.items() if name != EXTRA}


def acts_outside(name: str) -> bool:
    """Whether a setting may do more than control sampling: name an address, a key, a file or another provider."""
    return name not in (*generation_settings(), "prompt_cache_key") and _ACTS.search(name.lower()) is not None


def read_generation(reading: Reading) -> Mapping[str, Any]:
    """Return all settings in one mapping, those under `extra` among them."""
    node = reading.section("generation")
    return {} if node is None or not node.is_mapping else read_settings(reading, node, ("generation",))


def read_settings(reading: Reading, section: Node, at: KeyPath) -> Mapping[str, Any]:
    """Return the settings in a mapping, without those that the schema rejected."""
    settings: dict[str, Any] = {}
    for name, node in section.value.items():
        path = (*at, name)
        if not reading.sound(path):
            continue
        if name != EXTRA:
            settings[name] = plain(node)
            continue
        for key, member in node.value.items():
            if key in generation_settings():
                message = f"{key!r} is a known setting; {EXTRA} is only for others"
                fix = "Write it one level higher, where its value is checked."
                reading.add(member.key or member.place, message, (*path, key), fix)
            elif acts_outside(key):
                message = f"{key!r} is not a sampling setting: a task file cannot set where calls go or what they read"
                fix = f"Leave it out here. Users of the task may add: --generation extra.{key}=..."
                reading.add(member.key or member.place, message, (*path, key), fix)
            settings[key] = plain(member)
    return settings


def condition_name(settings: Mapping[str, Any]) -> str:
    """Return the canonical name of a grid cell, e.g. `temperature=1.5,top_p=1`, or `default` without settings."""
    return ",".join(f"{name}={_value_text(value)}" for name, value in settings.items()) or "default"


def _value_text(value: Any) -> str:
    if isinstance(value, str) and _SIMPLE.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def read_conditions(reading: Reading, protocol: Component | None) -> Sequence[Condition]:
    """Return the cells of the grid: the product of the settings' values; the last setting varies fastest."""
    grid: dict[str, Sequence[Any]] = {}
    allowed = varied_settings(protocol)
    for path, name, node in reading.members("conditions"):
        if _check_setting(reading, name, node, path, allowed):
            grid[name] = plain(node)
    count = math.prod(len(values) for values in grid.values())
    if count > MAX_CELLS:
        section = reading.section("conditions")
        assert section is not None
        reading.add(section.place, f"the grid has {count:,} cells; {MAX_CELLS:,} is the limit", ("conditions",))
        return ()
    return cells(grid)


def cells(axes: Mapping[str, Sequence[Any]]) -> list[Condition]:
    """Return the product of the settings' values as conditions; the last setting varies fastest."""
    products = (dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))
    return [Condition(condition_name(settings), settings) for settings in products]


def varied_settings(protocol: Component | None) -> Mapping[str, Any]:
    """Return the JSON Schemas of what conditions may vary, by name: settings and parameters of the protocol."""
    schemas = dict(generation_settings())
    if protocol is not None:
        for name, schema in protocol.parameters.get("properties", {}).items():
            if isinstance(schema, Mapping) and schema.get(CONDITION_KEY):
                schemas[name] = schema
    return schemas


def _check_setting(reading: Reading, name: str, node: Node, path: KeyPath, schemas: Mapping[str, Any]) -> bool:
    if name not in schemas:
        near = nearest(name, schemas)
        fix = f"Did you mean {near[0]!r}?" if near else f"Known are: {', '.join(schemas)}."
        reading.add(node.key or node.place, f"no setting {name!r} can be varied by conditions", path, fix)
        return False
    validator = validator_for(schemas[name])
    faults = [
        fault for index, member in enumerate(node.value) for fault in problems_of(member, validator, (*path, index))
    ]
    reading.problems.extend(faults)
    return not faults
