"""The verdict on a program, in one word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from creval.plugin.programs import CaseResult, StopReason
from creval_neocoder.programs.feeding import Run

__all__ = ["Verdict", "verdict", "worst"]

_MISSING = re.compile(rb"^ModuleNotFoundError: No module named '([\w.]+)'", re.MULTILINE)


class Verdict(StrEnum):
    """The verdicts, the most informative first: of several runs the first in this order is the program's."""

    NOT_RUNNABLE = "not_runnable"
    TAMPERED = "tampered"
    MISSING_LIBRARY = "missing_library"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT_LIMIT = "output_limit"
    RUNTIME_ERROR = "runtime_error"
    WRONG_ANSWER = "wrong_answer"
    ACCEPTED = "accepted"


_STOPS = {
    StopReason.CPU: Verdict.TIMEOUT,
    StopReason.WALL: Verdict.TIMEOUT,
    StopReason.MEMORY: Verdict.MEMORY,
    StopReason.OUTPUT: Verdict.OUTPUT_LIMIT,
    StopReason.NOT_COMPILED: Verdict.NOT_RUNNABLE,
    StopReason.TAMPERED: Verdict.TAMPERED,
}


def verdict(result: CaseResult, run: Run, any_case: bool = False) -> Verdict:
    """Return the verdict on one run. The whole output must match the expected one, word by word."""
    if result.stop is not None:
        return _STOPS[result.stop]
    if result.exit_code != 0:
        return Verdict.MISSING_LIBRARY if _MISSING.search(result.stderr) else Verdict.RUNTIME_ERROR
    printed = result.stdout.decode("utf-8", "replace").split()
    wanted = list(run.words)
    if any_case:
        printed, wanted = [word.lower() for word in printed], [word.lower() for word in wanted]
    return Verdict.ACCEPTED if printed == wanted else Verdict.WRONG_ANSWER


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on a program from those on its runs. Without a run the program is not runnable."""
    order = list(Verdict)
    return min(verdicts, key=order.index) if verdicts else Verdict.NOT_RUNNABLE
