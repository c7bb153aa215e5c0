"""Predictive validity of creativity tests of language models: validity, specificity, frontier (arXiv:2605.13450)."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from creval_validity.analyses.trend import TrendRequest, analyse_trend
    from creval_validity.analyses.validity import ValidityRequest, analyse_validity
    from creval_validity.output.text import validity_table
    from creval_validity.stats.frontier import Frontier
    from creval_validity.tables.csv_table import read_csv
    from creval_validity.tables.score_table import ScoreTable
    from creval_validity.tables.shipped import shipped_table

__all__ = [
    "Frontier",
    "ScoreTable",
    "TrendRequest",
    "ValidityRequest",
    "analyse_trend",
    "analyse_validity",
    "read_csv",
    "shipped_table",
    "validity_table",
]
__version__ = "0.1.0"

_HOME = {
    "Frontier": "stats.frontier",
    "ScoreTable": "tables.score_table",
    "TrendRequest": "analyses.trend",
    "ValidityRequest": "analyses.validity",
    "analyse_trend": "analyses.trend",
    "analyse_validity": "analyses.validity",
    "read_csv": "tables.csv_table",
    "shipped_table": "tables.shipped",
    "validity_table": "output.text",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that discovering the plugin costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
