"""Paths of all models for one query, and the nearest neighbour of each (Eq. 3)."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from creval.plugin import Embedding
from creval_create.analysis.sets import JudgedSet
from creval_create.paths.strings import path_string
from creval_create.paths.triples import Path
from creval_create.utility.distance import cosine_distances, transformed
from creval_create.utility.rules import Rules

__all__ = ["Member", "Nearest", "Population", "nearest_of"]


@dataclass(frozen=True, slots=True)
class Member:
    """A path of the population, with the run that found it."""

    model: str
    task: str
    doc: str
    path: Path
    strength: int


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest neighbour of a path: its distinctiveness (None: there is no other), the nearest path, and how many
    other models found a nearly identical one.
    """

    member: Member
    distance: float | None
    path: Path | None
    models: int

    def plain(self) -> dict[str, Any]:
        """Return plain data."""
        one = self.member
        return {
            "model": one.model,
            "task": one.task,
            "query": one.doc,
            "path": [list(triple) for triple in one.path],
            "strength": one.strength,
            "distance": self.distance,
            "nearest": None if self.path is None else [list(triple) for triple in self.path],
            "models": self.models,
        }


class Population:
    """All valid and factual paths of some runs by query; nothing else of the sets stays in memory."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, str]] = []
        self._members: dict[str, list[Member]] = {}

    @classmethod
    def of(cls, sets: Iterable[JudgedSet]) -> Population:
        """Collect the paths of sets as they are read."""
        found = cls()
        known: dict[tuple[str, str], None] = {}
        rules = Rules()
        for one in sets:
            known[one.model, one.task] = None
            members = found._members.setdefault(one.doc, [])
            for place in one.counted(rules):
                path = tuple((sys.intern(a), sys.intern(b), sys.intern(c)) for a, b, c in one.path(place))
                members.append(Member(one.model, one.task, one.doc, path, one.strength(place, rules)))
        found.runs = list(known)
        return found

    @property
    def queries(self) -> list[str]:
        """Return the queries in the runs."""
        return sorted(self._members)

    def drawn(self, most: int, seed: int) -> list[str]:
        """Return at most `most` queries, sampled by the seed: the same for every run."""
        docs = sorted(self._members)
        return sorted(random.Random(seed).sample(docs, min(most, len(docs))))

    def nearest(self, docs: Sequence[str], embedding: Embedding, own: str, near: float) -> list[Nearest]:
        """Return the nearest neighbour of each path of some queries; see `nearest_of`."""
        return [found for doc in docs for found in nearest_of(self._members[doc], embedding, own, near)]


def nearest_of(members: Sequence[Member], embedding: Embedding, own: str, near: float) -> list[Nearest]:
    """Return the nearest neighbour of each path of a query's population.

    `own`: "run" leaves out all of its own run (model and task), "others" only the path itself. `near` is the distance
    up to which a path of another model counts as the same. Only one query's population is in memory at a time.
    """
    if not members:
        return []
    strings = [path_string(member.path) for member in members]
    once = list(dict.fromkeys(strings))
    row = {string: index for index, string in enumerate(once)}
    between = transformed(cosine_distances(embedding.embed(once)))
    rows = np.array([row[string] for string in strings])
    runs = {key: number for number, key in enumerate(dict.fromkeys((one.model, one.task) for one in members))}
    number = np.array([runs[one.model, one.task] for one in members])
    models = [one.model for one in members]
    found = []
    for place, member in enumerate(members):
        distances = between[rows[place], rows]
        other = number != number[place] if own == "run" else np.arange(len(members)) != place
        same = {models[i] for i in np.flatnonzero(distances <= near)} - {member.model}
        if not other.any():
            found.append(Nearest(member, None, None, len(same)))
            continue
        best = int(np.where(other, distances, np.inf).argmin())
        found.append(Nearest(member, float(distances[best]), members[best].path, len(same)))
    return found
