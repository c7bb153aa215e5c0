"""Test whether success depends on the structure of a game: chi-square and Cramer's V.

Source: paper 002, "Details of Chi-square test", Eqs. 6 and 7, and Fig. 6e. Each model has a contingency table:

- one observation per game. It is correct if the model succeeded in more than half of its tries (3 of 5);
- a row for each structure. The structure of a game is that of its bipartite graph of truths and actions, with an edge
  if some outcome of the action rules out the truth: the sorted degrees of the truths, then the sorted degrees of the
  actions. Names are not part of it, so games of different domains share a row if their graphs have the same degrees;
- two columns, correct and incorrect.

The statistic is Pearson's, without Yates's correction, over all games of all domains; k = (r - 1)(c - 1) degrees of
freedom. With this definition the published runs of the 15 models on 100 domains reproduce the paper: p < .05 for all
but LLaMA-3.2-3B-instruct and Gemma-2-27B-it.

With hundreds of structures and a few games in each, the chi-square distribution is only a rough approximation, and V is
large without any association: about the square root of k / (n - 1) / min(r - 1, c - 1). So we add two numbers to the
paper's: `chance_v`, and a p-value by permutation (correctness shuffled among the games).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Association", "Table", "associate", "game_signature", "signature", "solved"]

Signature = tuple[tuple[int, ...], tuple[int, ...]]
"""Sorted degrees of the truths, sorted degrees of the actions."""


def signature(truths: Sequence[str], related: Sequence[Iterable[str]]) -> Signature:
    """Return the structure of a game, given its truths and, per action, the truths that some outcome rules out."""
    inside = set(truths)
    columns = [set(names) & inside for names in related]
    degrees = dict.fromkeys(truths, 0)
    for names in columns:
        for name in names:
            degrees[name] += 1
    return tuple(sorted(degrees.values())), tuple(sorted(len(names) for names in columns))


def game_signature(doc: Mapping[str, Any]) -> Signature:
    """Return the structure of a game's doc."""
    related = [{name for state in action["states"] for name in state["rules_out"]} for action in doc["outcomes"]]
    return signature(doc["truths"], related)


def solved(successes: Sequence[bool]) -> bool:
    """Return whether more than half of the tries succeeded (majority vote; of five at least three)."""
    return 2 * sum(successes) > len(successes)


@dataclass(frozen=True, slots=True)
class Table:
    """The contingency table: per structure, in sorted order, how many games were solved and how many not."""

    rows: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, games: Iterable[tuple[Signature, bool]]) -> Table:
        """Count games by structure."""
        counts: dict[Signature, list[int]] = defaultdict(lambda: [0, 0])
        for structure, right in games:
            counts[structure][0 if right else 1] += 1
        return cls(tuple((right, wrong) for _, (right, wrong) in sorted(counts.items())))


@dataclass(frozen=True, slots=True)
class Association:
    """Statistics of one table; None if they are undefined (`reason` says why).

    `n` games, `structures` rows, `chi2` and its `p` with `freedom` degrees (Eq. 6), `v` is Cramer's V (Eq. 7),
    `chance_v` the root of the expected V squared without any association, `p_permuted` the share of random tables
    (including this one) whose statistic is at least as large.
    """

    n: int
    structures: int
    solved: int
    chi2: float | None = None
    freedom: int | None = None
    p: float | None = None
    v: float | None = None
    chance_v: float | None = None
    p_permuted: float | None = None
    reason: str | None = None


def associate(table: Table, permutations: int = 0, seed: int = 0) -> Association:
    """Return the statistics of a table; `permutations` is the number of random tables for the p-value (0: none)."""
    import numpy as np
    from scipy.stats import chi2 as chi2_distribution

    counts = np.array(table.rows, dtype=np.int64).reshape(-1, 2)
    sizes, right = counts.sum(axis=1), int(counts[:, 0].sum())
    n, rows = int(sizes.sum()), len(counts)
    if rows < 2:
        return Association(n, rows, right, reason="all games have one structure")
    if right in (0, n):
        return Association(n, rows, right, reason="every game was solved" if right else "no game was solved")
    statistic = _statistic(counts[:, :1].T, sizes, right)[0]
    freedom, smaller = rows - 1, 1  # (r - 1)(c - 1) and min(r - 1, c - 1) with c = 2
    permuted = None
    if permutations > 0:
        drawn = np.random.default_rng(seed).multivariate_hypergeometric(sizes, right, permutations, method="marginals")
        # the margins are fixed, so whole tables are drawn; the tolerance is for equal values that round differently
        reached = int((_statistic(drawn, sizes, right) >= statistic * (1 - 1e-12)).sum())
        permuted = (reached + 1) / (permutations + 1)
    return Association(
        n=n,
        structures=rows,
        solved=right,
        chi2=float(statistic),
        freedom=freedom,
        p=float(chi2_distribution.sf(statistic, freedom)),
        v=math.sqrt(float(statistic) / (n * smaller)),
        chance_v=math.sqrt(freedom / (n - 1) / smaller),
        p_permuted=permuted,
    )


def _statistic(right: Any, sizes: Any, total: int) -> Any:
    """Return Pearson's statistic of two-column tables; each row of `right` is the first column of a table."""
    n = sizes.sum()
    share = total / n
    return ((right - sizes * share) ** 2 / (sizes * share * (1 - share))).sum(axis=1)
