"""Content of a sample's answers, before any judge: the paths of all answers as one list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from creval.plugin import ScorerInput
from creval_create.paths.triples import Path, as_path, distinct
from creval_create.paths.validity import RULES, Target, Validity, faults

__all__ = ["Candidate", "Candidates", "candidates"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A path as printed: its answer, its number, and why each rule rejects it (None: valid)."""

    answer: int
    key: str
    path: Path
    refused: Mapping[Validity, str | None]
    repeats: bool


@dataclass(frozen=True, slots=True)
class Candidates:
    """All readable paths in order, the number of unreadable ones, and of those that could only be parsed path by
    path."""

    paths: tuple[Candidate, ...]
    unread: int
    rescued: int = 0

    def counts(self) -> dict[str, float]:
        """Return the first steps of the funnel: printed, readable, distinct, and valid by each rule."""
        distinct_ones = [found for found in self.paths if not found.repeats]
        valid = {f"valid_{rule}": float(sum(found.refused[rule] is None for found in distinct_ones)) for rule in RULES}
        return {
            "printed": float(len(self.paths) + self.unread),
            "readable": float(len(self.paths)),
            "rescued": float(self.rescued),
            "distinct": float(len(distinct_ones)),
            **valid,
        }

    def valid(self, rule: Validity) -> list[int]:
        """Return the indices of the distinct paths that a rule accepts."""
        return [i for i, found in enumerate(self.paths) if not found.repeats and found.refused[rule] is None]


def candidates(item: ScorerInput) -> Candidates:
    """Return the paths of all parsed answers of a sample (fields entity_a, rel_b, entity_b of the doc)."""
    target = Target(*(str(item.doc[field]) for field in ("entity_a", "rel_b", "entity_b")))
    printed: list[tuple[int, str, Path]] = []
    unread = rescued = 0
    for number, value in enumerate(item.values):
        printed += [(number, found["key"], as_path(found["triples"])) for found in value["paths"]]
        unread += len(value["unread"])
        rescued += value["rescued"]
    first = set(distinct([path for _, _, path in printed]))
    found = tuple(
        Candidate(number, key, path, faults(path, target), place not in first)
        for place, (number, key, path) in enumerate(printed)
    )
    return Candidates(found, unread, rescued)
