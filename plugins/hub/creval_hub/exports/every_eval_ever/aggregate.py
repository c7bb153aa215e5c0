"""The aggregate file: one result per metric and condition that has a number and a direction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from creval.plugin import Run
from creval_hub.exports.cleaning import cleaned
from creval_hub.exports.every_eval_ever.about import SCHEMA, About, as_texts, model_info, seconds_of

__all__ = ["aggregate", "evaluation_id", "exported_metrics", "result_id"]

_ARGUMENTS = ("temperature", "top_p", "top_k", "max_tokens")


def evaluation_id(run: Run, task: str, model: str) -> str:
    """Return the id of an evaluation: the same in every export."""
    return f"creval/{task}/{model}/{seconds_of(run.manifest['started'])}"


def result_id(task: str, metric: Mapping[str, Any]) -> str:
    """Return the id of one result within its file."""
    return f"{task}/{metric.get('condition') or 'all'}/{metric['name']}"


def exported_metrics(result: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the metrics of a task that the schema accepts: those with a finite number and a known direction."""
    for metric in result["metrics"]:
        value = metric.get("value")
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if number and isinstance(metric.get("higher_is_better"), bool):
            yield metric


def aggregate(run: Run, task: str, about: About) -> dict[str, Any]:
    """Return the aggregate of a task, without the reference to its samples. Raises RunError, UsageError."""
    result = run.result(task)
    model = model_info(run, "target", about)
    manifest = run.manifest
    finished = manifest.get("finished") or manifest["started"]
    plugin = f"{result['qualified'].partition('/')[0]} {result['plugin_version']}"
    library = {"plugin": plugin, "task": f"{result['qualified']} {result['version']}", "task_hash": result["hash"]}
    settings = _settings_sent(run, task)
    return {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation_id(run, task, model["id"]),
        "evaluation_timestamp": seconds_of(manifest["started"]),
        "retrieved_timestamp": seconds_of(finished),
        "source_metadata": {
            "source_name": "creval",
            "source_type": "evaluation_run",
            "source_organization_name": about.organization,
            "evaluator_relationship": about.relationship,
        },
        "eval_library": {"name": "creval", "version": str(run.results["creval"]), "additional_details": library},
        "model_info": model,
        "evaluation_results": [
            _result(run, result, metric, settings.get(metric.get("condition")), about)
            for metric in exported_metrics(result)
        ],
    }


def _result(
    run: Run, result: Mapping[str, Any], metric: Mapping[str, Any], sent: Mapping[str, Any] | None, about: About
) -> dict[str, Any]:
    task = str(result["task"])
    data = {"fingerprint": result["dataset"], "docs": result["docs"], "docs_digest": result.get("docs_digest")}
    data |= {"shard": result["shard"]} if result.get("shard") else {}
    return {
        "evaluation_result_id": result_id(task, metric),
        "evaluation_name": f"creval.{task}",
        "source_data": {
            "dataset_name": f"creval-{task}",
            "source_type": "other",
            "additional_details": as_texts({**data, "replaced_data": result.get("replaced_data")}),
        },
        "metric_config": _config(run, result, metric, about),
        "score_details": {"score": metric["value"], "uncertainty": _uncertainty(metric)},
        "generation_config": _generation(result, metric, sent or {}),
    }


def _config(run: Run, result: Mapping[str, Any], metric: Mapping[str, Any], about: About) -> dict[str, Any]:
    low, high = metric.get("definition", {}).get("range") or (None, None)
    config: dict[str, Any] = {
        "evaluation_description": str(result.get("title") or result["task"]),
        "metric_id": f"creval.{metric['name']}",
        "metric_name": str(metric["name"]),
        "lower_is_better": not metric["higher_is_better"],
        "score_type": "continuous",
        "min_score": "-Infinity" if low is None else low,
        "max_score": "Infinity" if high is None else high,
        "additional_details": as_texts(
            {
                "instruments": cleaned(result.get("instruments")) or None,
                "failed": metric["failed"],
                "n_failed": metric["n_failed"],
                "counts": metric["counts"],
                "primary": metric["primary"],
            }
        ),
    }
    if metric.get("unit"):
        config["metric_unit"] = str(metric["unit"])
    judges = sorted(
        role for role in result.get("usage_by_role", {}) if role != "target" and role in run.results["roles"]
    )
    if judges:
        config["llm_scoring"] = {
            "judges": [{"model_info": model_info(run, role, about)} for role in judges],
            "input_prompt": f"the prompts of {', '.join(judges)} in {result['qualified']} {result['version']}",
        }
    return config


def _uncertainty(metric: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"num_samples": int(metric["n"])}
    if _finite(metric.get("standard_error")):
        found["standard_error"] = {"value": metric["standard_error"], "method": f"clustered by {metric['cluster']}"}
    if _finite(metric.get("ci_low")) and _finite(metric.get("ci_high")):
        interval = {"lower": metric["ci_low"], "upper": metric["ci_high"], "confidence_level": metric["confidence"]}
        found["confidence_interval"] = {**interval, "method": str(metric["method"])}
    return found


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _generation(result: Mapping[str, Any], metric: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: sent[name] for name in _ARGUMENTS if sent.get(name) is not None}
    others = {name: value for name, value in sent.items() if name not in known}
    details = {"condition": metric.get("condition"), "repeats": result["repeats"], **others}
    return {"generation_args": known, "additional_details": as_texts(cleaned(details))}


def _settings_sent(run: Run, task: str) -> Mapping[str | None, Mapping[str, Any]]:
    """Return by condition the settings that the first call to the target sent; under None those shared by all."""
    wanted = {
        str(cell["name"]) for entry in run.manifest["tasks"] if entry["task"] == task for cell in entry["conditions"]
    }
    found: dict[str | None, Mapping[str, Any]] = {}
    for sample in run.samples(task):
        call = next((call for call in sample.calls if call.role == "target" and call.settings), None)
        if call is not None and sample.key.condition not in found:
            found[sample.key.condition] = {key: value for key, value in call.settings.items() if key != "seed"}
        if wanted <= found.keys():
            break
    first, *rest = list(found.values()) or [{}]
    return {**found, None: {k: v for k, v in first.items() if all(other.get(k) == v for other in rest)}}
