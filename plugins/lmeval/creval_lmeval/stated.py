"""The numbers of a group that its tasks' files state: no task is loaded, and no function of one imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from creval_lmeval.groups import Group, Member
from creval_lmeval.roots import known

__all__ = ["stated_numbers"]

_PLAIN = frozenset({"acc", "acc_norm", "exact_match"})
"""Metrics that any task which states them has under this name."""
_DEFAULTS = {"multiple_choice": ("acc", "acc_norm"), "loglikelihood": ("acc",), "generate_until": ("exact_match",)}


def stated_numbers(group: Group) -> Iterator[tuple[str, bool]]:
    """Yield the metrics, with their filters, that every task of a group has, and whether sizes of tasks weight them.

    Metrics that only running a task reveals are left out: `creval lmeval groups` has those numbers too.
    """
    members = {member.name: member for each in group.every() for member in each.members}
    if not group.rules or not members:
        return
    common = set.intersection(*({*_stated(member)} for member in members.values()))
    found: dict[str, bool] = {}
    for rule in group.rules:
        for name in sorted(common):
            metric, _, pipeline = name.partition(",")
            if metric == rule.metric and (rule.filters is None or pipeline in rule.filters):
                found.setdefault(name, rule.weighted)
    yield from found.items()


def _stated(member: Member) -> Set[str]:
    """Return the plain metrics of a task, each with a filter, that its file and group state; none for programs."""
    from lm_eval.tasks._yaml_loader import load_yaml

    said: Mapping[str, Any] = member.overrides
    if member.base is not None:
        file = known()[member.base].file
        said = {**(load_yaml(file, resolve_func=False) if file else {"class": ""}), **said}
    if "class" in said or said.get("process_results") is not None:
        return frozenset()
    listed = said.get("metric_list")
    kind = str(said.get("output_type", "generate_until"))
    names = _DEFAULTS.get(kind, ()) if not listed else [str(each.get("metric")) for each in listed]
    filters = [str(each["name"]) for each in said.get("filter_list") or [{"name": "none"}]]
    return {f"{metric},{pipeline}" for metric in names if metric in _PLAIN for pipeline in filters}
