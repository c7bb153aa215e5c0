"""The registry of components: for each name its location and parameters. Imports none of the components."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast, get_args

from creval.errors import MissingPartError, PluginError, UnknownNameError
from creval.plugins.isolation import aside
from creval.plugins.traits import (
    TRAITS,
    ParserTraits,
    ProtocolTraits,
    ScorerTraits,
    read_traits,
    trait_fault,
    unknown_fault,
)
from creval.types.kinds import Kind

__all__ = ["ANY_SCORE", "BINARY", "Component", "Range", "Registry"]

_KINDS = get_args(Kind)
_NOT_IN_NAMES = re.compile(r"[\s/:\[\]{},]")
_EMPTY_SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}

NEEDS = ("gpu",)
"""The resources of a machine that a component or a task may need."""
ANY_SCORE = "*"
"""In `Component.produces`: the scores depend on the scorer's parameters."""
BINARY = "0/1"
"""In `Component.ranges`: each score is 0 or 1."""

Range = str | tuple[float | None, float | None]
"""The range of a score: BINARY, or from the first number to the second (None: no bound)."""
Ranges = Mapping[str, Range]


@dataclass(frozen=True, slots=True)
class Component:
    """One registered component.

    `target` is `"module:attribute"`. `parameters` is the JSON Schema (an object) of its YAML parameters; a
    property with `"x-component": kind` is itself a component: it is checked like one and reaches the factory as a
    `ComponentRef` (a generator of a dataset source: opened).
    `positional` names the parameter that gets a bare YAML value (`regex: "..."` is `regex: {pattern: "..."}`).
    `produces` are the score names of a scorer (`("*",)`: they depend on its parameters, and the function `names`
    returns them; in `rating@*` the `*` is a number). `ranges` are the ranges of the scores (BINARY, or `(lowest,
    highest)`; a function of the YAML parameters if they depend on these), which apply to metrics that state neither
    `range` nor `binary`. `uses` are the resource names that the task must declare for a scorer, protocol or baseline
    (metrics made with another resource than the task's are renamed), `roles` the model roles it asks (a parameter with
    `"x-role": true` replaces them), `prompts` the prompts that the task must have (a parameter with `"x-prompt": true`
    names one more), `provides` the names that it adds to the doc's fields when it renders prompts. A task's conditions
    may vary a protocol's parameter with `"x-condition": true`; the protocol reads it from `session.condition.settings`
    first. `equals` of a resource are entries `model=other/model`, measured to give the same numbers as the other
    resource, so that metrics keep their plain names. `needs` are the resources that it needs on its machine (`{"gpu":
    1}`), for executors that choose one. `traits` are its other statements about itself (`creval.plugins.traits`).
    """

    kind: Kind
    name: str
    target: str
    plugin: str
    summary: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: _EMPTY_SCHEMA)
    positional: str | None = None
    produces: tuple[str, ...] = ()
    names: Callable[[Mapping[str, Any]], Sequence[str]] | None = None
    ranges: Ranges | Callable[[Mapping[str, Any]], Ranges] = field(default_factory=dict)
    uses: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    equals: tuple[str, ...] = ()
    needs: Mapping[str, int] = field(default_factory=dict)
    traits: Mapping[str, Any] = field(default_factory=dict)

    @property
    def qualified(self) -> str:
        return f"{self.plugin}/{self.name}"

    def asking(self, parameters: Mapping[str, Any]) -> Component:
        """Return the component with the roles that it asks under these parameters (see `"x-role"` of parameters)."""
        about = self.parameters.get("properties", {})
        named = [parameters[key] for key, each in about.items() if _names_roles(each) and key in parameters]
        roles = [role for given in named for role in ([given] if isinstance(given, str) else given)]
        return replace(self, roles=tuple(roles)) if roles else self

    def scores_of(self, parameters: Mapping[str, Any]) -> Sequence[str]:
        """Return the names of a scorer's scores under these parameters, with ANY_SCORE if it cannot name them all."""
        if self.names is None:
            return self.produces
        declared = [name for name in self.produces if name != ANY_SCORE]
        return tuple(dict.fromkeys([*declared, *self.names(parameters)]))

    def range_of(self, score: str, parameters: Mapping[str, Any]) -> Range | None:
        """Return the range of a score under these parameters; None if it declares none."""
        ranges = self.ranges(parameters) if callable(self.ranges) else self.ranges
        return ranges.get(score)

    def parser_traits(self, parameters: Mapping[str, Any]) -> ParserTraits:
        """Return a parser's declared traits under these parameters. Raises PluginError if they are wrong."""
        return cast(ParserTraits, self._traits(parameters))

    def scorer_traits(self, parameters: Mapping[str, Any]) -> ScorerTraits:
        """Return a scorer's declared traits under these parameters. Raises PluginError if they are wrong."""
        return cast(ScorerTraits, self._traits(parameters))

    def protocol_traits(self, parameters: Mapping[str, Any]) -> ProtocolTraits:
        """Return a protocol's declared traits under these parameters. Raises PluginError if they are wrong."""
        return cast(ProtocolTraits, self._traits(parameters))

    @property
    def gives_loglikelihoods(self) -> bool:
        """Whether a provider states that its models give log-likelihoods."""
        return bool(self.traits.get("loglikelihood"))

    def _traits(self, parameters: Mapping[str, Any]) -> object:
        try:
            return read_traits(self.kind, self.traits, parameters)
        except Exception as error:  # a plugin's own function
            what = f"the {self.kind} {self.name!r} describes itself wrongly: {error}"
            raise PluginError(what, where=f"plugin {self.plugin}") from error

    def make_scorer(self, parameters: Mapping[str, Any]) -> Any:
        """Load a scorer and call its factory. Raises PluginError if its code shows a trait that it did not declare."""
        scorer = self.load()(**parameters)
        if _is_async(getattr(scorer, "score", None)) and not self.scorer_traits(parameters).waits:
            raise PluginError(
                f"the scorer {self.name!r} has `async def score`, but is registered without waits=True",
                where=f"plugin {self.plugin}",
                fix="Add waits=True to its registry.add, or write `def score`.",
            )
        sets = getattr(scorer, "whole_docs", False) or getattr(scorer, "unit", None) == "doc"
        if sets and self.scorer_traits(parameters).unit != "doc":
            raise PluginError(
                f"the scorer {self.name!r} scores whole docs, but is registered without unit='doc'",
                where=f"plugin {self.plugin}",
                fix="Add unit='doc' to its registry.add; an attribute of the class is not read.",
            )
        return scorer

    def load(self) -> Any:
        """Import and return the attribute. Raises MissingPartError if a package it needs is absent."""
        module_name, _, attribute = self.target.partition(":")
        try:
            with aside():  # what a plugin prints would stand among the JSON of a command
                module = importlib.import_module(module_name)
        except KeyboardInterrupt:
            raise
        except ModuleNotFoundError as error:
            if error.name and (module_name == error.name or module_name.startswith(f"{error.name}.")):
                raise PluginError(
                    f"there is no module {error.name!r}, named by the {self.kind} {self.name!r}",
                    where=f"plugin {self.plugin}",
                    fix="Correct the target that the plugin registers.",
                ) from error
            raise self._missing(error) from error
        except ImportError as error:
            if str(error).startswith("cannot import name"):  # the package exists, but has no such name
                raise self._broken(error) from error
            raise self._missing(error) from error
        except BaseException as error:  # SystemExit too: a plugin's module may do anything
            raise self._broken(error) from error
        try:
            return getattr(module, attribute)
        except AttributeError as error:
            raise PluginError(
                f"{module_name} has no attribute {attribute!r}, named by the {self.kind} {self.name!r}",
                where=f"plugin {self.plugin}",
                fix="Correct the target that the plugin registers.",
            ) from error

    def _broken(self, error: BaseException) -> PluginError:
        return PluginError(
            f"the {self.kind} {self.name!r} cannot be imported: {type(error).__name__}: {error}",
            where=f"plugin {self.plugin}",
            fix="Report this to the plugin that adds it.",
        )

    def _missing(self, error: ImportError) -> MissingPartError:
        return MissingPartError(
            f"the {self.kind} {self.name!r} needs the package {error.name or str(error)!r}, which is not installed",
            where=f"plugin {self.plugin}",
            fix=f"Install it: pip install {(error.name or '').partition('.')[0] or self.plugin}",
        )


_FIELDS = [entry.name for entry in fields(Component)][4:-1]
"""The fields of a component that `Registry.add` takes by name."""


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
        """Register a component; `spec` are further fields of `Component` (parameters, produces, ...) or its traits.

        A scorer states `unit`, `waits`, `batch_size`, `minimum_repeats`, `reads_some`, `scores_failures`,
        `scores_begun`, `takes`, `raters` and `people`, a parser `refines`, `reads` and `gives`, a protocol `n` and
        `loglikelihood`, a provider `loglikelihood` (docs/plugins.md). Each may be a function of the YAML
        parameters. Raises PluginError if the kind is unknown, the target has no colon, an argument is unknown, has the
        wrong type or contradicts another one, or the plugin already has the component.
        """
        where = f"plugin {self._plugin}"
        fault = _fault(kind, name, target, spec)
        if fault:
            raise PluginError(fault, where=where)
        own = {key: spec.pop(key) for key in list(spec) if kind in TRAITS and key in TRAITS[kind]._fields}
        component = Component(kind, name, target, self._plugin, summary, **spec, traits=own)
        same_name = self._components.setdefault((kind, name), [])
        if any(other.plugin == self._plugin for other in same_name):
            raise PluginError(f"registers the {kind} {name!r} twice", where=where)
        same_name.append(component)

    def absorb(self, other: Registry) -> None:
        """Add all components of another registry, that of a successfully loaded plugin."""
        for key, components in other._components.items():
            self._components.setdefault(key, []).extend(components)

    def get(self, kind: Kind, name: str, where: str | None = None, prefer: str | None = None) -> Component:
        """Return the component called `name` or `plugin/name`.

        If several plugins have the short name, that of the plugin `prefer` is returned, else the core's. Raises
        UnknownNameError with the nearest names, PluginError if the name is ambiguous.
        """
        plugin, _, short = name.rpartition("/")
        found = self._components.get((kind, name), [])
        if not found and plugin:
            found = [c for c in self._components.get((kind, short), []) if c.plugin == plugin]
        if not found:
            raise UnknownNameError(kind, name, self.names(kind), where=where)
        if len(found) == 1:
            return found[0]
        for owner in (prefer, "core"):
            for component in found:
                if component.plugin == owner:
                    return component
        *others, last = (component.qualified for component in found)
        what = f"{len(found)} plugins have the {kind} {name!r}: {', '.join(others)} and {last}"
        raise PluginError(what, where=where, fix="Use one of these.")

    def find(self, kind: Kind, name: str) -> Component | None:
        """Like `get`, but return None if there is none or the name is ambiguous."""
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


def _names_roles(about: object) -> bool:
    return isinstance(about, Mapping) and bool(about.get("x-role"))


def _is_async(function: object) -> bool:
    import inspect  # imported late: the start only registers

    return inspect.iscoroutinefunction(function)


def _fault(kind: object, name: object, target: object, spec: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a registration, or None."""
    if kind not in _KINDS:
        return f"{kind!r} is not a kind of component; kinds are {', '.join(_KINDS)}"
    if not isinstance(name, str) or not name or _NOT_IN_NAMES.search(name):
        return (
            f"{name!r} is not a name for a component: it may not be empty or contain blanks or any of / : [ ] {{ }} ,"
        )
    module, _, attribute = target.partition(":") if isinstance(target, str) else ("", "", "")
    if not module or not attribute:
        return f"target {target!r} of {name!r} is not of the form module:attribute"
    faults = (unknown_fault(str(kind), key, _FIELDS) for key in spec)
    fault = next((each for each in faults if each), None)
    traits = {key: value for key, value in spec.items() if key not in _FIELDS}
    fault = fault or trait_fault(str(kind), traits, spec.get("roles", ()))
    return (
        f"the {kind} {name!r}: {fault}"
        if fault
        else _spec_fault(name, {key: spec[key] for key in spec.keys() - traits})
    )


def _spec_fault(name: str, spec: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the fields of a component, or None."""
    for key, value in spec.items():
        if key == "parameters":
            if not isinstance(value, Mapping) or value.get("type") != "object":
                return f'parameters of {name!r} must be a JSON Schema with "type": "object"'
        elif key == "positional":
            properties = spec.get("parameters", _EMPTY_SCHEMA).get("properties", {})
            if value is not None and value not in properties:
                return f"positional {value!r} of {name!r} is none of its parameters"
        elif key == "needs":
            if not isinstance(value, Mapping) or any(
                n not in NEEDS or type(v) is not int or v < 1 for n, v in value.items()
            ):
                return f"needs of {name!r} must be numbers of {', '.join(NEEDS)} from 1, such as {{'gpu': 1}}"
        elif key == "ranges":
            fault = None if callable(value) else _range_fault(value, spec.get("produces", ()))
            if fault:
                return f"ranges of {name!r} {fault}"
        elif key == "names":
            if not callable(value) or ANY_SCORE not in spec.get("produces", ()):
                return f"names of {name!r} must be a function of its parameters, next to produces=({ANY_SCORE!r},)"
        elif not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
            return f"{key} of {name!r} must be a tuple of names"
    return None


def _range_fault(ranges: object, produces: Sequence[str]) -> str | None:
    """Return what is wrong with the declared ranges of scores, or None."""
    if not isinstance(ranges, Mapping):
        return "must be a mapping from names of scores"
    for score, bounds in ranges.items():
        if score not in produces and ANY_SCORE not in produces:
            return f"name {score!r}, which it does not produce"
        if bounds == BINARY:
            continue
        if (
            not isinstance(bounds, tuple)
            or len(bounds) != 2
            or not all(isinstance(end, int | float | None) for end in bounds)
        ):
            return f"must be {BINARY!r} or (lowest, highest), not {bounds!r}"
        if bounds[0] is not None and bounds[1] is not None and not bounds[0] < bounds[1]:
            return f"end at {bounds[1]:g} and begin at {bounds[0]:g}"
    return None
