"""The knowledge book of a game, written from the symbolic configuration by templates; no model is needed.

Source: paper 002, "KUMO benchmark" (K defines T, A, O and how outcomes rule out truths) and Fig. 1a for its shape.
Every truth, action and outcome of the game is named verbatim, with its exclusions within the game; `book_check` finds
what a book of whatever origin lacks.
"""

from __future__ import annotations

from collections.abc import Iterator

from creval_kumo.domain import Domain, Interval, State, number_text
from creval_kumo.instance import GameAction, Instance

__all__ = ["state_text", "write_book"]


def write_book(instance: Instance, domain: Domain) -> str:
    """Return the book as markdown."""
    truths, actions = domain.truth_noun, domain.action_noun
    lines = [
        f"# Guidebook: {domain.title}",
        "",
        f"This guidebook describes {len(instance.truths)} {truths.plural} and "
        f"{len(instance.actions)} {actions.plural}. It tells which {truths.plural} each result rules out. "
        f"A result proves none of the {truths.plural}: it only excludes others.",
        "",
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


def _action_lines(action: GameAction, instance: Instance, truth_noun: str) -> Iterator[str]:
    yield f"### {action.name}"
    yield ""
    if action.about:
        yield action.about
        yield ""
    for state, ruled_out in action.outcomes:
        names = [truth for truth in instance.truths if truth in ruled_out]
        effect = f"rule out {_list(names)}." if names else f"this rules out no {truth_noun}."
        yield f"- If the result is {state_text(state, action.unit)}: {effect}"
    yield ""


def state_text(state: State, unit: str) -> str:
    """Return an outcome as the book names it: a quoted label, or an interval with its unit, ends included."""
    if isinstance(state, Interval):
        between = f"between {number_text(state.lo)} and {number_text(state.hi)}"
        return f"{between} {unit}" if unit else between
    return f'"{state}"'


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
