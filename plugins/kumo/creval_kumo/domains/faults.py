"""Faults of a domain configuration or of a task instance, each with a fixed name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from creval.plugin import DataError

__all__ = ["DomainError", "Fault", "FaultKind"]


class FaultKind(StrEnum):
    """The names under which faults are reported."""

    BAD_YAML = "bad-yaml"
    WRONG_SHAPE = "wrong-shape"
    BAD_NAME = "bad-name"
    DUPLICATE_NAME = "duplicate-name"
    TOO_FEW_TRUTHS = "too-few-truths"
    TOO_FEW_ACTIONS = "too-few-actions"
    TOO_FEW_OUTCOMES = "too-few-outcomes"
    WRONG_TYPE = "wrong-type"
    MISSING_TYPE = "missing-type"
    DUPLICATE_OUTCOME = "duplicate-outcome"
    BAD_RANGE = "bad-range"
    OVERLAPPING_RANGES = "overlapping-ranges"
    UNKNOWN_TRUTH = "unknown-truth"
    UNKNOWN_ACTION = "unknown-action"
    ALWAYS_EXCLUDED = "always-excluded"
    NEVER_EXCLUDED = "never-excluded"
    INDISTINGUISHABLE = "indistinguishable-truths"
    OUTCOMES_MISMATCH = "actions-and-outcomes-differ"
    NO_MATCHING_OUTCOME = "observation-matches-no-outcome"
    NOT_SINGLED_OUT = "valid-truth-not-singled-out"


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: its name, a sentence, and its place (key path in the file and, if known, the line)."""

    kind: FaultKind
    message: str
    path: tuple[str | int, ...] = ()
    line: int | None = None

    @property
    def key(self) -> str:
        """The key path as text, e.g. `actions[3].outcomes[0].rules_out`."""
        text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path)
        return text.removeprefix(".")

    def __str__(self) -> str:
        place = f" [{self.key}]" if self.path else ""
        return f"{self.kind.value}: {self.message}{place}"


class DomainError(DataError):
    """A domain or instance is faulty; `faults` contains every fault found, not only the first."""

    def __init__(self, faults: Sequence[Fault], *, where: str, fix: str | None = None) -> None:
        self.faults = tuple(faults)
        lines = [f"{len(self.faults)} fault{'s' if len(self.faults) != 1 else ''}"]
        lines += [f"  {where}:{fault.line or '-'}: {fault}" for fault in self.faults]
        super().__init__("\n".join(lines), where=where, fix=fix)
