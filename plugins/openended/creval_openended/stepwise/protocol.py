"""Protocol `openended.stepwise`: a solution made step by step from n candidates each.

Source: paper 004, 3.2, Section 5 and Appendix F: a full answer first, which sets the number of steps; then at each step
n candidates, the most probable of which is appended; the end where the majority says STOP.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from creval.plugin import Session, UsageError
from creval_openended.stepwise.candidates import Candidate, read_candidate
from creval_openended.stepwise.choice import Majority, Select, choose, is_complete
from creval_openended.stepwise.sentences import split_sentences

__all__ = ["Stepwise"]

Unit = Literal["step", "sentence"]
_TOLERATED = ("length", "refusal")
_STEP = re.compile(r"\bstep\s*\d+", re.IGNORECASE)


class Stepwise:
    """The protocol; its prompts are `full` (where `full_answer` is asked for) and `step`.

    `n` candidates a step; `steps` is (fewest, most). `unit` says what a step is and how the steps of the full answer
    are counted: labels "Step k", or sentences. `select` and `majority` as in `creval_openended.stepwise.choice`.
    Both prompts see the doc's fields; `step` also `steps` (the texts so far), `number` (of this step, from 1), `limit`
    and `last`.

    The outcome holds `full` (what there is of it), `limit`, and for each step all candidates and the one chosen. The
    answer is the chosen steps, a line each. A candidate that is cut or refused is left out, and never ends the sample;
    a sample without a first step is unparsed.
    """

    def __init__(
        self,
        n: int = 10,
        steps: Sequence[int] = (2, 10),
        full_answer: bool = True,
        unit: Unit = "step",
        select: Select = "mean",
        majority: Majority = "more_than_half",
    ) -> None:
        self.n = n
        if len(steps) != 2 or steps[0] > steps[1]:
            raise UsageError(
                f"{list(steps)} are no bounds of the number of steps",
                where="openended.stepwise: steps",
                cure="Write the fewest and the most, as in [2, 10].",
            )
        self.steps = self._fewest, self._most = steps[0], steps[1]
        self._full = full_answer
        self._unit = unit
        self._select: Select = select
        self._majority: Majority = majority

    def expected_calls(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the calls to expect of a solution that comes to its end: one a step, and one for the full answer."""
        return self._full + self._fewest, self._full + self._most

    async def run(self, session: Session) -> None:
        """Make one solution."""
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
        if not texts:
            session.unparsed(f"no first step: {_reasons(trail)}")
        session.answer("\n".join(texts))

    async def _limit(self, session: Session) -> int:
        """Ask for a full answer and count its steps, within the bounds; without one the most that there may be."""
        if not self._full:
            return self._most
        reply = await session.ask(session.prompt("full"), tolerate=_TOLERATED)
        text = reply.text.strip()
        session.report(full=text)
        count = len(split_sentences(text)) if self._unit == "sentence" else len(set(_labels(text)))
        return min(max(count, self._fewest), self._most)

    async def _step(self, session: Session, texts: Sequence[str], limit: int) -> dict[str, Any]:
        number = len(texts) + 1
        prompt = session.prompt("step", steps=list(texts), number=number, limit=limit, last=number == limit)
        reply = await session.ask(prompt, tolerate=_TOLERATED, n=self.n, logprobs=True)
        candidates = [read_candidate(each, self._unit == "sentence") for each in reply.completions]
        complete = is_complete(candidates, self._majority)
        chosen = None if complete else choose(candidates, self._select)
        return {
            "number": number,
            "candidates": [candidate.to_json() for candidate in candidates],
            "chosen": chosen,
            "complete": complete,
        }


def _labels(text: str) -> list[str]:
    return [match[0].lower() for match in _STEP.finditer(text)]


def _reasons(trail: Sequence[Mapping[str, Any]]) -> str:
    """Say what became of the candidates of the last step: `7 STOP, 3 cut`."""
    kinds = [Candidate.from_json(each).kind for each in trail[-1]["candidates"]] if trail else []
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)) or "nothing was sampled"
