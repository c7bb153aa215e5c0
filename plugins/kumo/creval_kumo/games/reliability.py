"""The reliability of results: 1 in the paper's game, less in the probabilistic variant.

Source: paper 002, Discussion: "probabilistic reasoning (by using probabilistic rule-out relationships)". The paper only
mentions it; `creval_kumo.games.belief` has our definition.
"""

from __future__ import annotations

from fractions import Fraction

from creval.plugin import UsageError

__all__ = ["DECIMALS", "exact_reliability", "need_certain", "need_uncertain", "percent", "reliability_fault"]

DECIMALS = 4
"""Most decimals of a reliability: the book states the number, and a player must be able to compute with it."""


def reliability_fault(value: object) -> str | None:
    """Return why a value is not a valid reliability, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        return f"the reliability {value!r} is not a number above 0 and up to 1"
    return f"the reliability {value!r} has more than {DECIMALS} decimals" if round(value, DECIMALS) != value else None


def exact_reliability(value: float) -> Fraction:
    """Return the decimal as written: 0.8 is 4/5, not the nearest float. Raises UsageError if it is not valid."""
    fault = reliability_fault(value)
    if fault is not None:
        raise UsageError(fault)
    return Fraction(str(value))


def percent(share: Fraction) -> str:
    """Return a share in per cent, exact: `80%`, `12.5%`."""
    return f"{float(share * 100):.{DECIMALS}f}".rstrip("0").rstrip(".") + "%"


_NO_OPTIMUM = "optimal play in the sense of Algorithm 3, which counts the truths left, is not defined"


def need_certain(reliability: float, where: str, so: str = _NO_OPTIMUM) -> None:
    """Raise UsageError if results do not rule out truths with certainty; `so` is the consequence for the message."""
    if reliability != 1:
        raise UsageError(
            f"results of this game are not certain (reliability {reliability}): they rule no truth out, so {so}",
            where=where,
            fix="Use games of reliability 1 here; play and score these with kumo_probabilistic, or a task that "
            "includes it.",
        )


def need_uncertain(reliability: float, where: str) -> None:
    """Raise UsageError if results are certain: they are then chosen to single out a truth, not drawn at random."""
    if reliability == 1:
        raise UsageError(
            "results of this game are certain (reliability 1), so no probabilities belong to them",
            where=where,
            fix="Play and score it with kumo or another task that includes kumo/kumo; or make games with a "
            "reliability below 1.",
        )
