"""The paper's Table 1 recomputed from its Tables 3 and 4, cell by cell, with a possible cause of each difference.

Each cell of Table 1 is recomputed if Table 3 has its test under the same embedding. A difference is attributed to
the first sufficient cause of these:

- `same`: the two agree up to one unit in the last printed digit (.01).
- `rounding`: the printed scores are rounded; some true scores within half a unit of them give the paper's value.
- `one model`: leaving out any one model, or adding any one model that is in Table 4 but not in Table 3 (with any
  score that some model reached), gives the paper's value.
- `other data`: none of these. The cell was not computed from the numbers in Tables 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from creval_validity.stats.correlation import p_value
from creval_validity.stats.moments import batch_correlations
from creval_validity.stats.sample import FloatArray
from creval_validity.tables.catalogue import CAPABILITIES, catalogue
from creval_validity.tables.score_table import ScoreTable
from creval_validity.tables.shipped import PaperCell, paper_table1, shipped_table

__all__ = ["BLOCK_OF_TEST", "CAUSES", "Comparison", "Range", "reproduce_table1"]

CAUSES = ("same", "rounding", "one model", "other data")
BLOCK_OF_TEST = {
    "dat": "glove-840b",
    "cdat": "all-mpnet-base-v2",
    "cdat_n": "all-mpnet-base-v2",
    "cdat_a": "all-mpnet-base-v2",
    "pace": "fasttext-crawl-300d-2m",
    "rat": "overall",
    "drat": "table5",
}
_DRAWS = 400
_STEPS = 41
_HALF_PRINTED = 0.005


@dataclass(frozen=True, slots=True)
class Range:
    """Smallest and largest value that a cause allows."""

    low: float
    high: float

    def reaches(self, value: float, slack: float) -> bool:
        """Return whether a value is within the range, extended by `slack`."""
        return self.low - slack <= value <= self.high + slack


@dataclass(frozen=True, slots=True)
class Comparison:
    """One number of Table 1 (criterion `validity` or `specificity`) next to its recomputation.

    `difference` is recomputed minus printed. `n` models have all scores in the shipped tables.
    """

    test: str
    benchmark: str
    criterion: str
    block: str
    n: int
    printed: float
    printed_stars: str
    recomputed: float
    p: float
    rounding: Range
    one_model: Range
    cause: str

    @property
    def difference(self) -> float:
        """Recomputed minus printed."""
        return self.recomputed - self.printed


def reproduce_table1() -> tuple[Comparison, ...]:
    """Recompute every cell of Table 1 (and of Table 5's column max) that Tables 3 and 4 allow. Deterministic."""
    table = shipped_table()
    wanted = [cell for cell in paper_table1() if BLOCK_OF_TEST.get(cell.test) == cell.block]
    return tuple(part for cell in wanted for part in _compare(table, cell))


def _compare(table: ScoreTable, cell: PaperCell) -> tuple[Comparison, Comparison]:
    scores = _scores(table, cell)
    n = len(scores)
    found = _pairs(scores[None])[0]
    rounded = _pairs(_rounding(scores, cell))
    single = np.vstack([_pairs(stack) for stack in _one_model(table, scores, cell)])
    parts = []
    for index, criterion in enumerate(("validity", "specificity")):
        printed = cell.validity if index == 0 else cell.specificity
        rounding, one_model = _range(rounded[:, index]), _range(single[:, index])
        parts.append(
            Comparison(
                test=cell.test,
                benchmark=cell.benchmark,
                criterion=criterion,
                block=cell.block,
                n=n,
                printed=printed,
                printed_stars=cell.validity_stars if index == 0 else cell.specificity_stars,
                recomputed=float(found[index]),
                p=p_value(float(found[index]), n, 0 if index == 0 else len(CAPABILITIES))[1],
                rounding=rounding,
                one_model=one_model,
                cause=_cause(float(found[index]), printed, rounding, one_model),
            )
        )
    return parts[0], parts[1]


def _cause(found: float, printed: float, rounding: Range, one_model: Range) -> str:
    if abs(round(found, 2) - printed) < 0.01 + 1e-9:
        return CAUSES[0]
    if rounding.reaches(printed, _HALF_PRINTED):
        return CAUSES[1]
    if one_model.reaches(printed, _HALF_PRINTED):
        return CAUSES[2]
    return CAUSES[3]


def _range(values: FloatArray) -> Range:
    return Range(float(values.min()), float(values.max()))


def _pairs(stack: FloatArray) -> FloatArray:
    """Return validity and specificity of each table of a stack (d, n, 4), with shape (d, 2)."""
    return np.column_stack(batch_correlations(stack))


def _scores(table: ScoreTable, cell: PaperCell) -> FloatArray:
    """Return test, benchmark and capabilities of the models of a cell, with shape (n, 4)."""
    names = (cell.test, cell.benchmark, *CAPABILITIES)
    mask = table.pool(names)
    return np.column_stack([table.column(name)[mask] for name in names])


def _rounding(scores: FloatArray, cell: PaperCell) -> FloatArray:
    """Draw scores `_DRAWS` times, uniformly from the interval that rounds to each printed score."""
    names = (cell.test, cell.benchmark, *CAPABILITIES)
    half = np.array([catalogue()[name].half_width for name in names], dtype=np.float64)
    noise = np.random.default_rng(0).uniform(-1.0, 1.0, (_DRAWS, *scores.shape))
    return np.asarray(scores[None] + noise * half)


def _one_model(table: ScoreTable, scores: FloatArray, cell: PaperCell) -> tuple[FloatArray, ...]:
    """Return the scores with each model left out, and with each model added that lacks only the test score."""
    n = len(scores)
    stacks = [np.stack([np.delete(scores, row, axis=0) for row in range(n)])]
    tested = np.isfinite(table.column(cell.test))
    reached = table.column(cell.test)[tested]
    others = (cell.benchmark, *CAPABILITIES)
    for row in np.flatnonzero(table.pool(others) & ~tested):
        rest = [float(table.column(name)[row]) for name in others]
        trials = [np.vstack([scores, [x, *rest]]) for x in np.linspace(reached.min(), reached.max(), _STEPS)]
        stacks.append(np.stack(trials))
    return tuple(stacks)
