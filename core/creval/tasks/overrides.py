"""Applies the overrides of a suite to the tree of a task, before the task is checked.

conditions, generation, resources, roles, dataset   merge by the rule of creval.tasks.yaml.includes
repeats                                             replaces
protocol                                            parameters merge into those of the task's protocol
parse, score                                        component name -> parameters, merged into that component's
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from creval.errors import Problem, nearest
from creval.tasks.task_components import unfold
from creval.tasks.yaml.includes import merge
from creval.tasks.yaml.nodes import KeyPath, Node, plain, problem_at

__all__ = ["Overrides", "apply_overrides"]

_MERGED = ("conditions", "generation", "dataset")
_NAMED = ("resources", "roles")
_COMPONENTS = ("parse", "score")
_OF_ONE_TASK = ("protocol", "dataset")


@dataclass(slots=True)
class Overrides:
    """The overrides of one place in a suite.

    `node` is the mapping that holds them (other keys are ignored), `path` its key path. With `group` they apply to
    several tasks: a resource, role, parser or scorer that a task lacks is skipped, and `unmatched()` reports the names
    that no task had.
    """

    node: Node
    path: KeyPath
    group: bool
    _matched: set[KeyPath] = field(default_factory=set)

    @property
    def is_empty(self) -> bool:
        return not any(self.node.get(key) for key in (*_MERGED, *_NAMED, *_COMPONENTS, "repeats", "protocol"))

    def match(self, *path: str) -> None:
        self._matched.add(path)

    def unmatched(self) -> list[Problem]:
        """Return a problem for every name that no task of the group has and every key that groups cannot override."""
        problems = []
        for key in (*_NAMED, *_COMPONENTS):
            section = self.node.get(key)
            for name, member in (section.value if section is not None and section.is_mapping else {}).items():
                if (key, name) not in self._matched:
                    message = f"no task of the suite has {name!r} under {key}"
                    problems.append(problem_at(member.key or member.place, message, (*self.path, key, name)))
        for key in _OF_ONE_TASK:
            section = self.node.get(key)
            if section is not None:
                fix = "Put it into the entry of its task."
                message = f"{key} cannot be overridden for several tasks at once"
                problems.append(problem_at(section.key or section.place, message, (*self.path, key), fix))
        return problems


def apply_overrides(root: Node, overrides: Overrides) -> tuple[Node, list[Problem]]:
    """Return the tree with the overrides applied, and their problems."""
    return _Application(root, overrides).run()


class _Application:
    def __init__(self, root: Node, overrides: Overrides) -> None:
        self._root = root
        self._members: dict[str, Node] = dict(root.value)
        self._overrides = overrides
        self._problems: list[Problem] = []

    def run(self) -> tuple[Node, list[Problem]]:
        overrides = self._overrides.node
        repeats = overrides.get("repeats")
        if repeats is not None:
            self._members["repeats"] = repeats
        for key in _MERGED:
            section = overrides.get(key)
            if section is not None and not (self._overrides.group and key in _OF_ONE_TASK):
                self._members[key] = merge(self._members.get(key) or Node({}, section.place), section)
        for key in _NAMED:
            self._merge_named(key, overrides.get(key))
        for key in _COMPONENTS:
            self._merge_components(key, overrides.get(key))
        protocol = overrides.get("protocol")
        if protocol is not None and not self._overrides.group:
            current = self._members.get("protocol") or Node("chat", protocol.place)
            self._members["protocol"] = self._with_parameters(current, protocol, ("protocol",))
        return Node(self._members, self._root.place, self._root.key), self._problems

    def _merge_named(self, key: str, section: Node | None) -> None:
        """Merge `resources` or `roles`, only under names that the task has."""
        if section is None or not section.is_mapping:
            return
        current = self._members.get(key)
        if current is not None and current.is_list:
            current = Node(
                {item.value: Node(None, item.place, item.place) for item in current.value}, current.place, current.key
            )
        known = list(current.value) if current is not None and current.is_mapping else []
        matched = {}
        for name, member in section.value.items():
            if name in known:
                matched[name] = member
                self._overrides.match(key, name)
            elif not self._overrides.group:
                self._unknown(key, name, member, known)
        if matched and current is not None:
            self._members[key] = merge(current, Node(matched, section.place, section.key))

    def _merge_components(self, key: str, section: Node | None) -> None:
        """Merge parameters into the components of `parse` or `score` by name."""
        if section is None or not section.is_mapping:
            return
        current = self._members.get(key)
        items = current.value if current is not None and current.is_list else (current,) if current is not None else ()
        written = [unfold(item, (key,)) for item in items]
        names = [component.name for component in written if not isinstance(component, Problem)]
        changed = list(items)
        for name, parameters in section.value.items():
            if name not in names:
                if not self._overrides.group:
                    self._unknown(key, name, parameters, names)
                continue
            self._overrides.match(key, name)
            for index, component in enumerate(written):
                if not isinstance(component, Problem) and component.name == name:
                    changed[index] = self._with_parameters(changed[index], parameters, (key, name))
        if current is not None:
            self._members[key] = Node(tuple(changed), current.place, current.key)

    def _with_parameters(self, component: Node, parameters: Node, path: KeyPath) -> Node:
        """Return a component with further parameters, written as {its_name: {...}}."""
        written = unfold(component, path)
        if isinstance(written, Problem) or not isinstance(parameters.value, Mapping):
            return component
        if written.positional is not None:
            message = (
                f"{written.name!r} is written with a bare value in the task, so its parameters cannot be overridden"
            )
            fix = f"Write {{{written.name}: {{PARAMETER: {plain(written.positional)!r}}}}} in the task."
            self._problems.append(problem_at(parameters.place, message, (*self._overrides.path, *path), fix))
            return component
        merged = merge(written.parameters, parameters)
        inner = Node(merged.value, written.parameters.place, written.node.place)
        return Node({written.name: inner}, component.place, component.key)

    def _unknown(self, key: str, name: str, node: Node, known: list[str]) -> None:
        near = nearest(name, known)
        listing = f"It has: {', '.join(known)}." if known else "It has none."
        fix = f"Did you mean {near[0]!r}?" if near else listing
        path = (*self._overrides.path, key, name)
        self._problems.append(problem_at(node.key or node.place, f"the task has no {name!r} under {key}", path, fix))
