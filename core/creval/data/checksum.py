"""Checksums of files."""

from __future__ import annotations

import hashlib
from pathlib import Path

from creval.errors import DataError

__all__ = ["check_sha256", "sha256_of"]


def sha256_of(file: Path) -> str:
    """Return the sha256 of a file's bytes as hex."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def check_sha256(file: Path, expected: str) -> None:
    """Raise DataError where a file is not the one that the task pins."""
    actual = sha256_of(file)
    if actual != expected.lower():
        raise DataError(
            f"the file is not the one that the task pins: sha256 {actual} instead of {expected}",
            where=str(file),
            cure="Get the right version of the file, or give another one on purpose with --data TASK=FILE.",
        )
