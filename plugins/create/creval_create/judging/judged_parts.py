"""Separately judged parts of an answer: each path, and each of its triples (Section 4.3, Appendix C)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from creval.plugin import JudgedPart
from creval_create.paths.triples import as_path, judged_form
from creval_create.utility.rules import Rules
from creval_create.utility.strength import path_strength, triple_strength

__all__ = ["judged_parts"]


def judged_parts(details: Mapping[str, Any]) -> list[JudgedPart]:
    """Return the judged paths, each followed by its triples; `details` are those of a stored score.

    A path is identified by its number in the answer (`2`; with several answers `1/2`, the answer first) or by its text
    as the judge read it; a triple by its number in the path, from 1, or its text. Ratings: `factuality` (1 or 0; 1 for
    a path if all its triples are true), and `strength`, from 1 to 5, if class sizes were requested.
    """
    paths: Sequence[Mapping[str, Any]] = details.get("paths", ())
    keys = Counter(str(path["key"]) for path in paths)
    rules = Rules(**details.get("rules", {}))
    found = []
    for path in paths:
        if "factual" not in path:
            continue
        key = str(path["key"])
        numbers = (f"{path['answer'] + 1}/{key}", *([key] if keys[key] == 1 else []))
        names = {"path": (*numbers, judged_form(as_path(path["triples"])))}
        found.append(JudgedPart(names, _path_ratings(path, rules)))
        found += [JudgedPart({**names, "triple": of}, ratings) for of, ratings in _triples(path)]
    return found


def _path_ratings(path: Mapping[str, Any], rules: Rules) -> dict[str, float]:
    ratings = {"factuality": float(all(path["factual"]))}
    if "class_sizes" in path:
        ratings["strength"] = float(path_strength(path["class_sizes"], rules.last_triple))
    return ratings


def _triples(path: Mapping[str, Any]) -> list[tuple[tuple[str, str], dict[str, float]]]:
    """Return each triple of a path: its possible names, and its ratings."""
    found = []
    for place, (triple, true) in enumerate(zip(as_path(path["triples"]), path["factual"], strict=True)):
        ratings = {"factuality": float(true)}
        if "class_sizes" in path:
            ratings["strength"] = float(triple_strength(path["class_sizes"][place]))
        found.append(((str(place + 1), judged_form((triple,))[1:-1]), ratings))
    return found
