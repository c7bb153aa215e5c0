"""Problems from any author: a file of statements to build from, and the built file, in the form of the published ones.

A row of a problem file has the keys of the authors' `test_cases_annotated.json`: `problem_id`, `problem_statement`,
`input` (a list of cases, each a list of lines; a line is a text or a list of words) and `output` (a text or a list of
lines per case). It may have `counted` (whether the input begins with the number of cases; default true), and, for
divergent creativity, `human_solutions` with `human_solution_techniques`. A built row has `problem_statements`,
`constraints_list` and `codes` as in `NeoCoder.json`, all of these, and `ended`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from creval.plugin import DataError
from creval.plugin.data import open_file
from creval_neocoder.problem import Case, Problem
from creval_neocoder.published.published_problems import MARKER, first_entries, read_case

__all__ = ["built_row", "read_built", "read_problem_file", "without_header"]

_HEADER = re.compile(
    r"\ntime limit per test\n[^\n]*\nmemory limit per test\n[^\n]*\ninput\n[^\n]*\noutput\n[^\n]*(?=\n)"
)


def without_header(statement: str) -> str:
    """Return a statement from Codeforces without the lines on limits and files between its title and its text."""
    return _HEADER.sub("", statement, count=1)


def read_problem_file(path: Path) -> list[Problem]:
    """Return the problems of a file (JSON or JSON Lines), without constraints. Raises DataError."""
    return [
        _problem(row, where, (without_header(_text(row, "problem_statement", where)),)) for row, where in _rows(path)
    ]


def read_built(path: Path) -> list[Problem]:
    """Return the problems of a built file with their states. Raises DataError."""
    found = []
    for row, where in _rows(path):
        lists = row.get("constraints_list")
        parts = [row.get(name) for name in ("problem_statements", "constraints_list", "codes")]
        if not all(isinstance(part, list) and len(part) == len(lists or ()) for part in parts) or not lists:
            raise DataError("its statements, constraints and codes are not lists of one length", where=where)
        first = first_entries(lists)
        problem = _problem(row, where, tuple(str(text) for text in row["problem_statements"]))
        constraints = tuple(() if state == 0 else tuple(lists[at]) for state, at in enumerate(first))
        statements, codes = row["problem_statements"], row["codes"]
        found.append(
            Problem(
                problem.name,
                problem.statement,
                constraints,
                problem.cases,
                problem.counted,
                tuple(statements[at] for at in first),
                tuple(codes[at] for at in first),
                problem.solutions,
                problem.techniques,
            )
        )
    return found


def built_row(
    problem: Problem,
    statements: Sequence[str],
    constraints: Sequence[Sequence[str]],
    codes: Sequence[str],
    ended: str | None,
) -> dict[str, Any]:
    """Return a problem with the results of Denial Prompting as plain data."""
    return {
        "problem_id": problem.name,
        "problem_statements": list(statements),
        "constraints_list": [
            list(names) or list(MARKER) if not at else list(names) for at, names in enumerate(constraints)
        ],
        "codes": list(codes),
        "ended": ended,
        "input": [list(case.lines) for case in problem.cases],
        "output": [case.output if isinstance(case.output, str) else list(case.output) for case in problem.cases],
        "counted": problem.counted,
        "human_solutions": list(problem.solutions),
        "human_solution_techniques": [list(names) for names in problem.techniques],
    }


def _rows(path: Path) -> list[tuple[Mapping[str, Any], str]]:
    rows = open_file(path)
    found = [(row, f"{path}, problem {number}") for number, row in enumerate(rows, 1)]
    names: set[str] = set()
    for row, where in found:
        if not isinstance(row, Mapping):
            raise DataError(f"is not a problem: {getattr(row, 'reason', 'no JSON object')}", where=where)
        name = _text(row, "problem_id", where)
        if name in names:
            raise DataError(f"a second problem is called {name!r}", where=where, fix="Rename one of them.")
        names.add(name)
    if not found:
        raise DataError("holds no problem", where=str(path))
    return [(row, where) for row, where in found if isinstance(row, Mapping)]


def _problem(row: Mapping[str, Any], where: str, statements: Sequence[str]) -> Problem:
    inputs, outputs = row.get("input"), row.get("output")
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs) or not inputs:
        raise DataError("`input` and `output` are not lists of one length, with a case at least", where=where)
    solutions, techniques = row.get("human_solutions") or [], row.get("human_solution_techniques") or []
    if techniques and len(solutions) != len(techniques):
        raise DataError(f"{len(solutions)} human solutions have {len(techniques)} lists of techniques", where=where)
    return Problem(
        name=str(row["problem_id"]),
        statement=statements[0],
        constraints=((),),
        cases=tuple(_case(*pair, where) for pair in zip(inputs, outputs, strict=True)),
        counted=bool(row.get("counted", True)),
        solutions=tuple(str(text) for text in solutions),
        techniques=tuple(tuple(str(name) for name in names) for names in techniques),
    )


def _case(rows: Any, output: Any, where: str) -> Case:
    lines = rows if isinstance(rows, list) else None
    sound = lines is not None and all(isinstance(row, str) or _is_texts(row) for row in lines)
    if not sound or not (isinstance(output, str) or _is_texts(output)):
        raise DataError("a case is not a list of lines with the text that is to be printed", where=where)
    return read_case(rows, output)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"it has no text {name!r}", where=where, fix="docs/neocoder-building.md shows the keys.")
    return value
