"""Questions to the judge about one solution, with one retry on a wrong format and token counts by phase."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from creval.plugin import Context, ScorerInput, ScoringError, Usage
from creval_openended.judging.replies import UnreadableReplyError, whole_text
from creval_openended.judging.reply_forms import Form

__all__ = ["ROLE", "Case", "Questions", "case_of"]

ROLE = "judge"
_TRIES = 2
_STATEMENT = "statement"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Case:
    """The case to judge: the sample, the problem as judges see it, and the solution."""

    item: ScorerInput
    problem: str
    solution: str


@dataclass(slots=True)
class _Spent:
    calls: int = 0
    usage: Usage = field(default_factory=Usage)


def case_of(item: ScorerInput, context: Context, solution: str = "answer") -> Case:
    """Return the case of a sample: its answer, or with `full` the full answer generated before the steps.

    The problem is shown by the task's prompt `statement`. Raises ScoringError if the solution is missing.
    """
    text = item.answers[0] if solution == "answer" else str(item.outcome.get("full") or "")
    if not text.strip():
        raise ScoringError(f"the sample has no {'answer' if solution == 'answer' else 'full answer'} to be judged")
    return Case(item, context.prompt(_STATEMENT, item.doc)[0].text, text)


class Questions:
    """Asks the role `judge` about one case and records calls and tokens, by phase."""

    def __init__(self, context: Context, case: Case) -> None:
        self._context = context
        self._case = case
        self._spent: dict[str, _Spent] = {}

    async def ask(
        self, phase: str, prompt: str, fields: Mapping[str, Any], form: Form[T] | Callable[[str], T], **settings: Any
    ) -> tuple[T, str]:
        """Ask by a prompt of the task and return the parsed reply, with its text.

        `form` says how replies are parsed, or is the function that parses them.

        Raises ScoringError if two replies are unreadable, and the errors of `Context.ask`.
        """
        known = {"problem": self._case.problem, "solution": self._case.solution}
        messages = self._context.prompt(prompt, self._case.item.doc, **known, **fields)
        form = form if isinstance(form, Form) else Form(form)
        if form.note:
            last = messages[-1]
            messages = [*messages[:-1], replace(last, content=f"{last.text}\n\n{form.note}")]
        reason = ""
        for _ in range(_TRIES):
            reply = await self._context.ask(ROLE, messages, self._case.item.key, **form.settings, **settings)
            spent = self._spent.setdefault(phase, _Spent())
            spent.calls += 1
            spent.usage += reply.usage
            try:
                text = whole_text(reply)
                return form.read(text), form.display(text)
            except UnreadableReplyError as error:
                reason = str(error)
                self._context.unreadable(reply, reason)
        raise ScoringError(f"{phase}: {reason}, asked {_TRIES} times")

    @property
    def outcome(self) -> Mapping[str, Any]:
        """Return the outcome that the protocol recorded for the solution."""
        return self._case.item.outcome

    def spent(self) -> dict[str, dict[str, int]]:
        """Return calls and tokens by phase."""
        return {
            phase: {
                "calls": each.calls,
                "input_tokens": each.usage.input_tokens,
                "output_tokens": each.usage.output_tokens,
            }
            for phase, each in self._spent.items()
        }
