"""The verdicts of judges, read from their runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import Run, RunError, SampleKey
from creval_openended.validation.labels import Place

__all__ = ["Judged", "read_judged"]


@dataclass(frozen=True, slots=True)
class Judged:
    """One verdict: by whom, on what, how sure. `probability` is that of yes; `stages` are those of a jury's rounds.

    `fulfilled` None: there is no verdict, because the judge abstained or one of its calls `failed`.
    """

    judge: str
    place: Place
    key: SampleKey
    fulfilled: bool | None
    confidence: float | None
    stages: Sequence[Mapping[str, Any]]
    failed: bool = False

    @property
    def probability(self) -> float | None:
        """Return the confidence as a probability of yes, as the released code does."""
        if self.confidence is None or self.fulfilled is None:
            return None
        return self.confidence if self.fulfilled else 1 - self.confidence


def read_judged(runs: Sequence[Run], task: str | None = None) -> list[Judged]:
    """Read the verdicts of all judges, missing ones too. Raises RunError if there is none."""
    found = [each for run in runs for each in _of_run(run, task)]
    if not found:
        raise RunError(
            "contains no verdicts of a jury or another judge of solutions",
            where=", ".join(str(run.folder) for run in runs),
            fix="Name runs of jury, jury_zero_shot, macgyver_jury and the like.",
        )
    return found


def _of_run(run: Run, task: str | None) -> Iterator[Judged]:
    for sample, score in run.scored(task):
        jury = score.details.get("jury")
        if jury is None:
            continue
        model = run.manifest["roles"].get("judge") or run.result(sample.key.task)["instruments"].get("judge", "")
        judge = f"{jury['method']} ({model})" if model else str(jury["method"])
        for criterion, verdict in jury["criteria"].items():
            yield Judged(
                judge,
                Place(sample.key.doc, criterion),
                sample.key,
                bool(verdict["fulfilled"]),
                verdict["confidence"],
                verdict.get("stages", ()),
            )
        for criterion in jury["asked"]:
            if criterion not in jury["criteria"]:
                failed = criterion in jury["failed"]
                yield Judged(judge, Place(sample.key.doc, criterion), sample.key, None, None, (), failed)
