"""Calls of a build: the solver sees its thread, the reviewer does not; all answers go through the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from creval.plugin import Completion, Message, Reply, SampleKey
from creval_analyses.workbench import Workbench
from creval_neocoder.building.journal import CallJournal, Said
from creval_neocoder.task.techniques import AUGMENTER

__all__ = ["SOLVER", "TASK", "Asker", "settings_of"]

SOLVER = "target"
TASK = "neocoder/neocoder_own_state0"
"""The task whose prompts and settings all states share."""


def settings_of(bench: Workbench) -> dict[str, dict[str, Any]]:
    """Return the generation settings by role: the task's, for the solver overridden by the user's (None: not sent)."""
    task = bench.task(TASK)
    solver = {**task.generation, **bench.options.generation}
    return {
        SOLVER: {name: value for name, value in solver.items() if value is not None},
        AUGMENTER: dict(task.role_settings.get(AUGMENTER, {})),
    }


class Asker:
    """Makes the calls for one problem. An unreadable list of techniques is requested again (`unreadable`)."""

    def __init__(self, bench: Workbench, journal: CallJournal, problem: str) -> None:
        self._bench = bench
        self._journal = journal
        self._settings = settings_of(bench)
        self._context = bench.context(TASK)
        self._draws: Counter[tuple[str, ...]] = Counter()
        self._last: tuple[str, ...] = ()
        self.key = SampleKey("neocoder_build", problem, "default", 0)

    def prompt(self, name: str, fields: Mapping[str, Any], **extra: Any) -> list[Message]:
        """Render a prompt of the tasks."""
        return self._context.prompt(name, fields, **extra)

    async def solve(self, thread: Sequence[Message]) -> Said:
        """Return the next answer in a thread. Raises ModelError, including ContextLengthError."""
        return await self._answer(SOLVER, thread, 0)

    async def ask(self, role: str, messages: Sequence[Message], key: SampleKey) -> Reply:
        """Return a role's reply to a question, from the first draw that was not unreadable."""
        question = tuple(message.text for message in messages)
        self._last = question
        said = await self._answer(role, messages, self._draws[question])
        return Reply((Completion(said.text, said.finish_reason),))

    def unreadable(self, reply: Reply, reason: str) -> None:
        """Let the same question get a new answer."""
        self._draws[self._last] += 1

    async def _answer(self, role: str, messages: Sequence[Message], draw: int) -> Said:
        found = self._journal.find(role, messages, draw)
        if found is not None:
            return found
        reply = await self._bench.ask(role, messages, self.key, draw, **self._settings[role])
        return self._journal.find(role, messages, draw) or self._journal.keep(role, messages, draw, reply)
