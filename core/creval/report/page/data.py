"""All that a page shows, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from creval.engine.planning.advice import pinned_providers, provider_advice
from creval.engine.run_options import RunOptions
from creval.errors import CrevalError
from creval.opener import read_bytes
from creval.report.baselines import Baselines
from creval.report.page.published import Printed, beside, differences, printed_numbers, remarks, same_model
from creval.report.page.samples import MOST, PageSamples, collect_samples
from creval.runs.folder import file_name
from creval.runs.reader import Run
from creval.tasks.yaml.nodes import plain
from creval.tasks.yaml.reader import read_yaml_text

__all__ = ["page_data"]

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
    """Return what the page shows of runs: their facts, every metric with what stands beside it, and samples.

    Texts of docs that a task keeps by reference are not in it. Raises RunError where a run did not come to its end.
    """
    samples = collect_samples(runs, most)
    names = _names(runs)
    return {
        "runs": [_run(run, name, samples, number) for number, (run, name) in enumerate(zip(runs, names, strict=True))],
        "tasks": _tasks(runs),
        "metrics": [row for number, run in enumerate(runs) for row in _metrics(run, number, baselines)],
        "distributions": samples.distributions(),
        "samples": {"total": samples.total, "columns": list(PageSamples.COLUMNS), "rows": samples.rows},
    } | {"pieces": samples.pieces}


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
    """Return each task once: title, what it is, and its metrics' descriptions, as far as the runs keep its YAML."""
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
    """Return the task as its run kept it; nothing where the run is older or the file is none any more."""
    try:
        file = folder / "tasks" / f"{file_name(task)}.yaml"
        root = read_yaml_text(read_bytes(file).decode("utf-8"), file).root
        data = {} if root is None else plain(root)
    except (CrevalError, OSError, ValueError, RecursionError):
        return {}
    sound = isinstance(data, dict) and isinstance(data.get("metrics", []), list)
    return data if sound and all(isinstance(metric, dict) for metric in data.get("metrics", [])) else {}


def _metrics(run: Run, number: int, baselines: Baselines) -> Iterator[dict[str, Any]]:
    for task in run.results["tasks"]:
        kept = _kept_yaml(run.folder, task["task"])
        told = {**task, "repeats_of_task": int(kept.get("repeats", 1)) if kept else None}
        printed = printed_numbers(str(task.get("qualified", "")).partition("/")[0])
        for metric in task["metrics"]:
            numbers = beside(printed, task["task"], metric["name"]) if metric["condition"] is None else []
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
                "higher": metric.get("higher_is_better"),
                "unit": metric.get("unit"),
                "floor": baselines.beside(task, metric, "floor"),
                "ceiling": baselines.beside(task, metric, "ceiling"),
                "published": [[each.model, each.value, each.standard_error, each.source] for each in numbers],
                "published_same": next((each.value for each in numbers if same_model(run.model, each.model)), None),
                "published_source": _source(numbers, run.model),
                "published_remarks": remarks(numbers, run.model),
                "differs": differences(told, metric) if numbers else [],
            }


def _source(numbers: Sequence[Printed], model: str) -> str | None:
    """Where the number of the run's own model stands, else where all of them do."""
    own = [number.source for number in numbers if same_model(model, number.model)]
    return "; ".join(dict.fromkeys(own or [number.source for number in numbers])) or None
