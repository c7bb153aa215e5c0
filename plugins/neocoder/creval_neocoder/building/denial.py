"""Algorithm 1 for one problem: solve, detect the techniques, deny one, solve again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from creval.plugin import Message, ScoringError
from creval.plugin.models import ContextLengthError
from creval_neocoder.building.asking import Asker
from creval_neocoder.problem import Problem, constrained
from creval_neocoder.programs.extraction import find_source, runnable
from creval_neocoder.task.techniques import detect

__all__ = ["Denied", "deny", "drawn"]


@dataclass(slots=True)
class Denied:
    """The result of a problem, one list entry per round, the first before any: statement, constraints, program.

    A program is empty if the model gave none. `ended` says why the rounds ended early; None if all were completed.
    """

    statements: list[str] = field(default_factory=list)
    constraints: list[list[str]] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    ended: str | None = None


async def deny(problem: Problem, asker: Asker, rounds: int, seed: int) -> Denied:
    """Run `rounds` rounds of Denial Prompting on a problem (paper 001, Section 3.1, Algorithm 1).

    All solutions are requested in one thread, each with the whole statement and its constraints; techniques are
    detected only in the newest program. If none is new, the constraints stay and the round continues. An
    answer without a program, an unreadable list of techniques, and a thread that exceeds the
    model's context end the problem with the rounds so far. Raises ModelError if a call fails otherwise.
    """
    made, forbidden = Denied(), list[str]()
    thread: list[Message] = []
    for turn in range(rounds + 1):
        statement = constrained(problem.statement, forbidden)
        made.statements.append(statement)
        made.constraints.append(list(forbidden))
        made.codes.append("")
        question = asker.prompt("prompt", {"problem": statement})
        thread += question[-1:] if thread else question
        try:
            said = await asker.solve(thread)
        except ContextLengthError as error:
            made.ended = f"the thread of {len(thread)} messages does not fit into the solver's context: {error.what}"
            break
        thread.append(Message("assistant", said.text))
        source = find_source(said.text)
        if source is None:
            made.ended = f"the answer in round {turn} contains no program (it ended with {said.finish_reason!r})"
            break
        made.codes[-1] = source
        if turn == rounds:
            break
        try:
            techniques = (await detect(runnable(source), asker.key, {}, asker)).names
        except ScoringError as error:
            made.ended = f"after round {turn} {error.what}"
            break
        forbidden += drawn(techniques, forbidden, f"{seed}/{problem.name}/{turn}")
    return made


def drawn(techniques: Sequence[str], forbidden: Sequence[str], seed: str) -> list[str]:
    """Return one technique that is not forbidden yet, drawn by the seed; an empty list if there is none."""
    new = sorted(set(techniques) - set(forbidden))
    return [random.Random(seed).choice(new)] if new else []
