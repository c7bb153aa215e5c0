"""The registry of components: name -> where it lives, what parameters it takes. Imports nothing it names."""

from __future__ import annotations

import importlib
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
_EMPTY_SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}

NEEDS = ("gpu",)
"""What a component or a task may need of a machine."""
ANY_SCORE = "*"
"""In `Component.produces`: the scorer's parameters decide which scores there are."""
BINARY = "0/1"
"""In `Component.ranges`: each score is 0 or 1."""

Range = str | tuple[float | None, float | None]
"""What a score can be: BINARY, or from the first number to the second (None: no bound)."""
Ranges = Mapping[str, Range]


@dataclass(frozen=True, slots=True)
class Component:
    """One registered component.

    `target` is `"module:attribute"`. `parameters` is the JSON Schema (an object) of its YAML parameters; a
    property with `"x-component": kind` is itself a component: it is checked like one and reaches the factory as a
    `ComponentRef` (a generator of a dataset source: opened).
    `positional` names the parameter that a bare YAML value stands for (`regex: "..."` is
    `regex: {pattern: "..."}`). `produces` are the score names of a scorer (`("*",)`: decided by its
    parameters, from which the function `names` tells them; in `rating@*` the `*` is a number), `ranges` what each of
    them can be (BINARY, or `(lowest, highest)`; a function of the YAML parameters where these decide it), which a
    metric takes over that states neither `range` nor `binary`; `uses` are the resource names that a scorer, protocol or
    baseline needs the task to declare (a resource: with another one than the task's own its metrics are renamed),
    `roles` the model roles it asks (in their place those that a parameter with `"x-role": true` names), `prompts` the
    prompts that it needs the task to have (a parameter with `"x-prompt": true` names one more),
    `provides` the names that it adds to the doc's fields when it renders them. A protocol's parameter with
    `"x-condition": true` may be varied by the task's conditions; the protocol reads it from
    `session.condition.settings` first. `equals` of a resource are entries `model=other/model`: measured to give the
    same numbers as the other resource, so that metrics keep their plain names. `needs` says what it needs of the
    machine it works on (`{"gpu": 1}`), for executors that choose one. `traits` are what it states about itself
    (`creval.plugins.traits`).
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
        """Return the component with the roles that it asks under these parameters (`"x-role"` marks who names them)."""
        about = self.parameters.get("properties", {})
        named = [parameters[key] for key, each in about.items() if _names_roles(each) and key in parameters]
        roles = [role for given in named for role in ([given] if isinstance(given, str) else given)]
        return replace(self, roles=tuple(roles)) if roles else self

    def scores_of(self, parameters: Mapping[str, Any]) -> Sequence[str]:
        """Return the names of a scorer's scores under these parameters; ANY_SCORE among them where it cannot say."""
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
        """Whether a provider states that models of it give log-likelihoods."""
        return bool(self.traits.get("loglikelihood"))

    def _traits(self, parameters: Mapping[str, Any]) -> object:
        try:
            return read_traits(self.kind, self.traits, parameters)
        except Exception as error:  # a plugin's own function
            what = f"what the {self.kind} {self.name!r} states about itself is wrong: {error}"
            raise PluginError(what, where=f"plugin {self.plugin}") from error

    def make_scorer(self, parameters: Mapping[str, Any]) -> Any:
        """Load a scorer and call its factory. Raises PluginError where it states less than it does."""
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
                f"the scorer {self.name!r} says that it looks at whole docs, but is registered without unit='doc'",
                where=f"plugin {self.plugin}",
                fix="Add unit='doc' to its registry.add; an attribute of the class is not read.",
            )
        return scorer

    def load(self) -> Any:
        """Import and return the attribute. Raises MissingPartError where a package it needs is absent."""
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
            if str(error).startswith("cannot import name"):  # the package is there, and has no such name
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
            fix="Report this to the plugin that brings it.",
        )

    def _missing(self, error: ImportError) -> MissingPartError:
        return MissingPartError(
            f"the {self.kind} {self.name!r} needs the package {error.name or str(error)!r}, which is not installed",
            where=f"plugin {self.plugin}",
            fix=f"Install it: pip install {(error.name or '').partition('.')[0] or self.plugin}",
        )


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
        parameters. Raises PluginError where the kind is none, the target has no colon, an argument is unknown, of the
        wrong type or contradicts another one, or the plugin has the component already.
        """
        where = f"plugin {self._plugin}"
        fault = _fault(kind, name, target, spec)
        if fault:
            raise PluginError(fault, where=where)
        own = {key: spec.pop(key) for key in list(spec) if kind in TRAITS and key in TRAITS[kind].__slots__}
        component = Component(kind, name, target, self._plugin, summary, **spec, traits=own)
        same_name = self._components.setdefault((kind, name), [])
        if any(other.plugin == self._plugin for other in same_name):
            raise PluginError(f"registers the {kind} {name!r} twice", where=where)
        same_name.append(component)

    def absorb(self, other: Registry) -> None:
        """Take over all components of another registry (of a plugin that came through whole)."""
        for key, components in other._components.items():
            self._components.setdefault(key, []).extend(components)

    def get(self, kind: Kind, name: str, where: str | None = None, prefer: str | None = None) -> Component:
        """Return the component called `name` or `plugin/name`.

        Where several plugins hold the short name, the one of the plugin `prefer` is taken, else the core's.
        Raises UnknownNameError with the nearest names; PluginError where it stays ambiguous.
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
        what = f"{len(found)} plugins hold the {kind} {name!r}: {', '.join(others)} and {last}"
        raise PluginError(what, where=where, fix="Use one of these.")

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


def _names_roles(about: object) -> bool:
    return isinstance(about, Mapping) and bool(about.get("x-role"))


def _is_async(function: object) -> bool:
    import inspect  # not at the start, which registers alone

    return inspect.iscoroutinefunction(function)


def _fault(kind: object, name: object, target: object, spec: Mapping[str, Any]) -> str | None:
    """Say what is wrong with a registration, or None."""
    if kind not in _KINDS:
        return f"{kind!r} is no kind of component; kinds are {', '.join(_KINDS)}"
    if not isinstance(name, str) or not name or any(letter.isspace() or letter in "/:[]{}," for letter in name):
        return f"{name!r} is no name for a component: it may not be empty or hold blanks or any of / : [ ] {{ }} ,"
    module, _, attribute = target.partition(":") if isinstance(target, str) else ("", "", "")
    if not module or not attribute:
        return f"target {target!r} of {name!r} is not of the form module:attribute"
    known = [entry.name for entry in fields(Component)][4:-1]
    faults = (unknown_fault(str(kind), key, known) for key in spec)
    fault = next((each for each in faults if each), None)
    traits = {key: value for key, value in spec.items() if key not in known}
    fault = fault or trait_fault(str(kind), traits, spec.get("roles", ()))
    return (
        f"the {kind} {name!r}: {fault}"
        if fault
        else _spec_fault(name, {key: spec[key] for key in spec.keys() - traits})
    )


def _spec_fault(name: str, spec: Mapping[str, Any]) -> str | None:
    """Say what is wrong with the fields of a component, or None."""
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
    """Say what is wrong with the declared ranges of scores, or None."""
    if not isinstance(ranges, Mapping):
        return "must be a mapping from names of scores"
    for score, each in ranges.items():
        if score not in produces and ANY_SCORE not in produces:
            return f"name {score!r}, which it does not produce"
        if each == BINARY:
            continue
        if (
            not isinstance(each, tuple)
            or len(each) != 2
            or not all(isinstance(end, int | float | None) for end in each)
        ):
            return f"must be {BINARY!r} or (lowest, highest), not {each!r}"
        if each[0] is not None and each[1] is not None and not each[0] < each[1]:
            return f"end at {each[1]:g} and begin at {each[0]:g}"
    return None
