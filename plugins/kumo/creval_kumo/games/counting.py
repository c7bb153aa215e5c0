"""How the actions of a game are counted.

Source: paper 002, "Evaluation metrics", Eqs. 3 and 4. The released code counts the prediction twice, so a run of
n tests has length n + 2 there, and a failed run counts as the number of actions + 1. With the golden run's length in
the same count as the optimum, this reproduces the published relative action counts. The true count is n.
"""

from __future__ import annotations

__all__ = ["compat_length", "relative_action_count"]


def compat_length(tests: int, success: bool, n_actions: int) -> int:
    """Return a run's length in the paper's count: tests + 2, or the number of actions + 1 for a failure."""
    return tests + 2 if success else n_actions + 1


def relative_action_count(length: int, golden_tests: int) -> float:
    """Return (L - O) / O of Eq. 4; `length` is in the paper's count, O = golden tests + 2 (never zero)."""
    optimal = golden_tests + 2
    return (length - optimal) / optimal
