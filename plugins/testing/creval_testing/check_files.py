"""Check task and suite files and return every problem (`creval validate`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from creval.plugin import CrevalError, UsageError
from creval.plugin.authoring import TaskError, TaskFile, TaskIndex
from creval.plugin.checking import (
    Head,
    Problem,
    check_suite,
    is_path,
    is_pattern,
    load_task,
    parse_path,
    read_heads,
    yaml_files,
)
from creval.plugin.loading import Plugins

__all__ = ["check", "check_file", "places_of"]


def check(targets: Sequence[str | Path], plugins: Plugins) -> list[Problem]:
    """Check files, folders (their task files and those in `suites/`), and tasks by name.

    A file is always checked as a whole, with all its variants. The check covers the YAML and whether the data files
    exist; `creval_testing.check_tasks` checks the data. Returns every problem once, by file and line.
    """
    problems: list[Problem] = []
    files: list[Path] = []
    index = TaskIndex(plugins)
    for target in targets:
        try:
            files.extend(place.file for place in places_of(target, index))
        except UsageError as error:
            problems.append(Problem(error.what, fix=error.fix))
        except TaskError as error:
            problems.extend(error.problems)
    # Checked files can include each other and be members of each other's suites, as after installation.
    known = {file.resolve() for _, folder in plugins.task_folders for file in yaml_files(folder)}
    index = TaskIndex(plugins, [file for file in dict.fromkeys(files) if file.resolve() not in known])
    for file in dict.fromkeys(files):
        problems.extend(check_file(file, index, plugins))
    problems.extend(_same_names(files, index))
    return sorted(dict.fromkeys(problems), key=lambda p: (str(p.file or ""), p.line or 0, p.column or 0))


def places_of(target: str | Path, index: TaskIndex) -> Sequence[TaskFile]:
    """Return the places of the tasks and suites of a target of `check`: one for a name, all for a file.

    Raises UsageError if there are none, TaskError if a pattern's file cannot be read.
    """
    path = Path(target).expanduser()
    if path.is_dir():
        files = list(yaml_files(path))
        if not files:
            raise UsageError(f"the folder {str(target)!r} holds no task files", fix="Task files end in .yaml.")
        return [place for file in files for place in _tasks_of(file)]
    if isinstance(target, Path):
        return _tasks_of(path)
    family = [] if is_path(target) or is_pattern(target) else index.family(target)
    if family and not (family[0].head.family and family[0].head.family.whole):
        return [entry.head.place for entry in family]
    places = []
    for name in index.choose([target]):
        written = parse_path(str(name))
        if not is_path(str(name)):
            places.append(index.find_file(str(name)))
        elif written.variant is not None:
            places.append(written)
        else:
            places.extend(_tasks_of(written.file))
    return places


def _tasks_of(file: Path) -> Sequence[TaskFile]:
    heads = read_heads(file)
    return [TaskFile(file)] if isinstance(heads, Problem) else [head.place for head in heads]


def check_file(file: Path, index: TaskIndex, plugins: Plugins) -> Sequence[Problem]:
    """Return every problem of one task or suite file."""
    heads = read_heads(file)
    if not isinstance(heads, Problem) and heads[0].kind == "suite":
        return _faults(heads[0], index, plugins)
    places = [TaskFile(file)] if isinstance(heads, Problem) else [head.place for head in heads]
    return _each_once([_faults(place, index, plugins) for place in places])


def _faults(asked: TaskFile | Head, index: TaskIndex, plugins: Plugins) -> Sequence[Problem]:
    try:
        if isinstance(asked, Head):
            return check_suite(asked, index, plugins.registry)
        load_task(asked, index, plugins.registry, find_files=True)
    except TaskError as error:
        return error.problems
    except CrevalError as error:
        return [Problem(error.what, asked.file, fix=error.fix)]
    return ()


def _each_once(found: Sequence[Sequence[Problem]]) -> list[Problem]:
    """Return the problems of a file's tasks; a problem of all of them (a missing key) is reported once."""
    tasks = Counter(key for problems in found for key in {(p.message, p.path) for p in problems})
    first: dict[tuple[str, str], Problem] = {}
    every: list[Problem] = []
    for problem in (problem for problems in found for problem in problems):
        key = (problem.message, problem.path)
        if tasks[key] < len(found) or len(found) == 1:
            every.append(problem)
        else:
            first.setdefault(key, problem)
    return [*first.values(), *every]


def _same_names(files: Sequence[Path], index: TaskIndex) -> list[Problem]:
    """Return a problem for every checked file whose task has the name of another task of the same plugin."""
    owners: dict[tuple[str, str], TaskFile] = {}
    problems = []
    for file in dict.fromkeys(path.resolve() for path in files):
        heads = read_heads(file)
        for head in () if isinstance(heads, Problem) else heads:
            first = owners.setdefault((index.owner(file).plugin, head.name), head.place)
            if first != head.place:
                message = f"two tasks are called {head.name!r}: {first} and {head.place}"
                problems.append(Problem(message, file, fix="Rename one of them."))
    return problems
