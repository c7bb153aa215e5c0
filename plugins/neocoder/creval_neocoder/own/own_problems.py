"""Read our own fifteen problems."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from creval_neocoder.problem import Case, Problem

__all__ = ["gold_answers", "read_own"]


def _rows() -> list[dict[str, Any]]:
    text = files("creval_neocoder.own").joinpath("problems.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def read_own() -> list[Problem]:
    """Return the problems; each has all six states."""
    return [_problem(row) for row in _rows()]


def gold_answers() -> dict[str, str]:
    """Return for each problem a program that passes, follows every constraint, and has a technique no other one has."""
    return {str(row["problem"]): row["gold"]["source"] for row in _rows()}


def _problem(row: dict[str, Any]) -> Problem:
    solutions: list[dict[str, Any]] = row["solutions"]
    return Problem(
        name=str(row["problem"]),
        statement=str(row["statement"]),
        constraints=tuple(tuple(names) for names in row["constraints"]),
        cases=tuple(Case(tuple(case["lines"]), case["output"]) for case in row["cases"]),
        solutions=tuple(str(solution["source"]) for solution in solutions),
        techniques=tuple(tuple(solution["techniques"]) for solution in solutions),
    )
