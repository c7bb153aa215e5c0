"""How the authors' released code counts candidates of the same text (MacGyverSemanticProbing at b2a17dd).

The first candidate founds the first class and is then counted again if its text occurs more than once: k copies count
k + 1 times. And a text that occurs again has the log-probability of its first occurrence. For a, a, b, c with equal
weights the entropy is 0.950270539, instead of 1.039720771 for three classes of 2, 1 and 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from creval_openended.entropy.candidate_interval import Step
from creval_openended.entropy.estimators import Entropies, entropies

__all__ = ["as_released", "released_entropies"]


def as_released(texts: Sequence[str], step: Step) -> Step:
    """Return a step as the released code weighs it: one more candidate if the first text occurs again."""
    first = [texts.index(text) for text in texts]
    places = [*first, *([0] if texts.count(texts[0]) > 1 else [])]
    logprobs = None if step.logprobs is None else [step.logprobs[place] for place in places]
    return Step([step.labels[place] for place in places], logprobs)


def released_entropies(step: Step, plain: Entropies) -> Entropies:
    """Return the entropies over classes of this step; the candidates, their bound and `naive` do not change."""
    found = entropies(step.labels, step.logprobs)
    value = found.count if found.semantic is None else found.semantic
    bound = None if plain.relative is None else min(1.0, value / _bound(plain.candidates))
    return replace(plain, semantic=found.semantic, count=found.count, relative=bound)


def _bound(candidates: int) -> float:
    return entropies(range(candidates), None).count  # ln m
