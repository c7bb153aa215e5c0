"""Write a page: markup, style, script and data in one file that loads nothing else.

This module also collects the data of a page, and reads the numbers that a paper printed, which appear next to those of
a run: `published.csv` in a plugin's folder of tasks.

Its columns are task, metric, model, value, source (paper and table), equal (the PARTS that must equal the paper's for a
number to be comparable), and optionally standard_error and remark: how the paper's number
was made differently from the task.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import html
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from creval.plugin import CrevalError, PluginError, Run, open_runs
from creval.plugin.page import (
    Baselines,
    RunOptions,
    file_name,
    find_baselines,
    load_plugins,
    pinned_providers,
    plain,
    provider_advice,
    read_bytes,
    read_yaml_text,
    write_text,
)
from creval_page.page_samples import MOST, PageSamples, collect_samples
from creval_page.short_names import short_names

__all__ = [
    "Printed",
    "differences",
    "filled_page",
    "page_data",
    "page_text",
    "printed_numbers",
    "remarks",
    "same_model",
    "write_page",
]


FILE = "published.csv"

PARTS = ("wording", "data", "instrument", "settings", "judge")
"""The parts of a measurement; `judge` is the model that judges, `wording` that of the prompts."""

_COLUMNS = ("task", "metric", "model", "value", "source", "equal")


class Printed(NamedTuple):
    """One number of a paper. A `remark` says why even the unmodified task does not measure quite the same.

    `equal`: those of PARTS on which the number depends. The remark and a run's differences say which do not match.
    """

    task: str
    metric: str
    model: str
    value: float
    standard_error: float | None
    source: str
    remark: str = ""
    equal: Sequence[str] = ()


def printed_numbers(plugin: str) -> list[Printed]:
    """Return the numbers from the papers of a plugin's tasks; none if it is not installed or has no such file.

    Raises PluginError if the file is damaged.
    """
    folders = [folder for name, folder in load_plugins().task_folders if name == plugin]
    return [number for folder in folders if (folder / FILE).is_file() for number in _read(folder / FILE)]


def _read(file: Path) -> Iterator[Printed]:
    with file.open(encoding="utf-8", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream), 2):
            try:
                task, metric, model, value, source, equal = (row[name] for name in _COLUMNS)
                error = row.get("standard_error")
                plain = (task, metric, model, _finite(value), _finite(error) if error else None, source)
                yield Printed(*plain, row.get("remark") or "", _parts(equal))
            except (KeyError, TypeError, ValueError) as fault:
                fix = f"Its columns are {', '.join(_COLUMNS)} and optionally standard_error and remark."
                raise PluginError(
                    f"is not a row of published numbers: {fault!r}", where=f"{file}:{number}", fix=fix
                ) from None


def _parts(text: str | None) -> tuple[str, ...]:
    parts = tuple((text or "").split())
    unknown = [part for part in parts if part not in PARTS]
    if unknown or not parts:
        raise ValueError(f"equal is {text!r}, and has to name some of {', '.join(PARTS)}")
    return parts


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not a finite number")
    return value


def differences(task: Mapping[str, Any], metric: Mapping[str, Any]) -> list[str]:
    """Return how a run's metric differs from the published one; nothing if they agree.

    Both are parts of results.json. The resource in brackets after the name, docs, tries, settings,
    data and the YAML itself count.
    """
    found = []
    bracket = re.fullmatch(r".*\[(.*)\]", metric["name"])
    if bracket:
        found.append(f"made with {bracket[1]}")
    if task.get("variant_of") and task.get("changed"):
        found.append(f"the task has other {', '.join(task['changed'])}")
    if task.get("docs") != task.get("dataset_docs"):
        found.append(f"{task.get('docs')} of {task.get('dataset_docs')} docs")
    if task.get("replaced_data"):
        found.append("other data")
    own = (("generation", "generation settings"), ("condition", "conditions"), ("prompt", "prompts"))
    for name, said in ((f"{key}_overrides", said) for key, said in own):
        if task.get(name):
            found.append(f"other {said}: {', '.join(task[name])}")
    if task.get("repeats_of_task") not in (None, task.get("repeats")):
        found.append(f"{task['repeats']} tries a doc instead of {task['repeats_of_task']}")
    return found


def same_model(ours: str, printed: str) -> bool:
    """Return whether creval's name of a model (`openai/gpt-5.4-mini`) matches a paper's (`gpt-5-4-mini`)."""
    return _plain(ours.rpartition("/")[2]) == _plain(printed)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r":(?!\d)\w+$", "", name.lower())).strip("-")


def base_name(metric: str) -> str:
    """Return a metric's name without the resource in brackets."""
    return metric.partition("[")[0]


def numbers_of(numbers: Sequence[Printed], task: str, metric: str) -> list[Printed]:
    """Return the printed numbers of a metric of a task."""
    return [number for number in numbers if number.task == task and number.metric == base_name(metric)]


def remarks(numbers: Sequence[Printed], model: str) -> list[str]:
    """Return the remarks on printed numbers: those of the run's own model, or else of any."""
    own = [number for number in numbers if same_model(model, number.model)]
    return list(dict.fromkeys(number.remark for number in own or numbers if number.remark))


_USAGE = ("calls", "input_tokens", "output_tokens", "reasoning_tokens", "cost", "unpriced_calls")

_SETTINGS = (
    "limit",
    "docs",
    "shard",
    "repeats",
    "seed",
    "generation",
    "conditions",
    "resources",
    "roles",
    "data",
    "offline",
)


def page_data(runs: Sequence[Run], baselines: Baselines, most: int = MOST) -> dict[str, Any]:
    """Return the page's data about runs: their facts, every metric with its floor, ceiling and counts, and samples.

    Texts of docs that a task stores by reference are not in it. Raises RunError if a run is unfinished.
    """
    samples = collect_samples(runs, most)
    names = _names(runs)
    records = [_run(run, name, samples, number) for number, (run, name) in enumerate(zip(runs, names, strict=True))]
    return {
        "runs": [{**run, "short": short} for run, short in zip(records, short_names(names), strict=True)],
        "suites": _suites(runs),
        "suite_metrics": _of_every(runs, baselines, "suites"),
        "tasks": _tasks(runs),
        "metrics": _of_every(runs, baselines, "tasks"),
        "distributions": samples.distributions(),
        "samples": {"total": samples.total, "columns": list(PageSamples.COLUMNS), "rows": samples.rows},
    } | {"pieces": samples.pieces, "images": samples.images}


def _names(runs: Sequence[Run]) -> list[str]:
    models = [run.model for run in runs]
    return [
        f"{model} · {run.folder.name}" if models.count(model) > 1 else model
        for model, run in zip(models, runs, strict=True)
    ]


def _run(run: Run, name: str, samples: PageSamples, number: int) -> dict[str, Any]:
    manifest, results = run.manifest, run.results
    options, origins = manifest.get("options", {}), manifest.get("origins", {})
    own = {key: options[key] for key in _SETTINGS if key in options and origins.get(key) == "user"}
    return {
        "name": name,
        "model": run.model,
        "folder": run.folder.resolve().name,
        "status": results["status"],
        "roles": {role: model for role, model in results.get("roles", {}).items() if role != "target"},
        "started": manifest.get("started"),
        "finished": manifest.get("finished"),
        "seed": results.get("seed"),
        "creval": results.get("creval"),
        "own": own,
        "usage": _summed([task.get("usage", {}) for task in results["tasks"]]),
        "by_role": _by_role(results["tasks"]),
        "pinned": pinned_providers(options.get("generation", {})),
        "unpinned": provider_advice(run.model, RunOptions(generation=options.get("generation", {}))),
        "served": dict(samples.served[number].most_common()),
        "notes": list(dict.fromkeys(note for task in results["tasks"] for note in task.get("notes", ()))),
    }


def _by_role(tasks: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    roles = dict.fromkeys(role for task in tasks for role in task.get("usage_by_role", {}) if role != "target")
    return {role: _summed([task.get("usage_by_role", {}).get(role, {}) for task in tasks]) for role in roles}


def _summed(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: sum(part.get(name, 0) for part in parts) for name in _USAGE}


def _tasks(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return each task once: title, description, and those of its metrics, if the runs stored its YAML."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        for result in run.results["tasks"]:
            kept = _kept_yaml(run.folder, result["task"])
            described = {str(m.get("name")): m.get("description", "") for m in kept.get("metrics", ())}
            entry = found.setdefault(
                result["task"],
                {
                    "task": result["task"],
                    "title": result.get("title", result["task"]),
                    "description": " ".join(str(kept.get("description", "")).split()),
                    "source": kept.get("source", {}),
                    "metrics": {name: " ".join(str(text).split()) for name, text in described.items()},
                    "hashes": [],
                },
            )
            if result["hash"] not in entry["hashes"]:
                entry["hashes"].append(result["hash"])
    return list(found.values())


def _kept_yaml(folder: Path, task: str) -> Mapping[str, Any]:
    """Return the task as stored by its run; nothing if the run is older or the file is no longer valid."""
    try:
        file = folder / "tasks" / f"{file_name(task)}.yaml"
        root = read_yaml_text(read_bytes(file).decode("utf-8"), file).root
        data = {} if root is None else plain(root)
    except (CrevalError, OSError, ValueError, RecursionError):
        return {}
    sound = isinstance(data, dict) and isinstance(data.get("metrics", []), list)
    return data if sound and all(isinstance(metric, dict) for metric in data.get("metrics", [])) else {}


def _suites(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return each suite with its own numbers, in the form of a task."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        for suite in run.results.get("suites", ()):
            about = {metric["name"]: _MEANS[metric["average"]] for metric in suite["metrics"]}
            entry = {"task": suite["task"], "title": suite["title"], "metrics": about, "hashes": []}
            entry = found.setdefault(suite["task"], entry)
            if suite["hash"] not in entry["hashes"]:
                entry["hashes"].append(suite["hash"])
    return list(found.values())


_MEANS = {
    "macro": "the mean of its tasks",
    "weighted": "the mean of its tasks by their number of values",
    "parts": "the mean of metrics of its tasks, each from 0 to 1",
}


def _of_every(runs: Sequence[Run], baselines: Baselines, which: str) -> list[dict[str, Any]]:
    return [row for number, run in enumerate(runs) for row in _metrics(run, number, baselines, which)]


def _metrics(run: Run, number: int, baselines: Baselines, which: str) -> Iterator[dict[str, Any]]:
    for task in run.results.get(which, ()):
        kept = _kept_yaml(run.folder, task["task"])
        records = {**task, "repeats_of_task": int(kept.get("repeats", 1)) if kept else None}
        printed = printed_numbers(str(task.get("qualified", "")).partition("/")[0])
        for metric in task["metrics"]:
            numbers = numbers_of(printed, task["task"], metric["name"]) if metric["condition"] is None else []
            yield {
                "run": number,
                "task": task["task"],
                "metric": metric["name"],
                "condition": metric["condition"],
                "value": metric["value"],
                "low": metric["ci_low"],
                "high": metric["ci_high"],
                "method": metric.get("method"),
                "no_interval": metric.get("no_interval"),
                "n": metric["n"],
                "clusters": metric.get("clusters"),
                "cluster": metric.get("cluster", "doc"),
                "failed": metric.get("failed"),
                "counts": metric["counts"],
                "primary": bool(metric.get("primary")),
                "score": (metric.get("definition") or {}).get("score"),
                "higher": metric.get("higher_is_better"),
                "unit": metric.get("unit"),
                "floor": baselines.value_of(task, metric, "floor"),
                "ceiling": baselines.value_of(task, metric, "ceiling"),
                "published": [[each.model, each.value, each.standard_error, each.source] for each in numbers],
                "published_same": next((each.value for each in numbers if same_model(run.model, each.model)), None),
                "published_source": _source(numbers, run.model),
                "published_remarks": remarks(numbers, run.model),
                "published_equal": [part for part in PARTS if any(part in each.equal for each in numbers)],
                "differs": differences(records, metric) if numbers else [],
                "group": _group(metric),
                "of": [[part["task"], part["metric"]] for part in metric.get("tasks", ())],
            }


def _group(metric: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the origin of a number by field: its metric, the field, and the group or mean; None for others."""
    by = metric.get("by")
    if by is None:
        return None
    whole = "group" not in metric
    ending = f"[{metric['average']} by {by}]" if whole else f"[{by}={metric['group']}]"
    name = f"{metric['average']} mean" if whole else metric["group"]
    return {"metric": metric["name"].removesuffix(ending), "by": by, "name": name, "mean": whole}


def _source(numbers: Sequence[Printed], model: str) -> str | None:
    """Return the source of the number of the run's own model, or else of all of them."""
    own = [number.source for number in numbers if same_model(model, number.model)]
    return "; ".join(dict.fromkeys(own or [number.source for number in numbers])) or None


_SCRIPTS = ("base.js", "curves.js", "results.js", "browser.js")


def write_page(folders: Sequence[Path], file: Path, baselines: Path | None = None, most: int = MOST) -> Path:
    """Write the page of finished runs to `file`, and return its path.

    Floor and ceiling come from the runs in `baselines`, by default from those in the folder of the first one.
    Raises RunError if a run is invalid or unfinished, UsageError if the file cannot be written.
    """
    runs = open_runs(folders, as_stored=True)  # texts stored by reference do not leave the folder
    found: Baselines = find_baselines(baselines or runs[0].folder.absolute().parent)
    return write_text(file, page_text(page_data(runs, found, most)))


def page_text(data: Mapping[str, Any]) -> str:
    """Return the page of `page_data` as HTML. A policy in the page limits what it may do."""
    title = " · ".join(["creval", *(task["task"] for task in data["tasks"][:3])])
    return filled_page("page.html", _SCRIPTS, title, data)


def filled_page(markup: str, scripts: Sequence[str], title: str, data: Mapping[str, Any]) -> str:
    """Return a page from the assets: its markup with the style, scripts, title and data."""
    script = "\n".join(_asset(name) for name in scripts)
    style = _asset("page.css")
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    parts = {
        "TITLE": html.escape(title),
        "STYLE_HASH": _hash(style),
        "SCRIPT_HASH": _hash(script),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": _inside_script(text),
    }
    first, *rest = _asset(markup).split("@@")
    page = [first]
    for name, after in zip(rest[::2], rest[1::2], strict=True):
        page += [parts[name], after]
    return "".join(page)


def _inside_script(text: str) -> str:
    """Return JSON that cannot end its enclosing element: no `<`, and no lone surrogate, which UTF-8 lacks."""
    safe = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in safe)


def _asset(name: str) -> str:
    return (files("creval_page") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
