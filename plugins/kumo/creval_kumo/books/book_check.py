"""Check the text of a knowledge book against its game (the detection of stage d, done symbolically).

The check reports every truth, action, outcome and exclusion that the text omits, and every exclusion in the text that
the game does not have. A fact counts as present if its names occur as written in the configuration, apart from letter
case, markup, quotation marks, hyphens and underscores. An exclusion must be in the line of its outcome or in the
more deeply indented lines under it. A line is about an outcome only if it says what is ruled out, even if nothing is.
Books written by models may use other wordings, so a reported fault is something a reader could miss, and not always an
error.

If results are not certain, the lines must say what a result speaks against, without any word for ruling out, and the
book must contain the sentences of `creval_kumo.books.book.chance_rule` verbatim: without any one of its numbers or
conditions the posterior cannot be computed.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from creval_kumo.books.book import chance_rule, state_text
from creval_kumo.domains.domain import Interval, State
from creval_kumo.games.instance import GameAction, Instance

__all__ = ["book_faults"]

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[+%<>=&/#°]")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)
_CERTAIN = re.compile(r"\b(?:rul(?:e|es|ed|ing)|exclud\w*|eliminat\w*)\b", re.IGNORECASE)
_EVIDENCE = re.compile(
    r"\b(?:sp(?:eak|oke)\w*|count\w*|argu\w*|evidence)\s+against\b|\bless\s+(?:likely|probable)\b|\bunlikely\b",
    re.IGNORECASE,
)
_MARKUP = "#*->+|_ \t"
_TAKEN = " \0 "


def book_faults(text: str, instance: Instance) -> list[str]:
    """Return what the book of a game omits or gets wrong, one sentence each; empty if it is sound."""
    named = _names_in(text, instance.truths)
    faults = [f"the truth {name!r} is not named" for name in instance.truths if name not in named]
    if instance.reliability != 1:
        flat = f" {_flat(text)} "
        faults += [f"it does not say that: {rule}" for rule in chance_rule(instance) if f" {_flat(rule)} " not in flat]
    says = _CERTAIN if instance.reliability == 1 else _EVIDENCE
    sections = _sections(text, instance.action_names)
    for action in instance.actions:
        if action.name not in sections:
            faults.append(f"the action {action.name!r} has no section or item of its own")
        else:
            faults += _action_faults(
                list(_items(sections[action.name], action, instance.truths, says)), action, instance
            )
    return faults


@dataclass(frozen=True, slots=True)
class _Item:
    """A line with the more deeply indented lines under it: the outcomes in the line, and the truths in all of them.

    `certain`: the text rules something out.
    """

    outcomes: frozenset[int]
    truths: frozenset[str]
    certain: bool


def _action_faults(items: Sequence[_Item], action: GameAction, instance: Instance) -> Iterator[str]:
    truths = instance.truths
    sure = instance.reliability == 1
    does, does_not = ("rules out", "does not rule it out") if sure else ("speaks against", "does not speak against it")
    for place, (state, ruled_out) in enumerate(action.outcomes):
        shown = state_text(state, action.unit)
        named = frozenset[str]().union(*(item.truths for item in items if place in item.outcomes))
        if not any(place in item.outcomes for item in items):
            yield f"the result {shown} of {action.name!r} is not stated"
            continue
        for truth in truths:
            if truth in ruled_out and truth not in named:
                yield f"it does not say that the result {shown} of {action.name!r} {does} {truth!r}"
    for item in items:
        meant = _labelled_alike(action, truths).union(*(action.outcomes[place][1] for place in item.outcomes))
        shown = " and ".join(state_text(action.outcomes[place][0], action.unit) for place in sorted(item.outcomes))
        for truth in truths:
            if truth in item.truths and truth not in meant:
                yield f"{truth!r} is next to the result {shown} of {action.name!r}, which {does_not}"
        if item.certain and not sure:
            yield f"the result {shown} of {action.name!r} rules something out, but results are not certain"


def _items(section: Sequence[str], action: GameAction, truths: Sequence[str], says: re.Pattern[str]) -> Iterator[_Item]:
    """Yield the items that name outcomes; a line with further outcomes in the lines under it is a heading, not an item.

    `says` matches the words that a line must contain to be about its outcome.
    """
    for start, line in enumerate(section):
        outcomes = _outcomes_in(line, action, truths) if line.strip() else frozenset()
        if not outcomes:
            continue
        end = start + 1
        while end < len(section) and (not section[end].strip() or _indent(section[end]) > _indent(line)):
            end += 1
        below = frozenset[int]().union(*(_outcomes_in(inner, action, truths) for inner in section[start + 1 : end]))
        whole = "\n".join(section[start:end])
        if not below - outcomes and says.search(whole):
            named = _names_in(whole, _labels_only(action, truths).union(truths)).intersection(truths)
            yield _Item(outcomes, named, _claims_certainty(whole, action, truths))


def _claims_certainty(text: str, action: GameAction, truths: Sequence[str]) -> bool:
    """Return whether a text says that something is ruled out; a label or truth such as "ruled lines" does not count."""
    names = [*truths, *(state for state, _ in action.outcomes if isinstance(state, str))]
    anywhere = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return bool(_CERTAIN.search(re.sub(anywhere, " ", text, flags=re.IGNORECASE)))


def _labels_only(action: GameAction, truths: Sequence[str]) -> frozenset[str]:
    """Return the labels of an action that are not also names of truths."""
    names = {_flat(truth) for truth in truths}
    return frozenset(state for state, _ in action.outcomes if isinstance(state, str) and _flat(state) not in names)


def _labelled_alike(action: GameAction, truths: Sequence[str]) -> frozenset[str]:
    """Return the truths whose name is also a label of the action, so that its meaning in a text is ambiguous."""
    labels = {_flat(state) for state, _ in action.outcomes if isinstance(state, str)}
    return frozenset(truth for truth in truths if _flat(truth) in labels)


def _outcomes_in(line: str, action: GameAction, truths: Sequence[str]) -> frozenset[int]:
    """Return the outcomes of an action in a line: by both ends of the interval side by side, or by the label.

    A label inside the name of a truth does not count.
    """
    states = [state for state, _ in action.outcomes]
    labels = {state for state in states if isinstance(state, str)}
    taken = {_flat(label) for label in labels}
    found = _names_in(line, labels.union(truth for truth in truths if _flat(truth) not in taken))
    pairs = _number_pairs(line)
    return frozenset(place for place, state in enumerate(states) if _named(state, found, pairs))


def _named(state: State, names: frozenset[str], pairs: set[tuple[float, float]]) -> bool:
    return (abs(state.lo), abs(state.hi)) in pairs if isinstance(state, Interval) else state in names


def _number_pairs(line: str) -> set[tuple[float, float]]:
    """Return the pairs of consecutive numbers. A hyphen may be a sign or a dash, so signs are ignored."""
    numbers = [float(match.replace(",", "")) for match in _NUMBER.findall(line)]
    return set(itertools.pairwise(numbers))


def _sections(text: str, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the lines that belong to each action: from a heading with its name to the next action's heading."""
    lines = text.split("\n")
    words = [_flat(line.strip().lstrip(_MARKUP)).split() for line in lines]
    wanted = {name: _flat(name).split() for name in names}
    heads: dict[int, str] = {}
    for name, target in wanted.items():
        found = [index for index, line in enumerate(words) if _without_number(line, target) == target]
        if not found:
            found = [index for index, line in enumerate(words) if _longest(line, wanted) == name]
        heads.update(dict.fromkeys(found, name))
    owner: str | None = None
    sections: dict[str, list[str]] = {}
    for index, line in enumerate(lines):
        owner = heads.get(index, owner)
        if owner is not None:
            sections.setdefault(owner, []).append(line)
    return sections


def _longest(line: list[str], wanted: dict[str, list[str]]) -> str | None:
    """Return the longest name that a line begins with."""
    begun = [(len(target), name) for name, target in wanted.items() if _begins(_without_number(line, target), target)]
    return max(begun)[1] if begun else None


def _begins(line: list[str], target: list[str]) -> bool:
    return bool(target) and line[: len(target)] == target


def _without_number(line: list[str], target: list[str]) -> list[str]:
    """Return the words of a line without the number of a numbered list."""
    return line[1:] if line and line[0].isdigit() and not _begins(line, target) else line


def _names_in(text: str, names: Iterable[str]) -> frozenset[str]:
    """Return the names in a text as whole words. Longer names are searched for first and then removed."""
    flat = f" {_flat(text)} "
    found = set()
    for name in sorted(names, key=lambda name: (-len(_flat(name)), name)):
        wanted = f" {_flat(name)} "
        if not wanted.strip():  # a label of punctuation only, such as "--"
            found |= {name} if name in text else set()
        elif wanted in flat:
            found.add(name)
            flat = flat.replace(wanted, _TAKEN)
    return frozenset(found)


@functools.lru_cache(maxsize=4096)
def _flat(text: str) -> str:
    return " ".join(_TOKEN.findall(text.casefold()))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
