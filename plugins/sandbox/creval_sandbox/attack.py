"""Attacks: programs that attempt something, and print BREACH if they succeed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from creval.plugin.programs import CaseResult, ProgramLanguage, StopReason

__all__ = ["BREACH", "Attack", "attempt"]

BREACH = b"BREACH"


def _contained(result: CaseResult) -> bool:
    return BREACH not in result.stdout


@dataclass(frozen=True, slots=True)
class Attack:
    """One attempt, harmless if it succeeds.

    It runs on `cases` in order, and its last result counts: `contained` decides from it whether the attempt failed,
    `stops` are the required ends (empty: any end). `follows`: it looks for traces of an earlier program.
    """

    name: str
    source: str
    stops: Sequence[StopReason] = ()
    contained: Callable[[CaseResult], bool] = _contained
    cases: Sequence[bytes] = (b"",)
    language: ProgramLanguage = ProgramLanguage.PYTHON
    follows: bool = False

    def held(self, result: CaseResult) -> bool:
        """Return whether the sandbox withstood it."""
        return self.contained(result) and (not self.stops or result.stop in self.stops)


def attempt(body: str) -> str:
    """Return a program that reports a breach if `body` sets `found` to a true value, even if `body` raises."""
    indented = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return (
        "import os, sys, ctypes, signal, resource\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        f"found = False\ntry:\n{indented}except BaseException:\n    found = False\n"
        "print('BREACH' if found else 'held')\n"
    )
