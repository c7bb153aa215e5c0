"""Tables on the terminal, the files of an analysis, and a run as numbers and settings for experiment trackers.

Promised: these names follow semantic versioning.
"""

from __future__ import annotations

from creval.report.output_files import plain_data, write_csv, write_json, write_lines, write_text
from creval.report.terminal_tables import print_table
from creval.report.tracker_values import run_numbers, run_settings

__all__ = [
    "plain_data",
    "print_table",
    "run_numbers",
    "run_settings",
    "write_csv",
    "write_json",
    "write_lines",
    "write_text",
]
