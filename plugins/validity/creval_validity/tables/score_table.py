"""A table of scores: models by columns, with gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np
from numpy.typing import NDArray

from creval.plugin import DataError, UnknownNameError

__all__ = ["FloatArray", "ScoreTable"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class ScoreTable:
    """Scores of models, one float array per column; NaN is a gap and is never written to a file as a number.

    `models` are unique canonical names; every array of `columns` has their length and is read-only.
    `providers` and `dates` (public release) are by model, if known.
    """

    models: tuple[str, ...]
    columns: Mapping[str, FloatArray]
    providers: Mapping[str, str] = field(default_factory=dict)
    dates: Mapping[str, date] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(set(self.models)) != len(self.models):
            twice = sorted({name for name in self.models if self.models.count(name) > 1})
            raise DataError(f"models occur twice in the table: {', '.join(twice)}", fix="Keep one row per model.")
        for name, values in self.columns.items():
            if values.shape != (len(self.models),):
                raise DataError(f"column {name!r} has {values.shape} values for {len(self.models)} models")
            values.setflags(write=False)

    @classmethod
    def from_cells(cls, cells: Mapping[str, Mapping[str, float]], columns: Sequence[str] = ()) -> ScoreTable:
        """Build a table from model -> column -> value; `columns` fixes the order of the columns known in advance."""
        models = tuple(cells)
        names = list(dict.fromkeys([*columns, *(name for row in cells.values() for name in row)]))
        arrays = {
            name: np.array([cells[model].get(name, np.nan) for model in models], dtype=np.float64) for name in names
        }
        return cls(models, arrays)

    def column(self, name: str) -> FloatArray:
        """Return a column. Raises UnknownNameError with the nearest names."""
        try:
            return self.columns[name]
        except KeyError:
            raise UnknownNameError("column", name, tuple(self.columns)) from None

    def count(self, name: str) -> int:
        """Return how many models have a value in the column."""
        return int(np.isfinite(self.column(name)).sum())

    def pool(self, names: Iterable[str]) -> NDArray[np.bool_]:
        """Return a mask of the models that have a value in every one of `names`."""
        mask = np.ones(len(self.models), dtype=np.bool_)
        for name in names:
            mask &= np.isfinite(self.column(name))
        return mask

    def names_in(self, mask: NDArray[np.bool_]) -> tuple[str, ...]:
        """Return the models that a mask selects."""
        return tuple(model for model, chosen in zip(self.models, mask, strict=True) if chosen)

    def with_column(self, name: str, values: FloatArray) -> ScoreTable:
        """Return a table with one more column. Raises DataError if the name is taken."""
        if name in self.columns:
            raise DataError(f"there is a column {name!r} already", fix="Give the new column another name.")
        copy = np.array(values, dtype=np.float64)
        return ScoreTable(self.models, {**self.columns, name: copy}, self.providers, self.dates)

    def only(self, names: Iterable[str]) -> ScoreTable:
        """Return a table of these columns, in this order, without models that have none of them."""
        chosen = {name: self.column(name) for name in names}
        keep = np.zeros(len(self.models), dtype=np.bool_)
        for values in chosen.values():
            keep |= np.isfinite(values)
        models = self.names_in(keep)
        return ScoreTable(
            models,
            {name: values[keep].copy() for name, values in chosen.items()},
            {model: self.providers[model] for model in models if model in self.providers},
            {model: self.dates[model] for model in models if model in self.dates},
        )

    def cells(self) -> dict[str, dict[str, float]]:
        """Return the table as model -> column -> value, without the gaps."""
        return {
            model: {name: float(values[row]) for name, values in self.columns.items() if np.isfinite(values[row])}
            for row, model in enumerate(self.models)
        }
