"""Creativity of human programmers (Eqs. 5 and 6), from the authors' technique lists; no model is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from creval_neocoder.problem import STATES, Problem
from creval_neocoder.techniques.creativity import human_convergent, human_divergent, human_neogauge
from creval_neocoder.techniques.vocabulary import VOCABULARY

__all__ = ["HumanNumbers", "human_numbers"]


@dataclass(frozen=True, slots=True)
class HumanNumbers:
    """Human creativity, shares from 0 to 1.

    `convergent[t]` is Eq. 5 in state t over the problems that have it; `divergent` Eq. 6 with the lists as shipped,
    `divergent_in_vocabulary` without the names outside the 34. `union` is the mean size of T-hat, `mentions` how often
    each technique is named, once per solution. `neogauge[t]` is NeoGauge of the solutions in state t, each against
    the others, and `best_neogauge[t]` that of the best solution to each problem.
    """

    problems: int
    convergent: Sequence[float]
    divergent: float
    divergent_in_vocabulary: float
    union: float
    mentions: Counter[str]
    neogauge: Sequence[float]
    best_neogauge: Sequence[float]


def human_numbers(problems: Sequence[Problem]) -> HumanNumbers:
    """Compute them over the problems that have human solutions."""
    solved = [problem for problem in problems if problem.techniques]
    known = set(VOCABULARY)
    kept = [[tuple(name for name in names if name in known) for names in p.techniques] for p in solved]
    by_state = [[p for p in solved if len(p.constraints) > t] for t in STATES]
    neogauge = [[human_neogauge(p.techniques, p.constraints[t]) for p in by_state[t]] for t in STATES]
    return HumanNumbers(
        problems=len(solved),
        convergent=[
            _mean([human_convergent(p.techniques, p.constraints[t]) for p in of_state])
            for t, of_state in enumerate(by_state)
        ],
        divergent=_mean([human_divergent(problem.techniques) for problem in solved]),
        divergent_in_vocabulary=_mean([human_divergent(lists) for lists in kept]),
        union=_mean([len(problem.human) for problem in solved]),
        mentions=Counter(name for p in solved for names in p.techniques for name in dict.fromkeys(names)),
        neogauge=[_mean([mean for mean, _ in of_state]) for of_state in neogauge],
        best_neogauge=[_mean([best for _, best in of_state]) for of_state in neogauge],
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
