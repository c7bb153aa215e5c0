"""The files of an export: in the datastore's layout, checked against the bundled schemas."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from functools import cache
from pathlib import Path
from typing import Any

from creval.plugin import Run, UsageError
from creval.plugin.report import write_lines, write_text
from creval_hub.exports.cleaning import encodable_data
from creval_hub.exports.every_eval_ever.about import About
from creval_hub.exports.every_eval_ever.aggregate import aggregate
from creval_hub.exports.every_eval_ever.instances import instances
from creval_hub.exports.texts import refuse_texts

__all__ = ["export_every_eval_ever"]

_SCHEMAS = Path(__file__).parent / "schemas"


def export_every_eval_ever(run: Run, folder: Path, about: About, *, samples: bool = True) -> list[Path]:
    """Write `data/<collection>/<developer>/<model>/<uuid>.json` for each task, with its samples next to it.

    The names are the same in every export of a run. Raises UsageError for docs by reference (`samples=False`
    exports only the numbers), RunError, and if a metric lies outside the range that its task declares.
    """
    run = run.as_stored()
    run.need_ended()
    if samples:
        refuse_texts(run)
    written: list[Path] = []
    for task in run.tasks:
        content = encodable_data(aggregate(run, task, about))
        if not content["evaluation_results"]:
            continue
        _check_bounds(content, task)
        model = content["model_info"]
        place = Path("data", f"creval-{_safe(task)}", _safe(model["developer"]), _safe(model["name"]))
        name = _uuid(run, task)
        if samples:
            file = place / f"{name}_samples.jsonl"
            content["detailed_evaluation_results"] = _write_samples(run, task, about, folder, file)
            written.append(folder / file)
        _check(content, "eval.schema.json", task)
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        written.append(write_text(folder / place / f"{name}.json", text))
    if not written:
        raise UsageError("no metric of the run has a number and a better direction", where=str(run.folder))
    return written


def _write_samples(run: Run, task: str, about: About, folder: Path, file: Path) -> dict[str, Any]:
    digest, rows = hashlib.sha256(), 0

    def lines() -> Any:
        nonlocal rows
        for row in map(encodable_data, instances(run, task, about)):
            _check(row, "instance_level_eval.schema.json", f"{task} {row['sample_id']}")
            line = json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
            digest.update(line.encode())
            rows += 1
            yield line

    write_lines(folder / file, lines())
    return {
        "format": "jsonl",
        "file_path": file.as_posix(),
        "hash_algorithm": "sha256",
        "checksum": digest.hexdigest(),
        "total_rows": rows,
    }


def _uuid(run: Run, task: str) -> str:
    """Return a UUID in the form of version 4, derived from the run's identity, so that every export uses it."""
    identity = str(run.manifest.get("id") or f"{run.model} {run.manifest['started']}")
    digest = hashlib.sha256(f"{identity} {task}".encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip(".-") or "unnamed"


def _check_bounds(content: dict[str, Any], task: str) -> None:
    for result in content["evaluation_results"]:
        config, score = result["metric_config"], result["score_details"]["score"]
        low, high = (None if isinstance(config[key], str) else config[key] for key in ("min_score", "max_score"))
        if (low is not None and score < low) or (high is not None and score > high):
            raise UsageError(
                f"{config['metric_name']} is {score}, outside of its declared range",
                where=task,
                fix="Correct `range`.",
            )


def _check(content: Any, schema: str, where: str) -> None:
    error = next(iter(_validator(schema).iter_errors(content)), None)
    if error is not None:
        path = ".".join(str(part) for part in error.absolute_path)
        raise UsageError(f"does not fit Every Eval Ever: {path}: {error.message[:300]}", where=where)


@cache
def _validator(schema: str) -> Any:
    import jsonschema

    data = json.loads((_SCHEMAS / schema).read_text(encoding="utf-8"))
    return jsonschema.validators.validator_for(data)(data)
