"""Human labels of solutions by criterion and annotator, from files, people's runs and the docs."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from creval.plugin import DataError, Run

__all__ = ["GOLD", "Labels", "Verdicts", "majority", "read_labels"]

GOLD = "gold_"
"""A doc's field `gold_feasibility` contains the feasibility label of its solution."""

_WORDS = {"1": True, "yes": True, "true": True, "1.0": True, "0": False, "no": False, "false": False, "0.0": False}


class Place(NamedTuple):
    """What a label is about."""

    doc: str
    criterion: str


Verdicts = Mapping[Place, bool]


class Labels:
    """Labels by annotator; `gold` is the majority for each place (none if it is split evenly)."""

    def __init__(self, by: Mapping[str, Verdicts]) -> None:
        self.by = by

    @property
    def gold(self) -> dict[Place, bool]:
        """Return the majority of all annotators."""
        return self.without(None)

    def without(self, annotator: str | None) -> dict[Place, bool]:
        """Return the majority of the others, to compare an annotator with."""
        votes: dict[Place, list[bool]] = defaultdict(list)
        for name, verdicts in self.by.items():
            if name != annotator:
                for place, label in verdicts.items():
                    votes[place].append(label)
        found = {place: majority(some) for place, some in votes.items()}
        return {place: label for place, label in found.items() if label is not None}


def majority(votes: Sequence[bool]) -> bool | None:
    """Return the majority of the votes; None if they are split evenly."""
    yes = sum(votes)
    return None if 2 * yes == len(votes) else 2 * yes > len(votes)


def read_labels(file: Path | None, people: Iterable[Run], runs: Iterable[Run]) -> Labels:
    """Read labels from a file (CSV or JSONL: doc, criterion, label, perhaps annotator) and from runs judged by people.

    Without either: from the docs of the judged runs. Raises DataError if there is no label, or an invalid one.
    """
    by: dict[str, dict[Place, bool]] = defaultdict(dict)
    if file is not None:
        for number, row in enumerate(_rows(file), 1):
            _add_label(by, row, f"{file}: row {number}")
    for run in people:
        name = str(run.manifest["roles"].get("judge", run.model)).removeprefix("human/")
        for _, score in run.scored(None):
            for criterion, verdict in score.details.get("jury", {}).get("criteria", {}).items():
                by[name][Place(score.key.doc, criterion)] = bool(verdict["fulfilled"])
    if not by:
        by["labels"] = {place: label for run in runs for place, label in _of_docs(run)}
    if not any(by.values()):
        raise DataError(
            "there are no labels here",
            fix="Add --labels FILE with doc, criterion and label, or --people RUN of creval play.",
        )
    return Labels(dict(by))


def _add_label(by: dict[str, dict[Place, bool]], row: Mapping[str, Any], where: str) -> None:
    missing = next((name for name in ("doc", "criterion", "label") if row.get(name) in (None, "")), None)
    if missing:
        raise DataError(f"has no {missing!r}", where=where, fix="A row has doc, criterion and label (1 or 0).")
    label = _WORDS.get(str(row["label"]).strip().casefold())
    if label is None:
        raise DataError(f"{row['label']!r} is not a label", where=where, fix="Write 1 or 0.")
    place = Place(str(row["doc"]), str(row["criterion"]))
    name = str(row.get("annotator") or "labels")
    if by[name].setdefault(place, label) != label:
        raise DataError(f"{name} labels {place.doc} twice, differently", where=where, fix="Keep one of the rows.")


def _rows(file: Path) -> Iterator[Mapping[str, Any]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            if file.suffix == ".jsonl":
                yield from (json.loads(line) for line in lines if line.strip())
            else:
                yield from csv.DictReader(lines)
    except OSError as error:
        raise DataError(f"the labels cannot be read: {error.strerror}", where=str(file)) from error
    except ValueError as error:
        raise DataError(f"a line is not JSON: {error}", where=str(file)) from error


def _of_docs(run: Run) -> Iterator[tuple[Place, bool]]:
    for sample in run.samples():
        for name, value in (sample.doc or {}).items():
            if name.startswith(GOLD):
                yield Place(sample.key.doc, name.removeprefix(GOLD)), bool(value)
