"""Details of a sample's score: enough to recompute any patience, threshold and filter without judge or encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from creval_create.judging.judge import Verdict
from creval_create.task.answers import Candidates
from creval_create.utility.rules import Rules

__all__ = ["sample_details"]


def sample_details(
    rules: Rules,
    found: Candidates,
    verdicts: Mapping[int, Verdict],
    strong: Sequence[int],
    raw: np.ndarray,
    added: Mapping[int, float],
) -> dict[str, Any]:
    """Return plain data of a scored set.

    `rules`: the settings. `paths`: each readable path with its answer and number, triples, why each rule rejects it (a
    rule that accepts it is absent), whether it repeats an earlier one, and if judged, each triple's truth,
    each class size, and its gain in greedy order (`order` lists the indices). `embedded`: the indices of the paths
    with a judged strength; `distances`: row i has the cosine distances of the i-th of them to those before it.
    """
    return {
        "rules": rules.named(),
        "paths": [_path(found, place, verdicts.get(place), added.get(place)) for place in range(len(found.paths))],
        "order": list(added),
        "embedded": list(strong),
        "distances": [[round(float(x), 6) for x in raw[row, :row]] for row in range(len(strong))],
    }


def _path(found: Candidates, place: int, verdict: Verdict | None, gain: float | None) -> dict[str, Any]:
    one = found.paths[place]
    data: dict[str, Any] = {
        "answer": one.answer,
        "key": one.key,
        "triples": [list(triple) for triple in one.path],
        "refused": {rule: reason for rule, reason in one.refused.items() if reason is not None},
    }
    if one.repeats:
        data["repeats"] = True
    if verdict is not None:
        data["factual"] = list(verdict.factual)
        if verdict.class_sizes is not None:
            data["class_sizes"] = list(verdict.class_sizes)
    if gain is not None:
        data["adds"] = round(gain, 6)
    return data
