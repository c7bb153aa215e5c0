"""All tasks and suites that are installed, by name; loads them, and expands suites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from creval.errors import Problem, TaskError, UnknownNameError, UsageError
from creval.plugins.loader import LOCAL, Plugins
from creval.tasks.files import is_path
from creval.tasks.owner import Owner
from creval.tasks.yaml.headers import Head, TaskHeader, read_head, read_header

if TYPE_CHECKING:
    from creval.tasks.model import Task

__all__ = ["TaskIndex", "yaml_files"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A task or suite file and the plugin that it belongs to."""

    plugin: str
    head: Head

    @property
    def qualified(self) -> str:
        return f"{self.plugin}/{self.head.name}"


def yaml_files(folder: Path) -> Iterator[Path]:
    """Yield the task and suite files of a folder and of `suites/` in it; names that start with _ are only included."""
    for place in (folder, folder / "suites"):
        if place.is_dir():
            for file in sorted(place.iterdir()):
                if file.suffix in (".yaml", ".yml") and not file.name.startswith(("_", ".")) and file.is_file():
                    yield file


class TaskIndex:
    """The tasks and suites of the plugins, and of further files and folders (`extra`; they belong to `local`)."""

    def __init__(self, plugins: Plugins, extra: Sequence[Path] = ()) -> None:
        self._plugins = plugins
        self._extra = tuple(Path(path) for path in extra)
        self._found: tuple[list[Entry], list[Problem]] | None = None

    # --- lists ---------------------------------------------------------------------------------------

    def headers(self) -> Sequence[TaskHeader]:
        """Return the head of every task and suite, sorted by name; neither checked nor resolved."""
        headers = [read_header(entry.head, entry.plugin, self.find_file) for entry in self._entries()]
        return sorted(headers, key=lambda header: (header.name, header.plugin))

    def problems(self) -> Sequence[Problem]:
        """Return the files in task folders that are neither task nor suite."""
        self._entries()
        assert self._found is not None
        return self._found[1]

    def _entries(self) -> Sequence[Entry]:
        if self._found is None:
            entries: list[Entry] = []
            problems: list[Problem] = []
            for plugin, file in self._files():
                head = read_head(file)
                if isinstance(head, Problem):
                    problems.append(head)
                else:
                    entries.append(Entry(plugin, head))
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

    def find_file(self, name: str) -> Path:
        """Return the file of the task or suite called `name` or `plugin/name`."""
        return self.find(name).head.file

    def find(self, name: str) -> Entry:
        """Return the entry called `name` or `plugin/name`.

        Raises UnknownNameError with the nearest names, UsageError where the name is ambiguous.
        """
        plugin, _, short = name.rpartition("/")
        entries = self._entries()
        found = [entry for entry in entries if entry.head.name == short and plugin in ("", entry.plugin)]
        if not found:
            raise self._unknown(name)
        if len(found) > 1:
            files = "\n".join(f"  {entry.qualified}: {entry.head.file}" for entry in found)
            kinds = len({entry.qualified for entry in found})
            cure = "Write the qualified name." if kinds == len(found) else "Rename one of them."
            raise UsageError(f"{len(found)} tasks are called {name!r}:\n{files}", cure=cure)
        return found[0]

    def _unknown(self, name: str) -> UnknownNameError:
        entries = self._entries()
        known = [entry.head.name for entry in entries] + [entry.qualified for entry in entries]
        hints = []
        if self._plugins.failures:
            failed = ", ".join(failure.name for failure in self._plugins.failures)
            hints.append(f"These plugins could not be loaded: {failed} (see creval plugins).")
        broken = [problem.file.name for problem in self.problems() if problem.file is not None]
        if broken:
            hints.append(f"These files are no tasks: {', '.join(broken)}.")
        hints.append(
            f"A path starts with ./ or ends in .yaml. All tasks: creval ls{'' if entries else ' (there are none)'}"
        )
        return UnknownNameError("task", name, known, hint=" ".join(hints))

    def owner(self, file: Path) -> Owner:
        """Return the plugin that a file belongs to."""
        real = file.resolve()
        for plugin, folder in self._plugins.task_folders:
            if real.is_relative_to(folder.resolve()):
                return Owner.of(self._plugins.info(plugin))
        return Owner()

    def entry(self, name_or_path: str | Path) -> Entry:
        """Return the entry of a name or a path (told apart by `creval.tasks.files.is_path`)."""
        if isinstance(name_or_path, Path) or is_path(name_or_path):
            file = Path(name_or_path).expanduser()
            head = read_head(file)
            if isinstance(head, Problem):
                raise TaskError([head])
            return Entry(self.owner(file).plugin, head)
        return self.find(name_or_path)

    # --- loading -------------------------------------------------------------------------------------

    def load(self, name_or_path: str | Path) -> Task:
        """Load one task. Raises UnknownNameError, UsageError (ambiguous, or a suite), TaskError (every problem)."""
        from creval.tasks.loading import load_task

        entry = self.entry(name_or_path)
        if entry.head.kind == "suite":
            raise UsageError(
                f"{entry.head.name!r} is a suite, not a task",
                where=str(entry.head.file),
                cure="Run it with --tasks, or name one of its tasks.",
            )
        return load_task(entry.head.file, self, self._plugins.registry)

    def expand(self, names_and_paths: Sequence[str | Path]) -> list[Task]:
        """Load tasks and the tasks of suites, in order, each once, with distinct names.

        The rule for names: a task keeps its name. With the label of a suite entry (`as: strict`) it is `name@strict`.
        Where one task comes in several versions, those with overrides are `name@` and the first eight digits of
        their hash. Where tasks of several plugins share a name, each is `plugin.name`.
        Raises as `load` does; all problems of all files at once.
        """
        from creval.tasks.suites import expand

        return expand([self.entry(name) for name in names_and_paths], self, self._plugins.registry)
