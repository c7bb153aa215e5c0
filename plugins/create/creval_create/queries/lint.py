"""Faults of a query: a wording that reveals the hidden entity or reverses the relation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from creval_create.paths.triples import normal

__all__ = ["Finding", "lint"]

_ONE_WAY = (
    *("father", "mother", "child", "parent", "employer", "student", "doctoral student", "doctoral advisor", "teacher"),
    *("founder", "author", "creator", "composer", "director", "producer", "screenwriter", "owner"),
)
"""Relations whose meaning changes when they are reversed; that of `spouse` and `sibling` does not."""


class Finding(NamedTuple):
    """A fault of one query; `query` is its id, or its number if it has no id."""

    query: str
    problem: str


def lint(queries: Iterable[Mapping[str, Any]]) -> list[Finding]:
    """Return the faults of queries (fields query, entity_a, rel_b, entity_b, and tripleN_labels if known)."""
    findings: list[Finding] = []
    asked: Counter[tuple[str, ...]] = Counter()
    for number, row in enumerate(queries):
        name = str(row.get("id", row.get("index", number)))
        triples = _triples(row)
        problems = [*_wording(row, triples), *_graph(row, triples)]
        question = tuple(normal(str(row[field])) for field in ("entity_a", "rel_b", "entity_b"))
        asked[question] += 1
        if asked[question] == 2:
            problems.append("asks the same as an earlier query")
        findings += [Finding(name, problem) for problem in problems]
    return findings


def _triples(row: Mapping[str, Any]) -> list[Sequence[str]]:
    labels = [row.get(f"triple{number}_labels") for number in (1, 2, 3)]
    return [[str(part) for part in label] for label in labels if isinstance(label, list | tuple) and len(label) == 3]


def _wording(row: Mapping[str, Any], triples: Sequence[Sequence[str]]) -> list[str]:
    said = f" {_plain(row['query'])} "
    problems = []
    if f" {_plain(row['entity_a'])} " not in said:
        problems.append(f"the wording does not name the start, {row['entity_a']!r}")
    hidden = triples[2][0] if len(triples) == 3 else None
    if hidden and normal(hidden) != normal(row["entity_b"]) and f" {_plain(hidden)} " in said:
        problems.append(f"the wording names the entity to be found, {hidden!r}")
    relation, end = _plain(row["rel_b"]), _plain(row["entity_b"])
    if relation in _ONE_WAY and re.search(rf" (?:the|an?) {re.escape(relation)} of {re.escape(end)} ", said):
        problems.append(f"the wording turns the relation round: {row['entity_b']!r} is the {relation} that is had")
    return problems


def _graph(row: Mapping[str, Any], triples: Sequence[Sequence[str]]) -> list[str]:
    start, relation, end = (normal(str(row[field])) for field in ("entity_a", "rel_b", "entity_b"))
    problems = []
    if start == end:
        problems.append("starts and ends at the same entity")
    if any([normal(part) for part in triple] == [start, relation, end] for triple in triples):
        problems.append("the start satisfies the target itself")
    if triples and start not in {normal(part) for triple in triples[:2] for part in (triple[0], triple[2])}:
        problems.append("the source path does not begin at the start")
    if len(triples) == 3 and [normal(part) for part in triples[2][1:]] != [relation, end]:
        problems.append("the source path does not end at the target")
    return problems


def _plain(text: Any) -> str:
    """Return only the words, so that a comma or a bracket next to a name does not hide it."""
    return " ".join(re.findall(r"\w+", normal(str(text))))
