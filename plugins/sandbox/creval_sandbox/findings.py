"""Run every attack on this machine, and report which were contained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from creval.plugin.programs import CaseResult, Limits, Program, ProgramLanguage, StopReason
from creval_sandbox.attack import Attack
from creval_sandbox.attacks import ATTACKS, NEIGHBOUR
from creval_sandbox.bubblewrap import BubblewrapSandbox
from creval_sandbox.mounts import has_compiler

__all__ = ["CHECK_LIMITS", "Finding", "run_attack", "run_attacks"]

CHECK_LIMITS = Limits(
    cpu_seconds=1.0, wall_seconds=3.0, memory_bytes=128 << 20, output_bytes=1 << 20, scratch_bytes=8 << 20
)
"""Memory that a slow machine can allocate well within the time: an attack on one limit must not reach another."""

_ENDED_BY_TIME = replace(CHECK_LIMITS, cpu_seconds=0.2, wall_seconds=1.0)
_PATIENT = 30.0
"""Wall seconds for attacks on other limits: a busy machine may schedule them late."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An attack and its result."""

    attack: Attack
    result: CaseResult

    @property
    def held(self) -> bool:
        """Whether the sandbox contained it."""
        return self.attack.held(self.result)

    @property
    def ending(self) -> str:
        """How it ended, in a few words."""
        if self.result.stop is not None:
            return f"stopped: {self.result.stop.value}"
        if self.result.signal is not None:
            return f"died of signal {self.result.signal}"
        return "refused" if b"held" in self.result.stdout else f"ended with exit code {self.result.exit_code}"


def run_attack(sandbox: BubblewrapSandbox, attack: Attack) -> Finding:
    """Run one attack, after a neighbour program if it looks for one. Raises SandboxError."""
    if attack.follows:
        sandbox.run_now(Program(NEIGHBOUR), [b""], CHECK_LIMITS)
    limits = CHECK_LIMITS
    if attack.stops:
        by_time = StopReason.WALL in attack.stops
        limits = _ENDED_BY_TIME if by_time else replace(CHECK_LIMITS, wall_seconds=_PATIENT)
    return Finding(attack, sandbox.run_now(Program(attack.source, attack.language), attack.cases, limits)[-1])


def run_attacks(sandbox: BubblewrapSandbox) -> Iterator[Finding]:
    """Run every attack in order, except those in a language without a compiler here. Raises SandboxError."""
    for attack in ATTACKS:
        if attack.language is ProgramLanguage.PYTHON or has_compiler():
            yield run_attack(sandbox, attack)
