"""The numbers that a paper printed, beside those of a run: `published.csv` in a plugin's folder of tasks.

Its columns are task, metric, model, value, source (paper and table), and where they are wanted standard_error and
remark: in what the paper's number was made otherwise than the task makes it.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from creval.errors import PluginError
from creval.plugins.loader import load_plugins

__all__ = ["Printed", "beside", "differences", "printed_numbers", "remarks", "same_model"]

FILE = "published.csv"
_COLUMNS = ("task", "metric", "model", "value", "source")


class Printed(NamedTuple):
    """One number of a paper. A `remark` says why even the task as it stands does not measure quite the same."""

    task: str
    metric: str
    model: str
    value: float
    standard_error: float | None
    source: str
    remark: str = ""


def printed_numbers(plugin: str) -> list[Printed]:
    """Return what the papers of a plugin's tasks print; none where it is not installed or brings no such file.

    Raises PluginError where the file is damaged.
    """
    folders = [folder for name, folder in load_plugins().task_folders if name == plugin]
    return [number for folder in folders if (folder / FILE).is_file() for number in _read(folder / FILE)]


def _read(file: Path) -> Iterator[Printed]:
    with file.open(encoding="utf-8", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream), 2):
            try:
                task, metric, model, value, source = (row[name] for name in _COLUMNS)
                error = row.get("standard_error")
                plain = (task, metric, model, _finite(value), _finite(error) if error else None, source)
                yield Printed(*plain, row.get("remark") or "")
            except (KeyError, TypeError, ValueError) as fault:
                cure = f"Its columns are {', '.join(_COLUMNS)} and, where wanted, standard_error and remark."
                raise PluginError(
                    f"is no row of published numbers: {fault!r}", where=f"{file}:{number}", cure=cure
                ) from None


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no finite number")
    return value


def differences(task: Mapping[str, Any], metric: Mapping[str, Any]) -> list[str]:
    """Return in what a run's metric differs from the one that was published; nothing where they agree.

    Both are parts of results.json. The instrument in brackets behind the name, docs, tries, settings,
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
    for name, said in (("generation_overrides", "generation settings"), ("condition_overrides", "conditions")):
        if task.get(name):
            found.append(f"other {said}: {', '.join(task[name])}")
    if task.get("repeats_of_task") not in (None, task.get("repeats")):
        found.append(f"{task['repeats']} tries a doc instead of {task['repeats_of_task']}")
    return found


def same_model(ours: str, printed: str) -> bool:
    """Whether a model as it is named here (`openai/gpt-5.4-mini`) is one as a paper names it (`gpt-5-4-mini`)."""
    return _plain(ours.rpartition("/")[2]) == _plain(printed)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r":(?!\d)\w+$", "", name.lower())).strip("-")


def base_name(metric: str) -> str:
    """Return a metric's name without the instrument in brackets."""
    return metric.partition("[")[0]


def beside(numbers: Sequence[Printed], task: str, metric: str) -> list[Printed]:
    """Return the printed numbers of a metric of a task."""
    return [number for number in numbers if number.task == task and number.metric == base_name(metric)]


def remarks(numbers: Sequence[Printed], model: str) -> list[str]:
    """Return in what printed numbers were made otherwise: that of the run's own model, else what is said of any."""
    own = [number for number in numbers if same_model(model, number.model)]
    return list(dict.fromkeys(number.remark for number in own or numbers if number.remark))
