"""Read the authors' published data: 100 seed configurations and their task instances.

Both are JSON Lines, plain or gzip-compressed. A row of the configurations has `domain`, `truths`, `actions` and
`outcomes`: a list of {action, type, states: [{state, rules_out}]}; a state is a label or [lo, hi]. A row of the
instances has `truths`, `actions`, `observations`, `seed`, `valid_truth` (a name, or a list of names) and
`knowledge_book`. Some of the domains are faulty; every fault is reported by name
(`creval_kumo.domains.faults.FaultKind`), and faulty data is refused, never repaired.

Two properties of the authors' data are not faults: ranges may share an end point or be a single number, and sizes vary.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from creval.plugin import DataError
from creval_kumo.domains.domain import Action, Domain, Interval, Noun, Outcome, State, Truth
from creval_kumo.domains.faults import DomainError, Fault, FaultKind
from creval_kumo.domains.rules import PLAYABLE_RULES, find_faults
from creval_kumo.games.instance import GameAction, Instance, Observation, state_matches

__all__ = ["PublishedDomain", "read_domains", "read_instances", "to_domain", "to_instance"]


@dataclass(frozen=True)
class PublishedDomain:
    """One published configuration with its faults.

    `domain` contains what could be read; malformed outcomes are left out, and `unreadable` names their actions. Use
    `sound()` if you need a domain without faults.
    """

    domain: Domain
    faults: tuple[Fault, ...]
    unreadable: frozenset[str]

    def sound(self) -> Domain:
        """Return the domain. Raises DomainError with every fault if it has any."""
        if self.faults:
            raise DomainError(
                self.faults,
                where=self.domain.name,
                fix="The published configuration is faulty; use one of the others or a domain of your own.",
            )
        return self.domain

    @cached_property
    def game_actions(self) -> dict[str, GameAction]:
        """Return the actions of the whole domain as game actions."""
        return {
            action.name: GameAction(
                action.name, "", "", tuple((outcome.state, outcome.rules_out) for outcome in action.outcomes)
            )
            for action in self.domain.actions
        }


def read_domains(path: Path) -> dict[str, PublishedDomain]:
    """Return all published configurations by name, sound or not. Raises DataError on a malformed file."""
    return {row["domain"]: to_domain(row, where) for where, row in _rows(path)}


def read_instances(
    path: Path, published: PublishedDomain, faulty: Literal["refuse", "skip"] = "refuse"
) -> Iterator[Instance]:
    """Yield the published instances of a domain, with their knowledge books.

    `faulty="refuse"` raises DomainError at a faulty domain or instance. `faulty="skip"` leaves out faulty instances
    and keeps the sound ones, even in faulty domains: an instance is sound if its own truths and actions are.
    """
    if faulty == "refuse":
        published.sound()
    for where, row in _rows(path):
        instance, faults = to_instance(row, published, where)
        if faults and faulty == "refuse":
            raise DomainError(faults, where=where)
        if not faults:
            yield instance


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise DataError("expected an object", where=f"{path}:{number}")
                yield f"{path}:{number}", row
    except (OSError, EOFError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"the file cannot be read: {error}", where=str(path)) from error


def to_domain(row: Mapping[str, Any], where: str) -> PublishedDomain:
    """Return the configuration of one row; `where` is its place in messages. Raises DataError on a malformed row."""
    try:
        outcomes = {str(entry["action"]): entry for entry in row["outcomes"]}
        names = [str(name) for name in row["actions"]]
        truths = tuple(Truth(str(name)) for name in row["truths"])
        faults = _mismatches(names, list(outcomes))
        actions = []
        unreadable = set()
        for name, entry in outcomes.items():
            action, bad = _action(name, entry)
            actions.append(action)
            faults += bad
            if bad:
                unreadable.add(name)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"not a published configuration: {error!r}", where=where) from error
    noun = Noun("truth", "truths"), Noun("action", "actions")
    title = str(row["domain"]).removesuffix("Env")
    domain = Domain(str(row["domain"]), title, "find the valid truth", *noun, truths, tuple(actions))
    faults += find_faults(domain, PLAYABLE_RULES)
    return PublishedDomain(domain, tuple(faults), frozenset(unreadable))


def _mismatches(actions: list[str], with_outcomes: list[str]) -> list[Fault]:
    """Return faults for actions without outcomes and for outcomes of unknown actions."""
    differing = sorted(set(actions) ^ set(with_outcomes))
    if not differing:
        return []
    message = f"the action list and the keys of the outcomes differ in {', '.join(map(repr, differing))}"
    return [Fault(FaultKind.OUTCOMES_MISMATCH, message, ("outcomes",))]


def _action(name: str, entry: Mapping[str, Any]) -> tuple[Action, list[Fault]]:
    kind = entry["type"]
    faults = []
    if kind not in ("str", "float"):
        faults.append(Fault(FaultKind.WRONG_TYPE, f"{name!r} has the type {kind!r}; str and float are known"))
    outcomes = []
    for state in entry["states"]:
        shown = _state(state["state"], kind)
        if shown is None:
            if kind in ("str", "float"):
                message = f"{name!r} has the outcome {state['state']!r}, which does not fit the type {kind!r}"
                faults.append(Fault(FaultKind.BAD_RANGE if kind == "float" else FaultKind.WRONG_TYPE, message))
            continue
        outcomes.append(Outcome(shown, frozenset(map(str, state["rules_out"]))))
    return Action(name, "float" if kind == "float" else "str", tuple(outcomes)), faults


def _state(state: object, kind: str) -> State | None:
    if kind == "str":
        return state if isinstance(state, str) else None
    if kind == "float" and isinstance(state, list) and len(state) == 2:
        lo, hi = state
        numbers = all(isinstance(end, int | float) and not isinstance(end, bool) for end in (lo, hi))
        if numbers and math.isfinite(lo) and math.isfinite(hi):
            return Interval(float(lo), float(hi))
    return None


def to_instance(row: Mapping[str, Any], published: PublishedDomain, where: str) -> tuple[Instance, list[Fault]]:
    """Return the instance of one row with its faults. Raises DataError on a malformed row."""
    try:
        truths = tuple(map(str, row["truths"]))
        names = tuple(map(str, row["actions"]))
        valid = row["valid_truth"]
        observations = dict(row["observations"])
        seed, book = int(row["seed"]), str(row.get("knowledge_book", ""))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"not a published instance: {error!r}", where=where) from error
    valid_truths = tuple(map(str, valid)) if isinstance(valid, list) else (str(valid),)
    faults = list(_name_faults(truths, names, valid_truths, published))
    actions, inside = [], frozenset(truths)
    for name in names:
        known = published.game_actions.get(name)
        if known is None or name not in observations:
            message = f"the action {name!r} has no outcomes or no observation"
            faults.append(Fault(FaultKind.OUTCOMES_MISMATCH, message))
            continue
        shown = observations[name]
        if not isinstance(shown, str | int | float) or isinstance(shown, bool):
            faults.append(Fault(FaultKind.WRONG_TYPE, f"{name!r} was observed as {shown!r}"))
            continue
        outcomes = tuple((state, ruled_out & inside) for state, ruled_out in known.outcomes)
        actions.append(GameAction(name, "", "", outcomes))
        faults += _observation_faults(actions[-1], shown, name in published.unreadable)
    instance = Instance(published.domain.name, seed, truths, tuple(actions), observations, valid_truths, book)
    if len(actions) == len(names):
        try:
            instance.check()
        except DomainError as error:
            faults += error.faults
    return instance, faults


def _name_faults(
    truths: tuple[str, ...], names: tuple[str, ...], valid: tuple[str, ...], published: PublishedDomain
) -> Iterator[Fault]:
    unknown = sorted(set(truths) - published.domain.truth_by_name.keys())
    if unknown:
        yield Fault(FaultKind.UNKNOWN_TRUTH, f"the domain has no truth {', '.join(map(repr, unknown))}")
    if not set(valid) <= set(truths):
        yield Fault(FaultKind.UNKNOWN_TRUTH, f"the valid truth {', '.join(map(repr, valid))} is none of the game's")
    everything = [*truths, *names]
    twice = sorted({name for name in everything if everything.count(name) > 1})
    if twice:
        message = f"{', '.join(map(repr, twice))} stands for two things; an answer cannot tell which is meant"
        yield Fault(FaultKind.DUPLICATE_NAME, message)


def _observation_faults(action: GameAction, observation: Observation, unreadable: bool) -> Iterator[Fault]:
    if unreadable:
        yield Fault(FaultKind.WRONG_TYPE, f"the outcomes of {action.name!r} do not fit their type")
        return
    matching = [state for state, _ in action.outcomes if state_matches(state, observation)]
    if not matching:
        message = f"{action.name!r} was observed as {observation!r}, which is none of its outcomes"
        yield Fault(FaultKind.NO_MATCHING_OUTCOME, message)
    if len(matching) > 1:
        message = f"{action.name!r} was observed as {observation!r}, which is in {len(matching)} of its ranges"
        yield Fault(FaultKind.OVERLAPPING_RANGES, message)
