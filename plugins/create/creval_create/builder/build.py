"""Algorithm 1 in three passes over the triples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from creval.plugin import DataError
from creval_create.builder.classes import Shared, collect_classes
from creval_create.builder.stream import Edge, triples
from creval_create.builder.targets import QueryCandidate, candidates, choose_hops, find_hops
from creval_create.builder.wording import Labels, template_wording

__all__ = ["EXCLUDED", "HEAD_SHARED", "Plan", "build", "check_built"]

EXCLUDED = ("P103", "P31", "P569", "P21", "P973")
"""Relations that lead to classes of very large membership (Appendix A): native language, instance of, date of birth,
gender, described at URL. They are relations, not sizes: the paper's own queries end in `occupation`."""

HEAD_SHARED = frozenset({"P161", "P57", "P58", "P162"})
"""Relations that lead from a work to a person, so that two persons share the head."""

_IDENTIFIER = re.compile(r"[PQ]\d+")
"""Wikidata identifiers of relations and entities: no text for a query."""
_NAMED = 5

Wording = Callable[[str, str, str], str]


@dataclass(frozen=True)
class Plan:
    """The plan: `relations` with the part that their triples share, at most `count` queries of each (Table 4: 100)."""

    files: Sequence[Path]
    relations: Mapping[str, Shared]
    seed: int
    count: int = 100
    excluded: Collection[str] = EXCLUDED
    labels: Labels = field(default_factory=dict)

    def read(self) -> Iterator[Edge]:
        """Yield the triples, once per pass."""
        return triples(self.files)


def build(plan: Plan, wording: Wording = template_wording) -> list[dict[str, Any]]:
    """Return queries in the form of the published set, relation by relation.

    Every query has its source path in the graph, and no start satisfies its own target. The same plan gives the same
    queries, whatever the order of the lines. Raises DataError at a broken line.
    """
    classes = collect_classes(plan.read(), plan.relations, plan.seed)
    found = {relation: candidates(classes[relation], plan.count, plan.seed) for relation in plan.relations}
    every = [one for each in found.values() for one in each]
    find_hops(plan.read, every, plan.excluded, plan.seed)
    choose_hops(plan.read, every)
    chosen = [one for each in found.values() for one in _distinct(each)[: plan.count]]
    return [_row(number, one, plan.labels, wording) for number, one in enumerate(chosen)]


def check_built(plan: Plan, rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise DataError if no query was built, saying why, or if a query would speak of identifiers."""
    files = ", ".join(str(file) for file in plan.files)
    if not rows:
        raise DataError(f"no query can be built: {_why_none(plan)}", where=files, fix=_others(plan))
    texts = [str(row[name]) for row in rows for name in ("entity_a", "rel_b", "entity_b")]
    bare = list(dict.fromkeys(text for text in texts if _IDENTIFIER.fullmatch(text)))
    if bare:
        more = f" and {len(bare) - _NAMED} more" if len(bare) > _NAMED else ""
        raise DataError(
            f"there is no label for {', '.join(bare[:_NAMED])}{more}, so queries would contain identifiers",
            where=files,
            fix="Give labels of entities and relations: --labels FILE (a line each: id, tab, label).",
        )


def _why_none(plan: Plan) -> str:
    names, known = ", ".join(plan.relations), {edge.relation for edge in plan.read()}
    if not known.intersection(plan.relations):
        return f"no triple has the relation {names}"
    classes = collect_classes(plan.read(), plan.relations, plan.seed)
    if not any(classes[relation] for relation in plan.relations):
        return f"no two entities share a {' or '.join(sorted(set(plan.relations.values())))} by {names}"
    return f"of those that share a class by {names}, none leads one step further to what the other does not"


def _others(plan: Plan) -> str:
    counted = Counter(edge.relation for edge in plan.read()).most_common(_NAMED)
    found = ", ".join(f"{relation} ({count})" for relation, count in counted)
    return f"Name other --relations; the triples have {found}." if found else "Give a file with triples."


def _distinct(found: Sequence[QueryCandidate]) -> list[QueryCandidate]:
    """Return those with a target, each question once."""
    asked: dict[tuple[str, str, str], QueryCandidate] = {}
    for one in found:
        if one.chosen is not None:
            asked.setdefault((one.start, one.chosen.relation, one.chosen.tail), one)
    return list(asked.values())


def _row(number: int, one: QueryCandidate, labels: Labels, wording: Wording) -> dict[str, Any]:
    assert one.chosen is not None
    path = [one.edge(one.start), one.edge(one.expanded), one.chosen]
    said = [[labels.get(part, part) for part in edge] for edge in path]
    start, relation, end = labels.get(one.start, one.start), said[2][1], said[2][2]
    return {
        "id": f"{one.group.relation}-{number}",
        "query": wording(start, relation, end),
        "entity_a": start,
        "rel_b": relation,
        "entity_b": end,
        "relation": one.group.relation,
        "description": f"{one.group.category}__{one.group.relation}",
        **{f"triple{place}": list(edge) for place, edge in enumerate(path, 1)},
        **{f"triple{place}_labels": names for place, names in enumerate(said, 1)},
    }
