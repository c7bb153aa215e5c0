"""Protocol `chat`: the prompt is sent once, the answer is the sample's answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from creval.types.components import Session

__all__ = ["Chat"]


@dataclass(frozen=True, slots=True)
class Chat:
    """One turn. With `n` the model is asked for several answers in one call; each is an answer of the sample.

    Without it the generation setting `n` of task, condition or run says how many (default 1).
    """

    n: int | None = None

    async def run(self, session: Session) -> None:
        """Send the prompt and keep every completion."""
        asked: dict[str, Any] = {} if self.n is None else {"n": self.n}
        reply = await session.ask(session.prompt(), **asked)
        for completion in reply.completions:
            session.answer(completion.text)
