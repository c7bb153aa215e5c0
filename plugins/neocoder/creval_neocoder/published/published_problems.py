"""Parse the authors' files into problems."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from creval_neocoder.problem import Case, Problem
from creval_neocoder.published.published_files import PublishedFiles, Stamps

__all__ = ["MARKER", "UNCOUNTED", "WITHOUT_SOLUTIONS", "first_entries", "read_case", "read_problems"]

UNCOUNTED = frozenset({"1866A", "1725A"})
"""Problems whose input holds a single case and no count before it."""

WITHOUT_SOLUTIONS = "1773F"
"""The one problem without human solutions: only Table 1 and two columns of Table 3 count it."""

MARKER = ("this is the og problem",)
"""The first entry of a problem, in place of constraints."""


def read_problems(files: PublishedFiles) -> list[Problem]:
    """Return the 199 problems in the authors' order. Raises DataError."""
    return list(_problems(files, files.stamps()))


@functools.lru_cache(maxsize=1)
def _problems(files: PublishedFiles, stamps: Stamps) -> Sequence[Problem]:
    """Read and check the files once for all states of a command; `stamps` show when they have changed."""
    tests = {row["problem_id"]: row for row in files.read("test_cases_annotated")}
    solutions: Mapping[str, Sequence[str]] = files.read("human_solutions")
    techniques: Mapping[str, Sequence[Sequence[str]]] = files.read("human_solution_techniques")
    return [
        _problem(row, tests[row["problem_id"]], solutions, techniques.get(row["problem_id"], ()))
        for row in files.read("NeoCoder")
    ]


def _problem(
    row: Mapping[str, Any],
    tests: Mapping[str, Any],
    solutions: Mapping[str, Sequence[str]],
    techniques: Sequence[Sequence[str]],
) -> Problem:
    name = row["problem_id"]
    first = first_entries(row["constraints_list"])
    return Problem(
        name=name,
        statement=row["problem_statements"][0],
        constraints=tuple(() if state == 0 else tuple(row["constraints_list"][at]) for state, at in enumerate(first)),
        cases=tuple(read_case(*pair) for pair in zip(tests["input"], tests["output"], strict=True)),
        counted=name not in UNCOUNTED,
        published=tuple(row["problem_statements"][at] for at in first),
        codes=tuple(row["codes"][at] for at in first),
        solutions=tuple(text.replace("\r\n", "\n") for text in solutions.get(name, ())),
        techniques=tuple(tuple(names) for names in techniques),
    )


def first_entries(lists: Sequence[Sequence[str]]) -> list[int]:
    """Return the first entry of each state; entries repeat when nothing new was found."""
    sizes = [0 if tuple(names) == MARKER else len(names) for names in lists]
    return [sizes.index(state) for state in range(max(sizes) + 1)]


def read_case(rows: Sequence[Any], output: Any) -> Case:
    """Return a case from its lines, each a text or a list of words, and its expected output."""
    lines = tuple(row if isinstance(row, str) else " ".join(row) for row in rows)
    return Case(lines, output if isinstance(output, str) else tuple(output))
