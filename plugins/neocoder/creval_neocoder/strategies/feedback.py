"""Feedback to a strategy before it answers: the outcome on tests that the model has seen or written.

The tests that score a program are, for 197 of 198 published problems, the statement's own sample, which is in the
prompt. Feedback on the sample is therefore feedback on the scoring tests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import ScoringError
from creval.plugin.programs import CaseResult, Limits, Program, Sandbox
from creval_neocoder.programs.feeding import Run, runs
from creval_neocoder.programs.verdicts import Verdict, verdict
from creval_neocoder.task.docs import cases_of, runs_of

__all__ = ["Outcome", "describe", "examine", "pass_rate", "read_tests", "sample_runs"]

MOST_TESTS = 6
"""Maximum number of tests from the model, as in Reflexion for programs."""
_SHOWN = 3
_LONGEST = 600
_PART = re.compile(r"^[^\w\n]*\d*[^\w\n]*(input|output)[^\w\n]*\d*[^\w\n]*$", re.MULTILINE | re.IGNORECASE)
_FENCE = re.compile(r"^\s*(?:```|~~~).*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one test: the run, the verdict, and the output or error of the program."""

    run: Run
    verdict: Verdict
    result: CaseResult

    @property
    def passed(self) -> bool:
        """Return whether the program printed the expected output."""
        return self.verdict is Verdict.ACCEPTED

    def describe(self) -> str:
        """Return the outcome as text for the model."""
        lines = [f"Input:\n{_short(self.run.stdin)}", f"Expected output:\n{' '.join(self.run.words)[:_LONGEST]}"]
        if self.verdict is Verdict.WRONG_ANSWER:
            lines.append(f"Your program printed:\n{_short(self.result.stdout) or '(nothing)'}")
        else:
            lines.append(f"Your program failed: {self.verdict.value.replace('_', ' ')}")
            lines += [f"It said:\n{said}"] if (said := _last_line(self.result.stderr)) else []
        return "\n".join(lines)


async def examine(
    sandbox: Sandbox, program: str, tests: Sequence[Run], seconds: float, any_case: bool = False
) -> list[Outcome]:
    """Run a program on tests, each with `seconds` of processor time. Raises SandboxError."""
    results = await sandbox.run(Program(program), [run.stdin for run in tests], Limits(cpu_seconds=seconds))
    return [Outcome(run, verdict(result, run, any_case), result) for run, result in zip(tests, results, strict=True)]


def describe(outcomes: Sequence[Outcome]) -> str:
    """Return the text about failed tests for the model: for the first three, input, expected and actual output."""
    failed = [outcome for outcome in outcomes if not outcome.passed]
    head = f"{len(outcomes) - len(failed)} of {len(outcomes)} tests pass."
    return "\n\n".join([head, *(outcome.describe() for outcome in failed[:_SHOWN])])


def sample_runs(doc: Mapping[str, Any]) -> list[Run]:
    """Return the runs of the statement's own sample. Raises ScoringError if the statement has none."""
    found = runs_of(doc, "sample")
    if not found:
        raise ScoringError(
            "the statement has no sample, which the strategy uses as feedback",
            where=str(doc["id"]),
            fix="Let the model write the tests: protocol: {neocoder.self_correction: {feedback: own}}",
        )
    return found


async def pass_rate(sandbox: Sandbox, program: str, doc: Mapping[str, Any], seconds: float) -> float:
    """Return the share of the sample's cases that a program passes, 0 to 1.

    1 if the whole sample passes at once; otherwise each case is fed separately.
    """
    any_case = bool(doc["any_case"])
    at_once = await examine(sandbox, program, sample_runs(doc), seconds, any_case)
    if all(outcome.passed for outcome in at_once):
        return 1.0
    single = [run for case in cases_of(doc) for run in runs([case], doc["counted"])]
    if len(single) < 2:
        return 0.0
    outcomes = await examine(sandbox, program, single, seconds, any_case)
    return sum(outcome.passed for outcome in outcomes) / len(outcomes)


def read_tests(text: str) -> list[Run]:
    """Return the tests from a model's text: lines after a line `Input`, then after a line `Output`; at most six.

    Marks, numbers and fences around them are ignored. A test without input or output is skipped.
    """
    parts = _PART.split(_FENCE.sub("", text))
    found: list[Run] = []
    given = ""
    for kind, body in zip(parts[1::2], parts[2::2], strict=False):
        lines = body.strip("\n").split("\n\n")[0].strip() if kind.lower() == "output" else body.strip()
        if kind.lower() == "input":
            given = lines
        elif given and lines:
            found.append(Run((given + "\n").encode(), tuple(lines.split())))
            given = ""
    return found[:MOST_TESTS]


def _short(data: bytes) -> str:
    text = data.decode("utf-8", "replace").strip("\n")
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."


def _last_line(stderr: bytes) -> str:
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:_LONGEST] if lines else ""
