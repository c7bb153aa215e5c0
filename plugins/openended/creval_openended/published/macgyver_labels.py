"""Source `macgyver_labelled`: MacGyver's solutions with human labels, mapped to two criteria.

Its authors' labels are not those of feasibility, safety and effectiveness; the mapping is ours, without safety.
Feasibility comes from the workbook: efficient and inefficient solutions are feasible, infeasible ones are not.
Effectiveness comes from the benchmark's results, of solvable problems only: correct ones are effective, wrong and
partial ones are not; answers on whether a problem can be solved at all are left out. Some problem ids are numbers
and some are texts, and an annotator's claim on solvability in additional_human_solutions is not a label.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from creval.plugin import DataError
from creval.plugin.data import DataOptions, ListRows, Rows, sha256_of
from creval_openended.published.macgyver import ADDRESS, COMMIT, Row, fetched, published_rows

__all__ = ["RESULTS", "RESULTS_SHA256", "labelled_effectiveness", "labelled_feasibility", "open_labelled"]

RESULTS = f"https://raw.githubusercontent.com/allenai/MacGyver/{COMMIT}/data/Benchmark_results/benchmark_results.json"
RESULTS_SHA256 = "aca1357d37317316df7212ecf93715e957cf210f26520dc4638de74d22928e96"

_FEASIBLE = {"efficient": 1, "inefficient": 1, "infeasible": 0}
_EFFECTIVE = {
    "correct_efficient": 1,
    "correct_inefficient": 1,
    "wrong_entire_wrong_solution": 0,
    "wrong_partial_correct": 0,
}


def open_labelled(
    criterion: Literal["feasibility", "effectiveness"],
    url: str = ADDRESS,
    results: str = RESULTS,
    *,
    base: Path,
    options: DataOptions,
) -> Rows:
    """Return docs with `id`, `problem`, `solution` and the label, `gold_feasibility` or `gold_effectiveness` (1 or 0).

    1,294 for feasibility, 3,446 for effectiveness. Raises DataError if the files are not available or differ.
    """
    rows = published_rows(url, options)
    if criterion == "feasibility":
        return ListRows(labelled_feasibility(rows), f"MacGyver's pairs at {COMMIT[:12]}")
    file = fetched(results, _check, f"macgyver-results-{COMMIT[:12]}.json", options)
    found = labelled_effectiveness(rows, json.loads(file.read_text(encoding="utf-8")))
    return ListRows(found, f"MacGyver's benchmark results at {COMMIT[:12]}")


def labelled_feasibility(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the solutions of the workbook that are labelled efficient, inefficient or infeasible."""
    return [
        {
            "id": str(row["ID"]),
            "problem": str(row["Problem"]),
            "solution": str(row["Solution"]),
            "gold_feasibility": _FEASIBLE[str(row["Label"])],
        }
        for row in rows
        if row["Solvable?"] == "Yes" and str(row["Label"]) in _FEASIBLE
    ]


def labelled_effectiveness(
    rows: Sequence[Row], results: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    """Return the benchmark's solutions of solvable problems that are labelled correct or wrong."""
    problems = {str(row["ID"]): str(row["Problem"]) for row in rows if row["Solvable?"] == "Yes"}
    return [
        {
            "id": f"{name}-{number}",
            "problem": problems[name],
            "solution": str(solution["solution"]),
            "gold_effectiveness": _EFFECTIVE[solution["annotation"]],
        }
        for name, number, solution in _numbered(results)
        if name in problems and solution.get("annotation") in _EFFECTIVE
    ]


def _numbered(results: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    for name, solutions in results.items():
        for number, solution in enumerate(solutions, 1):
            yield str(name), number, solution


def _check(file: Path) -> None:
    found = sha256_of(file)
    if found != RESULTS_SHA256:
        raise DataError(
            f"these are not MacGyver's benchmark results of commit {COMMIT[:12]}: their sha256 is {found}",
            fix="Name an unchanged copy of the file.",
        )
