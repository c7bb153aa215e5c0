"""What this plugin registers. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components", "creval_tasks"]


@hookimpl
def creval_tasks() -> Sequence[Path]:
    """Folders of task YAML."""
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register parsers, scorers and baselines."""
    _connections(registry)


def _connections(registry: Registry) -> None:
    home = "creval_wordgames.connections"
    registry.add(
        "parser",
        "word_groups",
        "creval_wordgames.groups:WordGroups",
        "groups of words: JSON, a group a line, labelled lists, tables",
        parameters=params.schema(size=params.integer(2, about="words of a group (4)")),
        gives="list",
    )
    registry.add(
        "scorer",
        "connections",
        f"{home}:ConnectionsScore",
        "groups of a puzzle that the answer has, and whether it has all",
        produces=("groups_found", "solved"),
        ranges={"groups_found": (0, 4), "solved": "0/1"},
        takes=("list",),
    )
    registry.add("baseline", "random_groups", f"{home}:RandomGroups", "the words of a puzzle, dealt at random")
    registry.add("baseline", "right_groups", f"{home}:RightGroups", "the groups of a puzzle")
