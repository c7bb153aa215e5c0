"""The domain graph: which truths share an action, and their communities.

Source: paper 002, "Domain graph visualization": an edge joins truths that co-occur within the state mappings of one
action; Louvain communities (Blondel et al., 2008) by modularity, Eq. 5. We read this as: an edge joins two truths if
the states of some action rule out both, in the same state or in different ones. By this definition some domains,
including the authors' FantasyEnv, are complete graphs. With `join="state"` an edge joins only truths that one state
rules out together. Edges have no weight: in Eq. 5 m is the number of edges and k a node's degree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from creval_kumo.domains.domain import Domain

__all__ = ["JOINS", "DomainGraph", "Join", "communities", "components", "domain_graph", "modularity"]

Join = Literal["action", "state"]
JOINS: tuple[Join, ...] = ("action", "state")
"""What joins two truths: that one action relates to both, or that one state rules out both."""


@dataclass(frozen=True, slots=True)
class DomainGraph:
    """An undirected graph without loops. `truths` keep the order of the domain; each pair of `edges` is sorted."""

    truths: tuple[str, ...]
    edges: frozenset[tuple[str, str]]

    def neighbours(self) -> dict[str, list[str]]:
        """Return the neighbours of each truth, sorted."""
        near: dict[str, list[str]] = {truth: [] for truth in self.truths}
        for a, b in sorted(self.edges):
            near[a].append(b)
            near[b].append(a)
        return {truth: sorted(names) for truth, names in near.items()}


def domain_graph(domain: Domain, join: Join = "action") -> DomainGraph:
    """Return the graph of a domain; truths that no action rules out are isolated nodes."""
    truths = tuple(truth.name for truth in domain.truths)
    edges: set[tuple[str, str]] = set()
    for action in domain.actions:
        joined = [action.related] if join == "action" else [outcome.rules_out for outcome in action.outcomes]
        for names in joined:
            edges.update(combinations(sorted(names), 2))
    return DomainGraph(truths, frozenset(edges))


def components(graph: DomainGraph) -> list[tuple[str, ...]]:
    """Return the connected components by depth-first search, ordered by first truth, truths in the domain's order."""
    near = graph.neighbours()
    seen: set[str] = set()
    found = []
    for start in graph.truths:
        if start in seen:
            continue
        stack, inside = [start], {start}
        while stack:
            for name in near[stack.pop()]:
                if name not in inside:
                    inside.add(name)
                    stack.append(name)
        seen |= inside
        found.append(tuple(truth for truth in graph.truths if truth in inside))
    return found


def communities(graph: DomainGraph, seed: int) -> list[tuple[str, ...]]:
    """Return the Louvain communities, the largest first (ties by name), each sorted. Deterministic for a given seed.

    Requires networkx. Nodes and edges are added in sorted order, so the result depends on neither the order of the
    file nor the hash seed.
    """
    import networkx

    built: networkx.Graph[str] = networkx.Graph()
    built.add_nodes_from(sorted(graph.truths))
    built.add_edges_from(sorted(graph.edges))
    parts = networkx.community.louvain_communities(built, seed=seed)
    return sorted((tuple(sorted(part)) for part in parts), key=lambda part: (-len(part), part))


def modularity(graph: DomainGraph, parts: Iterable[Collection[str]]) -> float | None:
    """Return Q of Eq. 5 for a partition of the truths; None without edges, since Q is then undefined.

    Summed by community: with m edges in the graph, L of them inside the community, and K the sum of its nodes' degrees,
    a community contributes L/m - (K/2m)^2 to the double sum.
    """
    m = len(graph.edges)
    if m == 0:
        return None
    of: Mapping[str, int] = {truth: number for number, part in enumerate(parts) for truth in part}
    inside: dict[int, int] = {}
    degrees: dict[int, int] = {}
    for a, b in graph.edges:
        for end in (a, b):
            degrees[of[end]] = degrees.get(of[end], 0) + 1
        if of[a] == of[b]:
            inside[of[a]] = inside.get(of[a], 0) + 1
    terms: Sequence[float] = [inside.get(c, 0) / m - (degree / (2 * m)) ** 2 for c, degree in sorted(degrees.items())]
    return sum(terms)
