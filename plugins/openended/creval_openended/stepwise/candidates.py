"""Parse one sampled continuation: a usable step, a STOP, or a dropped candidate, with its log-probability.

Source: paper 004, 3.2 and Appendix C. A candidate is the first step of the model's text: from the start of the
answer up to the start of a further step. Its log-probability is that of the tokens of this part, without
values of -1000 and below, which mean "not known" at some providers: the released code leaves them out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from creval.plugin import Completion

__all__ = ["Candidate", "Ends", "Kind", "read_candidate", "says_step_too_often", "without_label"]

Ends = Literal["label", "line", "sentence"]
"""End of a step: before a further label, with the line that has "Step" (released code), or after its sentence."""

Kind = Literal["usable", "stop", "cut", "refused", "empty"]

_LABEL = re.compile(r"^\W*step\s*\d*\s*[:.)\-–—]?\W*", re.IGNORECASE)
_NUMBERED = re.compile(r"step\s*\d+", re.IGNORECASE)
_MARKS = "*#_>"
_WORD_STOP = re.compile(r"\bSTOP\b")
_UNKNOWN = -1000.0
_MOST_LABELS = 2
_SHORT = 10
"""Length below which any spelling of "stop" counts as one."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the n continuations at a step.

    `text` is the step with its label, stripped; `mean` and `total` are the mean and the sum of its tokens'
    log-probabilities (None if the provider gives none), `tokens` their number. `finish` is the provider's word.
    """

    text: str
    kind: Kind
    finish: str
    mean: float | None = None
    total: float | None = None
    tokens: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain data for the sample's outcome."""
        return {name: getattr(self, name) for name in ("text", "kind", "finish", "mean", "total", "tokens")}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Candidate:
        """Build a candidate from the data of `to_json`."""
        return cls(**{name: data.get(name) for name in ("text", "kind", "finish", "mean", "total", "tokens")})  # type: ignore[arg-type]


def without_label(text: str) -> str:
    """Return a step without its leading "Step 3:"; entailment sees this text, however a model labels."""
    return _LABEL.sub("", text, count=1).strip() or text.strip()


def is_stop(text: str, anywhere: bool = False) -> bool:
    """Return whether a candidate declares the solution complete: the word STOP, or any "stop" in a very short text.

    With `anywhere` STOP within a word counts too.
    """
    named = "STOP" in text if anywhere else bool(_WORD_STOP.search(text))
    return named or (len(text) < _SHORT and "stop" in text.lower())


def says_step_too_often(text: str) -> bool:
    """Return whether a continuation has more than two labels and no STOP: the released code samples it again."""
    return text.count("Step ") > _MOST_LABELS and not is_stop(text, anywhere=True)


def read_candidate(completion: Completion, ends: Ends = "label") -> Candidate:
    """Read one completion; `ends` says how its step ends."""
    finish = completion.finish_reason
    if completion.refusal or finish == "content_filter":
        return Candidate(completion.text.strip(), "refused", finish)
    if not completion.text.strip():
        return Candidate("", "empty", finish)
    start, end = _place_of_step(completion.text, ends)
    text = completion.text[start:end].strip()
    if is_stop(completion.text.strip(), anywhere=True) if ends == "line" else is_stop(text):
        return Candidate(text, "stop", finish)
    if finish == "length" and end == len(completion.text):
        return Candidate(text, "cut", finish)  # the step itself was not finished
    mean, total, tokens = _logprobs(completion, start, end)
    return Candidate(text, "usable", finish, mean, total, tokens)


def _place_of_step(text: str, ends: Ends) -> tuple[int, int]:
    """Return the start and end of the step."""
    blank = len(text) - len(text.lstrip())
    if ends == "sentence":
        from creval_openended.stepwise.sentences import first_sentence_end

        return 0, blank + first_sentence_end(text[blank:])
    if ends == "line":
        start = text.find("Step") if "Step" in text else blank
        line = text.find("\n", start)
        return start, len(text) if line < 0 else line
    return 0, _next_label(text, blank + 1)


def _next_label(text: str, start: int) -> int:
    """Return the line break before the next numbered step; only marks and white space precede it on its line.

    A pattern would look at a long run of line breaks, which models sometimes generate, once per character.
    """
    for label in _NUMBERED.finditer(text, start):
        at = label.start()
        while at > start and (text[at - 1] in _MARKS or text[at - 1].isspace()):
            at -= 1
        line = text.find("\n", at, label.start())
        if line >= 0:
            return line
    return len(text)


def _logprobs(completion: Completion, start: int, end: int) -> tuple[float | None, float | None, int | None]:
    """Return mean and sum over the known tokens, and their number; None if there are none."""
    if not completion.logprobs:
        return None, None, None
    kept = [value for value in _within(completion.logprobs, start, end) if value > _UNKNOWN]
    if not kept:
        return None, None, None
    return sum(kept) / len(kept), sum(kept), len(kept)


def _within(tokens: Sequence[Any], start: int, end: int) -> list[float]:
    kept, position = [], 0
    for token in tokens:
        if position >= end:
            break
        position += len(token.token)
        if position > start or start == 0:
            kept.append(token.logprob)
    return kept
