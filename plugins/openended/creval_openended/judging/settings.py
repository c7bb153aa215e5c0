"""Settings of the jury: the paper's numbers, or those of the released code."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from creval.plugin import UsageError
from creval_openended.judging.memory import Similarity
from creval_openended.judging.reply_forms import Replies

__all__ = ["JurySettings", "Variant"]

Variant = Literal["paper", "released"]
_RELEASED = {
    "k": 4,
    "j": 5,
    "threshold": 0.8,
    "reached": True,
    "unreadable_confidence": 0.3,
    "similarity": "squared_l2",
    "focus": "shifted",
}
"""Where the released code differs from the paper (D, D.2.3)."""


@dataclass(frozen=True, slots=True)
class JurySettings:
    """Appendix D and D.2. `k`, `j`, `l` fragments are shown for a turn, a confidence and the verdict.

    A discussion ends after a round whose mean confidence exceeds `threshold` (with `reached`: reaches it), at the
    latest after `rounds`; `words` limits a turn. `curve` plays all rounds and takes a verdict after each, so that one
    run serves every threshold. `unreadable_confidence` replaces an unreadable confidence (None: the criterion has no
    score). `solution` says what is judged, the steps or the full answer before them. With `focus: shifted` an
    analyst rates and decides with the focus of the next one: the problem analyst with that of the solution, the other
    two with that of the criterion. Temperatures: None sends none. `replies: structured` is ours: judges reply as JSON
    under a schema that is sent along, for small models that do not follow a written format.
    """

    k: int = 5
    j: int = 4
    l: int = 8  # noqa: E741 - the paper's letter
    threshold: float = 0.5
    reached: bool = False
    rounds: int = 2
    words: int = 150
    curve: bool = False
    unreadable_confidence: float | None = None
    similarity: Similarity = "cosine"
    solution: Literal["answer", "full"] = "answer"
    focus: Literal["own", "shifted"] = "own"
    replies: Replies = "written"
    confidence_temperature: float | None = 1.0
    verdict_temperature: float | None = 0.0

    @classmethod
    def of(cls, variant: Variant = "paper", **changed: Any) -> JurySettings:
        """Return the settings of a variant, with some changed. Raises UsageError if it is unknown."""
        known = {field.name for field in fields(cls)}
        unknown = [name for name in changed if name not in known]
        if unknown:
            raise UsageError(f"the jury has no setting {unknown[0]!r}", where="openended.jury")
        return cls(**{**(_RELEASED if variant == "released" else {}), **changed})

    def ends(self, mean: float, round_: int) -> bool:
        """Return whether a discussion ends after this round, given its mean confidence."""
        return round_ >= self.rounds or (mean >= self.threshold if self.reached else mean > self.threshold)
