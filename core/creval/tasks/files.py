"""Names and paths: telling them apart, and where a data file named in YAML is looked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = ["FILE_KEY", "find_data_file", "is_path", "search_folders"]

FILE_KEY = "x-file"
"""In a parameter schema of a dataset source: the parameter names a file."""


def search_folders(base: Path, package: Path | None) -> Sequence[Path]:
    """Return the folders that a relative name is taken from: that of the YAML file, then the plugin's package."""
    return [base] if package is None or package == base else [base, package]


def find_data_file(name: str, folders: Sequence[Path]) -> Path | None:
    """Return the first file of this name in the folders, or None where there is none."""
    return next((file for folder in folders if (file := folder / Path(name).expanduser()).is_file()), None)


def is_path(text: str) -> bool:
    """Whether a text names a file, not a task: it ends in .yaml or .yml, or starts with ./ ../ / ~ or a drive.

    Only the look of the text counts, not what exists: a folder called like a task changes nothing.
    """
    starts = ("./", "../", "/", "~", ".\\", "..\\")
    return text.endswith((".yaml", ".yml")) or text.startswith(starts) or text[1:3] == ":\\"
