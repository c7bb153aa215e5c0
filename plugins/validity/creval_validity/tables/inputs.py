"""Join the user's inputs (run folders, CSV files, the shipped tables) into one table of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from creval.plugin import DataError, UsageError
from creval_validity.tables.aliases import Aliases, shipped_aliases
from creval_validity.tables.catalogue import CAPABILITIES, catalogue, names_of
from creval_validity.tables.csv_table import read_csv
from creval_validity.tables.merge import Prefer, merge
from creval_validity.tables.run_table import Repeated, read_runs
from creval_validity.tables.score_table import ScoreTable
from creval_validity.tables.shipped import shipped_table, table3, table4

__all__ = ["Assembled", "Columns", "InputRequest", "assemble", "choose_benchmarks", "choose_columns"]

Shipped = Literal["auto", "none", "benchmarks", "tests", "all"]
Conflict = Literal["error", "mine", "shipped"]
_PREFER: dict[Conflict, Prefer] = {"error": "error", "mine": "first", "shipped": "second"}


@dataclass(frozen=True, slots=True)
class InputRequest:
    """The sources of scores.

    `shipped`: which of the paper's tables to include; `auto` is `all` if there is no other source and
    `benchmarks` otherwise (own test scores next to the paper's benchmark scores). `conflict`: which value to
    use if own and shipped data differ for the same model and column. `repeated`: how to treat several
    runs of one model on one metric.
    """

    runs: tuple[str, ...] = ()
    csv: tuple[str, ...] = ()
    shipped: Shipped = "auto"
    aliases: str | None = None
    conflict: Conflict = "error"
    repeated: Repeated = "error"
    mixed_tasks: bool = False


@dataclass(frozen=True, slots=True)
class Assembled:
    """The joined table, the columns from a CSV, those from runs that are not primary metrics, and notes."""

    table: ScoreTable
    csv_columns: tuple[str, ...] = ()
    side_columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Columns:
    """The role of each column (empty: chosen from the known columns in the table), and the unused columns."""

    tests: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = CAPABILITIES
    unused: tuple[str, ...] = ()


def assemble(request: InputRequest) -> Assembled:
    """Join every source. Raises DataError or UsageError with the file and the fix."""
    names = shipped_aliases()
    if request.aliases:
        names = names.extended(request.aliases)
    own: ScoreTable | None = None
    notes: list[str] = []
    for path in request.csv:
        table = read_csv(path, names.canonical)
        own = table if own is None else merge(own, table)
    csv_columns = tuple(own.columns) if own else ()
    side: tuple[str, ...] = ()
    if request.runs:
        read = read_runs([Path(run) for run in request.runs], names, request.repeated, request.mixed_tasks)
        notes += read.notes
        side = tuple(name for name in read.table.columns if name not in read.primary and name not in catalogue())
        own = read.table if own is None else merge(own, read.table)
    shipped = _shipped(request, own)
    notes += _strangers(own, shipped, names)
    joined = own if shipped is None else shipped if own is None else _join(own, shipped, request.conflict)
    if joined is None:
        raise UsageError("no scores to analyse", fix="Name run folders or a CSV, or leave the shipped tables in.")
    return Assembled(joined, csv_columns, side, tuple(notes))


def _join(own: ScoreTable, shipped: ScoreTable, conflict: Conflict) -> ScoreTable:
    _same_scale(own, shipped)
    try:
        return merge(own, shipped, _PREFER[conflict])
    except DataError as error:
        raise DataError(
            f"{error.what}; the second is the paper's",
            fix="Choose one with --conflict mine or --conflict shipped, or rename your column.",
        ) from error


def _shipped(request: InputRequest, own: ScoreTable | None) -> ScoreTable | None:
    kind = request.shipped
    if kind == "auto":
        kind = "all" if own is None else "benchmarks"
    if kind == "none":
        return None
    if kind == "all":
        return shipped_table()
    return table3() if kind == "tests" else table4()


def _same_scale(own: ScoreTable, shipped: ScoreTable) -> None:
    """Refuse own values whose scale differs from that of the shipped column."""
    for name, values in own.columns.items():
        info = catalogue().get(name)
        if name not in shipped.columns or info is None or info.range is None:
            continue
        present = values[np.isfinite(values)]
        low, high = info.range
        outside = present[(present < low) | (present > high)]
        share = len(present) > 0 and high >= 100 and float(present.max()) <= 1.0 and float(present.max()) > 0.0
        if len(outside) or share:
            shown = float(outside[0]) if len(outside) else float(present.max())
            raise DataError(
                f"your {name} of {shown:g} is on another scale than the shipped {name} ({low:g} to {high:g})",
                fix="Bring it to that scale, or give the column another name.",
            )


def _strangers(own: ScoreTable | None, shipped: ScoreTable | None, names: Aliases) -> list[str]:
    """Return the own models that are not in the shipped tables, with similar names."""
    if own is None or shipped is None:
        return []
    notes = []
    for model in own.models:
        if model not in shipped.models:
            near = names.suggestions(model)
            hint = f"; add an alias if it is {' or '.join(near)}" if near else ""
            notes.append(f"{model} is not in the shipped tables{hint}")
    return notes


def choose_columns(assembled: Assembled, asked: Columns) -> Columns:
    """Decide which columns are tests and which are benchmarks.

    Non-empty known columns and variants of known tests (`drat_k2`, `dat[embedded/minilm]`) are used. A CSV column
    that is neither known nor named is an error with the nearest known names, unless tests and benchmarks are both
    named. The remaining columns are in `unused`.
    """
    table = assembled.table
    named = (*asked.tests, *asked.benchmarks, *asked.capabilities)
    unknown = [name for name in assembled.csv_columns if name not in named and _kind(name) is None]
    if unknown and not (asked.tests and asked.benchmarks):
        raise UsageError(
            _unknown_text(unknown),
            fix="Say what it is: --test NAME, --benchmark NAME or --capability NAME. With tests and benchmarks both "
            "named, other columns are left out.",
        )
    there = [name for name in table.columns if table.count(name) and name not in assembled.side_columns]
    tests = asked.tests or tuple(name for name in there if _kind(name) == "test" and name not in named)
    benchmarks = asked.benchmarks or tuple(n for n in there if _kind(n) == "benchmark" and n not in named)
    order = {name: place for place, name in enumerate(catalogue())}
    if not asked.tests:
        tests = tuple(sorted(tests, key=lambda name: (order.get(_bare(name), len(order)), name)))
    if not tests or not benchmarks:
        what = "test" if not tests else "benchmark"
        raise UsageError(
            f"the data have no {what} column; columns: {', '.join(table.columns) or 'none'}",
            fix=f"Name one with --{what}, or add data that have one.",
        )
    used = {*tests, *benchmarks, *asked.capabilities}
    side = set(assembled.side_columns)
    left = tuple(name for name in table.columns if name not in used and (name in side or _kind(name) is None))
    return Columns(tests, benchmarks, asked.capabilities, left)


def choose_benchmarks(assembled: Assembled, asked: tuple[str, ...]) -> tuple[str, ...]:
    """Return the requested benchmark columns, or every non-empty known one."""
    table = assembled.table
    for name in asked:
        table.column(name)
    found = asked or tuple(name for name in names_of("benchmark") if name in table.columns and table.count(name))
    if not found:
        raise UsageError(
            f"the data have no benchmark column; columns: {', '.join(table.columns) or 'none'}",
            fix="Name one with --benchmark, or add data that have one.",
        )
    return found


def _bare(name: str) -> str:
    """Return the column name without its resource and variant label."""
    return name.partition("[")[0].partition("@")[0]


def _kind(name: str) -> str | None:
    bare = _bare(name)
    known = catalogue().get(bare)
    if known is not None:
        return known.kind
    return "test" if any(bare.startswith(f"{test}_") for test in names_of("test")) else None


def _unknown_text(unknown: Sequence[str]) -> str:
    from creval.plugin import nearest

    parts = []
    for name in unknown:
        near = nearest(name, tuple(catalogue()))
        parts.append(f"{name!r}" + (f" (did you mean {' or '.join(near)}?)" if near else ""))
    many = "columns" if len(unknown) > 1 else "column"
    return f"unknown {many} {', '.join(parts)}"
