"""The registry of components: name -> where it lives, what parameters it takes. Imports nothing it names."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from creval.errors import MissingPartError, PluginError, UnknownNameError
from creval.types.kinds import Kind

__all__ = ["Component", "Registry"]

_KINDS = get_args(Kind)
_EMPTY_SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Component:
    """One registered component.

    `target` is `"module:attribute"`. `parameters` is the JSON Schema (an object) of its YAML parameters.
    `positional` names the parameter that a bare YAML value stands for (`regex: "..."` is
    `regex: {pattern: "..."}`). `produces` are the score names of a scorer, `uses` the resource names that a
    scorer, protocol or baseline needs the task to declare (an instrument: with another one than the
    task's own its metrics are renamed), `roles` the model roles it asks.
    """

    kind: Kind
    name: str
    target: str
    plugin: str
    summary: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: _EMPTY_SCHEMA)
    positional: str | None = None
    produces: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()

    def load(self) -> Any:
        """Import and return the attribute. Raises MissingPartError where a package it needs is absent."""
        module_name, _, attribute = self.target.partition(":")
        try:
            module = importlib.import_module(module_name)
        except ImportError as error:
            raise MissingPartError(
                f"the {self.kind} {self.name!r} needs the package {error.name or str(error)!r}, which is not installed",
                where=f"plugin {self.plugin}",
                cure=f"Install it: pip install {(error.name or '').partition('.')[0] or self.plugin}",
            ) from error
        try:
            return getattr(module, attribute)
        except AttributeError as error:
            raise PluginError(
                f"{module_name} has no attribute {attribute!r}, named by the {self.kind} {self.name!r}",
                where=f"plugin {self.plugin}",
                cure="Correct the target that the plugin registers.",
            ) from error


class Registry:
    """All components by kind and name. A plugin adds to it in its `creval_components` hook."""

    def __init__(self) -> None:
        self._components: dict[tuple[str, str], list[Component]] = {}
        self._plugin = "creval"

    def scoped(self, plugin: str) -> Registry:
        """Return a view that adds on behalf of `plugin`, sharing the same store."""
        view = Registry()
        view._components = self._components
        view._plugin = plugin
        return view

    def add(self, kind: Kind, name: str, target: str, summary: str = "", **spec: Any) -> None:
        """Register a component; `spec` are the further fields of `Component` (parameters, produces, ...).

        Raises PluginError where the kind is none, the target has no colon, or the plugin has one already.
        """
        if kind not in _KINDS:
            raise PluginError(f"{kind!r} is no kind of component; kinds are {', '.join(_KINDS)}", where=self._plugin)
        module, _, attribute = target.partition(":")
        if not module or not attribute:
            raise PluginError(f"target {target!r} of {name!r} is not of the form module:attribute", where=self._plugin)
        component = Component(kind=kind, name=name, target=target, plugin=self._plugin, summary=summary, **spec)
        same_name = self._components.setdefault((kind, name), [])
        if any(other.plugin == self._plugin for other in same_name):
            raise PluginError(f"registers the {kind} {name!r} twice", where=f"plugin {self._plugin}")
        same_name.append(component)

    def get(self, kind: Kind, name: str, where: str | None = None) -> Component:
        """Return the component called `name` or `plugin/name`.

        Raises UnknownNameError with the nearest names; PluginError where two plugins hold a short name.
        """
        plugin, _, short = name.rpartition("/")
        found = self._components.get((kind, name), [])
        if not found and plugin:
            found = [c for c in self._components.get((kind, short), []) if c.plugin == plugin]
        if not found:
            raise UnknownNameError(kind, name, self.names(kind), where=where)
        if len(found) > 1:
            choices = " and ".join(f"{c.plugin}/{c.name}" for c in found)
            raise PluginError(f"two plugins hold the {kind} {name!r}: {choices}", where=where, cure="Use one of these.")
        return found[0]

    def find(self, kind: Kind, name: str) -> Component | None:
        """Like `get`, but None where there is none or the name is ambiguous."""
        try:
            return self.get(kind, name)
        except (UnknownNameError, PluginError):
            return None

    def names(self, kind: Kind) -> Sequence[str]:
        """Return the sorted short names of a kind."""
        return sorted(name for (of_kind, name) in self._components if of_kind == kind)

    def all(self) -> Sequence[Component]:
        """Return every component, sorted by kind, name and plugin."""
        every = [component for same_name in self._components.values() for component in same_name]
        return sorted(every, key=lambda c: (c.kind, c.name, c.plugin))
