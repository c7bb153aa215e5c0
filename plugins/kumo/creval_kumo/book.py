"""The knowledge book of a game, written from the symbolic configuration by templates; no model is needed.

Source: paper 002, "KUMO benchmark" (K defines T, A, O and how outcomes rule out truths) and Fig. 1a for its shape.
Every truth, action and outcome of the game is named verbatim, with its exclusions within the game.
"""

from __future__ import annotations

from collections.abc import Iterator

from creval_kumo.domain import Domain, Interval, State, number_text
from creval_kumo.instance import GameAction, Instance

__all__ = ["missing_facts", "state_text", "write_book"]


def write_book(instance: Instance, domain: Domain) -> str:
    """Return the book as markdown."""
    truths, actions = domain.truth_noun, domain.action_noun
    lines = [
        f"# Guidebook: {domain.title}",
        "",
        f"This guidebook describes {len(instance.truths)} {truths.plural} and "
        f"{len(instance.actions)} {actions.plural}. It tells which {truths.plural} each result of a "
        f"{actions.singular} rules out. "
        f"A result never proves a {truths.singular}: it only excludes others.",
        "",
        f"## {_capital(truths.plural)}",
        "",
    ]
    for truth in instance.truths:
        about = domain.truth_by_name[truth].about if truth in domain.truth_by_name else ""
        lines.append(f"- **{truth}**: {about}".rstrip(": ") if about else f"- **{truth}**")
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


def missing_facts(text: str, instance: Instance) -> list[str]:
    """Return what the book of a game does not say; empty where it is complete.

    Checked are: every truth and action by name; every outcome under its action; and the truths that it rules out
    in the same paragraph or list item. Letter case and runs of white space do not matter.
    """
    flat = _flat(text)
    missing = [f"the truth {name!r}" for name in instance.truths if _flat(name) not in flat]
    for action in instance.actions:
        section = _section(text, action.name, instance.action_names)
        if section is None:
            missing.append(f"the action {action.name!r}")
            continue
        for state, ruled_out in action.outcomes:
            missing += _missing_outcome(section, action, state, sorted(ruled_out))
    return missing


def _missing_outcome(section: str, action: GameAction, state: State, ruled_out: list[str]) -> Iterator[str]:
    marks = [number_text(state.lo), number_text(state.hi)] if isinstance(state, Interval) else [state]
    items = [item for item in map(_flat, section.split("\n")) if all(_flat(mark) in item for mark in marks)]
    shown = " to ".join(marks)
    if not items:
        yield f"the outcome {shown!r} of {action.name!r}"
        return
    for truth in ruled_out:
        if not any(_flat(truth) in item for item in items):
            yield f"that {shown!r} of {action.name!r} rules out {truth!r}"


def _section(text: str, name: str, others: tuple[str, ...]) -> str | None:
    """The lines from the action's heading (or first mention in a line of its own) to the next action's."""
    lines = text.split("\n")
    heads = [i for i, line in enumerate(lines) if _flat(name) == _flat(line.strip("#*-0123456789. "))]
    if not heads:
        heads = [i for i, line in enumerate(lines) if _flat(name) in _flat(line)]
    if not heads:
        return None
    rest = {_flat(other) for other in others if other != name}
    end = next(
        (i for i in range(heads[0] + 1, len(lines)) if _flat(lines[i].strip("#*-0123456789. ")) in rest), len(lines)
    )
    return "\n".join(lines[heads[0] : end])


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
