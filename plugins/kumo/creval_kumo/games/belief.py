"""The exact posterior over the truths in games of reliability r < 1.

The paper's discussion mentions "probabilistic reasoning (by using probabilistic rule-out relationships)" without
defining it; this is our definition. The prior is uniform over the truths of the game. An action a has the outcomes
O_a, and S_a(t) are those that do not rule out the truth t (here: do not speak against it). If t is valid, the outcome
that a shows was drawn once, uniformly from S_a(t) with probability r, and uniformly from O_a with probability 1 - r:

    P(o | t) = r [o in S_a(t)] / |S_a(t)|  +  (1 - r) / |O_a|

Given t, actions are independent, and a repeated action shows the same outcome. So after the set A of actions

    P(t | A)  is proportional to  the product over a in A of P(o_a | t).

A number is uniform within its interval for every valid truth, so it is evidence only of its interval. All arithmetic
uses fractions: nothing is rounded, and ties are exact.
"""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction

from creval_kumo.games.instance import GameAction, Instance
from creval_kumo.games.reliability import exact_reliability, need_uncertain

__all__ = ["attainable", "expected_success", "likelihood", "most_probable", "posterior"]


def likelihood(action: GameAction, outcome: int, truth: str, reliability: Fraction) -> Fraction:
    """Return P(o | t), the probability that the action shows its outcome number `outcome` if `truth` is valid.

    At least one outcome of the action must not speak against the truth (`Instance.check` ensures this).
    """
    sparing = action.sparing(truth)
    followed = Fraction(int(outcome in sparing), len(sparing))
    return reliability * followed + (1 - reliability) * Fraction(1, len(action.outcomes))


def posterior(instance: Instance, taken: Iterable[str]) -> dict[str, Fraction]:
    """Return the probability of each truth, in the game's order, given the results of the actions taken; the sum is 1.

    Repeated actions count once, and the order does not matter. Raises UsageError for a game with certain results,
    DataError for a game that `Instance.check` refuses, KeyError for a name that is not an action.
    """
    instance.check()
    need_uncertain(instance.reliability, f"{instance.domain} instance {instance.seed}")
    reliability = exact_reliability(instance.reliability)
    actions = {action.name: action for action in instance.actions}
    weights = dict.fromkeys(instance.truths, Fraction(1))
    for name in dict.fromkeys(taken):
        action = actions[name]
        (outcome,) = action.matching(instance.observations[name])
        for truth in weights:
            weights[truth] *= likelihood(action, outcome, truth, reliability)
    total = sum(weights.values())
    return {truth: weight / total for truth, weight in weights.items()}


def most_probable(beliefs: Mapping[str, Fraction]) -> tuple[str, ...]:
    """Return the most probable truths in the order given: one, or several at a tie."""
    highest = max(beliefs.values())
    return tuple(truth for truth, belief in beliefs.items() if belief == highest)


def attainable(instance: Instance) -> Fraction:
    """Return the highest probability of a truth after all actions: the chance of success with full evidence."""
    return max(posterior(instance, instance.action_names).values())


def expected_success(instance: Instance) -> Fraction:
    """Return the prior chance of success with full evidence, which no player can exceed.

    It is the sum over all combinations of outcomes of the highest P(t) P(o | t), and does not depend on the observed
    outcomes. Combinations with equal probabilities of every truth are counted together; there may still be very many in
    games of more than a dozen actions.
    """
    need_uncertain(instance.reliability, f"{instance.domain} instance {instance.seed}")
    reliability = exact_reliability(instance.reliability)
    ways: Counter[tuple[Fraction, ...]] = Counter({(Fraction(1, len(instance.truths)),) * len(instance.truths): 1})
    for action in instance.actions:
        rows = Counter(
            tuple(likelihood(action, place, truth, reliability) for truth in instance.truths)
            for place in range(len(action.outcomes))
        )
        further: Counter[tuple[Fraction, ...]] = Counter()
        for (before, times), (row, alike) in itertools.product(ways.items(), rows.items()):
            further[tuple(map(operator.mul, before, row))] += times * alike
        ways = further
    return sum((max(joint) * times for joint, times in ways.items()), Fraction(0))
