"""Scorer `code`: whether the program in an answer passes the doc's tests. It runs only in the sandbox."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from creval.plugin import Context, Score, ScorerInput
from creval.plugin.programs import Limits, ProgramLanguage
from creval_sandbox.code.assembly import assemble, future_first
from creval_sandbox.code.harness import CodeVerdict, TestResult, run_tests
from creval_sandbox.code.python_programs import parse_python

__all__ = ["Code"]

_CHECK = re.compile(r"^def[ \t]+check[ \t]*\(", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Code:
    """Scores `code`, 1 if the program passes every test, and `tests_passed`, the share of passed tests.

    `tests` is the field with the tests: a text (a module, one test), or a list of texts (each a test in a separate
    process). `entry_point` is the field with the name of the requested function; tests that define `check(candidate)`
    are called with it. `header` is the field with the beginning of the program from the prompt, `setup` the field with
    code before everything else. `seconds` of processor time and `memory` in MiB are the limits of each test. With
    several answers to one call the mean counts, or with `reduce: best` the best one.
    """

    tests: str = "test"
    entry_point: str | None = None
    header: str | None = None
    setup: str | None = None
    language: str = "python"
    seconds: float = 5.0
    memory: int = 512
    reduce: str = "mean"

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be scored: a missing field or invalid tests; None if it can."""
        for name in filter(None, (self.entry_point, self.header)):
            if not isinstance(fields.get(name), str):
                return f"it has no text in the field {name!r}; it has {', '.join(fields)}"
        if self.setup is not None and not isinstance(fields.get(self.setup), str | list | None):
            return f"its {self.setup!r} is not code"
        given = fields.get(self.tests)
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list | tuple) or not texts or not all(isinstance(t, str) and t.strip() for t in texts):
            return f"it has no tests in the field {self.tests!r}: a text, or a list of texts"
        if self.language == "python":
            faulty = next((text for text in texts if parse_python(text) is None), None)
            return None if faulty is None else f"its test {faulty[:60]!r} is not valid Python"
        faulty = next((text for text in texts if not re.search(r"\bmain\s*\(", text)), None)
        return None if faulty is None else f"its test {faulty[:60]!r} has no main()"

    async def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Run the programs of every sample."""
        return list(await asyncio.gather(*(self._score_sample(item, context) for item in items)))

    async def _score_sample(self, item: ScorerInput, context: Context) -> Score:
        fault = self.doc_fault(item.doc)
        if fault is not None:
            return Score({}, failure=f"the doc cannot be scored: {fault}", errored=True)
        tests = self._tests(item.doc)
        found = [await self._results(value, item.doc, tests, context) for value in item.values]
        if not found:
            return Score({}, failure="the sample has no program")
        if any(each.verdict is CodeVerdict.TESTS for results in found for each in results):
            return Score({}, failure=f"the tests in the field {self.tests!r} cannot be compiled", errored=True)
        passed = [[each.verdict is CodeVerdict.PASSED for each in results] for results in found]
        reduced = max if self.reduce == "best" else fmean
        scores = {
            "code": float(reduced([float(all(own)) for own in passed])),
            "tests_passed": float(reduced([sum(own) / len(own) for own in passed])),
        }
        return Score(scores, {"code": [_details(results) for results in found]})

    async def _results(
        self, value: Any, doc: Mapping[str, Any], tests: Sequence[str], context: Context
    ) -> Sequence[TestResult]:
        language = ProgramLanguage(self.language)
        entry = str(doc[self.entry_point]) if self.entry_point else ""
        program = assemble(doc[self.header] if self.header else "", str(value), language, entry)
        setup = doc.get(self.setup) if self.setup else None
        before = "\n".join(setup) if isinstance(setup, list) else setup or ""
        whole = f"{before}\n{program}" if before.strip() else program
        limits = Limits(cpu_seconds=self.seconds, memory_bytes=self.memory << 20)
        return await run_tests(context.resource("sandbox"), future_first(whole), tests, language, limits)

    def _tests(self, doc: Mapping[str, Any]) -> Sequence[str]:
        given = doc[self.tests]
        texts = [given] if isinstance(given, str) else [*given]
        if self.entry_point is None or self.language != "python":
            return texts
        return [f"{text}\n\ncheck({doc[self.entry_point]})\n" if _CHECK.search(text) else text for text in texts]


def _details(results: Sequence[TestResult]) -> Mapping[str, Any]:
    """Return the recorded details of a program: the verdict of the first failed test, with the error."""
    failed = [each for each in results if each.verdict is not CodeVerdict.PASSED]
    first = failed[0] if failed else TestResult(CodeVerdict.PASSED)
    details = {"verdict": first.verdict.value, "tests": len(results), "passed": len(results) - len(failed)}
    return {**details, "error": first.error} if first.error else details
