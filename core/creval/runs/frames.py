"""Rows of runs for notebooks: flat, and as data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from creval.errors import MissingPartError

if TYPE_CHECKING:
    import pandas

__all__ = ["data_frame", "flat_metric"]

_NESTED = ("name", "counts", "definition")


def flat_metric(metric: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a metric of results.json fits into one row, with the counts by status; not what it is made of."""
    return {key: value for key, value in metric.items() if key not in _NESTED} | dict(metric["counts"])


def data_frame(rows: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """Return rows as a data frame. Raises MissingPartError without pandas."""
    try:
        import pandas
    except ImportError as error:
        raise MissingPartError("pandas is not installed", cure="Install it: pip install pandas") from error
    return pandas.DataFrame(rows)
