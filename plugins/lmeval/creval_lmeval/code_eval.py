"""Run programs from models in creval's sandbox, in place of `code_eval`, which tasks fetch at import.

Stated adapter: `code_eval` runs a candidate and its tests in a subprocess without isolation, for three seconds of wall
time; here the same text runs in the sandbox, for three seconds of processor time. So these tasks are excluded from the
claim that numbers are equal by construction. A task that runs programs in another way is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from creval.plugin import DataError

__all__ = ["RUNNER", "SECONDS", "CodeEval", "check_unsafe"]

Runner = Callable[[str], bool]
SECONDS = 3.0
"""The timeout of `code_eval` for a program."""
RUNNER: ContextVar[Runner | None] = ContextVar("creval_lmeval_runner", default=None)
"""Runs a program and returns whether it ends without an error; set while a sample is scored."""


class CodeEval:
    """Replaces `code_eval`; without a runner, as at the import of a task, nothing passes."""

    def compute(
        self, references: Sequence[str], predictions: Sequence[Sequence[str]], k: Sequence[int] = (1, 10, 100), **_: Any
    ) -> tuple[dict[str, float], dict[int, list[tuple[int, dict[str, Any]]]]]:
        """Return pass@k and each candidate's result. A program is a candidate and, on the next line, its tests."""
        runner = RUNNER.get()
        results: dict[int, list[tuple[int, dict[str, Any]]]] = {}
        for number, (tests, candidates) in enumerate(zip(references, predictions, strict=True)):
            programs = [f"{candidate}\n{tests}" for candidate in candidates]
            passed = [runner is not None and runner(program) for program in programs]
            results[number] = [
                (place, {"task_id": number, "passed": each, "completion_id": place, "result": _outcome_word(each)})
                for place, each in enumerate(passed)
            ]
        counts = [(len(each), sum(one["passed"] for _, one in each)) for each in results.values()]
        chosen = [each for each in k if all(total >= each for total, _ in counts)]
        return {f"pass@{each}": _mean([_chance(*pair, each) for pair in counts]) for each in chosen}, results


def _outcome_word(passed: bool) -> str:
    return "passed" if passed else "failed"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def _chance(total: int, right: int, k: int) -> float:
    """Return the unbiased probability that one of k candidates passes (Chen et al. 2021, arXiv:2107.03374, Eq. 1)."""
    return 1.0 if total - right < k else 1.0 - math.comb(total - right, k) / math.comb(total, k)


def check_unsafe(name: str, task: Any) -> None:
    """Raise DataError if a task runs programs other than by `code_eval`."""
    if not getattr(task, "UNSAFE_CODE", False):
        return
    listed = getattr(task.config, "metric_list", None) or ()
    functions = [each.get("metric") for each in listed] + [getattr(task.config, "process_results", None)]
    held = [value for each in functions for value in getattr(each, "__globals__", {}).values()]
    if not any(isinstance(each, CodeEval) for each in held):
        raise DataError(
            "the task runs programs that models wrote in its own way, which creval's sandbox does not contain",
            where=f"lmeval/{name}",
            fix="Leave it out. Tasks that use code_eval (humaneval, mbpp) run in the sandbox.",
        )
