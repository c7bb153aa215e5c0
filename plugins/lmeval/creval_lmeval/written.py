"""Task files of creval for tasks and groups of lm-eval."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from creval_lmeval.groups import Group, read_group
from creval_lmeval.library import LoadedTask, load_task
from creval_lmeval.names import need_lm_eval
from creval_lmeval.roots import known
from creval_lmeval.shapes import error_form, metric_form
from creval_lmeval.stated import stated_numbers

__all__ = ["suite_text", "task_text", "version_of"]

_SOURCE = {"url": "https://github.com/EleutherAI/lm-evaluation-harness"}
_HITS = ("acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match")
"""Metrics that are 0 or 1 by lm-eval's rules."""


def version_of(stated: Any, lm_eval: str) -> str:
    """Return a semantic version from lm-eval's version of a task, followed by that of lm-eval."""
    numbers = [str(int(each)) for each in re.findall(r"\d+", str(stated))[:3]]
    return f"{'.'.join([*numbers, '0', '0', '0'][:3])}+lm-eval.{lm_eval}"


def task_text(name: str, sources: str = "") -> str:
    """Return the task file of a task. Its documents are loaded, since only a trial reveals the metrics."""
    lm_eval = need_lm_eval().version
    loaded = load_task(name, sources)
    own = {"task": name, **({"sources": sources} if sources else {})}
    output = "generate_until" if loaded.task.OUTPUT_TYPE == "generate_until" else "loglikelihood"
    output = output if _asks_alone(loaded, output) else "loglikelihood"
    unsafe = bool(getattr(loaded.task, "UNSAFE_CODE", False))
    data: dict[str, Any] = {
        "schema": 1,
        "task": name.replace("::", "."),
        "named_by": "lm-eval",
        "version": version_of(loaded.task.VERSION, lm_eval),
        "title": f"{name}, as lm-eval {lm_eval} has it",
        "source": _SOURCE,
        "parity": _parity(name, lm_eval),
        "dataset": {"source": "lmeval", "lm_eval": lm_eval, **own},
        "protocol": {"name": "lmeval", "output": output, **own},
        "reasoning": "keep",
        **({"resources": {"sandbox": "bubblewrap"}} if unsafe else {}),
        "score": {"lmeval_code" if unsafe else "lmeval": own},
        "metrics": _metrics(loaded, own),
        "baselines": {"floor": "lmeval_any", "ceiling": "lmeval_target"},
    }
    if loaded.repeats > 1:
        data["repeats"] = loaded.repeats
    return _dumped(data)


def _parity(name: str, lm_eval: str) -> dict[str, Any]:
    """Return the parity of a task, from the table that `tools/lmeval_parity.py` wrote."""
    held = json.loads(Path(__file__).with_name("parity.json").read_text(encoding="utf-8"))
    if held["lm_eval"] == lm_eval and name in held["tasks"]:
        return {"against": f"lm-eval {lm_eval} on made-up data and one server", **held["tasks"][name]}
    return {"none": "it is made of lm-eval's own parts; the README of creval-lmeval has the tasks held against it"}


def _asks_alone(loaded: LoadedTask, output: str) -> bool:
    """Return whether all requests of a document are of the task's own kind."""
    from creval_lmeval.library import Settings

    kinds = {each.request_type for each in loaded.requests(0, Settings())}
    return kinds == {"generate_until"} if output == "generate_until" else "generate_until" not in kinds


def _metrics(loaded: LoadedTask, own: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the metrics, filter by filter, each followed by lm-eval's standard error if there is one."""
    found: list[dict[str, Any]] = []
    directions = loaded.task.higher_is_better()
    for pipeline in loaded.filters:
        for metric in _names(loaded):
            aggregation = loaded.aggregation(metric)
            name = f"{metric},{pipeline.name}"
            better = directions.get(metric, True)
            entry = {
                "name": name,
                "failed": "exclude",
                "higher_is_better": better if isinstance(better, bool) else None,
            }
            form = metric_form(name, metric, own["task"], aggregation)
            if not form and metric in _HITS and not callable(loaded.task.config.process_results):
                entry["binary"] = True
            found.append(entry | _with_sources(form, own))
            error = error_form(name, own["task"], aggregation)
            if error is not None:
                entry = {"name": f"{metric}_stderr,{pipeline.name}", "from": name, "failed": "exclude", "ci": "none"}
                found.append({**entry, "higher_is_better": None, **_with_sources(error, own)})
    return found


def _with_sources(form: Mapping[str, Any], own: Mapping[str, str]) -> dict[str, Any]:
    aggregate = form.get("aggregate")
    if not isinstance(aggregate, Mapping) or "sources" not in own:
        return dict(form)
    return {**form, "aggregate": {name: {**given, "sources": own["sources"]} for name, given in aggregate.items()}}


def _names(loaded: LoadedTask) -> Sequence[str]:
    """Return the names of a task's metrics: those for an empty answer to its first document, or those it lists."""
    from creval_lmeval.library import Settings

    listed = list(getattr(loaded.task, "_metric_fn_list", None) or loaded.task.aggregation())
    try:
        kinds = [each.request_type for each in loaded.requests(0, Settings())]
        responses = [[_nothing(kind)] * loaded.repeats for kind in kinds]
        given = [name for _, metrics in loaded.process(0, kinds, responses) for name in metrics]
    except Exception:  # a task's own code, which may need a sensible answer
        return listed
    return list(dict.fromkeys(given)) or listed


def _nothing(kind: str) -> Any:
    return {"generate_until": "", "loglikelihood_rolling": -1.0}.get(kind, (-1.0, False))


def suite_text(name: str) -> str:
    """Return the suite file of a group or tag; no task is loaded. Its metrics are the group's own numbers."""
    lm_eval = need_lm_eval().version
    group = read_group(name, known())
    metrics = [
        {"name": metric, "average": "weighted" if weighted else "macro"} for metric, weighted in stated_numbers(group)
    ]
    data = {
        "schema": 1,
        "suite": name,
        "named_by": "lm-eval",
        "version": version_of(group.version or 0, lm_eval),
        "title": f"{name}, as lm-eval {lm_eval} has it",
        **({"metrics": metrics} if metrics else {}),
        "tasks": [*_entries(group)],
    }
    return _dumped(data)


def _entries(group: Group) -> Iterator[str | dict[str, str]]:
    """Yield the tasks of a group; an unchanged inner group is a suite with its own numbers."""
    yield from dict.fromkeys(f"lmeval/{member.name}" for member in group.members)
    for inner in group.groups:
        if inner.name in known() and read_group(inner.name, known()) == inner:
            yield {"suite": f"lmeval/{inner.name}"}
        else:
            yield from (f"lmeval/{task}" for task in inner.tasks())


def _dumped(data: Mapping[str, Any]) -> str:
    return yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True, width=1000)
