"""`creval merge`: merge the shards of a run into the run that they are parts of."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from creval.plugin import RunError
from creval.plugin.shards import (
    FORMAT_VERSION,
    MADE_HERE,
    READING_VERSION,
    TARGET,
    CallJournal,
    Claims,
    Ledger,
    MediaFolder,
    Plugins,
    Ranking,
    RunFolder,
    RunLock,
    RunOptions,
    Shard,
    TaskPlan,
    TaskUsage,
    UsedResources,
    aggregate_task,
    asked_people,
    check_manifest,
    check_results,
    core_version,
    disk_error,
    empty_tally,
    keep_files,
    load_plugins,
    now,
    open_plans,
    read_options,
    reading_version,
    start_manifest,
    task_results,
    tasks_here,
)
from creval_shards.merge_samples import Merged, merge_samples, merge_scores
from creval_shards.merge_verdicts import CallRanks, Verdicts, merge_calls
from creval_shards.shard_runs import ShardRun, check_same, locked_parts, missing_shards

__all__ = ["MergedRun", "merge_runs"]

_USED_KEYS = ("instruments", "asked_instruments")


@dataclass(frozen=True, slots=True)
class MergedRun:
    """The merged run, and its missing parts: shards, samples of the planned number, scores.

    `results` is None if anything is missing: `creval resume` then makes the rest. `differing` counts the questions to
    other roles that parts answered differently.
    """

    folder: Path
    results: Mapping[str, Any] | None
    missing: Sequence[Shard]
    planned: int
    samples: int
    scores: int
    differing: int


def merge_runs(folders: Sequence[Path], output: Path, command: str = "") -> MergedRun:
    """Merge parts into one run, in the order of the undivided run. The parts are not changed.

    Only tables of line positions are in memory. Until everything is written, the run is in a hidden folder next to
    `output`, so that a killed process leaves no run behind; the next merge removes the folder.
    Raises RunError (not parts of one run, one is in use, samples that differ, damaged rows, a full disk), UsageError,
    and TaskError or DataError if the tasks or data of the runs are missing here.
    """
    with locked_parts(folders, output) as parts, _new_folder(output) as target:
        check_same(parts)
        options = _options(parts, output, command)
        plugins = load_plugins()
        claims = [Claims.of_run(part.manifest, part.path) for part in parts]
        claims[0].check(_again(folders, output), only=("data",))  # all else acts only when the merged run is resumed
        requested = tasks_here(parts[0].folder, parts[0].manifest["requested"], claims[0].trusted)
        plans = open_plans(requested, options, plugins, new=False, people=asked_people(parts[0].manifest))
        _check_plans(parts, plans)
        made = _Merge(parts, target, plans, plugins, options)
        made.own = all(each.trusted for each in claims)
        made.write()
        return made.finish(output)


@contextmanager
def _new_folder(output: Path) -> Iterator[RunFolder]:
    """Yield a hidden folder that becomes `output` at the end, or is removed if the end is not reached."""
    try:
        taken = output.exists() and (not output.is_dir() or any(output.iterdir()))
    except OSError as error:
        raise disk_error(error, output / "run.json") from error
    if taken:
        raise RunError("something is there already", where=str(output), fix="Name another folder with --output.")
    hidden = output.parent / f".{output.name}.merging"
    try:
        hidden.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, output / "run.json") from error
    with RunLock(hidden):
        try:
            _empty(hidden)
            yield RunFolder(hidden)
            hidden.replace(output)
        except OSError as error:
            shutil.rmtree(hidden, ignore_errors=True)
            raise disk_error(error, output / "run.json") from error
        except BaseException:
            shutil.rmtree(hidden, ignore_errors=True)
            raise


def _again(folders: Sequence[Path], output: Path) -> str:
    return shlex.join(["creval", "merge", *map(str, folders), "--output", str(output)])


def _empty(folder: Path) -> None:
    """Remove the remains of a killed merge."""
    for path in folder.iterdir():
        if path.name != ".lock":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _options(parts: Sequence[ShardRun], output: Path, command: str) -> RunOptions:
    """Return the options of the undivided run; its spending limit is the sum of the parts'."""
    given = [read_options(part.manifest["options"]) for part in parts]
    costs = [options.max_cost for options in given if options.max_cost is not None]
    calls = [options.max_calls for options in given if options.max_calls is not None]
    stored = [part.manifest["options"] for part in parts]
    return replace(
        given[0],
        shard=None,
        output=output,
        command=command,
        max_cost=sum(costs) if len(costs) == len(parts) else None,
        max_calls=sum(calls) if len(calls) == len(parts) else None,
        allow_code_execution=any(options.get("allow_code_execution") for options in stored),
        trust_remote_code=any(options.get("trust_remote_code") for options in stored),
    )


def _check_plans(parts: Sequence[ShardRun], plans: Sequence[TaskPlan]) -> None:
    """Raise RunError if tasks or data are not those that the runs were made with."""
    before = {task["task"]: task for task in parts[0].manifest["tasks"]}
    for plan in plans:
        old = before.get(plan.task.name)
        if old is None or old["hash"] != plan.task.hash or old["dataset"]["fingerprint"] != plan.dataset.fingerprint:
            same = old is not None and old["hash"] == plan.task.hash
            what = (
                f"its data of {plan.task.name!r} differ from those on this machine"
                if same
                else "its tasks changed since"
            )
            raise RunError(what, where=str(parts[0].path), fix="Merge with the tasks and data of the runs.")
    if len(before) != len(plans):
        raise RunError("its tasks changed since", where=str(parts[0].path), fix="Merge with the tasks of the runs.")


class _Merge:
    """One merge in progress."""

    def __init__(
        self,
        parts: Sequence[ShardRun],
        target: RunFolder,
        plans: Sequence[TaskPlan],
        plugins: Plugins,
        options: RunOptions,
    ) -> None:
        self._parts = parts
        self._target = target
        self._plans = plans
        self._plugins = plugins
        self._options = options
        self._merged: list[Merged] = []
        self._scores = 0
        self._differing = 0
        self.own = True  # else the merged run, like its parts, is not of this installation

    def write(self) -> None:
        """Write samples, calls and scores in order."""
        rankings = [Ranking(plan) for plan in self._plans]
        media = MediaFolder(self._target.path)
        for part in self._parts:
            media.join(part.path)
        for plan, ranking in zip(self._plans, rankings, strict=True):
            self._merged.append(merge_samples(self._parts, self._target, plan.task.name, ranking))
        places, unused = CallRanks(self._plans, rankings, self._merged), set[tuple[int, str]]()
        for role in sorted({role for part in self._parts for role in part.folder.called_roles()}):
            verdicts: Verdicts = merge_calls(self._parts, self._target, role, places)
            self._differing += verdicts.differing
            unused |= verdicts.unused
        for plan, ranking, merged in zip(self._plans, rankings, self._merged, strict=True):
            stale = {part for part, role in unused if role in plan.task.roles}
            which = (merged, stale)
            self._scores += merge_scores(self._parts, self._target, plan.task.name, ranking, which)

    def finish(self, output: Path) -> MergedRun:
        """Write the manifest, and the results if nothing is missing."""
        planned = sum(plan.total for plan in self._plans)
        samples = sum(merged.samples for merged in self._merged)
        missing = missing_shards(self._parts)
        whole = not missing and all(part.ended for part in self._parts) and samples == self._scores == planned
        # Runs of an older version are scored again by the current rules.
        whole = whole and reading_version(self._parts[0].manifest) == READING_VERSION
        first = self._parts[0].manifest
        model = {"model": first["roles"][TARGET]}
        keep_files(self._target.path, first["requested"], model, self._options, self._plans, trusted=self.own)
        results = self._results(output) if whole else None
        if results is not None:
            check_results(results)
            self._target.write_results(results)
        manifest = self._manifest(whole)
        check_manifest(manifest)
        self._target.write_manifest(manifest)
        return MergedRun(output, results, missing, planned, samples, self._scores, self._differing)

    def _manifest(self, whole: bool) -> dict[str, Any]:
        of = [part.manifest for part in self._parts]
        single = list({str(manifest.get("id", number)): manifest for number, manifest in enumerate(of)}.values())
        manifest = start_manifest(of[0]["requested"], of[0]["roles"], self._options, self._plugins, self._plans)
        if not self.own:
            manifest.pop(MADE_HERE, None)
        for name in ("attempts", "rescored", "reused"):
            manifest[name] = [each for one in single for each in one.get(name, ())]
        models: dict[str, Any] = {}
        for one in of:
            models |= one.get("models", {})
        return manifest | {
            "models": models,
            "reading": reading_version(of[0]),
            "started": min(one["started"] for one in of),
            "finished": max(str(one["finished"]) for one in of) if whole else None,
            "status": "done" if whole else "interrupted",
            "merged": {
                "at": now(),
                "runs": [
                    {"run": str(part.path.absolute()), "id": part.manifest.get("id"), "status": part.manifest["status"]}
                    | ({} if part.shard is None else {"shard": str(part.shard)})
                    for part in self._parts
                ],
                "differing_verdicts": self._differing,
            },
        }

    def _results(self, output: Path) -> dict[str, Any]:
        first = self._parts[0].manifest
        journal = CallJournal(self._target)
        ledger = Ledger(self._options.seed)
        try:
            ledger.keep_in(journal)
            made_with = self._made_with()
            tasks = [
                self._task(plan, TaskUsage(merged.usage, ledger.usage(plan.task.name)), made_with[plan.task.name])
                for plan, merged in zip(self._plans, self._merged, strict=True)
            ]
        finally:
            journal.close()
        return {
            "schema": FORMAT_VERSION,
            "creval": core_version(self._plugins),
            "run": output.name,
            "model": first["roles"][TARGET],
            "roles": {**first["roles"], **self._options.roles},
            "seed": self._options.seed,
            "reading": READING_VERSION,
            "status": "done",
            "tasks": tasks,
        }

    def _task(self, plan: TaskPlan, usage: TaskUsage, said: Mapping[str, Any]) -> dict[str, Any]:
        task, registry = plan.task, self._plugins.registry
        target = self._parts[0].manifest["roles"][TARGET]
        planned = UsedResources.of(task, self._options, {}, target)
        used_resources = replace(planned, chosen=said["asked_instruments"], names=said["instruments"])
        tally = empty_tally(plan)
        for record in self._target.score_rows(task.name):
            tally.add_row(record)
        stored = partial(self._target.read_scores, task.name)
        metrics = aggregate_task(plan, tally, used_resources, registry, self._options.seed, stored)
        return task_results(plan, (tally, usage), metrics, used_resources, {})

    def _made_with(self) -> dict[str, Mapping[str, Any]]:
        """Return the resources of each task, the same in every part. Raises RunError if they differ."""
        found: dict[str, Mapping[str, Any]] = {}
        for part in self._parts:
            results = part.results()
            for plan in self._plans:
                name = plan.task.name
                said = {key: results.get(name, {}).get(key) or {} for key in _USED_KEYS}
                said["hash"] = results.get(name, {}).get("hash")
                if said["hash"] != plan.task.hash or found.setdefault(name, said) != said:
                    raise RunError(
                        f"its scores of {name!r} were made with another task or other resources than those of "
                        f"{self._parts[0].path}",
                        where=str(part.path),
                        fix="Score all of them the same way first: creval score",
                    )
        return found
