"""Scores of other benchmarks from a CSV file, matched to our models."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from creval.plugin import DataError, UsageError

__all__ = ["BenchmarkTable", "match_models", "read_benchmarks"]

_MAX_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class BenchmarkTable:
    """Benchmark -> model -> score. Models and benchmarks keep the order of the file."""

    models: tuple[str, ...]
    scores: Mapping[str, Mapping[str, float]]


def read_benchmarks(path: Path) -> BenchmarkTable:
    """Read a CSV whose first column is `model` and whose other columns are benchmarks; empty cells are gaps.

    Raises DataError with line and column if the file is malformed.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise DataError(f"larger than {_MAX_BYTES} bytes", where=str(path))
        rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"cannot be read: {error}", where=str(path)) from error
    header = [cell.strip() for cell in rows[0]] if rows else []
    if len(header) < 2 or header[0].casefold() != "model" or len(set(header)) < len(header):
        fix = "The first line is: model,Benchmark A,Benchmark B"
        raise DataError("the first line names no models and benchmarks", where=f"{path}:1", fix=fix)
    scores: dict[str, dict[str, float]] = {name: {} for name in header[1:]}
    models: list[str] = []
    for number, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        model = row[0].strip()
        if len(row) != len(header) or not model or model in models:
            raise DataError("the line has other columns, no model, or one that was there", where=f"{path}:{number}")
        models.append(model)
        for name, cell in zip(header[1:], row[1:], strict=True):
            if cell.strip():
                scores[name][model] = _number(cell, f"{path}:{number}, {name}")
    return BenchmarkTable(tuple(models), scores)


def _number(cell: str, where: str) -> float:
    try:
        value = float(cell)
    except ValueError as error:
        raise DataError(
            f"{cell!r} is not a number", where=where, fix="Leave the cell empty if there is none."
        ) from error
    if not math.isfinite(value):
        raise DataError(f"{cell!r} is not finite", where=where, fix="Leave the cell empty if there is none.")
    return value


def match_models(ours: Sequence[str], theirs: Sequence[str], aliases: Sequence[str]) -> dict[str, str]:
    """Return our model -> model of the table, for those that match.

    `aliases` are texts OURS=THEIRS and come first; then equal names; then a name in the table that equals the last part
    of our name regardless of case (`openai/gpt-4o` and `GPT-4o`), if that pair is unique. Raises UsageError if an
    alias names no model.
    """
    found: dict[str, str] = {}
    for text in aliases:
        mine, equals, other = (part.strip() for part in text.partition("="))
        if not equals or mine not in ours or other not in theirs:
            raise UsageError(
                f"{text!r} names no pair of models",
                where="--alias",
                fix=f"Write RUN'S MODEL=TABLE'S MODEL. Runs: {', '.join(ours)}. Table: {', '.join(theirs)}.",
            )
        found[mine] = other
    found |= {model: model for model in ours if model in theirs and model not in found}
    open_ours = [model for model in ours if model not in found]
    for other in [model for model in theirs if model not in found.values()]:
        same = [model for model in open_ours if _tail(model) == _tail(other)]
        twins = [model for model in theirs if _tail(model) == _tail(other)]
        if len(same) == 1 and len(twins) == 1:
            found[same[0]] = other
    return found


def _tail(name: str) -> str:
    return name.rpartition("/")[2].casefold()
