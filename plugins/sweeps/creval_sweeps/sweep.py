"""The runs of a run file: each is started, resumed, or left unchanged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from creval.plugin import CrevalError, RunError, UsageError, open_run
from creval.plugin.sweeps import (
    HIDDEN,
    MAY_DIFFER,
    TARGET,
    Budget,
    Finished,
    LimiterPool,
    Observer,
    Plugins,
    RunFolder,
    RunOptions,
    SweepLimits,
    TaskIndex,
    TaskPlan,
    asks_people,
    check_baseline_name,
    keep_files,
    load_plugins,
    model_options,
    open_batching,
    open_model,
    open_plans,
    options_data,
    read_options,
    resume,
    run_names,
    run_new,
    spent_by,
)
from creval_sweeps.run_file import ModelEntry, RunFile
from creval_sweeps.shared_loop import drive_together

__all__ = ["Outcome", "Sweep", "SweepRun", "plan_sweep", "run_sweep"]

Watch = Callable[[str], AbstractContextManager[Observer]]


@dataclass(frozen=True, slots=True)
class SweepRun:
    """One run of a run file: its model, options with the folder as their `output`, and whether it is `new`, `begun`
    or `done`."""

    entry: ModelEntry
    options: RunOptions
    state: str

    @property
    def folder(self) -> Path:
        """Return its run folder."""
        assert self.options.output is not None
        return self.options.output


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one run: its folder, and its results or the error that ended it. `worked`: it made something."""

    part: SweepRun
    finished: Finished | None = None
    error: CrevalError | None = None
    worked: bool = True


@dataclass(frozen=True, slots=True)
class Sweep:
    """The planned runs of a run file in one folder."""

    file: RunFile
    options: RunOptions
    output: Path
    parts: Sequence[SweepRun]
    plans: Sequence[TaskPlan]

    def keep(self) -> None:
        """Write the file that repeats all of them, and the tasks next to it. Raises RunError if that fails."""
        models = [_model_data(part.entry, part.folder.name) for part in self.parts]
        at_once = {"max_models": self.file.max_models} if self.file.max_models > 1 else {}
        keep_files(self.output, self.file.tasks, {"models": models, **at_once}, self.options, self.plans)


def plan_sweep(file: RunFile, options: RunOptions, output: Path) -> Sweep:
    """Plan the runs of a file in `output`, each with its state, after all checks that are possible in advance.

    A file with one model has its run in `output` itself; otherwise `output` contains a run folder for each model and
    the file that repeats them all. `options` are those of the file, overridden by the command line.
    Raises TaskError, DataError, UsageError (a model that cannot be used), RunError (a folder contains another run).
    """
    if file.max_models > 1 and (options.executor != "local" or any(asks_people(e.model) for e in file.models)):
        what = "models run at the same time only with the executor local and without people"
        raise UsageError(what, where="max_models", fix="Leave it out: they then run one after the other.")
    plugins = load_plugins()
    requested = [str(task) for task in TaskIndex(plugins).choose(file.tasks)]
    plans = open_plans(requested, options, plugins)
    asked = {plan.task.name: plan.task.hash for plan in plans}
    names = run_names((entry.model, entry.label) for entry in file.models) if file.several else [""]
    parts = []
    for entry, name in zip(file.models, names, strict=True):
        own = replace(entry.applied(options), output=output / name if name else output)
        parts.append(SweepRun(entry, own, _state(own, entry.model, asked)))
    _check_models([part for part in parts if part.state != "done"], plugins)
    return Sweep(replace(file, tasks=requested), options, output, parts, plans)


def run_sweep(sweep: Sweep, watch: Watch, said: Callable[[SweepRun], object]) -> list[Outcome]:
    """Complete each run, `max_models` of the file at a time; `said` gets each before it starts,
    and `watch` gives an observer for it.

    An error ends only its own run. An interruption ends them all.
    """
    at_once = min(sweep.file.max_models, len(sweep.parts))
    limits = SweepLimits(_budget(sweep), LimiterPool() if at_once > 1 else None)

    def one(part: SweepRun) -> Outcome:
        said(part)
        if part.state == "done":
            return Outcome(part, Finished(part.folder, open_run(part.folder).results), worked=False)
        try:
            with watch(part.entry.model if at_once > 1 else "") as observer:
                return Outcome(part, _work(sweep.file, part, observer, limits))
        except CrevalError as error:
            return Outcome(part, error=error)

    if at_once == 1:
        return [one(part) for part in sweep.parts]
    return drive_together([partial(one, part) for part in sweep.parts], at_once)


def _budget(sweep: Sweep) -> Budget | None:
    """Return the budget over all runs, which includes their past spending; None if there is none."""
    options = sweep.options
    if not sweep.file.several or (options.max_cost is None and options.max_calls is None):
        return None
    spent = [spent_by(RunFolder.open(part.folder)) for part in sweep.parts if part.state != "new"]
    cost, calls = sum(each[0] for each in spent), sum(each[1] for each in spent)
    return Budget(options.max_cost, options.max_calls, cost, calls)


def _work(file: RunFile, part: SweepRun, observer: Observer, limits: SweepLimits) -> Finished:
    if part.state == "new":
        return run_new(file.tasks, part.entry.model, part.options, observer, sweep=limits)
    address = part.options.base_url
    return resume(
        part.folder,
        observer,
        sweep=limits,
        max_cost=part.options.max_cost,
        max_calls=part.options.max_calls,
        base_url=None if address and HIDDEN in address else address,
        detach=part.options.detach,
        allow_code_execution=part.options.allow_code_execution,
        trust_remote_code=part.options.trust_remote_code,
    )


def _state(options: RunOptions, model: str, asked: Mapping[str, str]) -> str:
    """Return the state of a run folder. Raises RunError if it contains another run."""
    assert options.output is not None
    path = options.output
    if not (path / "run.json").exists():
        return "new"
    folder = RunFolder.open(path)
    manifest = folder.read_manifest()
    _check_same(manifest, options, model, asked)
    if manifest["status"] != "done" or not folder.results.is_file():
        return "begun"
    results = open_run(path).results
    whole = all(not task["counts"]["errored"] and not task["counts"]["skipped"] for task in results["tasks"])
    return "done" if whole else "begun"


def _check_same(manifest: Mapping[str, Any], options: RunOptions, model: str, asked: Mapping[str, str]) -> None:
    old, new = options_data(read_options(manifest["options"])), options_data(options)
    different = [name for name in new if name not in MAY_DIFFER and old.get(name) != new[name]]
    if manifest["roles"][TARGET] != model:
        different.insert(0, "model")
    if {task["task"]: task["hash"] for task in manifest["tasks"]} != asked:
        different.insert(0, "tasks")
    if different:
        raise RunError(
            f"the folder holds a run that differs in {', '.join(different)}",
            where=str(options.output),
            fix="Name another folder with --output, or remove that one.",
        )


def _check_models(parts: Sequence[SweepRun], plugins: Plugins) -> None:
    """Raise UsageError with every model that cannot be opened: a missing key must not appear only after hours."""
    faults = []
    for part in parts:
        provider, _, name = part.entry.model.partition("/")
        try:
            if provider == "baseline":  # it is opened with the tasks
                check_baseline_name(name)
                continue
            options = model_options(part.options, Budget(part.options.max_cost, part.options.max_calls))
            batching = open_batching(plugins.registry) if part.options.batch else None
            asyncio.run(open_model(part.entry.model, plugins.registry, options, batching).close())
        except CrevalError as error:
            faults.append((part.entry.model, error))
    if len(faults) == 1:
        raise faults[0][1]
    if faults:
        lines = "\n".join(f"  {model}: {' '.join(str(error).split())}" for model, error in faults)
        raise UsageError(f"{len(faults)} models cannot be called:\n{lines}", fix="Correct these, or leave them out.")


def _model_data(entry: ModelEntry, name: str) -> str | dict[str, Any]:
    """Return a model in the form of a run file."""
    own = dict(entry.own or {})
    if "base_url" in own:
        own["base_url"] = options_data(RunOptions(base_url=own["base_url"]))["base_url"]
    label = {"as": name} if entry.label else {}
    return {"model": entry.model, **label, **own} if own or label else entry.model
