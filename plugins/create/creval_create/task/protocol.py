"""Protocol `create`: one answer, independent answers (resample), or further rounds in one conversation (iterate)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from creval.plugin import Expected, Message, Reply, Session
from creval_create.judging.judge import ROLE, TRIES

__all__ = ["CreateProtocol", "Strategy", "Wording"]

Strategy = Literal["base", "creative", "verbalized"]
"""The base prompt: E.1, E.1 with the line on creativity, or E.2."""

Wording = Literal["paper", "run", "released"]
"""The wording of the prompts: as printed in the paper, as in the stored prompts of the paper's models, or as
in the base prompt of the authors' repository."""

_CUT = ("length", "refusal")
_PROMPTS_A_PATH = 2
_MOST_PATHS = 50
"""Upper bound of valid paths per answer in a dry run: mean and two SDs of the largest entry in Table 1 are 46."""


@dataclass(frozen=True)
class CreateProtocol:
    """Asks for paths. Every readable answer counts; the scorer combines them into one set.

    `samples` independent answers to the prompt; after the first, `rounds` further ones in the same conversation (prompt
    `again`, Prompt E.3). `strategy` and `wording` are fields of the templates. A truncated or refused answer is left
    out if there is another one (`cut` in the outcome counts them), and ends the sample otherwise.
    """

    strategy: Strategy = "base"
    samples: int = 1
    rounds: int = 0
    wording: Wording = "paper"

    def expected_calls(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the calls of the target per sample, fewest and most."""
        return self._calls, self._calls

    def expected_role_calls(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """Return the calls of the judge per sample, fewest and most: two per path, and a retry for unreadable replies.

        The scorer makes them, but only the protocol knows how many answers there will be. An empty set costs none.
        """
        return {ROLE: (0, self._calls * _MOST_PATHS * _PROMPTS_A_PATH * TRIES)}

    @property
    def _calls(self) -> int:
        return self.samples + self.rounds

    async def run(self, session: Session) -> None:
        """Request answers, and keep the complete ones."""
        wording = str(session.condition.settings.get("wording", self.wording))
        opening = session.prompt("prompt", wording=wording, strategy=self.strategy)
        session.report(wording=wording, strategy=self.strategy, samples=self.samples, rounds=self.rounds)
        kept = 0
        for number in range(self.samples):
            last = number + 1 == self.samples
            reply = await session.ask(opening, tolerate=() if last and not kept else _CUT)
            kept += _keep(session, reply)
        messages: list[Message] = [*opening, Message("assistant", reply.text)]
        for _ in range(self.rounds):
            messages += session.prompt("again", wording=wording, strategy=self.strategy)
            reply = await session.ask(messages, tolerate=_CUT)
            kept += _keep(session, reply)
            messages.append(Message("assistant", reply.text))
        session.report(cut=self._calls - kept)


def _keep(session: Session, reply: Reply) -> bool:
    """Add a complete reply to the answers; return whether it was complete."""
    completion = reply.completions[0]
    if completion.refusal or completion.finish_reason in ("length", "content_filter"):
        return False
    session.answer(completion.text)
    return True
