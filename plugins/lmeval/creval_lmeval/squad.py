"""SQuAD 2.0's metric, in place of `squad_v2`, which the task fetches for each of its numbers.

Stated adapter: the rules are those of the official script (Rajpurkar et al. 2018, arXiv:1806.03822). Rows are counted
by position, so that a document that is drawn twice counts twice.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["SquadV2"]

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_SIGNS = frozenset(string.punctuation)


class _Row(NamedTuple):
    """Exact match and F1, the probability of "no answer", whether there is an answer, and the prediction."""

    exact: float
    f1: float
    none: float
    answerable: bool
    said: str


class SquadV2:
    """Replaces `squad_v2`."""

    def compute(
        self,
        predictions: Sequence[Mapping[str, Any]],
        references: Sequence[Mapping[str, Any]],
        no_answer_threshold: float = 1.0,
        **_: Any,
    ) -> dict[str, float]:
        """Return the numbers in percent: of all, of those with and without an answer, at the best threshold."""
        rows = [_row(*pair) for pair in zip(predictions, references, strict=True)]
        found = _averages("", rows, no_answer_threshold)
        for name, answerable in (("HasAns_", True), ("NoAns_", False)):
            part = [row for row in rows if row.answerable is answerable]
            found |= _averages(name, part, no_answer_threshold) if part else {}
        for name in ("exact", "f1"):
            found[f"best_{name}"], found[f"best_{name}_thresh"] = _best(rows, name)
        return found


def _row(prediction: Mapping[str, Any], reference: Mapping[str, Any]) -> _Row:
    golden = [text for text in reference["answers"]["text"] if _normal(text)] or [""]
    said = str(prediction["prediction_text"])
    exact = max(float(_normal(text) == _normal(said)) for text in golden)
    f1 = max(_f1(_normal(text).split(), _normal(said).split()) for text in golden)
    return _Row(exact, f1, float(prediction["no_answer_probability"]), bool(reference["answers"]["text"]), said)


def _normal(text: str) -> str:
    """Return a text in lower case without punctuation, articles and extra spaces."""
    bare = "".join(sign for sign in text.lower() if sign not in _SIGNS)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def _f1(golden: Sequence[str], said: Sequence[str]) -> float:
    if not golden or not said:
        return float(golden == said)
    same = sum((Counter(golden) & Counter(said)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(said), same / len(golden)
    return 2 * precision * recall / (precision + recall)


def _averages(prefix: str, rows: Sequence[_Row], threshold: float) -> dict[str, float]:
    """Return means in percent; above the threshold the prediction is "no answer"."""

    def mean(name: str) -> float:
        values = [float(not row.answerable) if row.none > threshold else getattr(row, name) for row in rows]
        return 100.0 * sum(values) / len(values)

    return {f"{prefix}exact": mean("exact"), f"{prefix}f1": mean("f1"), f"{prefix}total": len(rows)}


def _best(rows: Sequence[_Row], name: str) -> tuple[float, float]:
    """Return the best mean in percent over all thresholds of "no answer", and the first threshold that gives it."""
    score: float = sum(not row.answerable for row in rows)
    best, threshold = score, 0.0
    for row in sorted(rows, key=lambda row: row.none):
        score += getattr(row, name) if row.answerable else -1 if row.said else 0
        if score > best:
            best, threshold = score, row.none
    return 100.0 * best / len(rows), threshold
