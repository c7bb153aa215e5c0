"""The table of a run's results: one row per metric, with its interval, the counts by status, floor and ceiling.

Headings and notes of tables report the settings that the user changed. Tables of several runs are in creval-compare.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from creval.api import RunResult
from creval.escape import visible
from creval.format import counted, interval_text
from creval.parsing.refusal import REFUSAL_ROUTE
from creval.report.baselines import Baselines
from creval.report.terminal_tables import print_table, table_console
from creval.runs.result_metrics import namesakes
from creval.types.sample import Status

__all__ = [
    "COLUMNS",
    "LEGEND",
    "comparison_notes",
    "count_groups",
    "counts_text",
    "interval_notes",
    "labels",
    "listed_names",
    "own_settings",
    "print_results",
    "result_rows",
    "run_notes",
    "served_words",
    "setting_words",
]


_ASPECTS = {
    "hash": "the task itself",
    "dataset": "data",
    "docs_digest": "docs",
    "generation_overrides": "generation settings",
    "condition_overrides": "conditions",
    "prompt_overrides": "--few-shot or --system",
}


def setting_words(
    generation: Mapping[str, Any], conditions: Mapping[str, Sequence[Any]], prompts: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Return (option, value) as on the command line; the values of a condition are separated by commas."""
    one = [(f"--{name.replace('_', '-')}", str(value)) for name, value in prompts.items()]
    one += [("--generation", f"{name}={_text(value)}") for name, value in generation.items()]
    return one + [("--condition", f"{name}={','.join(map(_text, values))}") for name, values in conditions.items()]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def own_settings(result: RunResult) -> list[str]:
    """Return a run's differences from its tasks, without repetition: settings, conditions, data, changed tasks."""
    notes: dict[str, None] = {}
    shards = {task["shard"] for task in result.results["tasks"] if task.get("shard")}
    notes.update(dict.fromkeys(f"shard {shard}: a part of the docs" for shard in sorted(shards)))
    for task in result.results["tasks"]:
        own = [task.get(f"{name}_overrides") or {} for name in ("generation", "condition", "prompt")]
        words = setting_words(*own)
        notes.update(dict.fromkeys(f"{option} {text}" for option, text in words))
        if task.get("replaced_data"):
            notes[f"--data {task['task']}={task['replaced_data']}"] = None
        if task.get("variant_of") and task.get("changed"):
            notes[f"{task['task']} is {task['variant_of']} with other {', '.join(task['changed'])}"] = None
    return list(notes)


def comparison_notes(results: Sequence[RunResult]) -> Iterator[str]:
    """Yield a line for each difference between runs that makes numbers of a task incomparable."""
    by_task: dict[str, list[Mapping[str, Any]]] = {}
    apart: dict[str, list[str]] = {}
    for result in results:
        for task in result.results["tasks"]:
            by_task.setdefault(task.get("qualified", task["task"]), []).append(task)
    for name, tasks in by_task.items():
        different = [
            words
            for key, words in _ASPECTS.items()
            if len({json.dumps(task.get(key) or None, sort_keys=True) for task in tasks}) > 1
        ]
        if different:
            apart.setdefault(", ".join(different), []).append(name)
    for words, names in apart.items():
        yield f"numbers of {listed_names(names)} cannot be compared: these runs differ in {words}"


COLUMNS = ("task", "metric", "condition", "value", "95 % interval", "n", "floor", "ceiling", "samples")

_METRIC, _CONDITION = COLUMNS.index("metric"), COLUMNS.index("condition")

_BASELINES = COLUMNS.index("floor"), COLUMNS.index("ceiling")

LEGEND = "floor, ceiling: what baseline/floor and baseline/ceiling reached on the same task and docs"

_NAMED = 8  # metrics of one note

_STATUS_NAMES = tuple(status.value for status in Status)


def print_results(
    results: Sequence[RunResult], baselines: Baselines | None = None, console: Console | None = None
) -> None:
    """Print one table per run, with a line that explains the marks.

    The primary metric is bold on a terminal and carries a `*` everywhere else.
    """
    console = console or table_console()
    bold = console.is_terminal and not console.is_dumb_terminal
    legend: dict[str, None] = {}
    notes: dict[str, None] = {}
    for result in results:
        rows = result_rows(result, baselines or Baselines())
        primary = [metric["primary"] for task in result.results["tasks"] for metric in task["metrics"]]
        for row, marked in zip(rows, primary, strict=True):
            if marked:
                row[_METRIC] = _marked(row[_METRIC], bold)
                legend["bold: primary metric" if bold else "* primary metric"] = None
        empty = {index for index in (_CONDITION, *_BASELINES) if all(row[index] is None for row in rows)}
        if not empty.issuperset(_BASELINES):
            legend[LEGEND] = None
        notes.update(dict.fromkeys(interval_notes(result)))
        served = served_words(result)
        if served:
            notes[f"{visible(result.results['model'])} was served by {served}"] = None
        keep = [index for index in range(len(COLUMNS)) if index not in empty]
        title = "; ".join([f"{result.results['model']} ({result.folder.name})", *own_settings(result)])
        console.print(Text(visible(title), style="table.title"), soft_wrap=True)  # a table's title would be wrapped
        shown = [[row[i] for i in keep] for row in rows]
        print_table("", [COLUMNS[i] for i in keep], shown, console, ("task", "metric", "condition", "samples"))
    notes.update(dict.fromkeys(map(visible, comparison_notes(results))))
    for line in (["; ".join(legend)] if legend else []) + list(notes):
        console.print(line, markup=False, emoji=False, soft_wrap=True)


def _marked(name: str, bold: bool) -> Text | str:
    return Text(visible(name), style="bold") if bold else f"{name} *"


def result_rows(result: RunResult, baselines: Baselines) -> list[list[Any]]:
    """Return the rows of one run's table, in the columns of COLUMNS."""
    rows = []
    for task in result.results["tasks"]:
        for metric in task["metrics"]:
            rows.append(
                [
                    task["task"],
                    metric["name"],
                    metric["condition"],
                    metric["value"],
                    interval_text(metric),
                    metric["n"],
                    baselines.value_of(task, metric, "floor"),
                    baselines.value_of(task, metric, "ceiling"),
                    counts_text(metric["counts"], 0 if metric["condition"] else _refusals(task)),
                ]
            )
    return rows


def served_words(result: RunResult) -> str:
    """Return the providers behind a router that answered: `Azure 20, OpenAI 4 (of 24 calls)`; empty if unknown."""
    served: Counter[str] = Counter()
    for task in result.results["tasks"]:
        served.update(task.get("served_by") or {})
    own = str(result.results["model"]).partition("/")[0]
    if set(served) <= {own}:  # a provider without a router
        return ""
    named = ", ".join(f"{name} {count}" for name, count in served.most_common())
    return visible(f"{named} (of {counted(served.total(), 'calls')})")


def interval_notes(result: RunResult) -> Iterator[str]:
    """Return why metrics have no interval, and the unit of the others if it is not the doc."""
    missing: dict[str, list[str]] = {}
    trials: list[str] = []
    for task in result.results["tasks"]:
        for metric in task["metrics"]:
            name = f"{metric['name']} of {task['task']}"
            if metric.get("no_interval"):
                where = f" at {metric['condition']}" if metric["condition"] else ""
                missing.setdefault(metric["no_interval"], []).append(f"{name}{where}")
            elif metric.get("cluster") == "trial" and not metric["condition"]:
                trials.append(name)
    for reason, names in missing.items():
        yield visible(f"no interval, as {reason}: {listed_names(names)}")
    if trials:
        yield visible(f"interval over trials, not docs: {listed_names(trials)}")


def listed_names(names: Sequence[str]) -> str:
    """Return names with commas, the first ones of many."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _refusals(task: Mapping[str, Any]) -> int:
    """Return the number of unparsed answers of a task that were plain refusals."""
    return sum(count for route, count in task.get("routes", {}).items() if REFUSAL_ROUTE in route.split("; "))


def count_groups(task: Mapping[str, Any]) -> list[tuple[Mapping[str, int], list[str]]]:
    """Return the counts by status of metrics over all conditions, each with the metrics that have them.

    A sample has a status for each score: if a judge failed, it lacks only the judge's scores.
    """
    groups: dict[tuple[int, ...], list[str]] = {}
    for metric in task["metrics"]:
        if metric["condition"] is None:
            groups.setdefault(tuple(metric["counts"][name] for name in _STATUS_NAMES), []).append(metric["name"])
    return [(dict(zip(_STATUS_NAMES, counts, strict=True)), names) for counts, names in groups.items()]


def counts_text(counts: Mapping[str, int], refusals: int = 0) -> str:
    """Return the number of samples by status, without zeros; `refusals` is the number among the unparsed."""
    shown = {name: f"{counts[name]} {name}" for name in _STATUS_NAMES if counts[name] or name == "scored"}
    if refusals and "unparsed" in shown:
        shown["unparsed"] += f" ({refusals} refusal{'s' if refusals > 1 else ''})"
    return ", ".join(shown.values())


def labels(models_and_folders: Sequence[tuple[str, str]]) -> list[str]:
    """Return a name for each (model, folder): the model, followed by the folder's name if the model is not unique."""
    models = [model for model, _ in models_and_folders]
    return [model if models.count(model) == 1 else f"{model} ({folder})" for model, folder in models_and_folders]


def run_notes(results: Sequence[RunResult]) -> list[str]:
    """Return the notes on runs in one table, each once, with the runs to which it applies."""
    runs_by_note: dict[str, list[str]] = {}
    for result, name in zip(results, _names(results), strict=True):
        served = served_words(result)
        notes_of_run = [*own_settings(result), *_unscored(result), *interval_notes(result)]
        for words in dict.fromkeys([*notes_of_run, *([f"served by {served}"] if served else [])]):
            runs_by_note.setdefault(words, []).append(name)
    notes = [
        words if len(names) == len(results) > 1 else f"{listed_names(names)}: {words}"
        for words, names in runs_by_note.items()
    ]
    for name, tasks in namesakes(result.results for result in results).items():
        notes.append(f"{' and '.join(tasks)} are different tasks called {name}: their numbers are in separate rows")
    return list(dict.fromkeys([*notes, *comparison_notes(results)]))


def _names(results: Sequence[RunResult]) -> list[str]:
    return labels([(str(result.results["model"]), result.folder.name) for result in results])


def _unscored(result: RunResult) -> Iterator[str]:
    """Return how the samples of a task ended if not all are scored, and for which metrics if these differ."""
    for task in result.results["tasks"]:
        groups = count_groups(task)
        for counts, names in groups:
            if counts["scored"] < sum(counts.values()):
                which = f" {listed_names(names)}:" if len(groups) > 1 else ""
                yield f"{task['task']}:{which} {counts_text(counts)}"
