"""Local copies of remote datasets: the folder that CREVAL_DATA names.

A task's data are searched under the task's name (`drat.jsonl`), then under the dataset's: the last part of its URL, or
for Hugging Face `owner/name.jsonl` and `name.jsonl`, in any format of `creval.data.table_files`.

The module also computes and checks the sha256 of files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from creval.data.data_options import DataOptions
from creval.data.table_files import FORMATS
from creval.errors import DataError
from creval.plugins.registry import Component
from creval.tasks.task_model import DatasetRef

__all__ = ["check_sha256", "find_in_mirror", "offline_fix", "sha256_of"]


def sha256_of(file: Path) -> str:
    """Return the sha256 of a file's bytes as hex."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def check_sha256(file: Path, expected: str) -> None:
    """Raise DataError if a file is not the one that the task pins."""
    actual = sha256_of(file)
    if actual != expected.lower():
        raise DataError(
            f"the file is not the one that the task pins: sha256 {actual} instead of {expected}",
            where=str(file),
            fix="Get the right version of the file, or give another one on purpose with --data TASK=FILE.",
        )


REMOTE_KEY = "x-remote"
"""A mark in the parameter schema of a source: its data come over the network, so a mirror may replace them."""


def find_in_mirror(ref: DatasetRef, component: Component, options: DataOptions) -> Path | None:
    """Return the mirror's file for a remote dataset, or None. Raises DataError if the folder does not exist."""
    if options.mirror is None or not component.parameters.get(REMOTE_KEY):
        return None
    if not options.mirror.is_dir():
        raise DataError("the folder of local data does not exist", where=f"CREVAL_DATA={options.mirror}")
    for name in _names(ref, options.task):
        exact = options.mirror / name
        if exact.suffix and exact.is_file():
            sha256 = ref.parameters.get("sha256")
            if sha256:
                check_sha256(exact, sha256)
            return exact
        for endings in FORMATS.values():
            for ending in endings:
                file = options.mirror / f"{name}{ending}"
                if file.is_file():
                    return file
    return None


def _names(ref: DatasetRef, task: str) -> Iterator[str]:
    if task:
        yield task
    if ref.mirrored_by_task:
        return
    url = ref.parameters.get("url")
    if isinstance(url, str):
        name = PurePosixPath(unquote(urlsplit(url).path)).name
        if name and name not in (".", ".."):
            yield name
            yield PurePosixPath(name).stem
    dataset = ref.parameters.get("dataset")
    if isinstance(dataset, str) and ".." not in dataset.split("/"):
        yield dataset.lstrip("/")
        yield dataset.rsplit("/", 1)[-1]


def offline_fix(options: DataOptions) -> str:
    """Return how to provide a remote dataset without the network."""
    task = options.task or "TASK"
    return (
        f"Give the file with --data {task}=FILE, put it as {task}.jsonl into a folder that CREVAL_DATA names, "
        "or run once without --offline."
    )
