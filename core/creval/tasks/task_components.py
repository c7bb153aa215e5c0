"""Reads components in task YAML: the forms in which they may be written, their names and their parameters.

parse: json_array                        a name alone
parse: {name: json_array, unique: true}  the name with parameters
parse: {json_array: {unique: true}}      the name as the only key
parse: {regex: "[a-z]+"}                 the name with the value of its positional parameter
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from creval.errors import PluginError, Problem, UnknownNameError
from creval.plugins.distributions import absent_distribution
from creval.plugins.registry import Component, Registry
from creval.tasks.task_model import ComponentRef, ScorerRef
from creval.tasks.yaml.nodes import KeyPath, Node, plain, problem_at
from creval.tasks.yaml.schema import problems_of, validator_for
from creval.types.kinds import Kind

__all__ = ["ComponentReader", "FoundComponent", "Written", "unfold", "whole", "whole_refs"]

COMPONENT_KEY = "x-component"


class Written(NamedTuple):
    """A component as written: its name, the node of the name, and its parameters as a mapping node.

    `positional` is the value of the positional parameter, written alone. `path` is the key path of the parameters.
    `other_keys` may be among the parameters but are not parameters: `name`, or keys that the core reads.
    """

    name: str
    node: Node
    parameters: Node
    path: KeyPath
    positional: Node | None = None
    other_keys: tuple[str, ...] = ()


class FoundComponent(NamedTuple):
    """A component that was found: the reference for the task, its registration, and how it was written."""

    ref: ComponentRef
    component: Component
    written: Written

    def canonical(self) -> Any:
        """Return the same plain data for every way of writing it (for the task's hash)."""
        own = [self.ref.reading, self.ref.label, self.ref.suffix] if isinstance(self.ref, ScorerRef) else []
        return [self.written.name, _canonical(self.ref.parameters), *([own] if any(own) else [])]


def whole(component: Component, ref: ComponentRef, registry: Registry) -> Iterator[Component]:
    """Yield a component and all components nested in its parameters: the outermost needs what any of them needs."""
    for part, _ in whole_refs(component, ref, registry):
        yield part


def whole_refs(component: Component, ref: ComponentRef, registry: Registry) -> Iterator[tuple[Component, ComponentRef]]:
    """Yield what `whole` does, each component with its reference."""
    yield component.asking(ref.parameters), ref
    properties = component.parameters.get("properties", {})
    for key, value in ref.parameters.items():
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, ComponentRef):
                about = properties[key]
                kind = about.get(COMPONENT_KEY) or about["items"][COMPONENT_KEY]
                yield from whole_refs(registry.get(kind, inner.name), inner, registry)


def unfold(node: Node, path: KeyPath) -> Written | Problem:
    """Bring the forms of a component into one."""
    if isinstance(node.value, str):
        return Written(node.value, node, Node({}, node.place), path)
    if isinstance(node.value, Mapping):
        name = node.value.get("name")
        if name is not None and isinstance(name.value, str):
            rest = {key: member for key, member in node.value.items() if key != "name"}
            return Written(name.value, name, Node(rest, node.place), path, other_keys=("name",))
        if len(node.value) == 1:
            ((key, member),) = node.value.items()
            at = replace(node, place=member.key or node.place)
            inner = (*path, key)
            if isinstance(member.value, Mapping):
                return Written(key, at, member, inner)
            if member.value is None:
                return Written(key, at, Node({}, member.place), inner)
            return Written(key, at, Node({}, member.place), inner, positional=member)
    fix = "Write its name, {name: ITS_NAME, parameter: value} or {ITS_NAME: {parameter: value}}."
    return problem_at(node.place, "this is not a component", path, fix)


class ComponentReader:
    """Finds components in the registry for a plugin's task and checks their parameters.

    Methods append faults to `problems`, and then return None.
    """

    def __init__(self, registry: Registry, plugin: str, problems: list[Problem]) -> None:
        self._registry = registry
        self._plugin = plugin
        self._problems = problems

    def read(self, kind: Kind, node: Node, path: KeyPath) -> FoundComponent | None:
        """Read a component of a kind."""
        written = unfold(node, path)
        if isinstance(written, Problem):
            self._problems.append(written)
            return None
        return self.resolve(kind, written)

    def resolve(self, kind: Kind, written: Written) -> FoundComponent | None:
        """Find a component by its written name and check its parameters."""
        component = self.find(kind, written.name, written.node, written.path)
        if component is None:
            return None
        parameters = self._with_positional(component, written)
        if parameters is None:
            return None
        values = self._check(component, parameters, written)
        if values is None:
            return None
        return FoundComponent(ComponentRef(self._unambiguous(component), values), component, written)

    def find(self, kind: Kind, name: str, node: Node, path: KeyPath) -> Component | None:
        """Find a registration: the task's own plugin first, then the core, then the only other plugin that has it."""
        try:
            return self._registry.get(kind, name, prefer=self._plugin)
        except UnknownNameError as error:
            if distribution := absent_distribution(kind, name):
                what = f"the {kind} {name!r} is part of {distribution}, which is not installed"
                self._problems.append(problem_at(node.place, what, path, f"pip install {distribution}"))
                return None
            self._problems.append(problem_at(node.place, error.what, path, error.fix or _listing(self._registry, kind)))
        except PluginError as error:
            self._problems.append(problem_at(node.place, error.what, path, error.fix))
        return None

    def _unambiguous(self, component: Component) -> str:
        found = self._registry.find(component.kind, component.name)
        return component.name if found is component else component.qualified

    def _with_positional(self, component: Component, written: Written) -> Node | None:
        if written.positional is None:
            return written.parameters
        if component.positional is None:
            message = f"the {component.kind} {component.name!r} takes no bare value"
            known = ", ".join([*written.other_keys, *component.parameters.get("properties", {})]) or "none"
            fix = f"Write its parameters as a mapping; it has: {known}."
            self._problems.append(problem_at(written.positional.place, message, written.path, fix))
            return None
        return Node({component.positional: written.positional}, written.positional.place)

    def _check(self, component: Component, parameters: Node, written: Written) -> Mapping[str, Any] | None:
        path = written.path
        try:
            problems = problems_of(parameters, validator_for(component.parameters), path, written.other_keys)
        except Exception as error:  # a plugin's schema: a faulty one may fail in any way
            message = f"the plugin {component.plugin} declares a faulty JSON Schema for {component.name!r}: {error}"
            self._problems.append(problem_at(parameters.place, " ".join(message.split())[:300], path))
            return None
        self._problems.extend(problems)
        return None if problems else self._values(component.parameters, parameters, path)

    def _values(self, schema: Mapping[str, Any], parameters: Node, path: KeyPath) -> Mapping[str, Any] | None:
        """Return parameters as plain data, with components among them as references."""
        properties = schema.get("properties", {})
        values: dict[str, Any] = {}
        sound = True
        for key, node in parameters.value.items():
            about = properties.get(key, {})
            items = about.get("items", {}) if isinstance(about, Mapping) else {}
            if isinstance(about, Mapping) and COMPONENT_KEY in about:
                found = self.read(about[COMPONENT_KEY], node, (*path, key))
                values[key] = found.ref if found else None
                sound = sound and found is not None
            elif isinstance(items, Mapping) and COMPONENT_KEY in items:
                kind, single = items[COMPONENT_KEY], (*path, key)
                written = (
                    [(item, (*single, i)) for i, item in enumerate(node.value)] if node.is_list else [(node, single)]
                )
                inner = [self.read(kind, item, at) for item, at in written]
                values[key] = [found.ref for found in inner if found]
                sound = sound and all(inner)
            else:
                values[key] = plain(node)
        return values if sound else None


def _listing(registry: Registry, kind: Kind) -> str:
    names = registry.names(kind)
    return f"There are: {', '.join(names)}." if names else f"No {kind} is installed."


def _canonical(value: Any) -> Any:
    if isinstance(value, ComponentRef):
        return [value.name, _canonical(value.parameters)]
    if isinstance(value, Mapping):
        return {key: _canonical(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(member) for member in value]
    return value
