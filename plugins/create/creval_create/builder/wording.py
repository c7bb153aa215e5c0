"""Labels, and the wording of a query."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from creval.plugin import DataError

__all__ = ["Labels", "read_labels", "template_wording"]

Labels = Mapping[str, str]


def read_labels(files: Sequence[Path]) -> dict[str, str]:
    """Return id -> label from tab-separated lines or from a JSON object, whose values may be objects with a `label`.

    Raises DataError if a file has another form.
    """
    labels: dict[str, str] = {}
    for file in files:
        text = file.read_text(encoding="utf-8")
        if file.suffix.lower() == ".json":
            try:
                known = json.loads(text)
                labels |= {
                    str(key): str(said["label"] if isinstance(said, dict) else said) for key, said in known.items()
                }
            except (ValueError, AttributeError, KeyError) as error:
                fix = 'Write {"Q42": "Douglas Adams"} or {"Q42": {"label": "Douglas Adams"}}.'
                raise DataError(f"no labels: {error!r}", where=str(file), fix=fix) from error
            continue
        for number, line in enumerate(text.splitlines(), 1):
            key, tab, label = line.partition("\t")
            if not tab or not label.strip():
                raise DataError("no id and label, separated by a tab", where=f"{file}:{number}")
            labels[key] = label.strip()
    return labels


def template_wording(start: str, relation: str, end: str) -> str:
    """Return the query by template: it does not name the hidden entity and does not reverse the relation."""
    return f"What are different ways of connecting {start} and someone or something whose {relation} is {end}?"
