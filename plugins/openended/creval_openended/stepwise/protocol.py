"""Protocol `openended.stepwise`: build a solution step by step, from n candidates each.

Source: paper 004, 3.2, Section 5 and Appendix F: first a full answer, which sets the number of steps; then at each step
n candidates, the most probable of which is appended; it ends when the majority says STOP.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from creval.plugin import Completion, Session
from creval_openended.stepwise.candidates import Candidate, read_candidate, says_step_too_often
from creval_openended.stepwise.choice import choose, is_complete
from creval_openended.stepwise.outcome import repeats_itself
from creval_openended.stepwise.sentences import split_sentences
from creval_openended.stepwise.settings import StepwiseSettings, Variant

__all__ = ["Stepwise"]

_TOLERATED = ("length", "refusal")
_REPEATED = "two consecutive steps are the same, and this task leaves such solutions out"
_STEP = re.compile(r"\bstep\s*\d+", re.IGNORECASE)


class Stepwise:
    """The protocol; its prompts are `full` (if `full_answer` is set) and `step`.

    Settings as in `StepwiseSettings`; `variant: released` takes all those of the authors' code. Both prompts
    see the doc's fields; `step` also `steps` (the texts so far), `number` (of this step, from 1), `limit` and `last`.

    The outcome contains `full` (as far as it exists), `limit`, and for each step all candidates and the chosen one; if
    the task leaves solutions out, `left_out` is the reason, or None for a kept solution. The answer is the chosen
    steps, one per line. A candidate that is truncated or refused is left out, and never ends the sample; a sample
    without a first step is unparsed.
    """

    def __init__(self, variant: Variant = "paper", **settings: Any) -> None:
        self._settings = StepwiseSettings.of(variant, **settings)
        self.n = self._settings.n
        self.steps = self._fewest, self._most = self._settings.steps

    def expected_calls(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the expected calls of a complete solution: one per step, and one for the full answer."""
        full = self._settings.full_answer
        return full + self._fewest, full + self._most * (1 + self._settings.redraw)

    async def run(self, session: Session) -> None:
        """Generate one solution."""
        limit = await self._limit(session)
        texts: list[str] = []
        trail: list[dict[str, Any]] = []
        ended = "limit"
        while len(texts) < limit:
            step = await self._step(session, texts, limit)
            trail.append(step)
            if step["chosen"] is None:
                ended = "stop" if step["complete"] else "no usable candidate"
                break
            texts.append(step["candidates"][step["chosen"]]["text"])
        session.report(steps=trail, ended=ended, limit=limit)
        if self._settings.leave_out == "repeated_steps":
            session.report(left_out=_REPEATED if repeats_itself({"steps": trail}) else None)
        if not texts:
            session.unparsed(f"no first step: {_reasons(trail)}")
        session.answer("\n".join(texts))

    async def _limit(self, session: Session) -> int:
        """Request a full answer and count its steps, within the bounds; without a full answer return the maximum."""
        if not self._settings.full_answer:
            return self._most
        reply = await session.ask(session.prompt("full"), tolerate=_TOLERATED)
        text = reply.text.strip()
        session.report(full=text)
        return min(max(self._count(text), self._fewest), self._most)

    def _count(self, full: str) -> int:
        if self._settings.unit == "sentence":
            return len(split_sentences(full))
        return full.count("Step") if self._settings.counted == "words" else len(set(_labels(full)))

    async def _step(self, session: Session, texts: Sequence[str], limit: int) -> dict[str, Any]:
        number = len(texts) + 1
        prompt = session.prompt("step", steps=list(texts), number=number, limit=limit, last=number == limit)
        reply = await session.ask(prompt, tolerate=_TOLERATED, n=self.n, logprobs=True)
        completions, redrawn = await self._redrawn(session, prompt, list(reply.completions))
        candidates = [read_candidate(each, self._settings.reading) for each in completions]
        complete = is_complete(candidates, self._settings.majority)
        chosen = None if complete else choose(candidates, self._settings.select)
        step = {
            "number": number,
            "candidates": [candidate.to_json() for candidate in candidates],
            "chosen": chosen,
            "complete": complete,
        }
        return {**step, "redrawn": redrawn} if self._settings.redraw else step

    async def _redrawn(
        self, session: Session, prompt: Any, completions: list[Completion]
    ) -> tuple[list[Completion], int]:
        """Sample continuations with too many "Step" again, up to the last try. Also return how many were redrawn."""
        redrawn = 0
        for _ in range(self._settings.redraw):
            places = [place for place, each in enumerate(completions) if says_step_too_often(each.text)]
            if not places:
                break
            reply = await session.ask(prompt, tolerate=_TOLERATED, n=len(places), logprobs=True)
            for place, completion in zip(places, reply.completions, strict=False):
                completions[place] = completion
            redrawn += len(places)
        return completions, redrawn


def _labels(text: str) -> list[str]:
    return [match[0].lower() for match in _STEP.finditer(text)]


def _reasons(trail: Sequence[Mapping[str, Any]]) -> str:
    """Summarise the candidates of the last step: `7 STOP, 3 cut`."""
    kinds = [Candidate.from_json(each).kind for each in trail[-1]["candidates"]] if trail else []
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)) or "nothing was sampled"
