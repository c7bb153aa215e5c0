"""The core's sources that read local files: `package` and `file`, and `generator`."""

from __future__ import annotations

from pathlib import Path

from creval.data.options import DataOptions
from creval.data.rows import ListRows, Malformed, Row, Rows
from creval.data.tables.files import open_file
from creval.errors import DataError
from creval.tasks.files import find_data_file, search_folders
from creval.types.components import Generator
from creval.types.sample import Doc

__all__ = ["open_generator", "open_local_file", "open_package_file"]


def open_package_file(file: str, *, base: Path, options: DataOptions, format: str | None = None) -> Rows:
    """Open a file that ships with the task: beside its YAML file, or in the plugin's package."""
    if Path(file).is_absolute() or ".." in Path(file).parts:
        raise DataError(
            f"the file {file!r} lies outside the plugin's package",
            where=str(base),
            cure="Name it relative to the task file or to the package, or use source: file.",
        )
    folders = search_folders(base, options.package)
    found = find_data_file(file, folders)
    # A folder of the plugin may be a link (its tasks, say); what is in it must not lead out again.
    if found is not None and not any(found.resolve().is_relative_to(folder.resolve()) for folder in folders):
        raise DataError(
            f"the file {file!r} is a link that leads out of the plugin's package",
            where=str(base),
            cure="Put the file itself into the package, or use source: file.",
        )
    return _open(file, base, options.package, format, options.task)


def open_local_file(file: str, *, base: Path, options: DataOptions, format: str | None = None) -> Rows:
    """Open any local file; a relative name is taken from the folder of the YAML file."""
    return _open(file, base, None, format, options.task)


def _open(file: str, base: Path, package: Path | None, format: str | None, task: str | None) -> Rows:
    folders = search_folders(base, package)
    found = find_data_file(file, folders)
    if found is None:
        looked = " and ".join(str(folder.absolute()) for folder in folders)
        cure = f"Looked in {looked}. Check `file` under `dataset`, in the task's YAML."
        raise DataError(f"there is no data file {file!r}", where=f"dataset of {task}" if task else None, cure=cure)
    return open_file(found, format)


def open_generator(generator: Generator, *, base: Path, options: DataOptions) -> Rows:
    """Make the docs of a generator; they are held in memory."""
    rows: list[Row | Malformed] = []
    for index, doc in enumerate(generator.docs(), 1):
        rows.append(doc if isinstance(doc, Doc) else Malformed("the generator gave no Doc", f"doc {index}"))
    return ListRows(rows, f"generator {type(generator).__name__}")
