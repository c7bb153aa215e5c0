"""Convert a problem in one state to the fields of a doc, and back to the scorers' input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from creval_neocoder.problem import Case, Problem
from creval_neocoder.programs.feeding import Run, runs
from creval_neocoder.published.samples import any_letter_case, read_samples

__all__ = ["Tests", "Text", "cases_of", "runs_of", "state_doc"]

LETTER_CASE = "letter_case"
SOUND = ("sound", LETTER_CASE)
"""The classes of cases that the human solutions confirm, the second if letter case is ignored."""

Text = Literal["rebuilt", "published"]
Tests = Literal["annotated", "sound", "sample", "changed"]


def state_doc(
    problem: Problem, state: int, text: Text = "rebuilt", classes: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return the fields of a problem in a state.

    `text="published"` uses the authors' statement unchanged, with the empty bullets in some of them. `classes`
    gives each case's class from the human solutions (None: all are sound).
    """
    return {
        "id": problem.name,
        "state": state,
        "problem": problem.published[state] if text == "published" and problem.published else problem.text(state),
        "constraints": list(problem.constraints[state]),
        "cases": [_row(case) for case in problem.cases],
        "changed": [_row(case) for case in problem.changed],
        "sound": [name in SOUND for name in classes] if classes is not None else [True] * len(problem.cases),
        "counted": problem.counted,
        "any_case": any_letter_case(problem.statement) or LETTER_CASE in (classes or ()),
        "samples": [sample._asdict() for sample in read_samples(problem.statement)],
        "human": sorted(problem.human),
        "solutions": [
            {"source": source, "techniques": list(names)}
            for source, names in zip(problem.solutions, problem.techniques, strict=False)
        ],
    }


def runs_of(doc: Mapping[str, Any], tests: Tests) -> list[Run]:
    """Return the runs of a doc's tests.

    `annotated`: all published cases; `sound`: those of them that the human solutions confirm; `sample`: the
    statement's own; `changed`: cases with other inputs, empty if the human solutions agree on none.
    """
    if tests == "sample":
        return [Run(sample["input"].encode(), tuple(sample["output"].split())) for sample in doc["samples"]]
    if tests == "changed":
        return runs([_case(row) for row in doc["changed"]], doc["counted"])
    cases = cases_of(doc)
    if tests == "sound":
        cases = [case for case, is_sound in zip(cases, doc["sound"], strict=True) if is_sound]
    return runs(cases, doc["counted"])


def cases_of(doc: Mapping[str, Any]) -> list[Case]:
    """Return the annotated cases of a doc."""
    return [_case(row) for row in doc["cases"]]


def _row(case: Case) -> dict[str, Any]:
    return {"lines": list(case.lines), "output": _plain(case.output)}


def _plain(output: str | tuple[str, ...]) -> str | list[str]:
    return output if isinstance(output, str) else list(output)


def _case(row: Mapping[str, Any]) -> Case:
    output = row["output"]
    return Case(tuple(row["lines"]), output if isinstance(output, str) else tuple(output))
