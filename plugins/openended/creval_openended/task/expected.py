"""Number of pairs of texts to judge for one solution, for the dry run."""

from __future__ import annotations

from creval.plugin import Expected

__all__ = ["expected_pairs"]


def expected_pairs(expected: Expected) -> tuple[int, int]:
    """Return the fewest and the most pairs of a solution whose n candidates a step differ in their words.

    If all candidates of a step mean the same, 2 (n - 1) pairs are judged, each with the founder in both directions; at
    most n (n - 1), if no two entail each other and each fails only in the second direction.
    """
    n = expected.answers
    fewest, most = getattr(expected.protocol, "steps", (1, 1))
    return fewest * 2 * (n - 1), most * n * (n - 1)
