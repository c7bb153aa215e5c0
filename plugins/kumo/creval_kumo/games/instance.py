"""One game: truths, actions, what each outcome rules out, what will be observed, and which truth is valid."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from creval.plugin import DataError
from creval_kumo.domains.domain import Interval, State
from creval_kumo.domains.faults import DomainError, Fault, FaultKind
from creval_kumo.games.reliability import reliability_fault

__all__ = ["GameAction", "Instance", "Observation", "state_matches"]

Observation = str | float
"""What an action shows: the label of an outcome, or a number inside its interval."""


@dataclass(frozen=True, slots=True)
class GameAction:
    """An action of a game. `outcomes` are (state, truths of this game that it rules out), in the domain's order."""

    name: str
    about: str
    unit: str
    outcomes: tuple[tuple[State, frozenset[str]], ...]

    def ruled_out(self, observation: Observation) -> frozenset[str]:
        """Return the truths that an observation rules out: those of every outcome that it matches."""
        matching = [truths for state, truths in self.outcomes if state_matches(state, observation)]
        return frozenset().union(*matching)

    def matching(self, observation: Observation) -> tuple[int, ...]:
        """Return the indices of the outcomes that an observation shows: one, unless intervals share a number."""
        return tuple(place for place, (state, _) in enumerate(self.outcomes) if state_matches(state, observation))

    def sparing(self, truth: str) -> tuple[int, ...]:
        """Return the indices of the outcomes that do not rule out a truth."""
        return tuple(place for place, (_, ruled_out) in enumerate(self.outcomes) if truth not in ruled_out)

    @property
    def related(self) -> frozenset[str]:
        """The truths of this game that some outcome rules out."""
        return frozenset().union(*(truths for _, truths in self.outcomes))


def state_matches(state: State, observation: Observation) -> bool:
    """Return whether an observation shows a state; intervals are closed."""
    if isinstance(state, Interval):
        return not isinstance(observation, str) and observation in state
    return state == observation


@dataclass(frozen=True, slots=True)
class Instance:
    """A game whose observations leave exactly the valid truths. `seed` numbers it within its task set.

    `book` is the knowledge book, if one was written; games that differ only in it are the same game. With `reliability`
    below 1 results are evidence that excludes nothing: see `creval_kumo.games.belief`. "Rules out" then means "speaks
    against", and `left` says nothing about which truths are still possible.
    """

    domain: str
    seed: int
    truths: tuple[str, ...]
    actions: tuple[GameAction, ...]
    observations: Mapping[str, Observation]
    valid_truths: tuple[str, ...]
    book: str = field(default="", compare=False)
    reliability: float = 1.0

    def left(self, taken: Sequence[str]) -> tuple[str, ...]:
        """Return the truths that the observations of the actions taken leave, in the game's order."""
        gone: set[str] = set()
        wanted = frozenset(taken)
        for action in self.actions:
            if action.name in wanted:
                gone |= action.ruled_out(self.observations[action.name])
        return tuple(truth for truth in self.truths if truth not in gone)

    @property
    def id(self) -> str:
        """The game's name in its task set: domain, sizes and number."""
        return f"{self.domain}-{len(self.truths)}x{len(self.actions)}-{self.seed}"

    @property
    def action_names(self) -> tuple[str, ...]:
        return tuple(action.name for action in self.actions)

    def check(self) -> None:
        """Raise DomainError if all observations together do not leave exactly the valid truths.

        With a reliability below 1 this is not required. Instead each observation must show one outcome, each action
        must have, for every truth, an outcome that does not speak against it, and one truth must be valid.
        """
        if self.reliability != 1:
            faults = list(self._chance_faults())
            if faults:
                raise DomainError(faults, where=f"{self.domain} instance {self.seed}")
            return
        left = self.left(self.action_names)
        if not left or set(left) != set(self.valid_truths):
            wanted = ", ".join(self.valid_truths) or "any"
            message = f"the observations leave {', '.join(left) or 'no truth'} instead of {wanted}"
            raise DomainError([Fault(FaultKind.NOT_SINGLED_OUT, message)], where=f"{self.domain} instance {self.seed}")

    def _chance_faults(self) -> Iterator[Fault]:
        if (fault := reliability_fault(self.reliability)) is not None:
            yield Fault(FaultKind.WRONG_SHAPE, fault)
        if len(self.valid_truths) != 1 or self.valid_truths[0] not in self.truths:
            yield Fault(FaultKind.WRONG_SHAPE, "exactly one of the truths must be valid where results are not certain")
        for action in self.actions:
            shown = len(action.matching(self.observations[action.name]))
            if shown != 1:
                message = f"the observation of {action.name!r} shows {shown or 'none'} of its outcomes instead of one"
                yield Fault(FaultKind.NO_MATCHING_OUTCOME, message)
            for truth in self.truths:
                if not action.sparing(truth):
                    yield Fault(FaultKind.ALWAYS_EXCLUDED, f"every outcome of {action.name!r} rules out {truth!r}")

    def to_doc(self) -> dict[str, Any]:
        """Return the game as plain data (JSON), with its book; `reliability` is included if it is below 1."""
        chance = {} if self.reliability == 1 else {"reliability": self.reliability}
        return {
            "domain": self.domain,
            "seed": self.seed,
            "truths": list(self.truths),
            "actions": list(self.action_names),
            "valid_truths": list(self.valid_truths),
            "observations": dict(self.observations),
            "outcomes": [_action_data(action, self.truths) for action in self.actions],
            "book": self.book,
            **chance,
        }

    @classmethod
    def from_doc(cls, doc: Mapping[str, Any]) -> Instance:
        """Return the game from the data of `to_doc`. Raises DataError if its book is not a string."""
        if not isinstance(doc.get("book", ""), str):
            which = f"{doc['domain']} {doc['seed']}"
            raise DataError(f"the book is {doc['book']!r}, which is not a text", where=which, fix="Leave the key out.")
        return cls(
            domain=doc["domain"],
            seed=doc["seed"],
            truths=tuple(doc["truths"]),
            actions=tuple(_read_action(data) for data in doc["outcomes"]),
            observations=dict(doc["observations"]),
            valid_truths=tuple(doc["valid_truths"]),
            book=doc.get("book", ""),
            reliability=doc.get("reliability", 1.0),
        )

    def digest(self) -> str:
        """Return the SHA-256 of the game without its number and book: equal games have equal digests."""
        data = {key: value for key, value in self.to_doc().items() if key not in ("seed", "book")}
        return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _action_data(action: GameAction, truths: Sequence[str]) -> dict[str, Any]:
    states: list[dict[str, Any]] = []
    for state, ruled_out in action.outcomes:
        shown = {"range": [state.lo, state.hi]} if isinstance(state, Interval) else {"label": state}
        states.append({**shown, "rules_out": [truth for truth in truths if truth in ruled_out]})
    return {"action": action.name, "about": action.about, "unit": action.unit, "states": states}


def _read_action(data: Mapping[str, Any]) -> GameAction:
    outcomes = []
    for state in data["states"]:
        shown: State = Interval(*state["range"]) if "range" in state else state["label"]
        outcomes.append((shown, frozenset(state["rules_out"])))
    return GameAction(data["action"], data.get("about", ""), data.get("unit", ""), tuple(outcomes))
