"""`variants:`: what a file of several tasks says of each of them, taken apart before files are merged.

    variants:
      k2: {title: With two anchors, dataset: {generator: {drat_anchors: {k: 2}}}}

A variant is laid over its file by the rule of `include`, and is called `<task>_<variant>`. It takes over neither the
`tests` nor the `description` that stand in the file itself, since both speak of the file's own task (nor whether that
is a template, nor what it was held against, but for the reason why nothing); what the file includes it keeps.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from creval.errors import Problem, nearest
from creval.tasks.task_paths import TaskFile
from creval.tasks.yaml.nodes import Node, problem_at
from creval.tasks.yaml.schema import load_schema, problems_of, validator_for

__all__ = ["VARIANTS", "VariantParts", "take_apart"]

VARIANTS = "variants"
_OF_THE_FILE = ("tests", "description", "template", "parity")
_CURES = {
    "schema": "It is said once, at the top of the file.",
    "task": "A variant is called after its file's task and its own key.",
    "include": "Put it at the top of the file, or make a file of its own of this task.",
    VARIANTS: "A family has one level: put its variants beside this one.",
}


@dataclass(frozen=True, slots=True)
class VariantParts:
    """What one file says of a task: its own keys, what the variant lays over them, and what is wrong with that."""

    own: Node
    over: Node | None = None
    problems: Sequence[Problem] = ()


def take_apart(root: Node, place: TaskFile, included: bool) -> VariantParts:
    """Return the parts of a file for the task that `place` names; its other variants are left out.

    The variants are checked where the file itself is read; of an included file only the one that is asked for.
    """
    own = _without(root, VARIANTS)
    section = root.get(VARIANTS)
    if place.variant is None:
        broken = section is not None and section.value is not None and not included
        return VariantParts(own, None, _faults(section) if broken and section is not None else ())
    known = dict(section.value) if section is not None and section.is_mapping else {}
    variant = known.get(place.variant)
    if section is None or variant is None:
        return VariantParts(own, None, [_unknown(root, place.variant, list(known))])
    faults = _faults(Node({place.variant: variant}, section.place, section.key))
    if variant.is_mapping:
        properties = _shape()["additionalProperties"]["properties"]
        variant = Node({key: node for key, node in variant.value.items() if key in properties}, variant.place)
    return VariantParts(_renamed(_passed_on(own), place.variant, variant), variant, faults)


def _passed_on(own: Node) -> Node:
    """Return what a file says of its variants, too; of `parity` that is the reason why it is none."""
    kept = _without(own, *_OF_THE_FILE)
    parity = own.get("parity")
    if parity is None or not parity.is_mapping or "none" not in parity.value:
        return kept
    reason = Node({"none": parity.value["none"]}, parity.place, parity.key)
    return Node({**kept.value, "parity": reason}, kept.place, kept.key)


def _without(root: Node, *keys: str) -> Node:
    return Node({key: node for key, node in root.value.items() if key not in keys}, root.place, root.key)


def _renamed(own: Node, variant: str, over: Node) -> Node:
    task = own.get("task")
    if task is None or not isinstance(task.value, str):
        return own
    return Node({**own.value, "task": Node(f"{task.value}_{variant}", over.place, task.key)}, own.place, own.key)


def _unknown(root: Node, name: str, known: Sequence[str]) -> Problem:
    near = nearest(name, known)
    listing = f"It has: {', '.join(known[:20])}." if known else "It has none."
    return problem_at(
        root.place, f"the file has no variant {name!r}", (VARIANTS,), f"Did you mean {near[0]!r}?" if near else listing
    )


def _faults(section: Node) -> Sequence[Problem]:
    """Return what is wrong with the form of variants; what they say is checked with the task that each makes."""
    problems: list[Problem] = []
    kept: dict[str, Node] = {}
    for name, variant in section.value.items() if section.is_mapping else ():
        kept[name] = variant
        for key, cure in _CURES.items():
            member = variant.get(key)
            if member is not None:
                place = member.key or member.place
                problems.append(problem_at(place, f"a variant has no {key!r} of its own", (VARIANTS, name, key), cure))
                kept[name] = _without(kept[name], key)
    checked = Node(kept, section.place, section.key) if section.is_mapping else section
    return [*problems, *problems_of(checked, _validator(), (VARIANTS,))]


@functools.cache
def _shape() -> dict[str, Any]:
    """The schema of `variants:` alone. A variant may have the keys of a task, but for those that a file says once."""
    schema = load_schema("task")
    keys = {key: True for key in schema["properties"] if key not in _CURES}
    variant = {"type": "object", "properties": keys, "additionalProperties": False, "minProperties": 1}
    section = {key: value for key, value in schema["properties"][VARIANTS].items() if key != "description"}
    return {**section, "propertyNames": schema["$defs"]["variant_name"], "additionalProperties": variant}


@functools.cache
def _validator() -> Any:
    return validator_for(_shape())
