"""A build: Denial Prompting on all problems of a file, concurrently."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import BudgetError, ModelError, RunError
from creval_analyses.workbench import Workbench
from creval_neocoder.building.asking import SOLVER, Asker, settings_of
from creval_neocoder.building.denial import deny
from creval_neocoder.building.journal import CallJournal
from creval_neocoder.problem import Problem
from creval_neocoder.published.built import built_row
from creval_neocoder.task.techniques import AUGMENTER

__all__ = ["Plan", "build"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a build: the problems, the number of rounds, and the seed of the draws."""

    problems: Sequence[Problem]
    rounds: int
    seed: int

    def describe(self, bench: Workbench) -> dict[str, Any]:
        """Return the head of the journal; with another head, its answers would belong to other questions."""
        statements = json.dumps([[problem.name, problem.statement] for problem in self.problems])
        models = {role: bench.model(role).describe() for role in (SOLVER, AUGMENTER)}
        named = {role: {"model": about["spec"], "identity": about["identity"]} for role, about in models.items()}
        return {
            "models": named,
            "settings": settings_of(bench),
            "seed": self.seed,
            "problems": hashlib.sha256(statements.encode()).hexdigest(),
        }


async def build(
    plan: Plan, bench: Workbench, journal: CallJournal, done: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return the rows of all problems in their order; `done` is called with the name of each finished problem.

    If calls fail, the other problems finish first. Then raises RunError (the answers are in the
    journal), BudgetError, UsageError.
    """

    async def one(problem: Problem) -> dict[str, Any] | ModelError | BudgetError:
        try:
            made = await deny(problem, Asker(bench, journal, problem.name), plan.rounds, plan.seed)
        except (ModelError, BudgetError) as error:  # calls in flight for others finish and are recorded
            return error
        done(problem.name)
        return built_row(problem, made.statements, made.constraints, made.codes, made.ended)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(problem)) for problem in plan.problems]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    found = [task.result() for task in tasks]
    for each in found:
        if isinstance(each, BudgetError):
            raise each
    failed = [each for each in found if isinstance(each, ModelError)]
    if failed:
        raise RunError(
            f"{len(failed)} of {len(found)} problems are unfinished, as calls failed; the first: {failed[0]}",
            fix="Run the same command again: no call is made twice.",
        )
    return [each for each in found if isinstance(each, dict)]
