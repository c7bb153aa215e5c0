"""An instance reduced to what the search needs: bit masks of truths and actions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from creval_kumo.bits import bits

__all__ = ["EPSILON", "Puzzle"]

EPSILON = 1e-9
"""Algorithm 3's guard against a division by zero. It is part of the value: E[S] is this much below a fraction."""


@dataclass(frozen=True)
class Puzzle:
    """`outcomes[a][s]` is the set of truths that outcome `s` of action `a` rules out, as a bit mask.

    Truth `t` is bit `t`, action `a` is bit `a` of an action mask. Outcomes keep the order of the domain. `valid`
    is the number of valid truths, 1 in the paper; with more, play ends as soon as no more truths than these are left.
    """

    n_truths: int
    outcomes: tuple[tuple[int, ...], ...]
    valid: int = 1

    @classmethod
    def from_names(cls, truths: Sequence[str], exclusions: Sequence[Sequence[Iterable[str]]], valid: int = 1) -> Puzzle:
        """Build from names: `exclusions[a][s]` lists truths ruled out; names that are not in `truths` are ignored."""
        place = {name: index for index, name in enumerate(truths)}
        masks = tuple(
            tuple(sum({1 << place[name] for name in ruled_out if name in place}) for ruled_out in outcomes)
            for outcomes in exclusions
        )
        return cls(len(truths), masks, valid)

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return len(self.outcomes)

    @property
    def all_truths(self) -> int:
        """The mask of all truths."""
        return (1 << self.n_truths) - 1

    @property
    def all_actions(self) -> int:
        """The mask of all actions."""
        return (1 << self.n_actions) - 1

    @cached_property
    def related(self) -> tuple[int, ...]:
        """Per action, the truths that at least one of its outcomes rules out."""
        masks = []
        for outcomes in self.outcomes:
            mask = 0
            for outcome in outcomes:
                mask |= outcome
            masks.append(mask)
        return tuple(masks)

    @cached_property
    def actions_of(self) -> tuple[int, ...]:
        """Per truth the mask of the actions related to it."""
        return tuple(
            sum(1 << action for action, mask in enumerate(self.related) if mask >> truth & 1)
            for truth in range(self.n_truths)
        )

    def ends(self, truths: int, actions: int) -> bool:
        """Return whether play ends here (the base cases of Algorithm 3).

        At most `valid` truths are left (one in the paper), or some truth left is related to no action left;
        the second is also true if no action is left.
        """
        if truths.bit_count() <= self.valid:
            return True
        return any(not self.actions_of[truth] & actions for truth in bits(truths))
