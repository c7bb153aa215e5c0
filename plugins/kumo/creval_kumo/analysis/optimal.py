"""The distribution of optimal action counts by difficulty and domain.

Source: paper 002, "Statistical study of KUMO" and Fig. 6c. The paper's count is the length of the golden run in the
released code, which counts the prediction twice: tests + 2. The paper's means over the five domains, 3.92 (easy) and
6.69 (hard), are 1.92 and 4.69 tests; its most frequent count of hard games, "two actions", is zero tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from creval_kumo.games.counting import compat_length

__all__ = ["ALL", "Distribution", "OptimalCount", "distributions"]

ALL = "(all)"
"""Name for all domains together."""


@dataclass(frozen=True, slots=True, order=True)
class OptimalCount:
    """Tests of the golden run of one game, without the prediction."""

    difficulty: str
    domain: str
    tests: int


@dataclass(frozen=True, slots=True)
class Distribution:
    """How often each number of tests occurs in the games of one difficulty and domain (`ALL`: of every domain)."""

    difficulty: str
    domain: str
    counts: tuple[tuple[int, int], ...]

    @property
    def games(self) -> int:
        """Number of games."""
        return sum(number for _, number in self.counts)

    @property
    def mean_tests(self) -> float:
        """Mean number of tests per game."""
        return sum(tests * number for tests, number in self.counts) / self.games

    @property
    def mean_compat(self) -> float:
        """Mean in the paper's count: tests + 2."""
        return self.mean_tests + compat_length(0, True, 0)

    @property
    def mode_tests(self) -> int:
        """The most frequent number of tests; the smallest of several."""
        return max(self.counts, key=lambda pair: (pair[1], -pair[0]))[0]


def distributions(counts: Iterable[OptimalCount]) -> list[Distribution]:
    """Return the distributions by difficulty: one per domain, sorted by name, then one over all domains."""
    ordered = sorted(counts)
    found: list[Distribution] = []
    for level, of_level in groupby(ordered, key=lambda count: count.difficulty):
        games = list(of_level)
        for domain, of_domain in groupby(games, key=lambda count: count.domain):
            found.append(_distribution(level, domain, list(of_domain)))
        found.append(_distribution(level, ALL, games))
    return found


def _distribution(level: str, domain: str, games: Sequence[OptimalCount]) -> Distribution:
    counts = Counter(game.tests for game in games)
    return Distribution(level, domain, tuple(sorted(counts.items())))
