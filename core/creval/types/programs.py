"""Programs that a model wrote, their limits, and the results of running them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["CaseResult", "Limits", "Program", "ProgramLanguage", "StopReason"]


class ProgramLanguage(StrEnum):
    """A programming language that a sandbox can run."""

    PYTHON = "python"
    CPP = "c++"


@dataclass(frozen=True, slots=True)
class Program:
    """A source text; it reads standard input and writes standard output.

    `flags` go to the compiler where the language has one (`-std=c++20`).
    """

    source: str
    language: ProgramLanguage = ProgramLanguage.PYTHON
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one case.

    `cpu_seconds` limits processor time, which does not depend on the load of the machine. `wall_seconds` (None: three
    times as many) stops a program that sleeps. `memory_bytes` is address space, `stack_bytes` the main thread's stack.
    `output_bytes` bounds standard output, standard error and each file written; `scratch_bytes` all files together.
    """

    cpu_seconds: float = 5.0
    wall_seconds: float | None = None
    memory_bytes: int = 512 << 20
    stack_bytes: int = 64 << 20
    output_bytes: int = 16 << 20
    scratch_bytes: int = 64 << 20
    open_files: int = 64
    threads: int = 16

    @property
    def wall(self) -> float:
        """The effective limit of wall time, in seconds."""
        return 3.0 * self.cpu_seconds if self.wall_seconds is None else self.wall_seconds


class StopReason(StrEnum):
    """Why a program was stopped before it ended by itself."""

    CPU = "cpu_time"
    WALL = "wall_time"
    MEMORY = "memory"
    OUTPUT = "output"
    NOT_COMPILED = "not_compiled"
    TAMPERED = "tampered"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of one case.

    `exit_code` is None if a signal ended it, `signal` is None if it exited. Both are None if it never ran
    (`not_compiled`, with the compiler's messages in `stderr`) or could not be observed to its end (`tampered`). `stop`
    is None if it ended by itself. `memory_bytes` is the largest resident size.
    """

    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    stop: StopReason | None
    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int

    @property
    def output_bytes(self) -> int:
        """The bytes written to standard output and standard error together."""
        return len(self.stdout) + len(self.stderr)

    @property
    def succeeded(self) -> bool:
        """Whether the program ended by itself with exit code 0."""
        return self.exit_code == 0 and self.stop is None
