"""Accuracy of an entailment model on labelled pairs: the experiment of Table 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.plugin import DataError
from creval.plugin.data import open_file
from creval_agreement.two_raters import agreement
from creval_openended.entropy.judging import Rule, judge_by

__all__ = ["COLUMNS", "LabelledPair", "checked", "read_pairs"]

COLUMNS = ("verdict by", "pairs", "says yes", "accuracy", "balanced accuracy", "kappa")
_YES = ("yes", "true", "1", "1.0", "entailment", "positive")
_NO = ("no", "false", "0", "0.0", "neutral", "contradiction", "not_entailment", "negative")


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts, and whether annotators say that the premise entails the hypothesis."""

    premise: str
    hypothesis: str
    entails: bool


def read_pairs(file: Path) -> list[LabelledPair]:
    """Read rows with `premise`, `hypothesis` and `label`. Raises DataError, naming the row, if a row is unreadable."""
    rows = open_file(file)
    pairs = []
    for index, row in enumerate(rows):
        fields: Any = row
        try:
            label = str(fields["label"]).strip().lower()
            texts = str(fields["premise"]).strip(), str(fields["hypothesis"]).strip()
        except (KeyError, TypeError) as error:
            raise DataError("a pair has the fields premise, hypothesis and label", where=rows.where(index)) from error
        if label not in (*_YES, *_NO) or not all(texts):
            raise DataError(
                f"the label {label!r} is neither yes nor no, or a text is empty",
                where=rows.where(index),
                fix="Write yes or no (true/false, 1/0, entailment/neutral/contradiction).",
            )
        pairs.append(LabelledPair(*texts, label in _YES))
    if not pairs:
        raise DataError("there are no pairs", where=str(file))
    return pairs


async def checked(pairs: Sequence[LabelledPair], entailment: Any, rule: Rule) -> list[tuple[Any, ...]]:
    """Return one row of COLUMNS for the model (one way, and mutually as in clustering) and for two constants.

    A constant's accuracy is the share of its label, and its kappa is undefined: a model has to beat it.
    """
    judge = judge_by(entailment, rule)
    forward = await judge([(pair.premise, pair.hypothesis) for pair in pairs])
    backward = await judge([(pair.hypothesis, pair.premise) for pair in pairs])
    verdicts = {
        "model": list(forward),
        "model, both ways": [one and other for one, other in zip(forward, backward, strict=True)],
        "always yes": [True] * len(pairs),
        "always no": [False] * len(pairs),
    }
    people = [float(pair.entails) for pair in pairs]
    rows = []
    for name, said in verdicts.items():
        found = agreement(people, [float(each) for each in said])
        rows.append((name, len(pairs), sum(said), found.accuracy, found.balanced_accuracy, found.kappa))
    return rows
