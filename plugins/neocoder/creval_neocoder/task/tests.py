"""Scorer `neocoder_tests`: whether the program passes. Only the sandbox decides."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from creval.plugin import Context, MissingScore, Score, ScorerInput, Status
from creval.plugin.programs import Limits, Program, Sandbox
from creval_neocoder.programs.feeding import Run
from creval_neocoder.programs.released import LIMITS, accepted, given, harness, parse_released
from creval_neocoder.programs.verdicts import Verdict, verdict, worst
from creval_neocoder.task.docs import Tests, cases_of, runs_of

__all__ = ["NO_SOUND_CASE", "Judge", "ProgramTests"]

NO_SOUND_CASE = MissingScore(Status.SKIPPED, "the human solutions confirm no case of this problem")


class Judge:
    """Runs programs on a doc's tests. `seconds` of processor time per run."""

    def __init__(
        self, sandbox: Sandbox, tests: Tests = "annotated", seconds: float = 5.0, released: bool = False
    ) -> None:
        self._sandbox = sandbox
        self._tests = tests
        self._limits = Limits(cpu_seconds=seconds)
        self._released = released

    async def verdict(self, program: str, answer: str, doc: Mapping[str, Any]) -> Verdict:
        """Return the verdict on the chosen tests; `answer` is the text that contained the program."""
        if self._released:
            return await self._by_released_rules(answer, doc)
        return await self.on(program, runs_of(doc, self._tests), any_case=self._tests == "sample" and doc["any_case"])

    async def on_sound(self, program: str, doc: Mapping[str, Any]) -> Verdict | None:
        """Return the verdict on only the sound cases, None if the problem has none."""
        runs = runs_of(doc, "sound")
        return await self.on(program, runs, any_case=doc["any_case"]) if runs else None

    async def on_changed(self, program: str, doc: Mapping[str, Any]) -> Verdict | None:
        """Return the verdict on the changed inputs, None if the problem has none."""
        runs = runs_of(doc, "changed")
        return await self.on(program, runs, any_case=doc["any_case"]) if runs else None

    async def on(self, program: str, runs: Sequence[Run], any_case: bool = False) -> Verdict:
        """Return the verdict on some runs."""
        results = await self._sandbox.run(Program(program), [run.stdin for run in runs], self._limits)
        return worst([verdict(result, run, any_case) for result, run in zip(results, runs, strict=True)])

    async def _by_released_rules(self, answer: str, doc: Mapping[str, Any]) -> Verdict:
        code, cases = parse_released(answer), cases_of(doc)
        if code is None:
            return Verdict.NOT_RUNNABLE
        (result,) = await self._sandbox.run(harness(), [given(code, cases)], LIMITS)
        return Verdict.ACCEPTED if accepted(result, cases) else Verdict.WRONG_ANSWER


class ProgramTests:
    """Scores `pass@1` (all published cases, or as `tests` says) and `correct_sound` (the sound ones; a problem without
    sound cases does not count in it, whether the answer is readable or not).

    The tests are the samples of the statement, so a program may print their answers without solving anything:
    `survives_perturbation` says whether a passing program also passes on changed inputs, if the problem has any.
    `released` judges by the rules of the authors' evaluator. The details contain a verdict for each.
    """

    def __init__(self, tests: Tests = "annotated", seconds: float = 5.0, released: bool = False) -> None:
        self._settings = {"tests": tests, "seconds": seconds, "released": released}

    async def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Run every program."""
        judge = Judge(context.resource("sandbox"), **self._settings)  # type: ignore[arg-type]
        return list(await asyncio.gather(*(self._score_sample(judge, item) for item in items)))

    async def _score_sample(self, judge: Judge, item: ScorerInput) -> Score:
        missing = {} if any(item.doc["sound"]) else {"correct_sound": NO_SOUND_CASE}
        if not item.values:
            return Score({}, missing=missing)
        found = await judge.verdict(item.value, item.answers[-1], item.doc)
        sound = await judge.on_sound(item.value, item.doc)
        scores = {"pass@1": float(found is Verdict.ACCEPTED)}
        details = {"verdict": found.value}
        if sound is not None:
            scores["correct_sound"] = float(sound is Verdict.ACCEPTED)
            details["verdict_sound"] = sound.value
        if found is Verdict.ACCEPTED:
            changed = await judge.on_changed(item.value, item.doc)
            if changed is not None:
                scores["survives_perturbation"] = float(changed is Verdict.ACCEPTED)
                details["verdict_changed"] = changed.value
        return Score(scores, details, missing=missing)
