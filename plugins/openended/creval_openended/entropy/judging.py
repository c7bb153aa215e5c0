"""Ask an entailment resource whether texts entail each other, as clustering requires.

Source: paper 004, C.2.3. `strict`: the most probable of the three labels is entailment, in both directions.
`non_defeating` (the looser rule of Farquhar et al., 2024): neither direction contradicts, and not both are neutral; a
single direction then counts as entailment if it does not contradict.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

import numpy as np

from creval.plugin import Entailment, UsageError
from creval_openended.entropy.partition import Pair

__all__ = ["Rule", "judge_by"]

Rule = Literal["strict", "non_defeating"]
_ENTAILMENT, _NEUTRAL, _CONTRADICTION = 0, 1, 2


def judge_by(entailment: Entailment, rule: Rule) -> Callable[[Sequence[Pair]], Awaitable[Sequence[bool]]]:
    """Return the judge for `partition_all`. It sends pairs to the resource in batches and caches the verdicts.

    Raises UsageError if the rule needs contradictions and the model only tells entailment from the rest.
    """
    if rule == "non_defeating" and getattr(entailment, "classes", 3) == 2:
        raise UsageError(
            "the rule non_defeating needs to know what contradicts, and this model has two classes",
            where=str(getattr(entailment, "name", "entailment")),
            fix="Name a model of three classes with --resource entailment=..., or take the rule strict.",
        )

    async def judge(pairs: Sequence[Pair]) -> Sequence[bool]:
        if rule == "strict":
            return [bool(label == _ENTAILMENT) for label in await _labels(entailment, pairs)]
        back = [(hypothesis, premise) for premise, hypothesis in pairs]
        forward, backward = np.split(await _labels(entailment, [*pairs, *back]), 2)
        against = (forward == _CONTRADICTION) | (backward == _CONTRADICTION)
        return [bool(holds) for holds in ~against & ~((forward == _NEUTRAL) & (backward == _NEUTRAL))]

    return judge


async def _labels(entailment: Entailment, pairs: Sequence[Pair]) -> np.ndarray[Any, Any]:
    rows = entailment.predict(pairs)
    if inspect.isawaitable(rows):
        rows = await rows
    return np.asarray(np.asarray(rows).argmax(axis=1))
