"""Checks that a knowledge book says everything that its game needs (for books by templates and by models alike).

Source: paper 002, stage d (detect and revise): here the detection is symbolic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from creval_kumo.domain import Interval, State, number_text
from creval_kumo.instance import GameAction, Instance

__all__ = ["missing_facts"]

_DECORATION = "#*-_0123456789.): \t"


def missing_facts(text: str, instance: Instance) -> list[str]:
    """Return what the book of a game does not say; empty where it is complete.

    Checked are: every truth and action by its name; every outcome under its action; and every truth that the outcome
    rules out, in the same line as the outcome. Letter case and runs of white space do not matter. A name
    that stands only inside a longer name of the game (`Diabetes` in `Gestational Diabetes`) does not count.
    """
    names = (*instance.truths, *instance.action_names)
    flat = _flat(text)
    missing = [f"the truth {name!r}" for name in instance.truths if not _mentions(flat, name, names)]
    lines = text.split("\n")
    for action in instance.actions:
        section = _section(lines, action.name, instance.action_names)
        if section is None:
            missing.append(f"the action {action.name!r}")
        else:
            missing += _missing_outcomes(section, action, instance.truths)
    return missing


def _missing_outcomes(section: Sequence[str], action: GameAction, truths: Sequence[str]) -> Iterator[str]:
    items = [_flat(line) for line in section]
    labels = [state for state, _ in action.outcomes if isinstance(state, str)]
    for state, ruled_out in action.outcomes:
        marks = _marks(state)
        shown = " to ".join(marks)
        saying = [item for item in items if all(_mentions(item, mark, labels) for mark in marks)]
        if not saying:
            yield f"the outcome {shown!r} of {action.name!r}"
            continue
        for truth in sorted(ruled_out):
            if not any(_mentions(item, truth, truths) for item in saying):
                yield f"that {shown!r} of {action.name!r} rules out {truth!r}"


def _marks(state: State) -> list[str]:
    return [number_text(state.lo), number_text(state.hi)] if isinstance(state, Interval) else [state]


def _section(lines: Sequence[str], name: str, actions: Sequence[str]) -> list[str] | None:
    """The lines from the action's heading (else its first mention) to the heading of another action."""
    titles = [_flat(line.strip(_DECORATION)) for line in lines]
    wanted = _flat(name)
    starts = [place for place, title in enumerate(titles) if title == wanted or title.rstrip(" :*") == wanted]
    if not starts:
        starts = [place for place, line in enumerate(lines) if _mentions(_flat(line), name, actions)]
    if not starts:
        return None
    others = {_flat(other) for other in actions if other != name}
    end = starts[0] + 1
    while end < len(lines) and titles[end].rstrip(" :*") not in others:
        end += 1
    return list(lines[starts[0] : end])


def _mentions(flat: str, name: str, names: Iterable[str]) -> bool:
    """Whether the flattened text names `name` as a whole word, outside longer names that contain it."""
    wanted = _flat(name)
    if wanted not in flat:
        return False
    for longer in names:
        other = _flat(longer)
        if other != wanted and wanted in other:
            flat = flat.replace(other, "\0")
    return re.search(rf"(?<![\w.]){re.escape(wanted)}(?!\w|\.\d)", flat) is not None


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())
