"""From classes to queries: pairs, one further hop from one member, and a check that the start does not satisfy it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from creval_create.builder.classes import Class
from creval_create.builder.stream import Edge, draw

__all__ = ["QueryCandidate", "candidates", "choose_hops", "find_hops"]

Reading = Callable[[], Iterator[Edge]]
_MOST_HOPS = 8
_SPARE = 12
"""Candidates drawn per requested query, since some have no further edge or already satisfy it."""


@dataclass
class QueryCandidate:
    """A pair of a class: the entity to expand (drawn in line 6) and the other one, from which the query starts."""

    group: Class
    start: str
    expanded: str
    hops: list[tuple[int, Edge]] = field(default_factory=list)
    chosen: Edge | None = None

    def edge(self, member: str) -> Edge:
        """Return the triple by which a member belongs to the class."""
        group = self.group
        if group.shared == "tail":
            return Edge(member, group.relation, group.category)
        return Edge(group.category, group.relation, member)


def candidates(classes: Sequence[Class], count: int, seed: int) -> list[QueryCandidate]:
    """Return pairs for `count` queries of one relation and some spare ones, without listing all pairs.

    Classes take turns, each giving its next two members in the order of their draws, so that no large class dominates.
    """
    return list(islice(_pairs(classes, seed), _SPARE * count))


def _pairs(classes: Sequence[Class], seed: int) -> Iterator[QueryCandidate]:
    members = [group.drawn() for group in classes]
    longest = max((len(each) for each in members), default=0)
    for step in range(1, longest):
        for group, drawn in zip(classes, members, strict=True):
            if step < len(drawn):
                one, other = drawn[step - 1], drawn[step]
                swap = draw(seed, "expand", group.relation, group.category, one, other) % 2
                yield QueryCandidate(group, *((other, one) if swap else (one, other)))


def find_hops(read: Reading, found: Sequence[QueryCandidate], excluded: Collection[str], seed: int) -> None:
    """Second pass: keep the outgoing edges with the smallest draws of each expanded entity (lines 7 and 8).

    Left out are excluded relations, edges back to the start, and the edge that makes the entity a member.
    """
    waiting: dict[str, list[QueryCandidate]] = {}
    for candidate in found:
        waiting.setdefault(candidate.expanded, []).append(candidate)
    for edge in read():
        if edge.relation in excluded:
            continue
        for candidate in waiting.get(edge.head, ()):
            if edge.tail == candidate.start or edge == candidate.edge(candidate.expanded):
                continue
            place = (draw(seed, "hop", candidate.start, *edge), edge)
            if place not in candidate.hops:
                candidate.hops = sorted([*candidate.hops, place])[:_MOST_HOPS]


def choose_hops(read: Reading, found: Sequence[QueryCandidate]) -> None:
    """Third pass: choose for each candidate the first hop that its start does not satisfy itself."""
    asked = {Edge(one.start, hop.relation, hop.tail) for one in found for _, hop in one.hops}
    satisfied = {edge for edge in read() if edge in asked}
    for one in found:
        free = (hop for _, hop in one.hops if Edge(one.start, hop.relation, hop.tail) not in satisfied)
        one.chosen = next(free, None)
