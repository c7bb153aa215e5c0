"""A run prepared for the Hub: its files, under their names on the Hub, in a temporary folder."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.plugin import Run
from creval.plugin.hub import MADE_HERE, RunFolder, dump_line, file_name, plain_size
from creval.plugin.report import write_lines
from creval_hub.exports.cleaning import cleaned
from creval_hub.exports.parquet import write_metrics, write_samples
from creval_hub.exports.texts import refuse_texts, results_without_texts, scores_without_texts
from creval_hub.leaks import find_leaks, local_roots, refuse_leaks

__all__ = ["Bundle", "make_bundle", "published_name"]


@dataclass(frozen=True, slots=True)
class Bundle:
    """A prepared run: its name on the Hub, the local file of each path there, and a line on how it was made."""

    name: str
    files: Mapping[str, Path]
    made: str


def published_name(run: Run) -> str:
    """Return a run's name on the Hub: model, tasks, start time, and eight digits of a hash that identify the run.

    Resuming or rescoring a run does not change the name, so that a second push replaces the first. Runs of earlier
    versions have no id; they are distinguished by model, seed, tasks and start time.
    """
    manifest = run.manifest
    began = str(manifest.get("started", ""))
    model = cleaned(run.model)
    asked = [model, began, manifest.get("seed"), [[task["task"], task.get("asked")] for task in manifest["tasks"]]]
    identity = str(manifest.get("id") or json.dumps(asked, sort_keys=True))
    words = "-".join([model, "+".join(run.tasks)[:60], re.sub(r"[^0-9T]", "", began[:19])])
    return f"{re.sub(r'[^A-Za-z0-9_.+-]+', '_', words)}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def make_bundle(run: Run, folder: Path, *, texts: bool = True) -> Bundle:
    """Prepare a run in a separate folder; without `texts` only its results and scores.

    Raises RunError for an unfinished or damaged run, UsageError for a leak, and with `texts` for docs by reference.
    """
    run = run.as_stored()
    run.need_ended()
    if texts:
        refuse_texts(run)
    name = published_name(run)
    files = _texts(run, name, folder) if texts else _scores(run, name, folder)
    refuse_leaks(list(find_leaks(files, local_roots(run.folder))), run.folder)
    sent = sorted((run.folder / "media").glob("[0-9a-f]*")) if texts else []
    files = {**files, **{f"runs/{name}/media/{path.name}": path for path in sent if plain_size(path)}}
    tables = {f"results/{name}.parquet": write_metrics(run, name, folder / "results.parquet")}
    for task in run.tasks:
        file = file_name(task)
        table = folder / "tables" / f"{file}.parquet"
        tables[f"samples/{file}/{name}.parquet"] = write_samples(run, name, task, table, texts=texts)
    return Bundle(name, {**files, **tables}, _provenance(run, texts))


def _texts(run: Run, name: str, folder: Path) -> Mapping[str, Path]:
    """Return the files of the run folder by their names on the Hub; run.json and results.json are cleaned copies."""
    kept = RunFolder.open(run.folder)
    files = _cleaned(run, name, folder, run.results)
    lines = [path for task in run.tasks for path in (kept.samples(task), kept.scores(task))]
    lines += [kept.calls(role) for role in kept.called_roles()]
    for path in lines:
        if plain_size(path):
            files[f"runs/{name}/{path.relative_to(run.folder).as_posix()}"] = path
    return files


def _scores(run: Run, name: str, folder: Path) -> Mapping[str, Path]:
    """Return the files of a run without any text of docs, models or errors."""
    kept = RunFolder.open(run.folder)
    files = _cleaned(run, name, folder, results_without_texts(run.results))
    for task in run.tasks:
        if run.has_scores(task):
            path = kept.scores(task).relative_to(run.folder)
            write_lines(folder / path, map(_line, scores_without_texts(run, task)))
            files[f"runs/{name}/{path.as_posix()}"] = folder / path
    return files


def _cleaned(run: Run, name: str, folder: Path, results: Mapping[str, Any]) -> dict[str, Path]:
    """Write the cleaned copies of run.json and results.json, and return them by their names on the Hub."""
    files: dict[str, Path] = {}
    manifest = {key: value for key, value in run.manifest.items() if key != MADE_HERE}
    for file, data in (("run.json", manifest), ("results.json", {**results, "run": name})):
        copy = folder / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(json.dumps(cleaned(data), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        files[f"runs/{name}/{file}"] = copy
    return files


def _line(record: Mapping[str, Any]) -> str:
    return dump_line(record).decode()


def _provenance(run: Run, texts: bool) -> str:
    """Return how a run was made, for the card: model, tasks, samples, versions, day and command."""
    manifest, tasks = run.manifest, run.manifest["tasks"]
    versions = {f"creval {manifest.get('creval', '')}".strip()}
    versions |= {f"{task['plugin']} {task['plugin_version']}" for task in tasks if task.get("plugin_version")}
    parts = [
        f"{cleaned(run.model)} on {', '.join(run.tasks)}",
        f"{sum(int(task['planned']) for task in tasks)} samples, seed {manifest.get('seed')}",
        *([] if texts else ["scores alone, without texts"]),
        ", ".join(sorted(versions)),
        str(manifest.get("started", ""))[:10],
    ]
    command = " ".join(str(cleaned(manifest.get("command", ""))).replace("`", "'").split())
    return "; ".join(filter(None, parts)) + (f"; `{command}`" if command else "")
