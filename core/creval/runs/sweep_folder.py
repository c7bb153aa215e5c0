"""The runs in the folder of a sweep, which commands accept in place of runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from creval.tasks.yaml.nodes import plain
from creval.tasks.yaml.yaml_reader import read_yaml

__all__ = ["SWEEP_FILE", "expand_runs", "run_names", "runs_of_sweep", "without_leftovers"]

SWEEP_FILE = "sweep.yaml"


def expand_runs(places: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return (run folders, unfinished runs); a folder of runs is replaced by the runs in it that have results.

    Its runs without results are the second value. A path that is neither a run nor a folder of runs is returned
    unchanged.
    """
    runs: list[Path] = []
    unfinished: list[Path] = []
    for place in without_leftovers(places):
        inside = [] if _is_run(place) else runs_of_sweep(place)
        finished = [run for run in inside if os.path.lexists(run / "results.json")]
        unfinished += [run for run in inside if finished and run not in finished]
        runs += [run for run in finished or inside if run not in runs] or [place]
    return runs, unfinished


def without_leftovers(places: Sequence[Path]) -> list[Path]:
    """Return the paths without the files of a sweep next to its runs, so that `runs/many/*` means only the runs.

    A sweep.yaml without a run next to it is replaced by its folder.
    """
    named = {place.absolute().parent for place in places if _is_run(place)}
    named = {folder for folder in named if (folder / SWEEP_FILE).is_file()}
    runs = [place for place in places if _is_run(place) or place.absolute().parent not in named]
    return [place.parent if place.name == SWEEP_FILE and place.is_file() else place for place in runs]


def runs_of_sweep(folder: Path) -> list[Path]:
    """Return the run folders directly below a folder, in the order of its sweep.yaml; empty if there are none."""
    if not folder.is_dir():
        return []
    below = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".") and _is_run(path)]
    order = {name: place for place, name in enumerate(_stated(folder / SWEEP_FILE))}
    return sorted(below, key=lambda run: order.get(run.name, len(order)))


def run_names(models: Iterable[tuple[str, str]]) -> list[str]:
    """Return distinct folder names for the models of a sweep. `models` are names, each with its label or ''."""
    names: list[str] = []
    for model, label in models:
        name = label or re.sub(r"[^A-Za-z0-9_.+-]+", "_", model).strip(".")[:100]
        number, unique = 1, name
        while unique in names:
            number += 1
            unique = f"{name}-{number}"
        names.append(unique)
    return names


def _stated(file: Path) -> list[str]:
    """Return the names of the runs in a sweep's file; none if it cannot be read."""
    if not file.is_file():
        return []
    root = read_yaml(file).root
    data = plain(root) if root is not None else None
    models = data.get("models") if isinstance(data, Mapping) else None
    entries = [entry if isinstance(entry, Mapping) else {"model": entry} for entry in models or ()]
    return run_names((str(entry.get("model", "")), str(entry.get("as", ""))) for entry in entries)


def _is_run(place: Path) -> bool:
    return os.path.lexists(place / "run.json")
