"""The scorer `lmeval`: runs a task's filters and `process_results` on each document, filter by filter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import Context, MissingScore, Score, ScorerInput, Status
from creval_lmeval.library import load_task
from creval_lmeval.plain import plain
from creval_lmeval.shapes import scores_of

__all__ = ["VALUES", "LmEvalScores"]

VALUES = "values"
"""The key in a score's details for the input of lm-eval's aggregation."""


@dataclass(frozen=True, slots=True)
class LmEvalScores:
    """Scores a document from all its repeats, as lm-eval's filters use them.

    The first repeat gets the scores, under names such as `exact_match,strict-match`; the others get none, so that a
    document counts once. A truncated, refused or empty answer is scored as lm-eval scores it; its status is unchanged.
    """

    task: str
    sources: str = ""

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Score one document."""
        loaded = load_task(self.task, self.sources)
        kinds, responses = _responses(items)
        scores: dict[str, float] = {}
        values: dict[str, Any] = {}
        for pipeline, metrics in loaded.process(int(items[0].key.doc), kinds, responses):
            for metric, value in metrics.items():
                name = f"{metric},{pipeline}"
                values[name] = plain(value)
                scores |= scores_of(name, value, loaded.aggregation(metric))
        return _counted_once(scores, values, len(items))


def _counted_once(scores: dict[str, float], values: dict[str, Any], count: int) -> list[Score]:
    sound = {name: value for name, value in scores.items() if math.isfinite(value)}
    why = MissingScore(Status.SKIPPED, "lm-eval gives no number here")
    missing = dict.fromkeys(scores.keys() - sound.keys(), why)
    first = Score(sound, details={VALUES: values}, missing=missing)
    again = MissingScore(Status.SKIPPED, "the first repeat of the document has its scores")
    return [first, *(Score({}, missing=dict.fromkeys(scores, again)) for _ in range(count - 1))]


def _responses(items: Sequence[ScorerInput]) -> tuple[list[str], list[list[Any]]]:
    """Return the kind of each request of a document, and its responses: one for each repeat."""
    rows = [_of_sample(item) for item in sorted(items, key=lambda item: item.key.repeat)]
    kinds = [kind for kind, _ in max(rows, key=len)]
    return kinds, [[row[place][1] for row in rows if place < len(row)] for place in range(len(kinds))]


def _of_sample(item: ScorerInput) -> list[tuple[str, Any]]:
    """Return kind and response of each request of a sample, in order."""
    likelihoods = item.outcome.get("likelihoods")
    texts = [_raw_answer(call) for call in item.calls if call.role == "target" and call.output is None and call.reply]
    if likelihoods is None:
        return [("generate_until", text) for text in texts]
    rest = iter(texts)
    found: list[tuple[str, Any]] = []
    for each in likelihoods:
        if each is None:
            found.append(("generate_until", next(rest)))
        elif len(each) == 1:
            found.append(("loglikelihood_rolling", each[0]))
        else:
            found.append(("loglikelihood", (each[0], bool(each[1]))))
    return found


def _raw_answer(call: Any) -> str:
    """Return an answer as the server sent it."""
    completion = call.reply.completions[0]
    return str(completion.text if completion.raw is None else completion.raw)
