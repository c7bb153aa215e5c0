"""The index of all installed tasks and suites by name; loads tasks and expands suites."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from creval.errors import Problem, TaskError, UnknownNameError, UsageError, nearest
from creval.plugins.distributions import absent_distribution_of_task
from creval.plugins.loader import LOCAL, Plugins
from creval.tasks.task_collections import Collections
from creval.tasks.task_paths import TaskFile, is_path, is_pattern, parse_path
from creval.tasks.yaml.headers import Head, TaskHeader, holds_variants, read_head, read_header, read_heads

if TYPE_CHECKING:
    from creval.tasks.task_model import Task
    from creval.tasks.task_paths import Owner
    from creval.tasks.yaml.yaml_reader import Document

__all__ = ["TaskEntry", "TaskIndex", "yaml_files"]

Named = str | Path | TaskFile
"""How a task may be named: by name, by path, or as a file and variant."""


class TaskEntry(NamedTuple):
    """A task or suite and the plugin that it belongs to."""

    plugin: str
    head: Head

    @property
    def qualified(self) -> str:
        return f"{self.plugin}/{self.head.name}"


def yaml_files(folder: Path) -> Iterator[Path]:
    """Yield the task and suite files of a folder and of `suites/` in it.

    Files whose names start with _ exist only to be included, unless they declare variants, which are tasks.
    """
    for place in (folder, folder / "suites"):
        for name in _yaml_names(place):
            file = place / name
            if not name.startswith("_") or holds_variants(file):
                yield file


def _yaml_names(folder: Path) -> Sequence[str]:
    """Return the sorted names of a folder's YAML files; none if the folder does not exist."""
    try:
        with os.scandir(folder) as entries:
            named = [entry for entry in entries if entry.name.endswith((".yaml", ".yml"))]
            return sorted(entry.name for entry in named if not entry.name.startswith(".") and entry.is_file())
    except (FileNotFoundError, NotADirectoryError):
        return ()


class TaskIndex:
    """The tasks and suites of the plugins, and of further files and folders (`extra`; they belong to `local`)."""

    def __init__(self, plugins: Plugins, extra: Sequence[Path] = ()) -> None:
        self._plugins = plugins
        self._extra = tuple(Path(path) for path in extra)
        self._found: tuple[list[TaskEntry], list[Problem]] | None = None
        self._headers: Sequence[TaskHeader] | None = None
        self._documents: dict[Path, Document] = {}
        self.collections = Collections(plugins)

    # --- lists ---------------------------------------------------------------------------------------

    def headers(self) -> Sequence[TaskHeader]:
        """Return the head of every task and suite, sorted by name, neither checked nor resolved."""
        if self._headers is None:
            included: dict[Path, Mapping[str, Any]] = {}
            headers = [read_header(entry.head, entry.plugin, self, included) for entry in self._entries()]
            self._headers = sorted(headers, key=lambda header: (header.name, header.plugin))
        return self._headers

    def problems(self) -> Sequence[Problem]:
        """Return the files in task folders that are neither task nor suite."""
        self._entries()
        assert self._found is not None
        return self._found[1]

    def _entries(self) -> Sequence[TaskEntry]:
        if self._found is None:
            entries: list[TaskEntry] = []
            problems: list[Problem] = []
            for plugin, file in self._files():
                heads = read_heads(file)
                if isinstance(heads, Problem):
                    problems.append(heads)
                else:
                    entries.extend(TaskEntry(plugin, head) for head in heads)
            self._found = entries, problems
        return self._found[0]

    def _files(self) -> Iterator[tuple[str, Path]]:
        for plugin, folder in self._plugins.task_folders:
            for file in yaml_files(folder):
                yield plugin, file
        for path in self._extra:
            for file in yaml_files(path) if path.is_dir() else (path,):
                yield LOCAL, file

    # --- names ---------------------------------------------------------------------------------------

    def find_file(self, name: str) -> TaskFile:
        """Return the file (and variant) of the task or suite called `name` or `plugin/name`."""
        return self.find(name).head.place

    def read(self, file: Path) -> Document:
        """Return the content of a YAML file; each file is read once."""
        if file not in self._documents:
            from creval.tasks.yaml.yaml_reader import read_yaml

            self._documents[file] = read_yaml(file)
        return self._documents[file]

    def family(self, name: str) -> Sequence[TaskEntry]:
        """Return the variants of the family called `name` or `plugin/name`; none if there is no such family."""
        plugin, _, short = name.rpartition("/")
        return [
            entry
            for entry in self._entries()
            if entry.head.variant is not None
            and entry.head.family is not None
            and entry.head.family.name == short
            and plugin in ("", entry.plugin)
        ]

    def find(self, name: str) -> TaskEntry:
        """Return the entry called `name` or `plugin/name`.

        Raises UnknownNameError with the nearest names, UsageError if the name is ambiguous, and TaskError with the
        problems of a file of this name that is not a task.
        """
        plugin, _, short = name.rpartition("/")
        entries = self._entries()
        found = [entry for entry in entries if entry.head.name == short and plugin in ("", entry.plugin)]
        if not found and (file := self.collections.file(plugin, short)) is not None:
            return self._entry_of(plugin, TaskFile(file))
        if not found:
            faulty = [problem for problem in self.problems() if problem.file is not None and problem.file.stem == short]
            raise TaskError(faulty) if faulty else self._unknown(name)
        if len(found) > 1:
            files = "\n".join(f"  {entry.qualified}: {entry.head.place}" for entry in found)
            kinds = len({entry.qualified for entry in found})
            fix = "Write the qualified name." if kinds == len(found) else "Rename one of them."
            raise UsageError(f"{len(found)} tasks are called {name!r}:\n{files}", fix=fix)
        return found[0]

    def _unknown(self, name: str) -> UnknownNameError:
        entries = self._entries()
        known = [entry.head.name for entry in entries] + [entry.qualified for entry in entries]
        plugin = name.partition("/")[0]
        known += [f"{plugin}/{task.name}" for _, task in self.collections.matching(f"{plugin}/*")]
        hints = _slips(name)
        if absent := absent_distribution_of_task(name):
            hints.append(f"It may be a task of {absent}, which is not installed: pip install {absent}.")
        family = self.family(name)
        if family:
            listed = ", ".join(entry.head.name for entry in family[:3]) + (", ..." if len(family) > 3 else "")
            hints.append(f"It is what these tasks share: {listed} (all of them: '{name}_*').")
        if self._plugins.failures:
            failed = ", ".join(failure.name for failure in self._plugins.failures)
            hints.append(f"These plugins could not be loaded: {failed} (see creval plugins).")
        broken = [problem.file.name for problem in self.problems() if problem.file is not None]
        if broken:
            hints.append(f"These files are not tasks: {', '.join(broken)}.")
        listing = "creval ls --all" if entries else "creval ls (there are none)"
        hints.append(f"A path starts with ./ or ends in .yaml. All tasks: {listing}")
        return UnknownNameError("task", name, known if len(name.split()) == 1 else [], hint=" ".join(hints))

    def has(self, named: Named) -> bool:
        """Whether there is a task or suite of this name; a path always counts as one."""
        if not isinstance(named, str) or is_path(named):
            return True
        plugin, _, short = named.rpartition("/")
        collection = self.collections.of(plugin)
        return any(entry.head.name == short and plugin in ("", entry.plugin) for entry in self._entries()) or (
            collection is not None and collection.has(short)
        )

    def members(self, named: Named) -> Sequence[TaskHeader]:
        """Return the heads of a family's variants, by its name or the path of its file; none if it is not a family."""
        if isinstance(named, str) and not is_path(named):
            entries = self.family(named)
        else:
            place = named if isinstance(named, TaskFile) else parse_path(str(named))
            heads = read_heads(place.file) if place.variant is None else []
            heads = [] if isinstance(heads, Problem) else heads
            entries = [TaskEntry(self.owner(place.file).plugin, head) for head in heads if head.variant is not None]
        included: dict[Path, Mapping[str, Any]] = {}
        return [read_header(entry.head, entry.plugin, self, included) for entry in entries]

    # --- patterns ------------------------------------------------------------------------------------

    def choose(self, names_and_paths: Sequence[Named]) -> list[Named]:
        """Return the names and paths with every pattern replaced by the qualified names of the tasks that it matches.

        `kumo_easy_*` is matched against names, `kumo/*` against qualified ones, `./drat.yaml:*` against the variants of
        a file. Patterns choose tasks, never suites. Raises UsageError for a pattern that matches none.
        """
        chosen: list[Named] = []
        for name in names_and_paths:
            if not isinstance(name, str):
                chosen.append(name)
            elif is_path(name):
                place = parse_path(name)
                several = place.variant is not None and is_pattern(place.variant)
                chosen.extend(_matching_variants(place) if several else [name])
            else:
                chosen.extend(self._matching(name) if is_pattern(name) else [name])
        return list(dict.fromkeys(chosen))

    def _matching(self, pattern: str) -> list[str]:
        matching = [e for e in self._entries() if fnmatchcase(e.qualified if "/" in pattern else e.head.name, pattern)]
        tasks = [entry.qualified for entry in matching if entry.head.kind == "task"]
        tasks += [f"{plugin}/{each.name}" for plugin, each in self.collections.matching(pattern) if each.kind == "task"]
        if tasks:
            return sorted(tasks)
        if matching:
            suites = ", ".join(sorted(entry.head.name for entry in matching))
            raise UsageError(
                f"no task matches {pattern!r}, only suites: {suites}", fix="Give the full name of the suite."
            )
        tasks = [entry.head.name for entry in self._entries() if entry.head.kind == "task"]
        raise _no_match(pattern, tasks, "All tasks: creval ls --all")

    # --- files ---------------------------------------------------------------------------------------

    @functools.cached_property
    def _real_folders(self) -> Sequence[tuple[str, Path, Path]]:
        """Plugin, folder of tasks, and that folder without symbolic links."""
        return [(plugin, folder, folder.resolve()) for plugin, folder in self._plugins.task_folders]

    def owner(self, file: Path) -> Owner:
        """Return the plugin that a file belongs to."""
        from creval.tasks.task_paths import Owner

        real = file.resolve()
        for plugin, _, folder in self._real_folders:
            if real.is_relative_to(folder):
                return Owner.of(self._plugins.info(plugin))
        collected = self.collections.owner(real)
        return Owner() if collected is None else Owner.of(self._plugins.info(collected[0]))

    def bounds(self, file: Path) -> Sequence[Path]:
        """Return the folders that paths in a file may not leave: its own, or those of its plugin."""
        real = file.resolve()
        for plugin, folder, resolved in self._real_folders:
            if real.is_relative_to(resolved):
                info = self._plugins.info(plugin)
                return [folder, *([info.folder] if info is not None and info.folder is not None else [])]
        return [file.parent]

    def entry(self, named: Named) -> TaskEntry:
        """Return the entry of a name or a path (`creval.tasks.task_paths.is_path` decides which)."""
        if isinstance(named, str) and not is_path(named):
            return self.find(named)
        place = named if isinstance(named, TaskFile) else parse_path(str(named))
        return self._entry_of(self.owner(place.file).plugin, place)

    def _entry_of(self, plugin: str, place: TaskFile) -> TaskEntry:
        head = read_head(place.file, place.variant)
        if isinstance(head, Problem):
            raise TaskError([head])
        return TaskEntry(plugin, head)

    # --- loading -------------------------------------------------------------------------------------

    def load(self, named: Named) -> Task:
        """Load one task. Raises UnknownNameError, UsageError (ambiguous, or a suite), TaskError (every problem)."""
        from creval.tasks.load_task import load_task

        entry = self.entry(named)
        if entry.head.kind == "suite":
            raise UsageError(
                f"{entry.head.name!r} is a suite, not a task",
                where=str(entry.head.file),
                fix=f"Run it with --tasks, or name one of its tasks: creval ls --all {entry.head.name}",
            )
        return load_task(entry.head.place, self, self._plugins.registry)

    def expand(self, names_and_paths: Sequence[Named]) -> list[Task]:
        """Load tasks, those that patterns match, and the tasks of suites: in order, each once, with distinct names.

        A task keeps its name where possible. With the label of a suite entry (`as: strict`) it is called `name@strict`.
        If one task occurs in several versions, those with overrides are called `name@` and the first eight digits of
        their hash. If tasks of several plugins share a name, each is called `plugin.name`.
        Raises as `load` does, with all problems of all files.
        """
        from creval.tasks.suites import expand

        return expand([self.entry(name) for name in self.choose(names_and_paths)], self, self._plugins.registry)


def _matching_variants(place: TaskFile) -> list[str]:
    """Return the paths of the variants of a file that a pattern matches."""
    heads = read_heads(place.file)
    if isinstance(heads, Problem):
        raise TaskError([heads])
    variants = [head.variant for head in heads if head.variant is not None]
    matching = [name for name in variants if fnmatchcase(name, place.variant or "")]
    if not matching:
        raise _no_match(
            f":{place.variant}", variants, f"Its variants: {', '.join(variants[:20]) or 'none'}.", str(place.file)
        )
    return [str(TaskFile(place.file.absolute(), name)) for name in matching]


def _no_match(pattern: str, known: Sequence[str], listing: str, where: str | None = None) -> UsageError:
    suggestions = nearest(pattern.strip("*?[]:_"), known)
    fix = f"Did you mean {' or '.join(repr(name) for name in suggestions)}? {listing}" if suggestions else listing
    return UsageError(f"no task matches {pattern!r}", where=where, fix=" ".join([*_slips(pattern), fix]))


def _slips(name: str) -> list[str]:
    """Return what was probably meant by a name that is none: several names, or a file of this folder."""
    files = [f"./{name}{ending}" for ending in (".yaml", ".yml") if os.path.isfile(f"{name}{ending}")]  # noqa: PTH113
    listed = [f"Separate tasks by commas: {','.join(name.split())}."] if len(name.split()) > 1 else []
    return [*listed, *(f"Did you mean the file {file}?" for file in files)]
