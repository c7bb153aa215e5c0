"""The runs to merge: check that they are parts of one undivided run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.plugin import RunError, UsageError
from creval.plugin.shards import (
    MAY_DIFFER,
    READING_VERSION,
    RunFolder,
    RunLock,
    Shard,
    options_data,
    parse_shard,
    read_json,
    read_options,
    reading_version,
)

__all__ = ["ShardRun", "check_same", "locked_parts", "missing_shards"]

_OWN = MAY_DIFFER | {"shard", "data"}  # the files of --data may have other paths on another machine


@dataclass(frozen=True, slots=True)
class ShardRun:
    """One of the runs: its folder, its manifest, and its shard (None: it is already undivided)."""

    folder: RunFolder
    manifest: Mapping[str, Any]
    shard: Shard | None

    @property
    def path(self) -> Path:
        """Return its run folder."""
        return self.folder.path

    @property
    def ended(self) -> bool:
        """Return whether it is complete."""
        return self.manifest["status"] == "done" and self.folder.results.is_file()

    def results(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the results.json data of each task. Raises RunError if it is damaged."""
        try:
            data = read_json(self.folder.results)
            return {task["task"]: task for task in data["tasks"]}
        except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
            where = str(self.folder.results)
            raise RunError(f"cannot be read: {error!r}", where=where, fix="Write it again: creval score") from error


@contextmanager
def locked_parts(folders: Sequence[Path], output: Path) -> Iterator[list[ShardRun]]:
    """Open the runs, by number of shard, and lock them against other processes.

    Raises UsageError if none is named, RunError if one is not a run, is in use, is damaged, or is named twice.
    """
    if not folders:
        raise UsageError("no run is named", where="RUNS", fix="Name the shards' run folders, for example: shards/*")
    places: set[Path] = set()
    for folder in folders:
        place = folder.resolve()
        if place in places:
            raise RunError("the run is named twice", where=str(folder), fix="Name each run once.")
        if place == output.resolve():
            raise UsageError("the run is one of those that are merged", where="--output", fix="Name a new folder.")
        places.add(place)
    with ExitStack() as locks:
        parts = []
        for folder in folders:
            opened = RunFolder.open(folder)
            locks.enter_context(RunLock(folder))
            manifest = opened.read_manifest()
            parts.append(ShardRun(opened, manifest, parse_shard(manifest["options"].get("shard"))))
        yield sorted(parts, key=lambda part: (part.shard or Shard(0, 0), folders.index(part.path)))


def check_same(parts: Sequence[ShardRun]) -> None:
    """Raise RunError if two runs are not parts of one run, with all their differences."""
    first = parts[0]
    for part in parts[1:]:
        different = list(_differences(first.manifest, part.manifest))
        if different:
            raise RunError(
                f"it is not part of the same run as {first.path}; they differ in {', '.join(different)}",
                where=str(part.path),
                fix="Merge runs of one command that differ only in --shard and --output.",
            )
    divisions = {part.shard.of: part for part in parts if part.shard is not None}
    if len(divisions) > 1:
        said = " and ".join(f"{of} parts ({part.path})" for of, part in sorted(divisions.items())[:2])
        raise RunError(f"the docs were divided into {said}", fix="Merge the shards of one division.")
    if reading_version(first.manifest) > READING_VERSION:
        reading = reading_version(first.manifest)
        what = f"its answers are read by version {reading} of creval's rules, and this creval has {READING_VERSION}"
        raise RunError(what, where=str(first.path), fix="Use the creval that made the runs, or a later one.")


def missing_shards(parts: Sequence[ShardRun]) -> list[Shard]:
    """Return the shards without a run; none if one of the runs is undivided."""
    shards = {part.shard for part in parts if part.shard is not None}
    if len(shards) == 0 or any(part.shard is None for part in parts):
        return []
    of = next(iter(shards)).of
    return [shard for number in range(1, of + 1) if (shard := Shard(number, of)) not in shards]


def _differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    if one["roles"] != other["roles"]:
        roles = sorted({*one["roles"], *other["roles"]})
        different = [role for role in roles if one["roles"].get(role) != other["roles"].get(role)]
        yield " and ".join("the model" if role == "target" else f"the model of the {role}" for role in different)
    tasks, others = ({task["task"]: task for task in manifest["tasks"]} for manifest in (one, other))
    if list(tasks) != list(others):
        yield "the tasks"
    else:
        for name, task in tasks.items():
            yield from _of_task(name, task, others[name])
    old, new = (options_data(read_options(manifest["options"])) for manifest in (one, other))
    yield from (
        _setting_label(name) for name in new if name not in _OWN and name != "roles" and old.get(name) != new[name]
    )
    if reading_version(one) != reading_version(other):
        yield "the version of the rules by which answers are read (creval score brings both to today's)"


def _of_task(name: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    if one["hash"] != other["hash"]:
        yield f"the task {name!r} itself"
    if one["dataset"] != other["dataset"]:
        yield f"the data of {name!r}"
    if (one["conditions"], one["repeats"]) != (other["conditions"], other["repeats"]):
        yield f"the conditions or repeats of {name!r}"
    if one.get("plugin_version") != other.get("plugin_version"):
        yield f"the version of the plugin of {name!r}"


def _setting_label(name: str) -> str:
    return "the seed" if name == "seed" else f"the option {name}"
