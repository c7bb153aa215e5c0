"""From a name in a task (`embedding: sentence-transformers/all-mpnet-base-v2`) to the open resource."""

from __future__ import annotations

from typing import Any, cast, get_args

from creval.errors import MissingPartError, PluginError, UnknownNameError, UsageError
from creval.plugins.distributions import absent_distribution
from creval.plugins.registry import Component, Registry
from creval.resources.options import ResourceOptions
from creval.types.kinds import Kind

__all__ = ["RESOURCE_KINDS", "open_resource", "resolve"]

RESOURCE_KINDS: tuple[Kind, ...] = ("embedding", "entailment", "sandbox", "wordlist")


def resolve(name: str, spec: str, registry: Registry) -> tuple[Component, str]:
    """Return the component behind a resource and the rest of its specification.

    `name` is the kind, or the task's own name for the resource; with the latter the kind is that of the
    one component called by the first part of `spec`. Imports nothing, so a plan can check it.
    Raises UnknownNameError (with the nearest names), MissingPartError where its distribution is not installed, or
    UsageError where two kinds hold the component.
    """
    first, _, rest = spec.partition("/")
    kinds = (cast(Kind, name),) if name in get_args(Kind) else RESOURCE_KINDS
    found = [component for kind in kinds if (component := _find(kind, first, registry)) is not None]
    where = f"resource {name}={spec}"
    if not found:
        _demand_installed(kinds, first, where)
        known = [known_name for kind in kinds for known_name in registry.names(kind)]
        raise UnknownNameError(
            "resource", first, known, where=where, hint="`creval plugins` lists the resources of every plugin."
        )
    if len(found) > 1:
        kinds_found = " and ".join(component.kind for component in found)
        raise UsageError(
            f"{first!r} is a component of the kinds {kinds_found}",
            where=where,
            cure=f"Call the resource by its kind in the task, e.g. `{found[0].kind}: {spec}`.",
        )
    return found[0], rest


def _find(kind: Kind, name: str, registry: Registry) -> Component | None:
    try:
        return registry.get(kind, name)
    except UnknownNameError:
        return None


def _demand_installed(kinds: tuple[Kind, ...], name: str, where: str) -> None:
    for kind in kinds:
        distribution = absent_distribution(kind, name)
        if distribution is not None:
            what = f"the {kind} {name!r} is part of {distribution}, which is not installed"
            raise MissingPartError(what, where=where, cure=f"pip install {distribution}")


def open_resource(name: str, spec: str, registry: Registry, options: ResourceOptions) -> Any:
    """Open a resource.

    `name` is its kind or the task's name for it, `spec` is `"<component>/<rest>"`. The component's factory is
    called with `model=<rest>, options=options`. An embedding comes back wrapped: each distinct text is embedded
    once a run, in batches, and kept across runs (see `creval.resources.embedding_cache`); entailment likewise
    judges each distinct pair once.

    Raises UnknownNameError, UsageError, MissingPartError (a package or model is absent), PluginError (the factory
    gives something that is no resource of its kind).
    """
    component, rest = resolve(name, spec, registry)
    opened = component.load()(model=rest, options=options)
    if component.kind == "embedding":
        from creval.resources.embedding_cache import CachedEmbedding

        _demand(component, opened, ("name", "dimension", "has", "embed"))
        return CachedEmbedding(opened, options)
    if component.kind == "entailment":
        from creval.resources.entailment.cache import CachedEntailment

        _demand(component, opened, ("predict",))
        return CachedEntailment(opened, spec, options)
    if component.kind == "sandbox":
        _demand(component, opened, ("name", "run"))
    return opened


def _demand(component: Component, opened: Any, members: tuple[str, ...]) -> None:
    missing = [member for member in members if not hasattr(opened, member)]
    if missing:
        raise PluginError(
            f"the {component.kind} {component.name!r} gives an object without {', '.join(missing)}",
            where=f"plugin {component.plugin}",
            cure=f"See creval.types.components.{component.kind.capitalize()}.",
        )
