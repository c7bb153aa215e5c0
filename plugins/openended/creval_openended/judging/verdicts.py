"""The verdicts on one solution as scores: the same for the jury, its baselines and people.

A criterion without a verdict has no score, with the reason; the other criteria keep theirs, and `overall` is missing.
A judge abstains if its replies contain no verdict. A failed call is no abstention: then `abstained` is missing too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from creval.plugin import MissingScore, ModelError, Score, ScoringError, Status
from creval_openended.judging.asking import Questions
from creval_openended.judging.criteria import Criterion
from creval_openended.stepwise.filtering import filtered

__all__ = ["COUNTS", "Verdict", "score_of"]

COUNTS = ("overall", "confidence", "abstained", "judge_calls", "judge_input_tokens", "judge_output_tokens")
"""The scores next to those of the criteria."""

_COSTS = COUNTS[3:]
"""The cost of judging, recorded also for a solution that the task leaves out."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Return whether a criterion is fulfilled, how sure the judge is of this verdict (0 to 1), and the details."""

    fulfilled: bool
    confidence: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


async def score_of(
    criteria: Sequence[Criterion],
    judge: Callable[[Criterion], Awaitable[Verdict]],
    questions: Questions,
    about: Mapping[str, Any],
) -> Score:
    """Judge one criterion after the other and return the scores; `about` is added to the details."""
    verdicts: dict[str, Verdict] = {}
    missing: dict[str, MissingScore] = {}
    failed: list[str] = []
    for criterion in criteria:
        try:
            verdicts[criterion.name] = await judge(criterion)
        except (ModelError, ScoringError) as error:
            missing[criterion.name] = MissingScore(Status.ERRORED, str(error))
            if isinstance(error, ModelError):
                failed.append(criterion.name)
    scores: dict[str, float] = {name: float(verdict.fulfilled) for name, verdict in verdicts.items()}
    if missing:
        lacking = ", ".join(missing)
        missing["overall"] = MissingScore(Status.ERRORED, f"no verdict on {lacking}")
    else:
        scores["overall"] = fmean(scores.values())
    sure = [verdict.confidence for verdict in verdicts.values() if verdict.confidence is not None]
    if sure:
        scores["confidence"] = fmean(sure)
    elif missing:
        missing["confidence"] = missing["overall"]
    tokens = questions.spent()
    if failed:
        missing["abstained"] = MissingScore(Status.ERRORED, f"the judge could not be asked about {', '.join(failed)}")
    else:
        scores["abstained"] = (len(criteria) - len(verdicts)) / len(criteria)
    scores["judge_calls"] = float(sum(phase["calls"] for phase in tokens.values()))
    for side in ("input_tokens", "output_tokens"):
        scores[f"judge_{side}"] = float(sum(phase[side] for phase in tokens.values()))
    details = {
        **about,
        "asked": [criterion.name for criterion in criteria],
        "criteria": {name: _plain(verdict) for name, verdict in verdicts.items()},
        "failed": failed,
        "tokens": tokens,
    }
    score = Score(scores, {"jury": details}, missing=missing)
    return filtered(score, questions.outcome, unfiltered=(*details["asked"], "overall"), stays=_COSTS)


def _plain(verdict: Verdict) -> dict[str, Any]:
    return {"fulfilled": verdict.fulfilled, "confidence": verdict.confidence, **verdict.details}
