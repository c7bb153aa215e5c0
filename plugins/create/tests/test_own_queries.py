"""The queries of our own: complete, sound, and strong and diverse enough for a ceiling."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from creval_create.paths.strings import path_string
from creval_create.paths.triples import distinct, normal
from creval_create.paths.validity import Target, fault
from creval_create.queries.own import JudgedPath, judged_paths, own_queries
from creval_create.utility.distance import cosine_distances, transformed
from creval_create.utility.rules import Rules
from creval_create.utility.strength import path_strength
from creval_create.utility.utility import bound, utility

QUERIES = {row["id"]: row for row in own_queries()}


def target(query: str) -> Target:
    row = QUERIES[query]
    return Target(row["entity_a"], row["rel_b"], row["entity_b"])


def of(query: str, kind: str) -> list[JudgedPath]:
    return [made for made in judged_paths() if made.query == query and made.kind == kind]


def test_there_are_twenty_of_several_domains() -> None:
    assert len(QUERIES) == 20 == len({(q["entity_a"], q["rel_b"], q["entity_b"]) for q in QUERIES.values()})
    domains = Counter(row["domain"] for row in QUERIES.values())
    assert min(domains[name] for name in ("people", "film", "science", "places")) >= 2


@pytest.mark.parametrize("query", QUERIES)
def test_every_path_is_strict_and_judged_triple_by_triple(query: str) -> None:
    for made in of(query, "floor") + of(query, "ceiling") + of(query, "false"):
        assert fault(made.path, target(query), "strict") is None, made.path
        assert len(made.path) == len(made.class_sizes) == len(made.factual)
        assert all(size >= 1 for size in made.class_sizes)
        assert len({tuple(map(normal, triple)) for triple in made.path}) == len(made.path)
        assert all(made.factual) is (made.kind != "false")
    assert len(of(query, "floor")) == 1


@pytest.mark.parametrize("query", QUERIES)
def test_a_relationship_has_at_most_three_words_but_the_prescribed_one(query: str) -> None:
    for made in of(query, "ceiling"):
        assert all(len(triple[1].split()) <= 3 for triple in made.path[:-1]), made.path


@pytest.mark.parametrize("query", QUERIES)
def test_the_start_does_not_satisfy_the_target_itself(query: str) -> None:
    row = QUERIES[query]
    for made in judged_paths():
        for head, relation, tail in made.path:
            stated = (normal(head), normal(relation), normal(tail))
            assert stated != (normal(row["entity_a"]), normal(row["rel_b"]), normal(row["entity_b"]))


@pytest.mark.parametrize("query", QUERIES)
def test_the_ceiling_is_far_above_the_floor(query: str, minilm: Any) -> None:
    def worth(kind: str) -> float:
        made = of(query, kind)
        distances = transformed(cosine_distances(minilm.embed([path_string(one.path) for one in made])))
        return utility([path_strength(one.class_sizes) for one in made], distances, Rules(), 0.9)

    made = of(query, "ceiling")
    assert len(made) >= 8 and len(distinct([one.path for one in made])) == len(made)
    assert worth("floor") == 1
    assert 15 < worth("ceiling") < bound(len(made), 0.9)


def test_equal_triples_are_judged_alike() -> None:
    """Our own judgements do not depend on the path, unlike those of a model."""
    seen: dict[tuple[str, ...], tuple[int, bool]] = {}
    for made in judged_paths():
        for triple, size, factual in zip(made.path, made.class_sizes, made.factual, strict=True):
            assert seen.setdefault(triple, (size, factual)) == (size, factual), triple
