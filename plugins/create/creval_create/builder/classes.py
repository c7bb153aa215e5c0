"""The classes of the chosen relations, from one pass in bounded memory.

It keeps the classes with the smallest draws of each relation, and the members with the smallest draws of each class.
Both depend only on names and seed, so the sample is uniform, the same for any order of the lines, and complete for a
graph that is small enough.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from creval_create.builder.stream import Edge, draw

__all__ = ["MOST_CLASSES", "MOST_MEMBERS", "Class", "Shared", "collect_classes"]

MOST_CLASSES = 5_000
"""Classes kept of each relation."""

MOST_MEMBERS = 40
"""Members kept of each class."""

Shared = Literal["tail", "head"]
"""The part that the triples of a class share: tail (two members of one band) or head (two actors of one film)."""


@dataclass
class Class:
    """Entities with one relation to one entity; `members` by their draws, smallest first once sorted."""

    relation: str
    category: str
    shared: Shared
    draw: int
    members: dict[str, int] = field(default_factory=dict)

    def add(self, member: str, seed: int) -> None:
        """Keep a member if its draw is among the smallest."""
        if member in self.members:
            return
        self.members[member] = draw(seed, "member", self.relation, self.category, member)
        if len(self.members) > 2 * MOST_MEMBERS:
            self._shrink()

    def drawn(self) -> list[str]:
        """Return the members in the order of their draws."""
        self._shrink()
        return list(self.members)

    def _shrink(self) -> None:
        self.members = dict(sorted(self.members.items(), key=lambda item: item[1])[:MOST_MEMBERS])


def collect_classes(edges: Iterable[Edge], relations: Mapping[str, Shared], seed: int) -> dict[str, list[Class]]:
    """Return for each relation its classes with at least two members, in the order of their draws."""
    found: dict[str, dict[str, Class]] = {relation: {} for relation in relations}
    limits: dict[str, list[tuple[int, str]]] = {relation: [] for relation in relations}  # heaps of the largest draws
    for edge in edges:
        shared = relations.get(edge.relation)
        if shared is None:
            continue
        category, member = (edge.tail, edge.head) if shared == "tail" else (edge.head, edge.tail)
        own = found[edge.relation]
        kept = own.get(category)
        if kept is None:
            kept = Class(edge.relation, category, shared, draw(seed, "class", edge.relation, category))
            heap = limits[edge.relation]
            if len(own) >= MOST_CLASSES and kept.draw >= -heap[0][0]:
                continue
            own[category] = kept
            heapq.heappush(heap, (-kept.draw, category))
            if len(own) > MOST_CLASSES:
                del own[heapq.heappop(heap)[1]]
        kept.add(member, seed)
    return {
        relation: sorted((each for each in own.values() if len(each.members) > 1), key=lambda each: each.draw)
        for relation, own in found.items()
    }
