"""What a run is on the Hub: its files as they will be called there, made ready in a folder of their own."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from creval.exports.cleaning import cleaned
from creval.exports.parquet import write_metrics, write_samples
from creval.hub.leaks import find_leaks, local_roots, refuse_leaks
from creval.runs.folder import RunFolder, file_name
from creval.runs.reader import Run

__all__ = ["Bundle", "make_bundle", "published_name"]


@dataclass(frozen=True, slots=True)
class Bundle:
    """A run made ready: its name on the Hub, and the local file of each path there."""

    name: str
    files: Mapping[str, Path]

    @property
    def size(self) -> int:
        """Bytes in all."""
        return sum(path.stat().st_size for path in self.files.values())


def published_name(run: Run) -> str:
    """Return what a run is called on the Hub: model, tasks, beginning, and eight digits of what only this run has.

    Resuming or rescoring a run changes none of it, so that a second push replaces the first. Runs of earlier versions
    have no id; they are told apart by what was asked of whom, and when.
    """
    manifest = run.manifest
    began = str(manifest.get("started", ""))
    model = cleaned(run.model)
    asked = [model, began, manifest.get("seed"), [[task["task"], task.get("asked")] for task in manifest["tasks"]]]
    identity = str(manifest.get("id") or json.dumps(asked, sort_keys=True))
    words = "-".join([model, "+".join(run.tasks)[:60], re.sub(r"[^0-9T]", "", began[:19])])
    return f"{re.sub(r'[^A-Za-z0-9_.+-]+', '_', words)}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def make_bundle(run: Run, folder: Path) -> Bundle:
    """Make a run ready in an empty folder. Raises RunError for an unfinished or damaged run, UsageError for a leak."""
    run = run.as_stored()
    run.need_ended()
    name = published_name(run)
    files = _texts(run, name, folder)
    refuse_leaks(list(find_leaks(files, local_roots(run.folder))), run.folder)
    tables = {f"results/{name}.parquet": write_metrics(run, name, folder / "results.parquet")}
    for task in run.tasks:
        file = file_name(task)
        tables[f"samples/{file}/{name}.parquet"] = write_samples(run, name, task, folder / "tables" / f"{file}.parquet")
    return Bundle(name, {**files, **tables})


def _texts(run: Run, name: str, folder: Path) -> Mapping[str, Path]:
    """Return the files of the run folder by their names on the Hub; run.json and results.json are cleaned copies."""
    kept = RunFolder.open(run.folder)
    files: dict[str, Path] = {}
    for source, data in ((kept.manifest, run.manifest), (kept.results, {**run.results, "run": name})):
        copy = folder / source.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(json.dumps(cleaned(data), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        files[f"runs/{name}/{source.name}"] = copy
    lines = [path for task in run.tasks for path in (kept.samples(task), kept.scores(task))]
    lines += [kept.calls(role) for role in kept.called_roles()]
    for path in lines:
        if path.is_file() and path.stat().st_size:
            files[f"runs/{name}/{path.relative_to(run.folder).as_posix()}"] = path
    return files
