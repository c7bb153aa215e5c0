"""Protocol `neocoder.planning`: first a plan in a few steps, then the program that implements it.

Source: paper 001, Section 5.3; Jiang et al. 2023 (Self-planning code generation, arXiv:2303.06689): a planning phase
and an implementation phase, which sees the problem and the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from creval.plugin import Session

__all__ = ["Planning"]


@dataclass(frozen=True)
class Planning:
    """Two calls: the plan (prompt `plan`), then the program (prompt `implement`, field `plan`), which is the answer.

    A truncated plan is used as far as it goes. Nothing ties the model to its plan: only the program is scored.
    """

    def expected_calls(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the calls of the target per sample, fewest and most."""
        return 2, 2

    async def run(self, session: Session) -> None:
        """Plan, then write."""
        plan = (await session.ask(session.prompt("plan"), tolerate=("length",))).text.strip()
        session.report(plan_lines=len(plan.splitlines()))
        reply = await session.ask(session.prompt("implement", plan=plan))
        session.answer(reply.text)
