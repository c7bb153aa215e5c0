"""The rules for a domain, checked all at once.

Source: paper 002, Supplementary, "Seed config generation template" (at least 50 truths and 30 actions, at
least two outcomes per action, both types, no truth ruled out in every state) and Methods, "Automatic domain
proposal and seed configs generation" (no truth universally excluded). Generation and play require the other rules
(names, ranges, every truth excludable, every pair distinguishable).
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from creval.plugin import nearest
from creval_kumo.domains.domain import Action, Domain, Interval
from creval_kumo.domains.faults import Fault, FaultKind

__all__ = ["FILE_RULES", "PLAYABLE_RULES", "SHIPPED_RULES", "Rules", "find_faults", "name_problem"]

MAX_NAME = 120
_DOMAIN_NAME = re.compile(r"\w[\w-]{0,79}")
FORBIDDEN_IN_NAMES = ("<", ">", "{", "}", "`", "*", "\n", "\r", "\t")


@dataclass(frozen=True, slots=True)
class Rules:
    """The strictness: `SHIPPED_RULES` for our own domains, `PLAYABLE_RULES` for published ones, `FILE_RULES` for
    domain files of any size (such as half a domain), whose names must survive an answer.

    `strict_names` restricts the form of names and ignores case when comparing them; `touching_ranges` lets two
    closed ranges share an end point, as 1,227 neighbours of the authors' 100 domains do, and a range be one number.
    """

    min_truths: int = 50
    min_actions: int = 30
    min_outcomes: int = 2
    both_types: bool = True
    tellable_apart: bool = True
    strict_names: bool = True
    touching_ranges: bool = False


SHIPPED_RULES = Rules()
PLAYABLE_RULES = Rules(2, 1, 1, both_types=False, tellable_apart=False, strict_names=False, touching_ranges=True)
FILE_RULES = replace(PLAYABLE_RULES, strict_names=True)


def find_faults(domain: Domain, rules: Rules = SHIPPED_RULES) -> list[Fault]:
    """Return every fault of `domain` under `rules`, in the order of the file; empty when it is sound."""
    faults: list[Fault] = []
    if not _DOMAIN_NAME.fullmatch(domain.name):
        message = (
            f"{domain.name[:80]!r} is no name of a domain: letters, digits, '_' and '-', 80 at most; it names files"
        )
        faults.append(Fault(FaultKind.BAD_NAME, message, ("domain",)))
    faults += _sizes(domain, rules)
    if rules.strict_names:
        faults += _names(domain)
    faults += _unique_names(domain, rules)
    for index, action in enumerate(domain.actions):
        faults += _action_faults(domain, action, index, rules)
    faults += _excludable(domain)
    if rules.tellable_apart:
        faults += _tellable_apart(domain)
    return faults


def name_problem(name: str) -> str | None:
    """Return why `name` cannot be used as a truth or action name, or None.

    A name must survive a round trip through an answer (`<ANSWER> ${name} </ANSWER>`) and through markdown.
    """
    if not name or name != name.strip():
        return "is empty or has blanks at its ends"
    if len(name) > MAX_NAME:
        return f"is longer than {MAX_NAME} characters"
    if not name.isprintable():
        return "contains a character that cannot be seen, or a blank other than the plain one"
    bad = [repr(mark) for mark in FORBIDDEN_IN_NAMES if mark in name]
    return f"contains {', '.join(bad)}" if bad else None


def _sizes(domain: Domain, rules: Rules) -> Iterator[Fault]:
    if len(domain.truths) < rules.min_truths:
        yield Fault(
            FaultKind.TOO_FEW_TRUTHS,
            f"{len(domain.truths)} truths, at least {rules.min_truths} are needed",
            ("truths",),
        )
    if len(domain.actions) < rules.min_actions:
        yield Fault(
            FaultKind.TOO_FEW_ACTIONS,
            f"{len(domain.actions)} actions, at least {rules.min_actions} are needed",
            ("actions",),
        )
    if rules.both_types:
        present = {action.type for action in domain.actions}
        for needed in ("str", "float"):
            if needed not in present:
                yield Fault(FaultKind.MISSING_TYPE, f"no action of type {needed}", ("actions",))


def _names(domain: Domain) -> Iterator[Fault]:
    for key, index, name in _all_names(domain):
        problem = name_problem(name)
        if problem:
            yield Fault(FaultKind.BAD_NAME, f"name {name!r} {problem}", (key, index, "name"))


def _all_names(domain: Domain) -> Iterator[tuple[str, int, str]]:
    for index, truth in enumerate(domain.truths):
        yield "truths", index, truth.name
    for index, action in enumerate(domain.actions):
        yield "actions", index, action.name


def _unique_names(domain: Domain, rules: Rules) -> Iterator[Fault]:
    """Yield names used twice: truths and actions share one namespace, since an answer may be either."""
    seen: dict[str, str] = {}
    for key, index, name in _all_names(domain):
        place = f"{key}[{index}]"
        first = seen.setdefault(name.casefold() if rules.strict_names else name, place)
        if first != place:
            yield Fault(
                FaultKind.DUPLICATE_NAME,
                f"name {name!r} is already used at {first}"
                + (" (letter case does not count)" if rules.strict_names else ""),
                (key, index, "name"),
            )


def _action_faults(domain: Domain, action: Action, index: int, rules: Rules) -> Iterator[Fault]:
    path = ("actions", index)
    if len(action.outcomes) < rules.min_outcomes:
        yield Fault(
            FaultKind.TOO_FEW_OUTCOMES,
            f"{action.name!r} has {len(action.outcomes)} outcomes, at least {rules.min_outcomes} are needed",
            path,
        )
    if action.type == "float":
        yield from _range_faults(action, path, rules)
    else:
        yield from _label_faults(action, path, rules)
    known = domain.truth_by_name
    for place, outcome in enumerate(action.outcomes):
        for name in sorted(outcome.rules_out - known.keys()):
            near = nearest(name, known)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            yield Fault(
                FaultKind.UNKNOWN_TRUTH,
                f"{action.name!r}, outcome {str(outcome.state)!r} rules out {name!r}, which is no truth{hint}",
                (*path, "outcomes", place, "rules_out"),
            )
    if action.outcomes:
        always = frozenset.intersection(*(outcome.rules_out for outcome in action.outcomes))
        if always:
            yield Fault(
                FaultKind.ALWAYS_EXCLUDED,
                f"every outcome of {action.name!r} rules out {_listed(always)}",
                path,
            )


def _range_faults(action: Action, path: tuple[str | int, ...], rules: Rules) -> Iterator[Fault]:
    ranges: list[tuple[Interval, int]] = []
    for place, outcome in enumerate(action.outcomes):
        state = outcome.state
        if not isinstance(state, Interval):
            continue
        sound = state.lo < state.hi or (rules.touching_ranges and state.lo == state.hi)
        if not (math.isfinite(state.lo) and math.isfinite(state.hi) and sound):
            yield Fault(
                FaultKind.BAD_RANGE,
                f"{action.name!r} has the range {state}; it must be finite with lo < hi",
                (*path, "outcomes", place, "range"),
            )
        else:
            ranges.append((state, place))
    ranges.sort()
    widest: Interval | None = None
    for state, place in ranges:
        touching = widest is not None and state.lo == widest.hi
        if widest is not None and state.lo <= widest.hi and not (touching and rules.touching_ranges):
            yield Fault(
                FaultKind.OVERLAPPING_RANGES,
                f"{action.name!r}: the closed ranges {widest} and {state} share numbers"
                + (" (their end point)" if touching else ""),
                (*path, "outcomes", place, "range"),
            )
        if widest is None or state.hi > widest.hi:
            widest = state


def _label_faults(action: Action, path: tuple[str | int, ...], rules: Rules) -> Iterator[Fault]:
    seen: set[str] = set()
    for place, outcome in enumerate(action.outcomes):
        label = str(outcome.state)
        where = (*path, "outcomes", place, "label")
        if rules.strict_names and (problem := name_problem(label)):
            yield Fault(FaultKind.BAD_NAME, f"outcome label {label!r} of {action.name!r} {problem}", where)
        folded = label.casefold() if rules.strict_names else label
        if folded in seen:
            yield Fault(FaultKind.DUPLICATE_OUTCOME, f"{action.name!r} has the outcome {label!r} twice", where)
        seen.add(folded)


def _excludable(domain: Domain) -> Iterator[Fault]:
    excludable = frozenset[str]().union(*(action.related for action in domain.actions))
    for index, truth in enumerate(domain.truths):
        if truth.name not in excludable:
            yield Fault(
                FaultKind.NEVER_EXCLUDED,
                f"no outcome of any action rules out {truth.name!r}",
                ("truths", index),
            )


def _tellable_apart(domain: Domain) -> Iterator[Fault]:
    """Yield pairs of truths that the same outcomes rule out: no play can distinguish them."""
    signature: dict[str, list[int]] = {truth.name: [] for truth in domain.truths}
    outcomes = (outcome for action in domain.actions for outcome in action.outcomes)
    for number, outcome in enumerate(outcomes):
        for name in outcome.rules_out & signature.keys():
            signature[name].append(number)
    alike: defaultdict[tuple[int, ...], list[str]] = defaultdict(list)
    for name, numbers in signature.items():
        alike[tuple(numbers)].append(name)
    for shared, names in alike.items():
        if len(names) > 1 and shared:
            yield Fault(
                FaultKind.INDISTINGUISHABLE,
                f"no outcome rules out one of {_listed(names)} without ruling out the other"
                + ("s" if len(names) > 2 else ""),
                ("truths",),
            )


def _listed(names: Iterable[str]) -> str:
    ordered: Sequence[str] = sorted(names)
    shown = ", ".join(map(repr, ordered[:6]))
    return shown if len(ordered) <= 6 else f"{shown} and {len(ordered) - 6} more"
