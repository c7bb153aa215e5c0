"""Groups of lm-eval: their tasks, and the changes that they make to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from creval.plugin import UnknownNameError
from creval_lmeval.names import Named

__all__ = ["AggregateRule", "Group", "Member", "find_member", "read_group"]

_GROUP_KEYS = frozenset(
    {"group", "group_alias", "task", "aggregate_metric_list", "version", "metadata", "tag", "include"}
)


class AggregateRule(NamedTuple):
    """How a group combines its tasks' numbers: the mean, weighted by their sizes or not. `filters` None: all."""

    metric: str
    weighted: bool = True
    filters: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A task of a group by its full name. `base`: the changed task, None if the group defines the task itself."""

    name: str
    base: str | None
    overrides: Mapping[str, Any] = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """Return whether the group leaves the task unchanged."""
        return self.base == self.name


@dataclass(frozen=True, slots=True)
class Group:
    """A group: its tasks, its groups (each flattened), and how it combines the numbers of its tasks."""

    name: str
    version: str
    members: Sequence[Member]
    groups: Sequence[Group]
    rules: Sequence[AggregateRule]

    def tasks(self) -> list[str]:
        """Return the full names of all its tasks, including those of inner groups."""
        return list(dict.fromkeys([*(m.name for m in self.members), *(t for g in self.groups for t in g.tasks())]))

    def every(self) -> Iterator[Group]:
        """Yield the groups in it, the innermost first, and itself."""
        for group in self.groups:
            yield from group.every()
        yield self


def read_group(name: str, known: Mapping[str, Named], functions: bool = False) -> Group:
    """Return a group, or a tag as a group without rules. With `functions` its overrides may name Python functions.

    Raises UnknownNameError if there is no group or tag of this name.
    """
    found = known.get(name)
    if found is None or found.kind == "task":
        raise UnknownNameError("group of lm-eval", name, [each.name for each in known.values() if each.kind != "task"])
    if found.kind == "tag":
        return Group(name, "", [Member(each, each) for each in found.members], (), ())
    from lm_eval.tasks._yaml_loader import load_yaml

    return _group(name, load_yaml(found.file, resolve_func=functions), {}, (known, name, functions))


def _group(name: str, said: Mapping[str, Any], outer: Mapping[str, Any], around: tuple[Any, str, bool]) -> Group:
    known, top, _ = around
    changes = {**{key: value for key, value in said.items() if key not in _GROUP_KEYS}, **outer}
    members: list[Member] = []
    groups: list[Group] = []
    listed = said.get("task")
    for item in listed if isinstance(listed, list) else [listed] if isinstance(listed, str) else []:
        own = dict(item) if isinstance(item, Mapping) else {}
        if "group" in own:
            inner = str(own.pop("group"))
            if inner in known and "task" not in own:
                groups.append(_named_group(inner, {**changes, **own}, around))
            else:
                groups.append(_group(f"{name}::{inner}", own, changes, around))
            continue
        base = str(own.pop("task", item))
        altered = {**changes, **own}
        kind = known[base].kind if base in known else None
        if kind == "group":
            groups.append(_named_group(base, altered, around))
        elif kind == "tag":
            members += [_member(top, each, each, altered) for each in known[base].members]
        else:
            members.append(_member(top, base, base if kind else None, altered))
    metadata = said.get("metadata")
    version = str(metadata.get("version", "")) if isinstance(metadata, Mapping) else ""
    return Group(name, version, members, groups, _rules(said.get("aggregate_metric_list")))


def _named_group(name: str, altered: Mapping[str, Any], around: tuple[Any, str, bool]) -> Group:
    """Return an inner group; its tasks keep their names if nothing changes them."""
    known, top, functions = around
    if not altered:
        return read_group(name, known, functions)
    from lm_eval.tasks._yaml_loader import load_yaml

    return _group(name, load_yaml(known[name].file, resolve_func=functions), altered, (known, top, functions))


def _member(top: str, name: str, base: str | None, altered: Mapping[str, Any]) -> Member:
    return Member(name if base and not altered else f"{top}::{name}", base, altered)


def _rules(written: Any) -> Sequence[AggregateRule]:
    rules = []
    for each in written if isinstance(written, list) else [written] if written else []:
        filters = each.get("filter_list")
        names = None if filters is None else (filters,) if isinstance(filters, str) else tuple(map(str, filters))
        rules.append(AggregateRule(str(each["metric"]), bool(each.get("weight_by_size", True)), names))
    return rules


def find_member(name: str, known: Mapping[str, Named], functions: bool = False) -> Member:
    """Return the member `GROUP::TASK`. Raises UnknownNameError."""
    top = name.partition("::")[0]
    group = read_group(top, known, functions)
    members = {member.name: member for each in group.every() for member in each.members}
    if name not in members:
        raise UnknownNameError("task of lm-eval", name, list(members))
    return members[name]
