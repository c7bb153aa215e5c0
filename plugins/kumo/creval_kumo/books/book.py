"""The knowledge book of a game, written from the symbolic configuration by templates; no model is needed.

Source: paper 002, "KUMO benchmark" (K defines T, A, O and how outcomes rule out truths) and Fig. 1a for its shape.
Every truth, action and outcome of the game is named verbatim, with its exclusions within the game; `book_check` finds
what is missing from a book of any origin. If results are not certain, the book explains how they are drawn, so that a
player can compute the probability of each truth (`creval_kumo.games.belief`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from creval_kumo.domains.domain import Domain, Interval, State, number_text
from creval_kumo.games.instance import GameAction, Instance
from creval_kumo.games.reliability import exact_reliability, percent

__all__ = ["chance_rule", "state_text", "write_book", "write_long_book"]


def write_book(instance: Instance, domain: Domain) -> str:
    """Return the book as markdown."""
    truths, actions = domain.truth_noun, domain.action_noun
    certain = instance.reliability == 1
    lines = [
        f"# Guidebook: {domain.title}",
        "",
        f"This guidebook describes {len(instance.truths)} {truths.plural} and "
        f"{len(instance.actions)} {actions.plural}. It tells which {truths.plural} each result "
        + (
            f"rules out. A result proves none of the {truths.plural}: it only excludes others."
            if certain
            else f"speaks against. A result proves none of the {truths.plural}, and it excludes none."
        ),
        "",
        *([] if certain else ["## How results come about", "", " ".join(chance_rule(instance)), ""]),
        f"## {_capital(truths.plural)}",
        "",
    ]
    for truth in instance.truths:
        about = domain.truth_by_name[truth].about if truth in domain.truth_by_name else ""
        lines.append(f"- **{truth}**: {about}" if about else f"- **{truth}**")
    lines += ["", f"## {_capital(actions.plural)}", ""]
    for action in instance.actions:
        lines += _action_lines(action, instance, truths.singular)
    return "\n".join(lines).rstrip() + "\n"


def write_long_book(instance: Instance, domain: Domain) -> str:
    """Return the book of the whole domain: the facts of the game among all other truths and actions of the domain."""
    truths = tuple(truth.name for truth in domain.truths)
    actions = tuple(
        GameAction(each.name, each.about, each.unit, tuple((one.state, one.rules_out) for one in each.outcomes))
        for each in domain.actions
    )
    return write_book(replace(instance, truths=truths, actions=actions), domain)


def _action_lines(action: GameAction, instance: Instance, truth_noun: str) -> Iterator[str]:
    yield f"### {action.name}"
    yield ""
    if action.about:
        yield action.about
        yield ""
    for state, ruled_out in action.outcomes:
        names = [truth for truth in instance.truths if truth in ruled_out]
        if instance.reliability == 1:
            effect = f"rule out {_list(names)}." if names else f"this rules out no {truth_noun}."
        else:
            effect = f"this speaks against {_list(names) if names else f'no {truth_noun}'}."
        yield f"- If the result is {state_text(state, action.unit)}: {effect}"
    yield ""


def chance_rule(instance: Instance) -> tuple[str, ...]:
    """Return the sentences that explain how uncertain results are drawn.

    They contain everything that the posterior depends on: the uniform prior, r, both uniform choices, and that a result
    is fixed. They use no noun of the domain, so that the check of a book does not depend on it.
    """
    followed = exact_reliability(instance.reliability)
    each = "each of them with the same chance"
    return (
        "Results are not certain.",
        f"Before any result is seen, each of the {len(instance.truths)} possibilities is equally likely to be the "
        "valid one.",
        "Each result was drawn once, independently of the others, and stays the same however often it is asked for.",
        f"With a probability of {percent(followed)} it was drawn from those results under its heading that do not "
        f"speak against the valid one, {each}.",
        f"Otherwise, with a probability of {percent(1 - followed)}, it was drawn from all results under its heading, "
        f"{each}, whichever is valid.",
    )


def state_text(state: State, unit: str) -> str:
    """Return an outcome as the book names it: a quoted label, or a closed interval with its unit."""
    if isinstance(state, Interval):
        between = f"between {number_text(state.lo)} and {number_text(state.hi)}"
        return f"{between} {unit}" if unit else between
    return f'"{state}"'


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
