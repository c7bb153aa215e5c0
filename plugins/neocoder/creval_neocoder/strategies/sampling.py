"""Protocol `neocoder.sampling`: k independent answers to the plain prompt, of which the scorer takes the best.

Source: paper 001, Section 5.3; Chen et al. 2021 (arXiv:2107.03374).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from creval.plugin import Completion, Session

__all__ = ["Sampling"]


@dataclass(frozen=True)
class Sampling:
    """Requests `k` answers. A truncated, refused or empty answer is a failed try; if all fail, the sample is
    unparsed."""

    k: int = 5

    def expected_calls(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the calls of the target per sample; one call returns all k answers."""
        return 1, 1

    async def run(self, session: Session) -> None:
        """Request the answers, and keep the complete ones in order."""
        reply = await session.ask(session.prompt(), n=self.k, tolerate=("length", "refusal", "empty"))
        whole = [completion.text for completion in reply.completions if _is_whole(completion)]
        session.report(samples=self.k, lost=self.k - len(whole))
        if not whole:
            session.unparsed(f"all {self.k} answers were cut, declined or empty")
        for text in whole:
            session.answer(text)


def _is_whole(completion: Completion) -> bool:
    cut = completion.refusal is not None or completion.finish_reason in ("length", "content_filter")
    return not cut and bool(completion.text.strip())
