"""Combinations of plugins: python -S plugin_sets.py UNPACKED TASK WORKERS NEEDED; PYTHONPATH has the core.

They are none, each alone, halves drawn at random, all but one, and all. What a plugin misses where another is not
installed shows alone or in all but one. The halves are drawn until any two plugins were together in one of them, and
each was in one without the other; so a fault that two others hide or cause shows, too. There are 2^n sets in all.

One process has imported the core and what it needs while no plugin was in reach, and validated a TASK of the core's
own parts. It forks for each combination: the fork begins as a new interpreter does that has these modules already, with
its own wheels alone on the path, and lists its tasks. A line of JSON is printed for each.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import click
from click.testing import CliRunner

NEEDED: dict[str, list[str]] = {}
"""The distributions that a plugin requires next to the core; only with them are its tasks read."""


def main() -> int:
    """Walk through the combinations, `workers` at a time; 0 where each said what it found."""
    folder, task, workers = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    NEEDED.update(json.loads(sys.argv[4]))
    look(0, task)
    chosen = list(enumerate(combinations(sorted(path.name for path in folder.iterdir()))))
    children = [os.fork() or work(folder, chosen[one::workers]) for one in range(workers)]
    return max(os.waitpid(child, 0)[1] for child in children)


def combinations(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the sets that are tried."""
    sizes = sorted({0, 1, len(names) - 1, len(names)})
    return [*(each for size in sizes for each in itertools.combinations(names, size)), *halves(names)]


def halves(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Draw sets of half of the names until each two were in one of them, and each was in one without the other."""
    chance, found = random.Random(0), []
    missing = {(one, other, both) for one, other in itertools.permutations(names, 2) for both in (True, False)}
    while missing:
        drawn = set(chance.sample(names, (len(names) + 1) // 2))
        found.append(tuple(sorted(drawn)))
        missing -= {each for each in missing if each[0] in drawn and (each[1] in drawn) is each[2]}
    return list(dict.fromkeys(found))


def work(folder: Path, sets: Sequence[tuple[int, tuple[str, ...]]]) -> NoReturn:
    """Fork for the combinations in turn."""
    codes = [os.waitpid(os.fork() or tell(folder, number, names), 0)[1] for number, names in sets]
    os._exit(1 if any(codes) else 0)


def tell(folder: Path, number: int, names: tuple[str, ...]) -> NoReturn:
    """Print what this combination gives, and end this process."""
    sys.path[:0] = [str(folder / name) for name in names]
    say(names, lambda: look(number))
    os._exit(0)


def say(names: tuple[str, ...], found: Callable[[], dict[str, object]]) -> None:
    """Print what was found of a combination, or how that failed."""
    try:
        row = found()
    except BaseException:
        row = {"error": traceback.format_exc()}
    os.write(1, (json.dumps({"names": names, **row}) + "\n").encode())


def validated(task: str) -> str:
    """Say what `creval validate`, of creval-testing, says of a task."""
    testing = str(Path(sys.argv[1]) / "testing")
    sys.path.append(testing)
    try:
        from creval_testing.validate import validate

        return said(validate, task)
    finally:
        sys.path.remove(testing)


def look(number: int, task: str | None = None) -> dict[str, object]:
    """Discover and list what is there; in every other combination also as users do, by the commands.

    These are `creval ls`, and `creval validate` on one task with its data, another task each time.
    """
    from creval.cli.commands.tasks import ls
    from creval.plugins.loader import load_plugins
    from creval.tasks.index import TaskIndex

    plugins = load_plugins()
    index = TaskIndex(plugins)
    heads = index.headers()
    here = {info.distribution for info in plugins.infos}
    tasks = [head.qualified for head in heads if head.kind == "task" and here >= set(NEEDED.get(head.plugin, ()))]
    row = {
        "plugins": {info.name: info.version for info in plugins.infos},
        "failures": [str(each) for each in plugins.failures],
        "folders": sorted(str(folder) for _, folder in plugins.task_folders),
        "problems": [str(each) for each in index.problems()],
        "files": sorted({(head.plugin, str(head.file)) for head in heads}),
    }
    if number % 2 == 0:
        chosen = task or (tasks[number % len(tasks)] if tasks else None)
        row |= {"task": chosen, "listed": said(ls, "--all"), "valid": validated(chosen) if chosen else ""}
    return row


def said(command: click.Command, *arguments: str) -> str:
    """Return what a command prints, its complaints too."""
    done = CliRunner().invoke(command, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return str(done.output)


if __name__ == "__main__":
    sys.exit(main())
