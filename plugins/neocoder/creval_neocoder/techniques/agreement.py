"""How well a detector agrees with reference lists of techniques: precision and recall, a technique at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

__all__ = ["Agreement", "agreement"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Over programs: how often the detector and the reference name a technique, and how often both do."""

    technique: str
    detected: int
    reference: int
    both: int

    @property
    def precision(self) -> float | None:
        """Of what the detector names, the share that the reference names too; None if it names it nowhere."""
        return self.both / self.detected if self.detected else None

    @property
    def recall(self) -> float | None:
        """Of what the reference names, the share that the detector finds; None if it names it nowhere."""
        return self.both / self.reference if self.reference else None


def agreement(detected: Sequence[Collection[str]], reference: Sequence[Collection[str]]) -> list[Agreement]:
    """Return the agreement on each technique that either names, the commonest of the reference first, `all` last."""
    names = {name for lists in (detected, reference) for each in lists for name in each}
    found = [
        Agreement(
            name,
            sum(name in each for each in detected),
            sum(name in each for each in reference),
            sum(name in mine and name in theirs for mine, theirs in zip(detected, reference, strict=True)),
        )
        for name in sorted(names)
    ]
    found.sort(key=lambda each: -each.reference)
    whole = (sum(each.detected for each in found), sum(each.reference for each in found), sum(e.both for e in found))
    return [*found, Agreement("all", *whole)]
