"""Three rules of structural validity. They affect models differently, so every result states all three counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from creval_create.paths.triples import Path, Triple, normal

__all__ = ["RULES", "Target", "Validity", "fault", "faults"]

Validity = Literal["strict", "shared", "released"]
RULES: tuple[Validity, ...] = get_args(Validity)


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a query: paths from `entity_a` to a triple (x, `rel_b`, `entity_b`)."""

    entity_a: str
    rel_b: str
    entity_b: str


def faults(path: Path, target: Target) -> Mapping[Validity, str | None]:
    """Return for each rule why it rejects the path, None if the path is valid."""
    return {rule: fault(path, target, rule) for rule in RULES}


def fault(path: Path, target: Target, rule: Validity) -> str | None:
    """Return why a rule rejects the path, None if it is valid.

    `strict` (Section 3.2): the path starts at `entity_a`, each tail is the head of the next triple, and the last triple
    says `rel_b` of `entity_b`. `shared`: consecutive triples share an entity, in either direction; both ends and
    `rel_b` as in `strict`. Names are compared in their normal form. `released`: the rule of the authors' code, see
    `_released`.
    """
    if rule == "released":
        return _released(path, target)
    if normal(path[0][0]) != normal(target.entity_a):
        return f"starts at {path[0][0]!r}"
    for number, (before, after) in enumerate(pairwise(path), 1):
        linked = _follows(before, after) if rule == "strict" else _touches(before, after)
        if not linked:
            return f"triples {number} and {number + 1} are not linked"
    if normal(path[-1][2]) != normal(target.entity_b):
        return f"ends at {path[-1][2]!r}"
    if normal(path[-1][1]) != normal(target.rel_b):
        return f"ends with the relationship {path[-1][1]!r}"
    return None


def _follows(before: Triple, after: Triple) -> bool:
    return normal(before[2]) == normal(after[0])


def _touches(before: Triple, after: Triple) -> bool:
    return bool({normal(before[0]), normal(before[2])} & {normal(after[0]), normal(after[2])})


def _released(path: Path, target: Target) -> str | None:
    """Apply the rule of the authors' code, including its error.

    An entity of the following triple must be a substring of an entity of the one before. The test of both ends
    decides only for a path of one triple, since the first linked pair overrides its result; `rel_b` is not
    checked.
    """
    if len(path) > 1:
        for number, (before, after) in enumerate(pairwise(path), 1):
            around = [before[0].lower(), before[2].lower()]
            if not any(part.lower().strip() in entity for part in (after[0], after[2]) for entity in around):
                return f"triples {number} and {number + 1} are not linked"
        return None
    (triple,) = path
    said = str(list(triple)).lower()
    if target.entity_a.lower() not in said or target.entity_b.lower() not in said:
        return "the only triple does not name both ends"
    if triple[0].lower() == triple[2].lower():
        return "the only triple has one entity at both ends"
    return None
