"""The published 931 queries: the required content of their file, and the folder of an imported one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from creval.plugin import DataError

__all__ = ["COUNT", "DATASET", "FIELDS", "RELATIONS", "SPLIT", "published_rows"]

COUNT = 931
DATASET, SPLIT = "wadhma/CREATE", "train"
FIELDS = ("query", "entity_a", "rel_b", "entity_b", "description")
RELATIONS: Mapping[str, tuple[str, int]] = {
    "P166": ("award received", 99),
    "P39": ("position held", 94),
    "P40": ("child", 88),
    "P463": ("member of", 89),
    "P54": ("member of sports team", 99),
    "P57": ("director", 47),
    "P58": ("screenwriter", 60),
    "P161": ("cast member", 96),
    "P162": ("producer", 65),
    "P2175": ("medical condition treated", 100),
    "P2293": ("genetic association", 94),
}
"""Table 4: Wikidata property -> label and number of queries. The text says twelve relations, an error for eleven."""

_KEPT = ("triple1_labels", "triple2_labels", "triple3_labels")


def published_rows(rows: Iterable[Mapping[str, Any]], where: str) -> list[dict[str, Any]]:
    """Return the 931 queries as docs: id, query, entity_a, rel_b, entity_b, relation, and the source path if given.

    The id is the row's place in the file. Raises DataError if the columns, the number of rows or the number of
    queries of a relation (the end of `description`, `<entity>__<property>`) is not that of the published set.
    """
    docs = [_doc(row, number, where) for number, row in enumerate(rows)]
    problems = []
    if len(docs) != COUNT:
        problems.append(f"{len(docs)} rows instead of {COUNT}")
    found = Counter(doc["relation"] for doc in docs)
    problems += [
        f"{found[relation]} queries of {relation} ({label}) instead of {count}"
        for relation, (label, count) in RELATIONS.items()
        if found[relation] != count
    ]
    problems += [f"{found[other]} queries of {other}, which Table 4 lacks" for other in found if other not in RELATIONS]
    if problems:
        raise DataError(
            "this is not the published set of CREATE: " + "; ".join(problems),
            where=where,
            fix="Take the split train of the dataset wadhma/CREATE on Hugging Face, with all its columns.",
        )
    return docs


def _doc(row: Mapping[str, Any], number: int, where: str) -> dict[str, Any]:
    missing = [field for field in FIELDS if not isinstance(row.get(field), str) or not row[field].strip()]
    if missing:
        raise DataError(
            f"row {number + 1} lacks {_listed(missing)}; each row needs {_listed(FIELDS)}",
            where=where,
            fix="Take the split train of the dataset wadhma/CREATE on Hugging Face, with all its columns.",
        )
    relation = row["description"].rpartition("__")[2]
    doc = {"id": str(number), **{field: row[field] for field in FIELDS[:-1]}, "relation": relation}
    return doc | {field: list(row[field]) for field in _KEPT if isinstance(row.get(field), list | tuple)}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
