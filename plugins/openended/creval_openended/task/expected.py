"""How many pairs of texts are judged for one solution, for the dry run."""

from __future__ import annotations

from creval.plugin import Expected

__all__ = ["expected_pairs"]


def expected_pairs(expected: Expected) -> tuple[int, int]:
    """Return the fewest and the most pairs of a solution whose n candidates a step differ in their words.

    In a step where all mean the same 2 (n - 1) are asked for, in both directions of each with the founder; at most
    n (n - 1), where no two fit together and each is found out in the second direction alone.
    """
    n = expected.answers
    fewest, most = getattr(expected.protocol, "steps", (1, 1))
    return fewest * 2 * (n - 1), most * n * (n - 1)
