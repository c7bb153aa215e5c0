"""Shared output of the KUMO analyses: options and plotting."""

from __future__ import annotations

from creval.plugin import FieldSpec
from creval_analyses.figures import Figures

__all__ = ["FIGURES", "FILES", "TASK"]

TASK = FieldSpec("task", "string", None, "Only this task of the runs.")
FILES: tuple[FieldSpec, ...] = (
    FieldSpec("output", "file", None, "Folder for CSV, JSON and plots."),
    FieldSpec("no_plots", "boolean", False, "Write no plots."),
)
"""The options that every analysis has."""

FIGURES = Figures("creval-kumo", "Install it: pip install matplotlib, or leave the plots out with --no-plots.")
