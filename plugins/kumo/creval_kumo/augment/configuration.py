"""Stage b: a model writes the seed configuration of a domain (paper 002, Methods and Supplementary).

First the model fills the proposal into the template, then it writes the configuration that the filled-in prompt asks
for. The answer is read as plain data, never executed, and checked by the rules of shipped domains. If it is faulty, the
model gets the list of faults and writes it again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from creval.plugin import Message
from creval_kumo.augment.asking import Augmenter
from creval_kumo.augment.blocks import data_part
from creval_kumo.augment.prompting import fill, text
from creval_kumo.augment.proposal import Proposal
from creval_kumo.domains.domain import Action, Domain, Interval, Outcome, State, Truth
from creval_kumo.domains.faults import DomainError, Fault, FaultKind
from creval_kumo.domains.rules import SHIPPED_RULES, Rules, find_faults
from creval_kumo.published.literal import IncompleteText, LiteralError, read_assignments

__all__ = ["configure", "read_configuration"]

MAX_TRIES = 3
_PARTS = ("Truths", "Actions", "Outcomes")
_BEGIN = re.compile(r"^[ \t]*Truths\s*=", re.MULTILINE)
_MAX_FAULTS_TOLD = 40


async def configure(
    augmenter: Augmenter, proposal: Proposal, rules: Rules = SHIPPED_RULES, tries: int = MAX_TRIES
) -> Domain:
    """Return the domain of a proposal.

    Raises DomainError with the faults of the last configuration if all `tries` were faulty, ModelError if a
    call fails.
    """
    asked = fill("fill_in", template=text("seed_config"), proposal=proposal.as_dictionary())
    prompt = await augmenter.ask([Message("user", asked)])
    messages = [Message("user", fill("format", prompt=prompt))]
    faults: list[Fault] = []
    for _ in range(tries):
        answer = await augmenter.ask(messages, _is_whole)
        domain, faults = read_configuration(answer, proposal, rules)
        if domain is not None and not faults:
            return domain
        again = fill("again", faults="\n".join(f"- {fault}" for fault in faults[:_MAX_FAULTS_TOLD]))
        messages = [*messages[:1], Message("assistant", answer), Message("user", again)]
    raise DomainError(
        faults,
        where=f"{proposal.name}, written by {augmenter.model.spec}",
        fix=f"None of {tries} configurations was sound. Try again, allow more --tries, or use another model.",
    )


def read_configuration(answer: str, proposal: Proposal, rules: Rules) -> tuple[Domain | None, list[Fault]]:
    """Read a configuration from an answer; return what could be read of it, and every fault."""
    try:
        parts = read_assignments(data_part(answer, _BEGIN), _PARTS)
    except LiteralError as error:
        return None, [Fault(FaultKind.WRONG_SHAPE, f"the configuration is not plain data: {error}")]
    faults: list[Fault] = []
    truths = _texts(parts["Truths"], "Truths", faults)
    names = _texts(parts["Actions"], "Actions", faults)
    outcomes = parts["Outcomes"]
    if not isinstance(outcomes, dict):
        return None, [*faults, Fault(FaultKind.WRONG_SHAPE, "Outcomes is no dictionary")]
    differing = sorted(map(str, set(names) ^ outcomes.keys()))
    if differing:
        message = f"Actions and the keys of Outcomes differ in {', '.join(map(repr, differing[:10]))}"
        faults.append(Fault(FaultKind.OUTCOMES_MISMATCH, message, ("outcomes",)))
    actions = [_action(name, outcomes[name], faults) for name in names if name in outcomes]
    domain = Domain(
        name=proposal.name,
        title=proposal.name.replace("_", " ").capitalize(),
        goal=proposal.goal[:1].lower() + proposal.goal[1:],
        truth_noun=proposal.truth_noun,
        action_noun=proposal.action_noun,
        truths=tuple(map(Truth, truths)),
        actions=tuple(actions),
    )
    return domain, [*faults, *find_faults(domain, rules)]


def _is_whole(answer: str) -> bool:
    try:
        read_assignments(data_part(answer, _BEGIN), _PARTS)
    except IncompleteText:
        return False
    except LiteralError:
        return True  # going on would not make it better
    return True


def _texts(value: Any, key: str, faults: list[Fault]) -> list[str]:
    """Return the names of a list, or of a set (sorted)."""
    if not isinstance(value, list | tuple | set):
        faults.append(Fault(FaultKind.WRONG_SHAPE, f"{key} is no list"))
        return []
    wrong = [entry for entry in value if not isinstance(entry, str)]
    if wrong:
        faults.append(Fault(FaultKind.WRONG_SHAPE, f"{key} holds {wrong[0]!r}, which is no text"))
    texts = [entry.strip() for entry in value if isinstance(entry, str)]
    return sorted(texts) if isinstance(value, set) else texts


def _action(name: str, entry: Any, faults: list[Fault]) -> Action:
    path = ("outcomes", name)
    if not isinstance(entry, Mapping) or not isinstance(entry.get("states"), Mapping):
        faults.append(Fault(FaultKind.WRONG_SHAPE, f"{name!r} has no dictionary with type and states", path))
        return Action(name, "str", ())
    kind = entry.get("type")
    if kind not in ("str", "float"):
        faults.append(Fault(FaultKind.WRONG_TYPE, f"{name!r} has the type {kind!r}; it must be 'str' or 'float'", path))
        return Action(name, "str", ())
    return Action(name, kind, tuple(_outcomes(name, entry["states"], kind, faults)))


def _outcomes(name: str, states: Mapping[Any, Any], kind: str, faults: list[Fault]) -> Iterator[Outcome]:
    for shown, ruled_out in states.items():
        state = _state(shown, kind)
        if state is None:
            wanted = "a text" if kind == "str" else "a pair of numbers (lo, hi)"
            message = f"the state {shown!r} of {name!r} is not {wanted}, as its type {kind!r} needs"
            faults.append(Fault(FaultKind.BAD_RANGE if kind == "float" else FaultKind.WRONG_TYPE, message))
        elif not isinstance(ruled_out, set | list | tuple) and ruled_out != {}:
            message = f"what the state {shown!r} of {name!r} rules out is no set"
            faults.append(Fault(FaultKind.WRONG_SHAPE, message, ("outcomes", name)))
        else:
            yield Outcome(state, frozenset(str(truth).strip() for truth in ruled_out))


def _state(shown: Any, kind: str) -> State | None:
    if kind == "str":
        return shown.strip() if isinstance(shown, str) else None
    if not isinstance(shown, tuple) or len(shown) != 2:
        return None
    numbers = [end for end in shown if isinstance(end, int | float) and not isinstance(end, bool)]
    return Interval(float(numbers[0]), float(numbers[1])) if len(numbers) == 2 else None
