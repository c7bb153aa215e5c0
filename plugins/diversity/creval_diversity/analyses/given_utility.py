"""`creval analyse diversity-utility`: NoveltyBench's utility from externally computed qualities.

The paper's qualities come from a reward model of 27 billion parameters, which this distribution does not run. Users who
run it write its numbers to a CSV file with the columns doc, repeat and reward (or quality, 1 to 10), and condition
and task if there are several.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from creval.plugin import AnalysisOutput, DataError, FieldSpec, UsageError, open_runs
from creval_diversity.analyses.output import OPTIONS, finished
from creval_diversity.classes import PATIENCE, quality_of_reward, utility

__all__ = ["GivenUtility"]

_CLASSES = ("distinct_classifier", "classes_entailment", "classes_embedding", "classes_exact")
Place = tuple[str, str, str]


class GivenUtility:
    """Mean utility for each task, model and condition, over the classes of the run's scoring."""

    example = "runs/one --qualities rewards.csv"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options."""
        return (
            FieldSpec("qualities", "file", None, "CSV file with doc, repeat, and quality (1 to 10) or reward."),
            FieldSpec(
                "classes", "string", None, "The classes: classes_embedding and the like (default: the best there)."
            ),
            FieldSpec("patience", "number", PATIENCE, "Weight of each next answer.", minimum=0, maximum=1),
            *OPTIONS[:2],
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Join the file with each run's classes. Raises UsageError without a file, DataError for a faulty one."""
        if not options.get("qualities"):
            raise UsageError("no qualities are named", where="--qualities", fix="Name a CSV file: --qualities FILE.")
        given = _read(Path(str(options["qualities"])))
        patience = options.get("patience")
        rows: list[Sequence[Any]] = []
        for run in open_runs(runs):
            sets: defaultdict[Place, dict[int, Mapping[str, Any]]] = defaultdict(dict)
            for score in run.scores(options.get("task")):
                if score.details and any(f"class_of_{name}" in score.details for name in _CLASSES):
                    sets[score.key.task, score.key.condition, score.key.doc][score.key.repeat] = score.details
            found: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
            for (task, condition, doc), details in sets.items():
                name = _name(details, options.get("classes"))
                order = sorted(details)
                classes = [details[repeat].get(f"class_of_{name}") for repeat in order]
                qualities = [
                    0.0 if each is None else _quality(given, task, condition, doc, repeat)
                    for repeat, each in zip(order, classes, strict=True)
                ]
                value = utility(classes, qualities, PATIENCE if patience is None else float(patience))
                found[task, condition, name].append(value)
            rows += [
                (task, run.model, condition, name, len(values), fmean(values))
                for (task, condition, name), values in sorted(found.items())
            ]
        columns = ("task", "model", "condition", "classes", "docs", "utility")
        return finished("utility", "Utility from given qualities", (columns, rows), (), options)


def _name(details: Mapping[int, Mapping[str, Any]], wanted: str | None) -> str:
    known = [name for name in _CLASSES if any(f"class_of_{name}" in each for each in details.values())]
    if wanted is not None and wanted not in known:
        raise UsageError(
            f"no classes {wanted!r} in the run", where="--classes", fix=f"Name one of: {', '.join(known)}."
        )
    return wanted or known[0]


def _read(file: Path) -> Mapping[tuple[str, ...], float]:
    """Return qualities by task, condition, doc and repeat; an empty task or condition means all."""
    found: dict[tuple[str, ...], float] = {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            for number, row in enumerate(csv.DictReader(lines), 2):
                key = (row.get("task") or "", row.get("condition") or "", row["doc"], str(int(row["repeat"])))
                quality = float(row["quality"]) if row.get("quality") else quality_of_reward(float(row["reward"]))
                if not (math.isfinite(quality) and 1 <= quality <= 10):
                    raise DataError(f"the quality {quality} is not from 1 to 10", where=f"{file}:{number}")
                if key in found:
                    raise DataError("an answer has two qualities", where=f"{file}:{number}", fix="Remove one.")
                found[key] = quality
    except (OSError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        fix = "Columns: doc, repeat, and quality or reward; task and condition where there are several."
        raise DataError(f"the qualities cannot be read: {error}", where=str(file), fix=fix) from error
    return found


def _quality(given: Mapping[tuple[str, ...], float], task: str, condition: str, doc: str, repeat: int) -> float:
    for key in ((task, condition), (task, ""), ("", condition), ("", "")):
        if (*key, doc, str(repeat)) in given:
            return given[*key, doc, str(repeat)]
    raise DataError(f"no quality of doc {doc}, repeat {repeat}, condition {condition}", fix="Add it to the file.")
