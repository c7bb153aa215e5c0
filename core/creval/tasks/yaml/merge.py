"""The one rule by which YAML files are merged (`include:`) and suites override tasks.

Given a base and what is laid over it:
1. Two mappings merge key by key, deeply; keys of the base come first.
2. Anything else replaces: a list or scalar of the upper one takes the place of whatever the base has.
3. A null in the upper one takes away the key that the base has; where the base has no such key it is a plain null.

Of several includes the later wins over the earlier, and the including file wins over all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.tasks.yaml.nodes import Node

__all__ = ["merge", "merge_plain"]


def merge(base: Node, over: Node) -> Node:
    """Merge two nodes. Every value keeps the place it was written at; a merged mapping has the upper one's."""
    if not (isinstance(base.value, Mapping) and isinstance(over.value, Mapping)):
        return over
    merged: dict[str, Node] = dict(base.value)
    for key, upper in over.value.items():
        lower = merged.get(key)
        if lower is None:
            merged[key] = upper
        elif upper.value is None:
            del merged[key]
        else:
            merged[key] = merge(lower, upper)
    return Node(merged, over.place, over.key)


def merge_plain(base: Any, over: Any) -> Any:
    """The same rule on plain data."""
    if not (isinstance(base, Mapping) and isinstance(over, Mapping)):
        return over
    merged = dict(base)
    for key, upper in over.items():
        if key not in merged:
            merged[key] = upper
        elif upper is None:
            del merged[key]
        else:
            merged[key] = merge_plain(merged[key], upper)
    return merged
