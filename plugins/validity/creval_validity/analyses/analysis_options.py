"""The shared options of the analyses, and the requests built from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from creval.plugin import FieldSpec, UnknownNameError, UsageError
from creval_validity.stats.bootstrap import Bootstrap
from creval_validity.stats.composite import mean_z
from creval_validity.tables.inputs import InputRequest
from creval_validity.tables.score_table import ScoreTable

__all__ = ["BOOTSTRAP", "INPUTS", "bootstrap_of", "chosen", "inputs_of", "texts", "with_composites"]

INPUTS: tuple[FieldSpec, ...] = (
    FieldSpec("csv", "path", (), "A CSV of scores: column model, then one column per score. May be repeated.", True),
    FieldSpec(
        "shipped",
        "string",
        "auto",
        "Which of the paper's tables are used: auto, none, benchmarks, tests, all. auto: all without own data, else "
        "benchmarks.",
    ),
    FieldSpec("aliases", "path", None, "YAML: a model's name in the tables -> list of your names for it."),
    FieldSpec("conflict", "string", "error", "If own and shipped data differ: error, mine, shipped."),
    FieldSpec("repeated", "string", "error", "Several runs of one model on one metric: error, mean, last."),
    FieldSpec("mixed_tasks", "boolean", False, "Allow runs that were made with different versions of a task."),
)
BOOTSTRAP: tuple[FieldSpec, ...] = (
    FieldSpec("confidence", "number", 0.95, "Level of the intervals, between 0 and 1."),
    FieldSpec("bootstrap", "integer", 2000, "Bootstrap draws; 0 leaves the bootstrap out.", minimum=0),
    FieldSpec("seed", "integer", 0, "Seed of the bootstrap.", minimum=0),
)


def texts(value: Any) -> tuple[str, ...]:
    """Return the values of an option that may be repeated; each may list several, separated by commas."""
    if value is None:
        return ()
    many: Sequence[Any] = (value,) if isinstance(value, str) else tuple(value)
    return tuple(part.strip() for item in many for part in str(item).split(",") if part.strip())


def chosen(name: str, value: Any, allowed: Sequence[str]) -> Any:
    """Return `value` if it is allowed. Raises UnknownNameError with the nearest allowed word."""
    if value not in allowed:
        raise UnknownNameError(f"value of {name}", str(value), allowed, hint=f"It is one of: {', '.join(allowed)}.")
    return value


def inputs_of(runs: Sequence[str], options: dict[str, Any]) -> InputRequest:
    """Return the input request of an analysis."""
    paths = options.get("csv") or ()
    return InputRequest(
        runs=tuple(str(run) for run in runs),
        csv=tuple(str(path) for path in ((paths,) if isinstance(paths, str) else paths)),
        shipped=chosen("shipped", options.get("shipped", "auto"), ("auto", "none", "benchmarks", "tests", "all")),
        aliases=str(options["aliases"]) if options.get("aliases") else None,
        conflict=chosen("conflict", options.get("conflict", "error"), ("error", "mine", "shipped")),
        repeated=chosen("repeated", options.get("repeated", "error"), ("error", "mean", "last")),
        mixed_tasks=bool(options.get("mixed_tasks", False)),
    )


def bootstrap_of(options: dict[str, Any]) -> Bootstrap | None:
    """Return the bootstrap settings, or None if the bootstrap is left out."""
    draws = int(options.get("bootstrap", 2000))
    if draws == 0:
        return None
    return Bootstrap(draws, int(options.get("seed", 0)), float(options.get("confidence", 0.95)))


def with_composites(table: ScoreTable, specs: Sequence[str]) -> tuple[ScoreTable, tuple[str, ...]]:
    """Add composite columns, each written `name=column+column`: the mean of their z-scores.

    Returns the new table and the added names. Raises UsageError if a spec is malformed.
    """
    added = []
    for spec in specs:
        name, equals, parts = spec.partition("=")
        columns = [part.strip() for part in parts.split("+")]
        if not equals or not name.strip() or "" in columns or len(columns) < 2:
            raise UsageError(
                f"{spec!r} is not a composite",
                fix="Write it as 'name=column+column', e.g. 'dat_overall=dat+dat[sbert]'.",
            )
        values = mean_z([table.column(column) for column in columns], columns)
        table = table.with_column(name.strip(), values)
        added.append(name.strip())
    return table, tuple(added)
