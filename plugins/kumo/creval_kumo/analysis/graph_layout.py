"""Layout of a domain graph: a spring layout of each component, the components side by side."""

from __future__ import annotations

import math

from creval_kumo.analysis.graph import DomainGraph, components

__all__ = ["layout"]

_GAP = 0.9
_ASPECT = 1.25
Point = tuple[float, float]


def layout(graph: DomainGraph, seed: int) -> dict[str, Point]:
    """Return a position for every truth, deterministic for a given seed. Requires networkx.

    A spring layout of the whole graph pushes unconnected parts to the edge and crowds them. So each component is laid
    out separately, in a square whose side grows with the root of its size; the squares form rows, the largest first.
    """
    parts = sorted(components(graph), key=lambda part: (-len(part), part))
    sides = [_side(len(part)) for part in parts]
    width = max(sides[0] if sides else 0.0, _ASPECT * math.sqrt(sum(side * side for side in sides)))
    places: dict[str, Point] = {}
    x = y = height = 0.0
    for part, side in zip(parts, sides, strict=True):
        if x > 0 and x + side > width:
            x, y, height = 0.0, y - height, 0.0
        for name, (dx, dy) in _springs(graph, part, seed).items():
            inner = (side - _GAP) / 2
            places[name] = (x + side / 2 + dx * inner, y - side / 2 + dy * inner)
        x, height = x + side, max(height, side)
    return places


def _side(size: int) -> float:
    return _GAP + (math.sqrt(size) if size > 1 else 0.0)


def _springs(graph: DomainGraph, part: tuple[str, ...], seed: int) -> dict[str, Point]:
    """Return the positions of one component within -1 to 1."""
    if len(part) == 1:
        return {part[0]: (0.0, 0.0)}
    import networkx

    inside = set(part)
    built: networkx.Graph[str] = networkx.Graph()
    built.add_nodes_from(sorted(part))
    built.add_edges_from(edge for edge in sorted(graph.edges) if edge[0] in inside)
    found = networkx.spring_layout(built, seed=seed, iterations=120)
    return {name: (float(x), float(y)) for name, (x, y) in found.items()}
