"""The effect of a design choice of a test: validity and specificity at each level of a factor."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from creval.plugin import UsageError
from creval_validity.analyses.validity import Cell, ValidityRequest, analyse_validity
from creval_validity.tables.score_table import ScoreTable
from creval_validity.tables.shipped import PaperAblation, paper_ablations

__all__ = [
    "KNOWN_FACTORS",
    "AblationLevel",
    "AblationRequest",
    "AblationResult",
    "analyse_ablation",
    "known_ablations",
    "parse_ablation",
]

_FORM = "Write it as 'factor: level=column, level=column', e.g. 'k: 2=drat_k2, 3=drat_k3, 4=drat'."

# the columns of the tasks of creval-association, and of variants labelled as in the suite of docs/validity.md
KNOWN_FACTORS: Mapping[str, Mapping[str, str]] = {
    "k": {"2": "drat_k2", "3": "drat_k3", "4": "drat"},
    "corpus": {"scientific": "drat", "conceptnet": "drat_conceptnet"},
    "utility": {"max": "drat", "min": "drat@utility_min", "mean": "drat@utility_mean"},
    "n_min": {"2": "drat@n_min_2", "3": "drat", "4": "drat@n_min_4", "5": "drat@n_min_5", "6": "drat@n_min_6"},
}


@dataclass(frozen=True, slots=True)
class AblationRequest:
    """A factor with its levels; each level is a column of the table."""

    factor: str
    levels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class AblationLevel:
    """One level against one benchmark; `paper` is the paper's printed value, if there is one."""

    level: str
    cell: Cell
    paper: PaperAblation | None = None


@dataclass(frozen=True, slots=True)
class AblationResult:
    """All levels of a factor against every benchmark, on the models that have every level (so that levels differ
    only in the factor, not in their models)."""

    factor: str
    models: tuple[str, ...]
    levels: tuple[AblationLevel, ...]


def parse_ablation(text: str) -> AblationRequest:
    """Parse `factor: level=column, level=column`. Raises UsageError if malformed or with fewer than two levels."""
    factor, colon, rest = text.partition(":")
    pairs = [re.split(r"\s*=\s*", part.strip(), maxsplit=1) for part in rest.split(",")]
    if not colon or not factor.strip() or any(len(pair) != 2 or "" in pair for pair in pairs):
        raise UsageError(f"{text!r} is not an ablation", fix=_FORM)
    levels = tuple((level, column) for level, column in pairs)
    if len(levels) < 2 or len({level for level, _ in levels}) < len(levels):
        raise UsageError(f"{text!r} needs two or more different levels", fix=_FORM)
    return AblationRequest(factor.strip(), levels)


def known_ablations(columns: Sequence[str]) -> tuple[AblationRequest, ...]:
    """Return the ablations of the DRAT (k, corpus, utility, n_min) with two or more levels in the table.

    Scores with another embedding than the test's default have it in brackets (`drat_k2[embedded/minilm]`); levels
    are compared only within one embedding.
    """
    marks = dict.fromkeys(name[name.index("[") :] if "[" in name else "" for name in columns)
    found = []
    for mark in marks:
        for factor, levels in KNOWN_FACTORS.items():
            present = tuple((level, column + mark) for level, column in levels.items() if column + mark in columns)
            if len(present) >= 2:
                found.append(AblationRequest(factor + mark, present))
    return tuple(found)


def analyse_ablation(table: ScoreTable, ablation: AblationRequest, request: ValidityRequest) -> AblationResult:
    """Compute validity and specificity at each level. `request.tests` is replaced by the levels' columns."""
    columns = [column for _, column in ablation.levels]
    mask = table.pool(columns)
    models = table.names_in(mask)
    cells = table.cells()
    common = ScoreTable.from_cells({model: cells[model] for model in models}, tuple(table.columns))
    asked = replace(request, tests=tuple(dict.fromkeys(columns)))
    result = analyse_validity(common, asked)
    levels = tuple(
        AblationLevel(level, result.cell(column, benchmark), _printed(ablation.factor, level, benchmark))
        for benchmark in request.benchmarks
        for level, column in ablation.levels
    )
    return AblationResult(ablation.factor, models, levels)


def _printed(factor: str, level: str, benchmark: str) -> PaperAblation | None:
    """Return the paper's values for a level; only for the paper's embedding (no resource in brackets)."""
    for printed in paper_ablations():
        if (printed.factor, printed.level, printed.benchmark) == (factor, level, benchmark):
            return printed
    return None
