"""The end of a run on the terminal: its results, warnings about them, and the exit code."""

from __future__ import annotations

import hashlib
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from creval.api import RunResult
from creval.engine.run import Finished
from creval.errors import BudgetError, RunError
from creval.escape import visible
from creval.models.answers.flags import (
    AT_LIMIT,
    CUT_PROMPT,
    DEFAULT_LEFT_OUT,
    ENDLESS_THINKING,
    LOGPROBS_DROPPED,
    OVER_LIMIT,
    STRANGE_PARTS,
    TEMPLATE_TOKENS,
    UNKNOWN_FINISH_REASON,
)
from creval.report.baselines import Baselines, find_baselines
from creval.report.metric_choice import MetricChoice, chosen
from creval.report.result_tables import count_groups, listed_names, print_results, setting_words
from creval.runs.folder import RunFolder
from creval.runs.labelled import WARNING
from creval.runs.run_commands import CONSENTS, resume_command

__all__ = ["baseline_notes", "ending", "last_words", "warnings_of"]


LONGEST = 1_000
"""The most characters that are shown of an error; all of it is in the run folder."""


def ending(finished: Finished, allowed_error_share: float) -> int:
    """Print the results table and the warnings, and return the exit code."""
    result = RunResult(finished.folder, finished.results)
    shown, hidden = chosen([result], MetricChoice(every=len(result.tasks) == 1))
    print_results(shown, find_baselines(finished.folder.parent))
    if hidden:
        click.echo(
            f"{hidden} more metric{'' if hidden == 1 else 's'}: creval report {shlex.quote(str(finished.folder))} --all"
        )
    click.echo(f"run folder: {finished.folder}")
    return last_words(finished, allowed_error_share)


def last_words(finished: Finished, allowed_error_share: float) -> int:
    """Print the warnings about a run's results, and return the exit code."""
    result = RunResult(finished.folder, finished.results)
    runs_folder = finished.folder.parent
    baselines = find_baselines(runs_folder)
    for line in baseline_notes([result], baselines, runs_folder, absent=False):
        click.echo(line, err=True)
    for line in flag_notes(finished.results):
        click.echo(visible(line), err=True)
    for task in result.results["tasks"]:
        for note in task.get("notes", ()):
            click.echo(visible(f"{task['task']}: {note}"), err=True)
    if finished.budget is not None:
        click.echo(f"stopped by the budget: {finished.budget.what}", err=True)
        again = resume_command(finished.folder, also="--max-cost ... or --max-calls ...")
        click.echo(f"  Resume with a higher limit: {again}", err=True)
        return BudgetError.exit_code
    share = result.error_share()
    if share > allowed_error_share:
        _complain(result, share)
        return 1
    return 0


def _complain(result: RunResult, share: float) -> None:
    faulty = [task for task in result.results["tasks"] if task["first_errors"]]
    partly = any(_less_affected_metrics(task) for task in faulty)
    where = "each counts in the metrics whose scores it has" if partly else "they count in no metric"
    click.echo(f"{share:.1%} of the samples ended as errored; {where}.", err=True)
    for task in faulty:
        errored, listed = task["counts"]["errored"], len(task["first_errors"])
        first = f"; the first {listed}" if listed < errored else ""
        click.echo(visible(f"  {task['task']}: {_samples(errored)} errored{_missing_counts(task)}{first}:"), err=True)
        for reason, names in _by_reason(task["first_errors"]).items():
            which = names[0] if len(names) == 1 else f"{_samples(len(names))} ({', '.join(names)})"
            head, *rest = visible(f"{which}: {reason}", LONGEST).splitlines()
            click.echo("\n".join([f"    {head}", *(f"      {line.strip()}" for line in rest)]), err=True)
    click.echo(f"  Retry them with: {resume_command(result.folder)}", err=True)


def _less_affected_metrics(task: Mapping[str, Any]) -> list[str]:
    """Yield the metrics in which fewer samples errored than in the task as a whole."""
    groups = count_groups(task)
    return [name for counts, names in groups if counts["errored"] < task["counts"]["errored"] for name in names]


def _missing_counts(task: Mapping[str, Any]) -> str:
    """Return in which metrics errored samples are missing, if not in all."""
    if not _less_affected_metrics(task):
        return ""
    missing = [
        f"{counts['errored']} missing from {listed_names(names)}"
        for counts, names in count_groups(task)
        if counts["errored"]
    ]
    return f" ({'; '.join(missing) or 'missing from no metric'})"


def _samples(count: int) -> str:
    return f"{count} sample" if count == 1 else f"{count} samples"


def _by_reason(errors: Sequence[Mapping[str, Any]]) -> Mapping[str, Sequence[str]]:
    """Group errored samples by their reason; each is named by the parts of its key that differ."""
    conditions = len({error["condition"] for error in errors}) > 1
    repeats = len({error["repeat"] for error in errors}) > 1
    groups: dict[str, list[str]] = {}
    for error in errors:
        words = [error["doc"], *([error["condition"]] if conditions else [])]
        words += [f"repeat {error['repeat']}"] if repeats else []
        groups.setdefault(error["reason"], []).append(" ".join(words))
    return groups


_WORDS = {
    CUT_PROMPT: (
        "the server counts far fewer tokens than the prompt needs: it has probably cut the prompt. Give the model a "
        "longer context on the server (Ollama: num_ctx, OLLAMA_CONTEXT_LENGTH)"
    ),
    ENDLESS_THINKING: (
        "the model's thinking never ends, so there is no answer. Raise the limit: --generation max_tokens=..."
    ),
    AT_LIMIT: "the server reports an answer as whole although it reaches the limit; it counts as truncated",
    OVER_LIMIT: "the answer is longer than the limit that was sent: the server ignores it",
    LOGPROBS_DROPPED: "log-probabilities that are not finite, or do not match the answer, were left out",
    UNKNOWN_FINISH_REASON: (
        "the server sent a finish reason that creval does not know; the answer counts as whole. `creval samples` shows "
        "which samples, `creval sample` the word"
    ),
    DEFAULT_LEFT_OUT: (
        "a setting at the provider's default (top_p 1, temperature 1) was not sent: the model accepts only one of them"
    ),
    STRANGE_PARTS: "the answer contains parts of a kind that creval does not know; they were left out",
    TEMPLATE_TOKENS: (
        "tokens of the chat template were in the answer and were taken out; the server may use the wrong template"
    ),
}


def flag_notes(results: Mapping[str, Any]) -> list[str]:
    """Return the lines for a run's results."""
    return [
        f"{task['task']}: in {count} of {task['planned']} samples {_WORDS[flag]}."
        for task in results["tasks"]
        for flag, count in task.get("flags", {}).items()
        if flag in _WORDS
    ]


_BOTH = ("floor", "ceiling")


def warnings_of(results: Sequence[RunResult]) -> list[str]:
    """Return the warnings in results that readers of the numbers need, each once."""
    notes = [
        (task["task"], note) for each in results for task in each.results["tasks"] for note in task.get("notes", ())
    ]
    return list(dict.fromkeys(f"{task}: {note}" for task, note in notes if note.startswith(WARNING)))


def baseline_notes(results: Sequence[RunResult], found: Baselines, folder: Path, absent: bool = True) -> list[str]:
    """Return lines on the tasks whose baselines in `folder` are over other docs, and (`absent`) on tasks without any.

    A score is only shown next to a floor over the same docs, as others are not comparable. Runs with the same questions
    share their lines. Runs that could not be read come first.
    """
    notes: dict[tuple[str, ...], None] = {(fault,): None for fault in found.faults}
    folder = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    for result in results:
        without_baselines, elsewhere = [], defaultdict[tuple[str, ...], list[Mapping[str, Any]]](list)
        for task in result.results["tasks"]:
            other_baselines = found.elsewhere(task)
            if other_baselines:
                elsewhere[tuple(other_baselines)].append(task)
            elif not found.known(task):
                without_baselines.append(task)
        for baselines, tasks in elsewhere.items():
            is_, it_is = ("are", "they are") if len(baselines) > 1 else ("is", "it is")
            names = ", ".join(task["task"] for task in tasks)
            subject = f"{' and '.join(baselines)} of {names} {is_} for other docs or settings"
            head = f"In {folder} the {subject}, so {it_is} not shown. For the same docs and settings:"
            notes[head, *_commands(result, tasks, baselines, folder)] = None
        if absent and without_baselines:
            names = ", ".join(sorted({task["task"] for task in without_baselines}))
            head = f"No floor or ceiling of {names} was found among the runs in {folder}. If a task has them:"
            notes[head, *_commands(result, without_baselines, _BOTH, folder)] = None
    return [visible(line) for note in notes for line in note]


def _commands(
    result: RunResult, tasks: Sequence[Mapping[str, Any]], baselines: Sequence[str], folder: Path
) -> list[str]:
    """Return the commands that run baselines of `tasks` into `folder`, as far as the run's options are known."""
    try:
        manifest = RunFolder.open(result.folder).read_manifest()
    except RunError:  # only results, without the rest of the run
        return [f"  make them with the options of the run and --model baseline/{kind}" for kind in baselines]
    words = ["creval", "--tasks", ",".join(_names(manifest, tasks)), *_options(manifest)]
    digest = hashlib.sha256(shlex.join(words).encode()).hexdigest()[:6]
    name = "+".join(task["task"] for task in tasks)[:60]
    return [
        f"  {shlex.join([*words, '--model', f'baseline/{kind}', '--output', str(folder / f'{name}-{kind}-{digest}')])}"
        for kind in baselines
    ]


def _names(manifest: Mapping[str, Any], tasks: Sequence[Mapping[str, Any]]) -> Sequence[str]:
    """Return the tasks as the run named them: a suite may override them, and by their own names they would differ."""
    requested: Sequence[str] = manifest["requested"]
    known = {name for task in manifest["tasks"] for name in (task["task"], task["qualified"])}
    wanted = {name for task in tasks for name in (task["task"], task["qualified"])}
    return [name for name in requested if name in wanted] if known.issuperset(requested) else requested


def _options(manifest: Mapping[str, Any]) -> list[str]:
    """Return the options that affect docs, repeats and resources, as the user gave them."""
    user_options = {name: value for name, value in manifest["options"].items() if manifest["origins"][name] == "user"}
    words: list[str] = []
    for name in ("limit", "shard", "repeats", "seed"):
        if name in user_options:
            words += [f"--{name}", str(user_options[name])]
    prompts = {name: user_options[name] for name in ("few_shot", "system") if name in user_options}
    for pair in setting_words(user_options.get("generation", {}), user_options.get("conditions", {}), prompts):
        words += pair
    for name, option in (("data", "--data"), ("resources", "--resource"), ("roles", "--role")):
        for key, value in user_options.get(name, {}).items():
            words += [option, f"{key}={value}"]
    for doc in user_options.get("docs", ()):
        words += ["--sample-id", doc]
    return words + [f"--{name.replace('_', '-')}" for name in ("offline", *CONSENTS) if name in user_options]
