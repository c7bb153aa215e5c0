"""Results as tables, files, plots and documentation."""

from __future__ import annotations
