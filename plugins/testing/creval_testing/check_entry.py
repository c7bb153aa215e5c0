"""Check a registry entry: install only its package and examine it from outside.

A bot does the same on a pull request.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from creval.plugin import CrevalError
from creval_testing.registry_entries import RegistryEntry

__all__ = ["Source", "check_entry"]

_LOOK = """
import json, sys, sysconfig
from importlib.metadata import distributions, metadata
from creval.plugin.authoring import TaskFile, TaskIndex
from creval.plugin.loading import load_plugins
own = distributions(path=[sysconfig.get_paths()["purelib"]])
names = sorted({point.name for each in own for point in each.entry_points if point.group == "creval"})
plugins = load_plugins(names)
info = plugins.info(sys.argv[1])
about = metadata(info.distribution) if info else {}
stated = [value for name in ("License-Expression", "License") for value in (about.get_all(name) or ())] if info else []
index = TaskIndex(plugins)
heads = [head for head in index.headers() if head.kind == "task" and head.plugin == sys.argv[1]]
tasks = {head.name: index.load(TaskFile(head.file, head.variant)) for head in heads}
print(json.dumps({
    "plugins": names,
    "version": info and info.version,
    "licence": next((value.strip() for value in stated if value.strip()), None),
    "licence_classifiers": [each for each in (about.get_all("Classifier") or ()) if "License" in each] if info else [],
    "failures": [str(failure) for failure in plugins.failures],
    "tasks": {name: {"version": task.version, "hash": task.hash} for name, task in tasks.items()},
}))
"""


class Check(NamedTuple):
    """One check and its faults (empty: passed)."""

    name: str
    faults: Sequence[str]


@dataclass(frozen=True, slots=True)
class Source:
    """The source of installed packages.

    `find_links` is a folder of wheels with priority over the index. With `shared`, third-party packages are those of
    this environment, and only creval, the plugin and its requirements in that folder are installed, without network.
    """

    find_links: Path | None = None
    shared: bool = False


def check_entry(entry: RegistryEntry, source: Source) -> Iterator[Check]:
    """Install the package of an entry into an empty environment and check version, licence, tasks and every rule.

    The rules are those of docs/testing.md; the rule `frame` plays floor and ceiling. An early failure ends the checks.
    """
    with tempfile.TemporaryDirectory(prefix="creval-check-") as folder:
        place = Path(folder)
        try:
            python = _environment(place, entry, source)
        except _InstallError as error:
            yield Check("install", [str(error)])
            return
        yield Check("install", [])
        found, fault = _ask(python, place, ["-c", _LOOK, entry.plugin])
        if fault is not None:
            yield Check("discovery", [fault])
            return
        yield Check("version", _version_faults(entry, found))
        yield Check("licence", list(_licence_faults(entry, found)))
        yield Check("tasks", list(_task_faults(entry, found["tasks"])))
        resources = [f"{name}={spec}" for name, spec in entry.resources.items()]
        examine = ["-m", "creval_testing", entry.plugin, *resources, "--json"]
        rows, fault = _ask(python, place, examine, found["plugins"])
        yield Check("conformance", [fault] if fault is not None else list(_rule_faults(rows)))


class _InstallError(CrevalError):
    """The package cannot be installed."""


def _environment(place: Path, entry: RegistryEntry, source: Source) -> Path:
    """Make an empty environment with the package in it and return its interpreter."""
    home = place / "environment"
    _run([sys.executable, "-m", "venv", *(["--without-pip"] if source.shared else []), str(home)])
    python = home / "bin" / "python"
    wanted = ["creval-testing", f"{entry.package}=={entry.version}"]
    links = [] if source.find_links is None else ["--find-links", str(source.find_links.absolute())]
    quiet = ["install", "--quiet", "--disable-pip-version-check"]
    if not source.shared:
        try:
            _run([str(python), "-m", "pip", *quiet, *links, "--", *wanted, *entry.needs])
        except _InstallError as error:
            raise _InstallError(f"{error} ({_FROM.format(', '.join(['creval', *wanted]))})") from error
        return python
    purelib = next((home / "lib").glob("python*/site-packages"))
    # A path instead of a site folder, so that .pth files of this environment are not processed.
    (purelib / "shared.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    assert source.find_links is not None
    here = {file.name.partition("-")[0].replace("_", "-").lower() for file in source.find_links.glob("*.whl")}
    absent = [name for name in ("creval", "creval-testing", entry.package) if _plain(name) not in here]
    if absent:
        raise _InstallError(
            f"{source.find_links} holds no wheel of {' and '.join(absent)}, and --shared takes these only from there: "
            f"pip wheel --no-deps -w {source.find_links} FOLDER"
        )
    alone = ["--no-deps", "--no-index", "--ignore-installed", "--target", str(purelib)]
    needs = [need for need in entry.needs if re.split(r"[^\w.-]", need)[0].lower() in here]
    _run([sys.executable, "-m", "pip", *quiet, *alone, *links, "--", "creval", *wanted, *needs])
    return python


_FROM = "{} come from the index, or from wheels: --find-links DIR"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise _InstallError(f"{command[0]} failed: {' '.join(said[-3:])[:600]}")


def _ask(python: Path, place: Path, arguments: Sequence[str], plugins: Sequence[str] = ()) -> tuple[Any, str | None]:
    """Run the environment's interpreter without this one's paths; return (its JSON output, an error message).

    `plugins` are the allowed ones: those installed in the environment itself, not the shared ones.
    """
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR")}
    environment = {**kept, "HOME": str(place), **({"CREVAL_PLUGINS": ",".join(plugins)} if plugins else {})}
    done = subprocess.run(
        [str(python), *arguments], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    try:
        return json.loads(done.stdout), None
    except ValueError:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"it ended with {done.returncode}"]
        return None, " ".join(said[-3:])[:600]


def _version_faults(entry: RegistryEntry, found: Any) -> list[str]:
    faults = list(found["failures"])
    if found["version"] != entry.version:
        faults.append(f"the entry says {entry.version}, and {found['version']} was installed")
    return faults


def _licence_faults(entry: RegistryEntry, found: Any) -> Iterator[str]:
    """Compare the entry's licence with the package's: its SPDX expression, or else the words of its classifiers."""
    stated: str | None = found["licence"]
    if stated is not None and "\n" not in stated:  # the field may contain the whole text of a licence
        if stated.casefold() != entry.licence.casefold():
            yield f"the entry says {entry.licence}, and the package states {stated}"
        return
    named = [each.rpartition("::")[2].strip() for each in found["licence_classifiers"]]
    word = entry.licence.partition("-")[0].casefold()
    if not any(word in each.casefold() for each in named):
        yield f"the entry says {entry.licence}, and the package states {', '.join(named) or 'no licence'}"


def _task_faults(entry: RegistryEntry, tasks: Any) -> Iterator[str]:
    for name in sorted(entry.tasks.keys() - tasks.keys()):
        yield f"the package has no task {name!r}"
    for name in sorted(tasks.keys() - entry.tasks.keys()):
        yield f"the entry lacks the task {name!r}"
    for name in sorted(entry.tasks.keys() & tasks.keys()):
        for what in ("version", "hash"):
            if entry.tasks[name][what] != tasks[name][what]:
                yield f"{name}: the entry's {what} is {entry.tasks[name][what]}, the package's {tasks[name][what]}"


def _rule_faults(rows: Any) -> Iterator[str]:
    for row in rows:
        case = row["rule"] if row["task"] is None else f"{row['rule']}: {row['task']}"
        yield from (f"{case}: {fault}" for fault in row["faults"])
