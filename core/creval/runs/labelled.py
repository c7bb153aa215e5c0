"""`agreement.json` of a run folder: the agreement of its judges with people's labels, and the notes in its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from creval.errors import CrevalError
from creval.opener import read_json
from creval.runs.jsonl import write_json

__all__ = ["WARNING", "Labelled", "people_notes", "read_labelled", "write_labelled"]

Labelled = Mapping[str, Mapping[str, Any]]
"""By task and score: the number `n` of labelled answers, `kappa`, `spearman`, and the judge's `instruments`."""

WARNING = "WARNING: "
"""The beginning of a note that reports repeat."""

_FILE = "agreement.json"
_LEAST = 20
"""The least number of labelled answers that removes the warning."""


def read_labelled(folder: Path) -> Labelled:
    """Return the agreement measured in a run; empty if the file is absent or cannot be read."""
    try:
        agreements = read_json(folder / _FILE)
    except (OSError, ValueError, CrevalError):
        return {}
    tasks = agreements.items() if isinstance(agreements, dict) else ()
    return {task: scores for task, scores in tasks if isinstance(scores, dict)}


def write_labelled(folder: Path, task: str, score: str, agreement: Mapping[str, Any]) -> None:
    """Add the agreement of one score to that of the run."""
    known = read_labelled(folder)
    write_json(folder / _FILE, {**known, task: {**known.get(task, {}), score: agreement}})


def people_notes(scores: Sequence[str], labelled: Mapping[str, Any], instruments: Mapping[str, str]) -> list[str]:
    """Return a note on the scores whose judge was not compared with people, and one for each score that was."""
    known = {score: labelled[score] for score in scores if _measured(labelled.get(score), instruments)}
    unknown = [score for score in scores if score not in known]
    notes = [f"{score}: people and judge agree on {_agreement_text(agreement)}" for score, agreement in known.items()]
    if unknown:
        notes.append(
            f"{WARNING}the judge of {', '.join(unknown)} was not compared with people on {_LEAST} answers of "
            "this run or more: the numbers are its opinion. "
            "Labels: creval analyse judge-agreement RUN --score NAME --labels FILE"
        )
    return notes


def _measured(entry: Any, instruments: Mapping[str, str]) -> bool:
    """Whether a score was compared with labels, with the instruments in use."""
    return isinstance(entry, dict) and entry.get("instruments") == dict(instruments) and _enough(entry.get("n"))


def _enough(n: Any) -> bool:
    return isinstance(n, int) and n >= _LEAST


def _agreement_text(entry: Mapping[str, Any]) -> str:
    numbers = [f"{name} {entry[name]:.3f}" for name in ("kappa", "spearman") if isinstance(entry.get(name), float)]
    return f"{entry['n']} answers with labels: {', '.join(numbers) or 'no number is defined'}"
