"""Ask the judge about paths: which triples are true, and how large their classes are.

The unit is a path. A judge may rate the same triple differently in another path, so the run's ledger stores verdicts
by (prompt, path): equal paths get equal verdicts, in one run and in all that reuse it, and are paid once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from creval.plugin import Context, Reply, SampleKey, ScoringError
from creval_create.judging.replies import UnreadableVerdictError, read_class_sizes, read_factuality
from creval_create.paths.triples import Path, judged_form

__all__ = ["ROLE", "TRIES", "PathJudge", "StrengthOf", "Verdict"]

ROLE = "judge"
TRIES = 2
"""An unreadable verdict is retried once."""

StrengthOf = Literal["factual", "valid"]
"""The paths whose strength is judged: factual paths, since others count nothing, or (Table 8, Figure 5) all."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one path: each triple's truth, and the size of its larger class if requested."""

    factual: tuple[bool, ...]
    class_sizes: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class PathJudge:
    """The judge of one sample's paths."""

    context: Context
    key: SampleKey
    strength_of: StrengthOf = "factual"

    async def verdicts(self, paths: Sequence[Path]) -> list[Verdict]:
        """Judge paths concurrently: one verdict for each, in order.

        All calls in flight finish before an error is raised, so that no paid call is lost. Raises
        ScoringError if a verdict stays unreadable, and the errors of `Context.ask`.
        """
        given = await asyncio.gather(*map(self._verdict, paths), return_exceptions=True)
        for verdict in given:
            if isinstance(verdict, BaseException):
                raise verdict
        return [verdict for verdict in given if isinstance(verdict, Verdict)]

    async def _verdict(self, path: Path) -> Verdict:
        factual = await self._ask("factuality", path, read_factuality)
        if self.strength_of == "factual" and not all(factual):
            return Verdict(factual)
        return Verdict(factual, await self._ask("strength", path, read_class_sizes))

    async def _ask(self, prompt: str, path: Path, read: Callable[[str, int], T]) -> T:
        messages = self.context.prompt(prompt, {"path": judged_form(path)})
        reason = ""
        for _ in range(TRIES):
            reply = await self.context.ask(ROLE, messages, self.key)
            try:
                return read(_complete_text(reply), len(path))
            except UnreadableVerdictError as error:
                reason = str(error)
                self.context.unreadable(reply, reason)
        raise ScoringError(
            f"the judge gave no readable verdict on the {prompt} of {judged_form(path)[:200]}: {reason}",
            fix="Name another judge with --role judge=MODEL, or resume the run, which asks this one again.",
        )


def _complete_text(reply: Reply) -> str:
    """Return the text of a complete reply."""
    if reply.lack:
        raise UnreadableVerdictError(reply.lack)
    return reply.text
