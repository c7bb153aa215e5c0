"""Problems of task files for machines: JSON for editors, SARIF 2.1.0 for code scanning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from creval.plugin.checking import Problem

__all__ = ["problem_records", "sarif"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_HOME = "https://github.com/creval/creval"
_RULE = "task-file"


def problem_records(problems: Sequence[Problem], level: str = "error") -> list[dict[str, Any]]:
    """Return one object per problem: file, line and column (from 1, null: unknown), key path, message, fix, level."""
    return [
        {
            "file": None if each.file is None else str(each.file),
            "line": each.line,
            "column": each.column,
            "path": each.path,
            "message": each.message,
            "fix": each.fix,
            "level": level,
        }
        for each in problems
    ]


def sarif(problems: Sequence[Problem], warnings: Sequence[Problem], version: str) -> dict[str, Any]:
    """Return a SARIF 2.1.0 log (OASIS, 2020) of problems and warnings, with their places if known.

    Paths of files below the current folder are relative to it, as code scanning requires.
    """
    rule = {"id": _RULE, "shortDescription": {"text": "A task or suite file is faulty"}, "helpUri": f"{_HOME}#readme"}
    driver = {"name": "creval", "version": version, "informationUri": _HOME, "rules": [rule]}
    results = [
        *(_result(each, "error") for each in problems),
        *(_result(each, "warning") for each in warnings),
    ]
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _result(problem: Problem, level: str) -> dict[str, Any]:
    key = f"{problem.path}: " if problem.path else ""
    text = f"{key}{problem.message}." + (f" {problem.fix}" if problem.fix else "")
    result: dict[str, Any] = {"ruleId": _RULE, "level": level, "message": {"text": text}}
    if problem.file is not None:
        place: dict[str, Any] = {"artifactLocation": {"uri": _uri(problem.file)}}
        if problem.line is not None:
            place["region"] = {"startLine": problem.line} | (
                {"startColumn": problem.column} if problem.column is not None else {}
            )
        result["locations"] = [{"physicalLocation": place}]
    return result


def _uri(file: Path) -> str:
    whole = file.absolute()
    here = Path.cwd()
    return whole.relative_to(here).as_posix() if whole.is_relative_to(here) else whole.as_uri()
