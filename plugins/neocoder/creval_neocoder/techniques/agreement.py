"""Agreement of a detector with reference lists of techniques: precision and recall per technique."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

__all__ = ["Agreement", "agreement"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Over programs: how often the detector, the reference and both name a technique."""

    technique: str
    detected: int
    reference: int
    both: int

    @property
    def precision(self) -> float | None:
        """Return the share of the detector's mentions that the reference shares; None without any mention."""
        return self.both / self.detected if self.detected else None

    @property
    def recall(self) -> float | None:
        """Return the share of the reference's mentions that the detector finds; None without any mention."""
        return self.both / self.reference if self.reference else None


def agreement(detected: Sequence[Collection[str]], reference: Sequence[Collection[str]]) -> list[Agreement]:
    """Return the agreement on each technique that either names, the reference's most common first, `all` last."""
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
