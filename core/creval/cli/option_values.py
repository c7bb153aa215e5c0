"""Reads texts of the command line as values: lists, NAME=VALUE, paths, files of doc ids."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from creval.cli import completion
from creval.errors import DataError
from creval.escape import control_character, visible

if TYPE_CHECKING:
    from pathlib import Path

    from creval.engine.run_options import Consents

__all__ = [
    "FilePath",
    "NewPath",
    "RunPath",
    "comma_list",
    "consents_of",
    "docs_of",
    "executor_of",
    "expand",
    "paths",
    "read_doc_ids",
    "read_roles",
    "runs_argument",
    "settings",
    "sweeps",
    "texts",
]


_Command = TypeVar("_Command", bound=Callable[..., Any])


class FilePath(click.Path):
    """A `pathlib.Path`; pathlib is imported with the first one (`--help` does not need it)."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from pathlib import Path

        return Path(os.fsdecode(super().convert(value, param, ctx)))


class NewPath(FilePath):
    """A path to write to. An empty text, which would mean the current folder, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and not value.strip():
            self.fail("a path cannot be empty", param, ctx)
        if isinstance(value, str) and (sign := control_character(value)):
            self.fail(f"the path {visible(value)!r} contains the control character {sign}", param, ctx)
        return super().convert(value, param, ctx)


class RunPath(FilePath):
    """A run folder. The folder of a sweep with one run names that run; with several, the user must name one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from creval.runs.sweep_folder import expand_runs

        done, unfinished = expand_runs([super().convert(value, param, ctx)])
        found = [*done, *unfinished]
        if len(found) > 1:
            self.fail(f"it holds {len(found)} runs; name one: {', '.join(map(visible, map(str, found)))}", param, ctx)
        return found[0]


def expand(_: click.Context, __: click.Parameter, paths: Sequence[Path]) -> list[Path]:
    """Return the runs that an argument names. Unfinished runs of a sweep are left out, with a message."""
    from creval.runs.sweep_folder import expand_runs

    finished, unfinished = expand_runs(paths)
    for run in unfinished:
        click.echo(visible(f"left out: {run} (it has no results)"), err=True)
    return finished


def runs_argument() -> Callable[[_Command], _Command]:
    """Return the argument RUNS: run folders, or folders that contain runs, such as that of a sweep."""
    more: Any = {"callback": expand, "shell_complete": completion.runs}
    return click.argument("runs", nargs=-1, required=True, type=FilePath(), **more)


def docs_of(ids: Sequence[str], file: Path | None) -> tuple[str, ...]:
    """Return the ids of docs that were named one by one and in a file, each once.

    The file has an id per line; a `.csv` has them in its column `doc` or `doc_id`, a `.jsonl` under that key, as
    `creval samples` writes them. Raises DataError if it cannot be read or has no ids.
    """
    if file is None:
        return tuple(dict.fromkeys(ids))

    return tuple(dict.fromkeys([*ids, *read_doc_ids(file)]))


def comma_list(values: Sequence[str]) -> list[str]:
    """Split `a,b` and repeated options into one list, without duplicates."""
    words = [word.strip() for value in values for word in value.split(",")]
    return list(dict.fromkeys(word for word in words if word))


def consents_of(options: Mapping[str, Any]) -> Consents:
    """Return the consents among the given options."""
    return {"allow_code_execution": options["allow_code_execution"], "trust_remote_code": options["trust_remote_code"]}


def executor_of(options: MutableMapping[str, Any]) -> dict[str, Any]:
    """Remove executor and executor options from the given options, and return those that are set."""
    executor, executor_options = options.pop("executor"), texts(options.pop("executor_option"), "--executor-option")
    return {"executor": executor, "executor_options": executor_options if executor or executor_options else None}


def texts(values: Sequence[str], option: str) -> dict[str, str]:
    """Read NAME=VALUE pairs. Raises click.UsageError that names the option."""
    pairs = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not equals or not name or not text:
            raise click.UsageError(f"{option} takes NAME=VALUE, not {value!r}")
        if name.strip() in pairs:
            raise click.UsageError(f"{option} {name.strip()} is given twice; keep one of them")
        pairs[name.strip()] = text.strip()
    return pairs


def read_roles(values: Sequence[str], option: str = "--role") -> dict[str, Any]:
    """Read ROLE=MODEL pairs, or ROLE={model: ..., base_url: ..., temperature: 0} with the role's own settings."""
    given = texts(values, option)
    return {name: _value(name, text, option) if text.startswith("{") else text for name, text in given.items()}


def paths(values: Sequence[str], option: str) -> dict[str, Path]:
    """Read NAME=FILE pairs; each file must exist."""
    from pathlib import Path

    files = {name: Path(text) for name, text in texts(values, option).items()}
    for name, path in files.items():
        if not path.exists():
            raise click.UsageError(f"{option} {name}: there is no file {path}")
    return files


def settings(values: Sequence[str], option: str) -> dict[str, Any]:
    """Read NAME=VALUE pairs whose values are YAML as in task files: numbers, true, null, [lists].

    `extra.NAME=VALUE` sets the member NAME of `extra`.
    """
    parsed_settings: dict[str, Any] = {}
    for name, text in texts(values, option).items():
        value = _value(name, text, option)
        if name.startswith("extra.") and len(name) > len("extra."):
            inner = parsed_settings.setdefault("extra", {})
            if not isinstance(inner, dict) or name[len("extra.") :] in inner:
                raise click.UsageError(f"{option} {name} is given twice; keep one of them")
            inner[name[len("extra.") :]] = value
        elif name == "extra" and "extra" in parsed_settings:
            raise click.UsageError(f"{option} extra and extra.NAME are both given; use one of the two forms")
        else:
            parsed_settings[name] = value
    return parsed_settings


def _value(name: str, text: str, option: str) -> Any:
    """Read one value by the rules of task files (YAML 1.2): 1:30 and no are texts, 1e-1 and 0x10 are numbers."""
    from pathlib import Path

    from creval.tasks.yaml.nodes import plain
    from creval.tasks.yaml.yaml_reader import read_yaml_text

    document = read_yaml_text(text, Path(option))
    if document.root is None or document.problems:
        problem = document.problems[0]
        why = f"{problem.message}. {problem.fix or 'Put a text with special characters in quotes.'}"
        raise click.UsageError(f"{option} {name}: {why}")
    return plain(document.root)


def sweeps(values: Sequence[str], option: str) -> dict[str, list[Any]]:
    """Read NAME=VALUE,VALUE pairs whose values are YAML: temperature=0.7,1.0."""
    return {name: _value(name, f"[{text}]", option) for name, text in texts(values, option).items()}


_COLUMNS = ("doc", "doc_id", "id")


def read_doc_ids(file: Path) -> list[str]:
    """Return the ids in a `.csv` or `.jsonl` (under `doc`, `doc_id` or `id`) or any other text file (one per line).

    Raises DataError if the file cannot be read, has no such column, or names no doc.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(
            f"the list of docs cannot be read: {error.strerror}", where=str(file), fix="Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise DataError("the list of docs is not UTF-8 text", where=str(file), fix="Save it as UTF-8.") from error
    read = {".csv": _of_csv, ".jsonl": _of_jsonl}.get(file.suffix.lower(), _of_lines)
    found = list(dict.fromkeys(doc for doc in read(text, file) if doc))
    if not found:
        raise DataError("the list contains no id of a doc", where=str(file), fix="Write one id per line.")
    return found


def _of_lines(text: str, file: Path) -> Iterator[str]:
    return (line.strip() for line in text.splitlines())


def _of_csv(text: str, file: Path) -> Iterator[str]:
    import csv

    from creval.report.output_files import unguarded

    lines = text.splitlines()
    separator = ";" if lines and lines[0].count(";") > lines[0].count(",") else ","
    reader = csv.DictReader(lines, delimiter=separator)
    column = next((name for name in _COLUMNS if name in (reader.fieldnames or ())), None)
    if column is None:
        raise DataError("the table has no column with ids of docs", where=str(file), fix="Name the column doc.")
    return (unguarded((row[column] or "").strip()) for row in reader)


def _of_jsonl(text: str, file: Path) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            yield str(next(row[name] for name in _COLUMNS if name in row))
        except (ValueError, TypeError, StopIteration, RecursionError):
            fix = 'Write {"doc": "..."} on each line.'
            raise DataError("the line names no doc", where=f"{file}:{number}", fix=fix) from None
