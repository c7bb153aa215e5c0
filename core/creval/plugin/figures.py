"""Figures of analyses, in the format that `--figures` asks for. Promised: these names follow semantic versioning."""

from __future__ import annotations

from creval.report.figures import COLOURS, Figures, add_legend, error_lengths, whole_numbers

__all__ = ["COLOURS", "Figures", "add_legend", "error_lengths", "whole_numbers"]
