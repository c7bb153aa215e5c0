"""The known columns: whether each is a test, benchmark or capability, and of which construct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

__all__ = [
    "CAPABILITIES",
    "CONSTRUCTS",
    "ColumnInfo",
    "Scale",
    "catalogue",
    "constructs_of",
    "describe",
    "label",
    "names_of",
]

ColumnKind = Literal["test", "benchmark", "capability"]
CAPABILITIES = ("arena_overall", "mmlu_pro")
CONSTRUCTS = ("creative writing", "divergent thinking", "scientific ideation")


@dataclass(frozen=True, slots=True)
class Scale:
    """Conversion of a run's metric to the shipped scale, for values in `range`."""

    range: tuple[float, float]
    times: float
    plus: float

    def shipped(self, value: float) -> float:
        """Return the value on the shipped scale; a value outside `range` is already on that scale."""
        return value * self.times + self.plus if self.range[0] <= value <= self.range[1] else value


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """A known column. `half_width` is half a unit of the last printed digit of the shipped values, `range` the
    possible range of values on the shipped scale."""

    name: str
    kind: ColumnKind
    label: str
    construct: str | None = None
    half_width: float | None = None
    range: tuple[float, float] | None = None
    resource: str | None = None
    of_run: Scale | None = None


@cache
def catalogue() -> dict[str, ColumnInfo]:
    """Return the columns of the shipped tables by name, in the paper's order."""
    import yaml

    text = (files("creval_validity") / "data" / "columns.yaml").read_text(encoding="utf-8")
    return {name: _column(name, entry) for name, entry in yaml.safe_load(text).items()}


def _column(name: str, entry: dict[str, Any]) -> ColumnInfo:
    scale = entry.pop("of_run", None)
    of_run = None if scale is None else Scale(tuple(scale["range"]), scale["times"], scale["plus"])
    return ColumnInfo(name, **{**entry, "range": tuple(entry["range"]), "of_run": of_run})


def names_of(kind: ColumnKind) -> tuple[str, ...]:
    """Return the names of all known columns of a kind."""
    return tuple(name for name, info in catalogue().items() if info.kind == kind)


def describe(name: str, kind: ColumnKind) -> ColumnInfo:
    """Return the information about a column; the label of an unknown column is its name.

    The name of a user's benchmark may include its construct, but `construct: name` is not parsed here; a
    benchmark without a construct is in the construct with its own label.
    """
    known = catalogue().get(name)
    if known is not None and known.kind == kind:
        return known
    return ColumnInfo(name=name, kind=kind, label=name, construct=name if kind == "benchmark" else None)


def label(name: str) -> str:
    """Return the label of a column, known or not."""
    known = catalogue().get(name)
    return known.label if known else name


def constructs_of(benchmarks: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the benchmarks by construct, the paper's constructs first."""
    found: dict[str, list[str]] = {}
    for name in benchmarks:
        found.setdefault(describe(name, "benchmark").construct or name, []).append(name)
    order = [*CONSTRUCTS, *found]
    return {construct: tuple(found[construct]) for construct in dict.fromkeys(order) if construct in found}
