"""Where a data file named in YAML is looked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = ["FILE_KEY", "find_data_file", "search_folders"]

FILE_KEY = "x-file"
"""In a parameter schema of a dataset source: the parameter names a file."""


def search_folders(base: Path, package: Path | None) -> Sequence[Path]:
    """Return the folders that a relative name is taken from: that of the YAML file, then the plugin's package."""
    return [base] if package is None or package == base else [base, package]


def find_data_file(name: str, folders: Sequence[Path]) -> Path | None:
    """Return the first file of this name in the folders, or None where there is none."""
    return next((file for folder in folders if (file := folder / Path(name).expanduser()).is_file()), None)
