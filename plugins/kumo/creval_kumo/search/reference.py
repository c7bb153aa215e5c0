"""Algorithm 3 of paper 002, line by line: slow, and the reference for the fast searches."""

from __future__ import annotations

import math

from creval_kumo.bits import bits
from creval_kumo.search.puzzle import EPSILON, Puzzle

__all__ = ["LiteralSearch"]


class LiteralSearch:
    """OptimalSearch(T, A) with its table BestActionDict; the recursion depth is at most the number of actions."""

    def __init__(self, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        self.best: dict[int, tuple[float, int | None]] = {}

    def solve(self, truths: int, actions: int) -> tuple[float, int | None]:
        """Return E[S] in test actions and the best action (None at a base case)."""
        puzzle = self.puzzle
        left = bits(truths)
        if len(left) <= puzzle.valid or not actions:
            return 0.0, None
        for truth in left:
            if not any(puzzle.related[action] >> truth & 1 for action in bits(actions)):
                return 0.0, None
        key = truths | actions << puzzle.n_truths
        if key in self.best:
            return self.best[key]
        least, chosen = math.inf, None
        for action in bits(actions):
            weights = [len(left) - (ruled_out & truths).bit_count() for ruled_out in puzzle.outcomes[action]]
            total = sum(weights) + EPSILON
            steps = 0.0
            for weight, ruled_out in zip(weights, puzzle.outcomes[action], strict=True):
                steps += weight / total * self.solve(truths & ~ruled_out, actions & ~(1 << action))[0]
                if steps >= least:
                    break
            if steps < least:
                least, chosen = steps, action
        self.best[key] = (1.0 + least, chosen)
        return self.best[key]
