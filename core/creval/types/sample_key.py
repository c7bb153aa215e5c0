"""What identifies a sample within a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["Condition", "SampleKey"]


@dataclass(frozen=True, slots=True)
class Condition:
    """One cell of a task's grid, e.g. name `temperature=1.5`, settings `{"temperature": 1.5}`.

    The name of the empty grid's only cell is `default`.
    """

    name: str = "default"
    settings: Mapping[str, Any] = field(default_factory=dict)


class SampleKey(NamedTuple):
    """The identity of a sample within a run. `condition` is the canonical name of the grid cell."""

    task: str
    doc: str
    condition: str
    repeat: int
