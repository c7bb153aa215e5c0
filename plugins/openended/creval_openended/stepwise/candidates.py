"""What one sampled continuation is: a usable step, a STOP, or one that is dropped, with its log-probability.

Source: paper 004, 3.2 and Appendix C. A candidate is the first step of what the model said: text from the start of the
answer up to where the model begins a further step. Its log-probability is that of the tokens of this part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from creval.plugin import Completion

__all__ = ["Candidate", "Kind", "read_candidate", "without_label"]

Kind = Literal["usable", "stop", "cut", "refused", "empty"]

_LABEL = re.compile(r"^\W*step\s*\d*\s*[:.)\-–—]?\W*", re.IGNORECASE)
_NEXT = re.compile(r"\n\s*(?:[*#_>\s]*)step\s*\d+", re.IGNORECASE)
_WORD_STOP = re.compile(r"\bSTOP\b")
_SHORT = 10
"""Below so many characters any spelling of "stop" counts as one."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the n continuations at a step.

    `text` is the step with its label, stripped; `mean` and `total` are the mean and the sum of its tokens'
    log-probabilities (None where the provider gives none), `tokens` their number. `finish` is the provider's word.
    """

    text: str
    kind: Kind
    finish: str
    mean: float | None = None
    total: float | None = None
    tokens: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data for the sample's outcome."""
        return {name: getattr(self, name) for name in ("text", "kind", "finish", "mean", "total", "tokens")}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Candidate:
        """What `to_json` gave."""
        return cls(**{name: data.get(name) for name in ("text", "kind", "finish", "mean", "total", "tokens")})  # type: ignore[arg-type]


def without_label(text: str) -> str:
    """Return a step without its "Step 3:" in front; entailment sees it like this, whichever way a model labels."""
    return _LABEL.sub("", text, count=1).strip() or text.strip()


def is_stop(text: str) -> bool:
    """Whether a candidate says that the solution is complete: the word STOP, or any "stop" in a few characters."""
    return bool(_WORD_STOP.search(text)) or (len(text) < _SHORT and "stop" in text.lower())


def read_candidate(completion: Completion, single_sentence: bool = False) -> Candidate:
    """Read one completion. With `single_sentence` a step is one sentence, else what stands before a further label."""
    finish = completion.finish_reason
    if completion.refusal or finish == "content_filter":
        return Candidate(completion.text.strip(), "refused", finish)
    if not completion.text.strip():
        return Candidate("", "empty", finish)
    end = _end_of_step(completion.text, single_sentence)
    text = completion.text[:end].strip()
    if is_stop(text):
        return Candidate(text, "stop", finish)
    if finish == "length" and end == len(completion.text):
        return Candidate(text, "cut", finish)  # the step itself was not finished
    mean, total, tokens = _logprobs(completion, end)
    return Candidate(text, "usable", finish, mean, total, tokens)


def _end_of_step(text: str, single_sentence: bool) -> int:
    start = len(text) - len(text.lstrip())
    if single_sentence:
        from creval_openended.stepwise.sentences import first_sentence_end

        return start + first_sentence_end(text[start:])
    found = _NEXT.search(text, start + 1)
    return found.start() if found else len(text)


def _logprobs(completion: Completion, end: int) -> tuple[float | None, float | None, int | None]:
    """Mean and sum over the tokens that stand before `end`, and their number; None where they are not to be had."""
    if not completion.logprobs:
        return None, None, None
    kept = _tokens_before(completion.logprobs, end)
    if not kept:
        return None, None, None
    return sum(kept) / len(kept), sum(kept), len(kept)


def _tokens_before(tokens: Sequence[Any], end: int) -> list[float]:
    kept, position = [], 0
    for token in tokens:
        if position >= end:
            break
        kept.append(token.logprob)
        position += len(token.token)
    return kept
