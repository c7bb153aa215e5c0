"""Protocol `neocoder.self_correction`: try, see the test results, reflect on them in words, try again.

Source: paper 001, Section 5.3; Shinn et al. 2023 (Reflexion, arXiv:2303.11366), programming tasks. As there, only the
newest reflection is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from creval.plugin import Message, Session
from creval_neocoder.programs.feeding import Run
from creval_neocoder.strategies.feedback import describe, examine, read_tests, sample_runs

__all__ = ["SelfCorrection"]

_ANYHOW = ("length", "refusal", "empty")


@dataclass(frozen=True)
class SelfCorrection:
    """At most `trials` programs, the first from the task's own prompt; the last one is the answer.

    After a program that fails a test the model reflects (prompt `reflect`), then writes another (prompt `retry`).
    `feedback`: `sample`, the tests are the statement's own sample; `own`, the model writes them first (prompt `tests`),
    as in Reflexion. If none of them is readable there is no feedback, and the first program is the answer.
    """

    trials: int = 5
    feedback: Literal["sample", "own"] = "sample"
    seconds: float = 5.0

    def expected_calls(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the calls of the target per sample, fewest and most."""
        tests = int(self.feedback == "own")
        return 1 + tests, 2 * self.trials - 1 + tests

    async def run(self, session: Session) -> None:
        """Try until the tests pass or the trials are used up."""
        tests = await self._tests(session)
        messages: list[Message] = session.prompt()
        passed = False
        for trial in range(1, self.trials + 1):
            text = (await session.ask(messages)).text
            program, learnt = await self._learn(session, text, tests)
            passed = learnt is None
            session.report(trials=trial, passed=passed if tests else None, tests=len(tests), feedback=self.feedback)
            if passed or not tests or trial == self.trials:
                break
            about = {"program": program, "feedback": learnt}
            reflection = await session.ask(session.prompt("reflect", **about), tolerate=_ANYHOW)
            messages = session.prompt("retry", **about, reflection=reflection.text)
        session.answer(text)

    async def _tests(self, session: Session) -> Sequence[Run]:
        if self.feedback == "sample":
            return sample_runs(session.doc.fields)
        return read_tests((await session.ask(session.prompt("tests"), tolerate=_ANYHOW)).text)

    async def _learn(self, session: Session, text: str, tests: Sequence[Run]) -> tuple[str, str | None]:
        """Return the program of an answer, and the feedback on it; None if it passes every test."""
        parsed = session.parse(text)
        if not parsed.ok:
            return text, "There is no Python program in your answer."
        any_case = self.feedback == "sample" and bool(session.doc.fields["any_case"])
        sandbox = session.context.resource("sandbox")
        outcomes = await examine(sandbox, parsed.value, tests, self.seconds, any_case) if tests else []
        if all(outcome.passed for outcome in outcomes):
            return parsed.value, None
        return parsed.value, describe(outcomes)
