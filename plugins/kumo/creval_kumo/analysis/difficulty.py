"""The name of a game's size."""

from __future__ import annotations

__all__ = ["DIFFICULTIES", "difficulty"]

DIFFICULTIES = {(4, 6): "easy", (12, 16): "hard"}
"""(truths, actions) -> the paper's word (paper 002, "Benchmarking State-of-the-Art LLMs")."""


def difficulty(truths: int, actions: int) -> str:
    """Return `easy`, `hard`, or the sizes of any other game, e.g. `6x10`."""
    return DIFFICULTIES.get((truths, actions), f"{truths}x{actions}")
