"""The criteria of judging, as a task file writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from creval.plugin import UsageError

__all__ = ["Criterion", "criterion_list", "read_criteria"]

_RESERVED = ("overall", "confidence", "abstained")


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion: the `name` of its score, its name for judges, and the words for yes and no."""

    name: str
    definition: str
    called: str
    positive: str
    negative: str


def read_criteria(written: Sequence[Mapping[str, str]]) -> tuple[Criterion, ...]:
    """Read `criteria` of a scorer. Raises UsageError if two have one name, or one the name of another score."""
    criteria: list[Criterion] = []
    for each in written:
        name = each["name"]
        if name in _RESERVED or name.startswith("judge_") or any(other.name == name for other in criteria):
            raise UsageError(f"the criterion {name!r} needs another name", where="criteria", fix="Rename it.")
        called = each.get("called") or name.replace("_", " ")
        positive, negative = each.get("positive") or f"{called} fulfilled", each.get("negative")
        criteria.append(Criterion(name, each["definition"], called, positive, negative or f"{called} not fulfilled"))
    return tuple(criteria)


def criterion_list(criteria: Sequence[Criterion]) -> str:
    """Return the list for the problem and the solution analyst: one line per criterion, with its definition."""
    return "\n".join(f"- {each.called}: {each.definition}" for each in criteria)
