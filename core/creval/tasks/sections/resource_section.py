"""Reads `resources:` and `baselines:`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from creval.errors import nearest
from creval.plugins.distributions import absent_distribution
from creval.plugins.loader import LOCAL
from creval.tasks.sections.section_reader import Reading
from creval.tasks.task_components import FoundComponent, whole
from creval.tasks.task_paths import names_a_stray
from creval.tasks.yaml.nodes import Node
from creval.types.kinds import Kind

__all__ = ["RESOURCE_KINDS", "check_uses", "read_baselines", "read_resources", "resource_kind", "role_behind"]

RESOURCE_KINDS: tuple[Kind, ...] = ("embedding", "entailment", "sandbox", "wordlist")


def resource_kind(name: str) -> Kind | None:
    """Return the kind of a resource by its name, `embedding` or `embedding_anything`; None for other names."""
    return next((kind for kind in RESOURCE_KINDS if name == kind or name.startswith(f"{kind}_")), None)


def role_behind(spec: str) -> str | None:
    """Return the role that a resource asks (`judge` of `role/judge`), or None."""
    first, _, role = spec.partition("/")
    return role or None if first == "role" else None


def read_resources(reading: Reading) -> Mapping[str, str]:
    """Return the specification (`component/rest`) of each resource."""
    resources: dict[str, str] = {}
    for path, name, node in reading.members("resources"):
        kind = resource_kind(name)
        if kind is None:
            near = nearest(name, RESOURCE_KINDS)
            fix = f"Did you mean {near[0]!r}?" if near else f"Kinds are {', '.join(RESOURCE_KINDS)}, or KIND_anything."
            reading.add(node.key or node.place, f"{name!r} is not a kind of resource", path, fix)
            continue
        first = str(node.value).partition("/")[0]
        if reading.registry.find(kind, first) is None:
            if distribution := absent_distribution(kind, first):
                what = f"the {kind} {first!r} is part of {distribution}, which is not installed"
                reading.add(node.place, what, path, f"pip install {distribution}")
                continue
            known = reading.registry.names(kind)
            near = nearest(first, known)
            listing = f"There are: {', '.join(known)}." if known else "None is installed."
            fix = f"Did you mean {near[0]!r}?" if near else listing
            reading.add(node.place, f"unknown {kind} {first!r}", path, fix)
            continue
        if reading.owner.plugin == LOCAL and names_a_stray(str(node.value), node.place.file.parent):
            message = f"{str(node.value)!r} is outside of the task's folder"
            reading.add(node.place, message, path, f"Users of the task may add: --resource {name}=...")
            continue
        resources[name] = str(node.value)
    return resources


def read_baselines(reading: Reading) -> Mapping[str, FoundComponent]:
    """Return the baselines by name (floor, ceiling)."""
    found = {}
    for path, name, node in reading.members("baselines"):
        baseline = reading.component("baseline", node, path)
        if baseline is not None:
            found[name] = baseline
    return found


def check_uses(reading: Reading, components: Sequence[FoundComponent]) -> None:
    """Check that the task names every resource that a component uses."""
    node = reading.section("resources")
    named = node.value if isinstance(node, Node) and node.is_mapping else {}
    for found in components:
        for part in whole(found.component, found.ref, reading.registry):
            for use in part.uses:
                if use not in named:
                    message = f"the {part.kind} {part.name!r} needs the resource {use!r}, which the task does not name"
                    fix = f"Add it: resources: {{{use}: ...}}."
                    reading.add(found.written.node.place, message, found.written.path, fix)
