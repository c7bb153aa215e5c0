"""A whole run: new, resumed, or scored again."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from creval.engine.execution import Execution, RunContext, RunRequest, open_executor
from creval.engine.manifest import asked_hash, now, read_options, sign, start_manifest, task_data
from creval.engine.observer import Guarded, Observer, Quiet
from creval.engine.planning.check_plans import advice, provider_advice
from creval.engine.planning.plan import TaskPlan, asked_people, asks_people
from creval.engine.rescoring import copy_run, keep_task_files, resumable_scoring, with_task_files
from creval.engine.resuming.resume_state import ResumeState, Spending
from creval.engine.roles.role_models import TARGET
from creval.engine.run_options import Rescoring, Resuming, RunOptions
from creval.engine.scoring.tally import ResumableTally
from creval.engine.setup import Common, Setup, open_plans, open_setup
from creval.engine.shared_answers import shared_as_before, with_shared, with_task
from creval.engine.snapshot import keep_files
from creval.engine.steps import Finished, RunSteps
from creval.errors import RunError, UsageError
from creval.models.answers.read_answers import READING_VERSION, reading_version
from creval.models.budget import Budget
from creval.models.limiter import LimiterPool
from creval.models.providers.addresses import HIDDEN, shown_address
from creval.plugins.loader import Plugins, load_plugins
from creval.runs.call_journal import CallJournal
from creval.runs.folder import RunFolder
from creval.runs.lock import RunLock
from creval.runs.run_commands import resume_command, score_command
from creval.runs.task_copies import tasks_here
from creval.runs.trust import Claims
from creval.tasks.index import TaskIndex
from creval.tasks.task_paths import is_path
from creval.types.execution import Executor

if TYPE_CHECKING:
    from creval.types.screens import Seat

__all__ = ["Finished", "SweepLimits", "rescore", "resume", "run_new"]

_LOG = logging.getLogger("creval")
RUNS = Path("runs")
_AS_BEFORE = Rescoring()


class SweepLimits(NamedTuple):
    """The limits that the runs of a sweep share: the common budget, and the calls in flight to each provider."""

    budget: Budget | None = None
    limiters: LimiterPool | None = None


def _common(budget: Budget, sweep: SweepLimits | None) -> Common:
    return Common(budget, LimiterPool(within=sweep.limiters if sweep is not None else None))


def run_new(
    tasks: Sequence[str],
    model: str,
    options: RunOptions,
    observer: Observer | None = None,
    seat: Seat | None = None,
    sweep: SweepLimits | None = None,
) -> Finished:
    """Start a run in a new folder. `seat` is where a person answers, if the model is one, `sweep` the shared limits.

    Raises UsageError, TaskError, DataError, RunError before the first call. A run that ends with an error before it has
    written a sample (e.g. a judge's key is missing) leaves no folder behind.
    """
    if not tasks:
        raise UsageError("no task is named", where="--tasks", fix="List them with: creval ls")
    if not model:
        raise UsageError("no model is named", where="--model", fix="For example: --model openrouter/openai/gpt-5-mini")
    watcher = Guarded(observer or Quiet())
    watcher.on_phase("open", None, 0, 0)
    plugins = load_plugins()
    executor = _executor(options, plugins)
    if executor.remote and asks_people(model):
        raise UsageError("a person can only answer on this machine", where="--executor", fix="Leave --executor out.")
    requested = [str(task) for task in TaskIndex(plugins).choose(tasks)]  # a pattern may match other tasks tomorrow
    plans = open_plans(requested, options, plugins, people=asks_people(model))
    plans = with_shared(plans, model, plugins.registry)
    roles = {TARGET: model, **options.roles}
    common = _common(Budget(options.max_cost, options.max_calls, within=sweep and sweep.budget), sweep)
    setup = open_setup([plan.task for plan in plans], roles, options, plugins, common, seat)
    setup.open_parts(resources=not executor.remote, check=not (executor.remote or options.cache or options.reuse))
    for plan in plans:
        for line in advice(plan, options):
            _LOG.warning(line)
    unpinned = provider_advice(model, options)
    if unpinned:
        _LOG.warning(unpinned)
    for reused in options.reuse:
        RunFolder.open(reused)
    if options.output:
        folder = RunFolder.create(options.output)
    else:
        names = [plan.task.name for plan in plans]
        names += [f"shard{options.shard.replace('/', 'of')}"] if options.shard else []
        folder = RunFolder.create_default(RUNS, model, names, now().replace(":", ""))
    with RunLock(folder.path):
        folder.check_new()  # another process may have started and ended here since
        try:
            manifest = start_manifest(requested, roles, options, plugins, plans)
            folder.copies += keep_files(folder.path, requested, _named(roles), options, plans)
            _keep_calls(setup, folder, manifest)
            context = RunContext(setup, plans, RunRequest(manifest["requested"], roles, asks_people(model)))
            return RunSteps(
                folder, manifest, Execution(context, executor), watcher, _resume_states(folder, plans)
            ).whole()
        except Exception as error:  # not after an interruption: such a run can be resumed
            if not (isinstance(error, RunError) and folder.manifest.exists()):  # nor a full disk, whose fix says so
                folder.forget([plan.task.name for plan in plans])
            if not folder.manifest.exists() and hasattr(error, "__notes__"):
                error.__notes__.clear()  # nothing is left to resume
            raise


def resume(
    path: Path,
    observer: Observer | None = None,
    seat: Seat | None = None,
    sweep: SweepLimits | None = None,
    **given: Unpack[Resuming],
) -> Finished:
    """Resume a run: make missing samples, retry errored ones, score, aggregate.

    `max_cost` and `max_calls` replace the run's own limits; its spending so far counts against them. `seat` is where a
    person answers, if the model is one. `base_url` is the run's own address; it must be given again if it may contain a
    secret. `allow_code_execution` and `trust_remote_code` must always be given again. Raises RunError if the run is
    locked, or if a task or its data changed since it began, and UsageError if the address is missing or differs, or if
    programs would run without consent.
    """
    watcher = Guarded(observer or Quiet())
    folder = RunFolder.open(path)
    with RunLock(path):
        folder.clear_halves()
        manifest = folder.read_manifest()
        _check_reading(manifest, path)
        trusted = _check_trust(manifest, path, "resume", given)
        anew = {name: given.get(name) for name in ("max_cost", "max_calls", "executor", "executor_options")}
        manifest["options"] |= {name: value for name, value in anew.items() if value is not None}
        if trusted:
            sign(manifest, path)
        options = read_options(manifest["options"])
        options = replace(
            options,
            output=path,
            base_url=_address(options.base_url, given.get("base_url"), path),
            detach=given.get("detach", False),
            allow_code_execution=given.get("allow_code_execution", False),
            trust_remote_code=given.get("trust_remote_code", False),
        )
        plugins = load_plugins()
        executor = _executor(options, plugins)
        named, people = tasks_here(folder, manifest["requested"], trusted), asked_people(manifest)
        plans = shared_as_before(open_plans(named, options, plugins, new=False, people=people), manifest)
        _check_unchanged(manifest, plans, path)
        states, spending = _resume_states(folder, plans), Spending()
        for state in states.values():
            state.load()
            spending.join(state.samples.summary.spending)
        before = spending.of_run(folder, manifest)
        budget = Budget(options.max_cost, options.max_calls, *before, within=sweep and sweep.budget)
        common = _common(budget, sweep)
        setup = open_setup([plan.task for plan in plans], manifest["roles"], options, plugins, common, seat)
        setup.open_parts(resources=not executor.remote)
        _keep_calls(setup, folder, manifest)
        if setup.models.batching is not None:
            cost, calls = setup.models.batching.spent
            budget.cost, budget.calls = max(budget.cost, cost), max(budget.calls, calls)
        context = RunContext(setup, plans, RunRequest(named, manifest["roles"], people))
        return RunSteps(folder, manifest, Execution(context, executor), watcher, states).whole()


def rescore(path: Path, how: Rescoring = _AS_BEFORE, observer: Observer | None = None) -> Finished:
    """Score the saved answers again with the tasks as they are now; the target model is not asked.

    Judges' answers in the run's ledger are not paid for again. Raises RunError if the run is locked, its tasks are
    gone, or a task's questions (data, prompts, protocol, settings) are not those of the saved answers; raises
    BudgetError, and keeps the old scores, if the limit is reached before the end.
    """
    if how.output is not None:
        finished = rescore(copy_run(path, how.output), replace(how, output=None), observer)
        keep_task_files(how.output, how.task_files, load_plugins())
        return finished
    watcher = Guarded(observer or Quiet())
    folder = RunFolder.open(path)
    with resumable_scoring(path, how), RunLock(path):
        folder.clear_halves()
        manifest = folder.read_manifest()
        _check_reading(manifest, path)
        trusted = _check_trust(manifest, path, "score", how)
        options = how.applied(read_options(manifest["options"]))
        plugins = load_plugins()
        executor = _executor(options, plugins)
        named, people = tasks_here(folder, manifest["requested"], trusted), asked_people(manifest)
        plans = open_plans(named, options, plugins, people=people)
        plans = with_task_files(plans, how.task_files, options, plugins)
        plans = shared_as_before([_recorded_plan(plan, manifest, path) for plan in plans], manifest)
        for name in how.tasks:
            plans = _with_task(name, plans, (manifest, options, plugins), path)
        if how.tasks and trusted:
            sign(manifest, path)
        named = [*named, *how.tasks]
        roles = {**manifest["roles"], **how.roles}
        setup = open_setup([plan.task for plan in plans], roles, options, plugins)
        setup.open_parts(target=False, resources=not executor.remote)
        _keep_calls(setup, folder, manifest)
        if setup.models.batching is not None:
            setup.models.batching.resume_command = score_command(path, manifest, how.words())
        request = RunRequest(named, roles, people, [str(file.absolute()) for file in how.task_files], target=False)
        states = _resume_states(folder, plans, anew=True)
        execution = Execution(RunContext(setup, plans, request), executor)
        return RunSteps(folder, manifest, execution, watcher, states).scored_again()


def _with_task(
    name: str, plans: list[TaskPlan], given: tuple[dict[str, Any], RunOptions, Plugins], path: Path
) -> list[TaskPlan]:
    """Return the plans of a run with that of a further task that asks the same, and add the task to the manifest."""
    manifest, options, plugins = given
    added = []
    for plan in open_plans([name], options, plugins, people=asked_people(manifest)):
        if plan.task.name not in [each.task.name for each in plans]:
            added.append(with_task(plan, plans, manifest, plugins.registry))
    if added:
        manifest["tasks"] += map(task_data, added)
        manifest["requested"].append(str(Path(name).expanduser().absolute()) if is_path(name) else name)
        if is_path(name):
            keep_task_files(path, [Path(name)], plugins)
    return [*plans, *added]


def _check_trust(manifest: dict[str, Any], path: Path, verb: str, given: Mapping[str, Any] | Rescoring) -> bool:
    """Raise UntrustedError if a run that was not made here names anything that the command line does not give.

    Returns whether everything it names is trusted. Options of an executor belong to the executor named with them.
    """
    claims = Claims.of_run(manifest, path)
    options = given if isinstance(given, Mapping) else {"executor": given.executor}
    names = {name for name in ("base_url", "executor", "executor_options") if options.get(name) is not None}
    names |= {"base_url"} if verb == "score" else set()  # the target is not asked
    command = resume_command(path, manifest) if verb == "resume" else score_command(path, manifest)
    claims.check(command, names)
    trusted = claims.trusted
    if not trusted and "executor" in names and options.get("executor_options") is None:
        manifest["options"]["executor_options"] = {}
    return trusted or all(each.option in names for each in claims.named())


def _executor(options: RunOptions, plugins: Plugins) -> Executor:
    """Open the executor."""
    executor = open_executor(options.executor, options.executor_options, plugins.registry)
    if executor.remote and options.batch:
        fix = "Leave --batch or --executor out."
        raise UsageError("batches are collected only in this process", where="--executor", fix=fix)
    return executor


def _resume_states(
    folder: RunFolder, plans: Sequence[TaskPlan], anew: bool = False
) -> dict[str, ResumeState[ResumableTally]]:
    """Return the state of each task, not read yet; with `anew` its scores are stored next to the old ones."""
    return {
        plan.task.name: ResumeState(
            folder, plan, partial(ResumableTally, plan), folder.new_scores(plan.task.name) if anew else None
        )
        for plan in plans
    }


def _named(roles: Mapping[str, str]) -> dict[str, str]:
    return {"model": roles[TARGET]}


def _address(stored: str | None, given: str | None, path: Path) -> str | None:
    """Return the address to resume with. Raises UsageError if it was not stored completely and is not given again."""
    if given is not None:
        displayed = shown_address(given)
        if displayed != stored:
            raise UsageError(
                f"the run was made {f'at {stored}' if stored else 'without an address'}, not at {displayed}",
                where="--base-url",
                fix="Give the run's own address, or start a new run.",
            )
        return given
    if stored is not None and HIDDEN in stored:
        raise UsageError(
            f"the address of this run, {stored}, may contain a secret, so it is not stored completely",
            where=str(path),
            fix=f"Give it again: {resume_command(path)}",
        )
    return stored


def _recorded_plan(plan: TaskPlan, manifest: Mapping[str, Any], path: Path) -> TaskPlan:
    """Return a plan with the docs and repeats of the run. Raises RunError if the run's questions were others."""
    old = next((task for task in manifest["tasks"] if task["task"] == plan.task.name), None)
    if old is None:
        raise RunError(f"the run has no task {plan.task.name!r}", where=str(path), fix="Start a new run.")
    same_data = old["dataset"]["fingerprint"] == plan.dataset.fingerprint
    if not same_data or old["asked"] != asked_hash(plan.task):
        what = "its requests" if same_data else "its data"
        raise RunError(
            f"{plan.task.name!r} changed in {what} since this run began, so the saved answers do not belong to it",
            where=str(path),
            fix="Start a new run. Scoring again covers only changes of parsers, scorers, metrics and resources.",
        )
    return replace(plan, indices=old["indices"], repeats=old["repeats"])


def _keep_calls(setup: Setup, folder: RunFolder, manifest: dict[str, Any]) -> None:
    """Give the ledger the run's journal, and the journals of the runs that the manifest allows it to reuse.

    Batches have a separate journal.
    """
    others, reused = [], manifest.setdefault("reused", [])
    for path in setup.options.reuse:
        try:
            source = RunFolder.open(path)
            about = source.read_manifest()
        except RunError as error:  # what was used from it is already in the run's own journal
            _LOG.warning("the answers of an earlier run cannot be reused: %s", error)
            continue
        others.append(CallJournal(source, read_only=True))
        entry = {"run": str(path.absolute()), "started": about["started"], "at": now()}
        if entry["run"] not in {known["run"] for known in reused}:
            reused.append(entry)
    setup.ledger.keep_in(CallJournal(folder), others)
    if setup.models.batching is not None:
        setup.models.batching.open_journal(folder.batches)


def _check_reading(manifest: Mapping[str, Any], path: Path) -> None:
    """Raise RunError if a later creval read the answers of the run by rules that this one does not have."""
    if reading_version(manifest) > READING_VERSION:
        raise RunError(
            f"its answers are read by version {reading_version(manifest)} of creval's rules, "
            f"and this creval has {READING_VERSION}",
            where=str(path),
            fix="Use the creval that made the run, or a later one.",
        )


def _check_unchanged(manifest: Mapping[str, Any], plans: Sequence[TaskPlan], path: Path) -> None:
    """Raise RunError if a task has changed: other questions need another run."""
    before = {task["task"]: task for task in manifest["tasks"]}
    for plan in plans:
        old, new = before.get(plan.task.name), task_data(plan)
        # A run is not refused because its manifest lacks entries that later versions add.
        other_data = old is None or any(new["dataset"].get(key) != said for key, said in old["dataset"].items())
        if old is not None and old["hash"] == new["hash"] and not other_data:
            continue
        what = "the data" if old is not None and old["hash"] == new["hash"] else "the task"
        fix = "Start a new run."
        if old is not None and old["asked"] == new["asked"] and not other_data:
            again = score_command(path, manifest)
            fix = f"Start a new run; or score the saved answers with the task as it is now: {again}"
        raise RunError(f"{what} of {plan.task.name!r} changed since this run began", where=str(path), fix=fix)
