"""The core's sources that read local files: `package` and `file`, and `generator`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from creval.data.data_options import DataOptions
from creval.data.row_types import ListRows, MalformedRow, Row, Rows
from creval.data.table_files import open_file
from creval.errors import DataError
from creval.tasks.task_paths import STRAY_FIX, find_data_file, search_folders, strays
from creval.types.components import Generator
from creval.types.sample import Doc

__all__ = ["open_generator", "open_local_file", "open_package_file"]


def open_package_file(file: str, *, base: Path, options: DataOptions, format: str | None = None) -> Rows:
    """Open a file that ships with the task: next to its YAML file, or in the plugin's package."""
    return _open(file, search_folders(base, options.package), format, options.task)


def open_local_file(file: str, *, base: Path, options: DataOptions, format: str | None = None) -> Rows:
    """Open a file in the folder of the YAML file."""
    return _open(file, [base], format, options.task)


def _open(file: str, folders: Sequence[Path], format: str | None, task: str | None) -> Rows:
    found = find_data_file(file, folders)
    if found is not None:
        return open_file(found, format)
    where = f"dataset of {task}" if task else None
    if any(strays(folder / file, folders) for folder in folders):
        raise DataError(f"the file {file!r} is outside of the task's folder", where=where, fix=STRAY_FIX)
    looked = " and ".join(str(folder.absolute()) for folder in folders)
    fix = f"Looked in {looked}. Check `file` under `dataset`, in the task's YAML."
    raise DataError(f"there is no data file {file!r}", where=where, fix=fix)


def open_generator(generator: Generator, *, base: Path, options: DataOptions) -> Rows:
    """Make the docs of a generator, in memory."""
    rows: list[Row | MalformedRow] = []
    for index, doc in enumerate(generator.docs(), 1):
        rows.append(doc if isinstance(doc, Doc) else MalformedRow("the generator returned no Doc", f"doc {index}"))
    return ListRows(rows, f"generator {type(generator).__name__}")
