"""Checks task and suite files and returns everything that is wrong with them (`creval validate`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from creval.errors import CrevalError, Problem, TaskError, UsageError
from creval.plugins.loader import Plugins
from creval.tasks.files import is_path
from creval.tasks.index import TaskIndex, yaml_files
from creval.tasks.loading import load_task
from creval.tasks.suites import check_suite
from creval.tasks.yaml.headers import Head, read_head

__all__ = ["check", "check_file", "files_of"]


def check(targets: Sequence[str | Path], plugins: Plugins) -> list[Problem]:
    """Check files, folders (their task files and those in `suites/`), and tasks by name.

    Checked is all that stands in the YAML and whether the data files exist; what is in the data is checked by
    `creval.data.check`. Returns every problem once, by file and line.
    """
    problems: list[Problem] = []
    files: list[Path] = []
    index = TaskIndex(plugins)
    for target in targets:
        try:
            files.extend(files_of(target, index))
        except UsageError as error:
            problems.append(Problem(error.what, cure=error.cure))
    # Checked files see each other as includes and members of suites, as they will once they are installed.
    known = {file.resolve() for _, folder in plugins.task_folders for file in yaml_files(folder)}
    index = TaskIndex(plugins, [file for file in dict.fromkeys(files) if file.resolve() not in known])
    for file in dict.fromkeys(files):
        problems.extend(check_file(file, index, plugins))
    problems.extend(_same_names(files, index))
    return sorted(dict.fromkeys(problems), key=lambda p: (str(p.file or ""), p.line or 0, p.column or 0))


def files_of(target: str | Path, index: TaskIndex) -> Sequence[Path]:
    """Return the files that a target of `check` stands for. Raises UsageError where there are none."""
    path = Path(target).expanduser()
    if path.is_dir():
        files = list(yaml_files(path))
        if not files:
            raise UsageError(f"the folder {str(target)!r} holds no task files", cure="Task files end in .yaml.")
        return files
    if isinstance(target, Path) or is_path(target):
        return [path]
    return [index.find_file(target)]


def check_file(file: Path, index: TaskIndex, plugins: Plugins) -> Sequence[Problem]:
    """Return everything that is wrong with one task or suite file."""
    head = read_head(file)
    try:
        if isinstance(head, Head) and head.kind == "suite":
            return check_suite(head, index, plugins.registry)
        load_task(file, index, plugins.registry, find_files=True)
    except TaskError as error:
        return error.problems
    except CrevalError as error:
        return [Problem(error.what, file, cure=error.cure)]
    return ()


def _same_names(files: Sequence[Path], index: TaskIndex) -> list[Problem]:
    """Return a problem for every checked file whose task has the name of another one of the same plugin."""
    owners: dict[tuple[str, str], Path] = {}
    problems = []
    for file in dict.fromkeys(path.resolve() for path in files):
        head = read_head(file)
        if isinstance(head, Problem):
            continue
        key = (index.owner(file).plugin, head.name)
        first = owners.setdefault(key, file)
        if first != file:
            message = f"two tasks are called {head.name!r}: {first} and {file}"
            problems.append(Problem(message, file, cure="Rename one of them."))
    return problems
