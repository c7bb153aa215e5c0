"""Call the augmenter, and continue truncated answers.

Source: paper 002, Methods, "Automatic domain proposal and seed configs generation": generation continues from
truncation points up to a retry limit of 3.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from creval.plugin import Message, SampleKey
from creval.plugin.models import FatalModelError, GenerateRequest, Origin
from creval_analyses.workbench import Model
from creval_kumo.augment.prompting import text

__all__ = ["MAX_CONTINUATIONS", "Augmenter", "joined"]

MAX_CONTINUATIONS = 3
MAX_ANSWER = 1_000_000
"""Most characters of one answer; a longer one is refused."""
_LOG = logging.getLogger("creval")
_SHORTEST_OVERLAP = 12
_LONGEST_OVERLAP = 2000
_FENCE = "```"


@dataclass
class Augmenter:
    """A model in the role `augmenter`, for one piece of work (`subject`); `settings` are generation settings."""

    model: Model
    subject: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    calls: int = 0

    async def ask(self, messages: Sequence[Message], whole: Callable[[str], bool] | None = None) -> str:
        """Return the answer, continued up to MAX_CONTINUATIONS times while it was cut or is not `whole`.

        An answer that is still cut is marked and returned, so that the caller sees that it is incomplete. Raises
        ModelError if a call fails or the model declines.
        """
        answer, cut = await self._call(messages)
        for _ in range(MAX_CONTINUATIONS):
            if not cut and (whole is None or whole(answer)):
                break
            more, cut = await self._call([*messages, Message("assistant", answer), Message("user", text("go_on"))])
            answer = joined(answer, more)
        if cut:
            _LOG.warning(
                "%s: an answer of %s was still cut at the token limit after %d continuations; allow longer ones: "
                "--generation max_tokens=...",
                self.subject,
                self.model.spec,
                MAX_CONTINUATIONS,
            )
        return answer

    async def _call(self, messages: Sequence[Message]) -> tuple[str, bool]:
        key = SampleKey("kumo_augment", self.subject, "default", 0)
        origin = Origin(key, role="augmenter", call=self.calls)
        self.calls += 1
        reply = await self.model.generate(GenerateRequest(tuple(messages), dict(self.settings), origin))
        completion = reply.completions[0]
        if completion.refusal or completion.finish_reason == "content_filter":
            raise FatalModelError(
                f"the model declined: {completion.refusal or 'content filter'}", where=self.model.spec
            )
        if len(completion.text) > MAX_ANSWER:
            raise FatalModelError(f"the answer has more than {MAX_ANSWER} characters", where=self.model.spec)
        return completion.text, completion.finish_reason == "length"


def joined(answer: str, more: str) -> str:
    """Join an answer and its continuation, without a reopened code fence or repeated text."""
    if answer.count(_FENCE) % 2 and more.lstrip().startswith(_FENCE):
        first, line_break, rest = more.lstrip().partition("\n")
        if line_break and first.removeprefix(_FENCE).strip().isalpha():
            more = rest
    for length in range(min(len(answer), len(more), _LONGEST_OVERLAP), _SHORTEST_OVERLAP - 1, -1):
        if answer.endswith(more[:length]):
            return answer + more[length:]
    return answer + more
