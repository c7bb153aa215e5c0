"""What the results of actions are evidence of, in games of reliability r < 1: the exact posterior over the truths.

The paper's discussion names "probabilistic reasoning (by using probabilistic rule-out relationships)" and defines
nothing; this is our definition. Beforehand all truths of the game are equally likely to be the valid one. An action a
has the outcomes O_a, and S_a(t) are those of them that do not rule out the truth t (here: do not speak against it).
Where t is valid, the outcome that a shows was drawn once, with probability r uniformly from S_a(t), and with 1 - r
uniformly from O_a:

    P(o | t) = r [o in S_a(t)] / |S_a(t)|  +  (1 - r) / |O_a|

Given t, actions are independent of each other, and one taken again shows the same. So after the set A of actions

    P(t | A)  is proportional to  the product over a in A of P(o_a | t).

A number inside an interval is uniform there whatever the valid truth, so it is evidence of its interval only. All
arithmetic is in fractions: nothing is rounded, and a tie is a tie.
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
    """Return P(o | t), the probability that the action shows its outcome number `outcome` where `truth` is valid.

    Some outcome of the action must not speak against the truth (`Instance.check` sees to that).
    """
    sparing = action.sparing(truth)
    followed = Fraction(int(outcome in sparing), len(sparing))
    return reliability * followed + (1 - reliability) * Fraction(1, len(action.outcomes))


def posterior(instance: Instance, taken: Iterable[str]) -> dict[str, Fraction]:
    """Return the probability of each truth, in the game's order, given what the actions taken showed; they sum to 1.

    An action counts once however often it is taken, and the order does not matter. Raises UsageError for a game of
    certain results, DataError for one that `Instance.check` refuses, KeyError for a name that is no action.
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
    """Return the truths that no other exceeds in probability, in the order given: one, or several at a tie."""
    highest = max(beliefs.values())
    return tuple(truth for truth, belief in beliefs.items() if belief == highest)


def attainable(instance: Instance) -> Fraction:
    """Return the highest probability of a truth after all actions: the chance of success with full evidence."""
    return max(posterior(instance, instance.action_names).values())


def expected_success(instance: Instance) -> Fraction:
    """Return the chance of success with full evidence before anything is seen: no player of any kind has a higher one.

    It is the sum over all combinations of outcomes of the highest P(t) P(o | t), and does not depend on what the
    game's actions show. Combinations under which every truth has the same probability are counted together; there may
    still be very many in games of more than a dozen actions.
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
