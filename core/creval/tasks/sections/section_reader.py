"""The state of reading one task file: its tree, its owner, and the problems found so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from creval.errors import Problem
from creval.plugins.registry import Registry
from creval.tasks.task_components import ComponentReader, FoundComponent
from creval.tasks.task_paths import Owner
from creval.tasks.yaml.nodes import KeyPath, Node, Place, format_path, plain, problem_at
from creval.types.kinds import Kind

__all__ = ["Reading"]


@dataclass(slots=True)
class Reading:
    """Access to the sections of `root`, without the parts in which the schema has found problems (`shape`)."""

    root: Node
    owner: Owner
    registry: Registry
    shape: Sequence[Problem]
    problems: list[Problem] = field(default_factory=list)

    def section(self, key: str) -> Node | None:
        """Return the node of a top-level key, or None."""
        return self.root.get(key)

    def value(self, key: str, default: Any) -> Any:
        """Return the plain data of a top-level key, or the default if it is absent or has a wrong shape."""
        node = self.section(key)
        return default if node is None or not self.sound((key,)) else plain(node)

    def sound(self, path: KeyPath) -> bool:
        """Whether the schema found nothing wrong at this key path or below it."""
        here = format_path(path)
        return not any(
            problem.path == here or (problem.path.startswith(here) and problem.path[len(here)] in ".[")
            for problem in self.shape
        )

    def entries(self, key: str) -> Sequence[tuple[KeyPath, Node]]:
        """Return the sound entries of a list; a value that is not a list counts as its only entry."""
        node = self.section(key)
        if node is None:
            return ()
        if not node.is_list:
            return [((key,), node)] if self.sound((key,)) else []
        paths = [((key, index), member) for index, member in enumerate(node.value)]
        return [(path, member) for path, member in paths if self.sound(path)]

    def members(self, key: str) -> Sequence[tuple[KeyPath, str, Node]]:
        """Return the sound members of a mapping."""
        node = self.section(key)
        if node is None or not node.is_mapping:
            return ()
        return [((key, name), name, member) for name, member in node.value.items() if self.sound((key, name))]

    def component(self, kind: Kind, node: Node, path: KeyPath) -> FoundComponent | None:
        """Read a component; faults are added to the problems."""
        return ComponentReader(self.registry, self.owner.plugin, self.problems).read(kind, node, path)

    def add(self, place: Place, message: str, path: KeyPath, fix: str | None = None) -> None:
        self.problems.append(problem_at(place, message, path, fix))
