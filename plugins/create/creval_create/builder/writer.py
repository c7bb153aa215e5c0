"""Queries worded by a model. The lint checks its wording; on a fault the template's wording stays.

The paper's queries were worded by gpt-4o-mini-2024-07-18 with a prompt that it does not print; this prompt is ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from creval.plugin import Message, ModelError, SampleKey
from creval_analyses.workbench import Workbench
from creval_create.paths.triples import normal
from creval_create.queries.lint import lint

__all__ = ["ROLE", "fault_of", "reworded"]

ROLE = "writer"
_TRIES = 2
_BEGINNING = "What are different ways of connecting "
_LONGEST = 400  # characters
_AT_ONCE = 8


async def reworded(bench: Workbench, rows: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the queries with the model's wording (`worded_by` names its author), and reasons for those without.

    Raises BudgetError, and ModelError if every call failed.
    """
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(row: Mapping[str, Any]) -> str | ModelError:
        async with places:
            try:
                return await _worded(bench, row)
            except ModelError as error:
                return error

    given = await asyncio.gather(*map(one, rows))
    failed = [each for each in given if isinstance(each, ModelError)]
    if failed and len(failed) == len(rows):
        raise failed[0]
    found, notes = [], []
    for row, said in zip(rows, given, strict=True):
        fault = str(said) if isinstance(said, ModelError) else fault_of(row, said)
        if fault is None:
            found.append({**row, "query": said, "worded_by": bench.model(ROLE).spec})
        else:
            found.append({**row, "worded_by": "template"})
            notes.append(f"query {row['id']}: worded by the template, since of the model's wording {fault}")
    return found, notes


async def _worded(bench: Workbench, row: Mapping[str, Any]) -> str:
    """Return the model's wording, after one retry if the first is faulty."""
    template = files("creval_create.builder").joinpath("prompts", "wording.txt").read_text(encoding="utf-8")
    asked = template.format(start=row["entity_a"], relation=row["rel_b"], end=row["entity_b"])
    settings = {} if "temperature" in bench.generation else {"temperature": 0}
    said = ""
    for _ in range(_TRIES):
        reply = await bench.ask(ROLE, [Message("user", asked)], SampleKey("build", row["id"], "wording", 0), **settings)
        said = " ".join(reply.text.split())
        if fault_of(row, said) is None:
            break
    return said


def fault_of(row: Mapping[str, Any], said: str) -> str | None:
    """Return the fault of a query's wording, None if there is none."""
    if not (said.startswith(_BEGINNING) and said.endswith("?")) or said.count("?") > 1 or len(said) > _LONGEST:
        return f"{said[:80]!r} is not one question that begins {_BEGINNING.strip()!r}"
    if normal(str(row["entity_b"])) not in normal(said):
        return f"{row['entity_b']!r} is missing"
    known = {finding.problem for finding in lint([row])}
    new = [finding.problem for finding in lint([{**row, "query": said}]) if finding.problem not in known]
    return new[0] if new else None
