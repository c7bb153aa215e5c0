"""Split a domain into two that share no truth, one for training and one for testing.

Source: paper 002, "Environment split via connection analysis": truths related to the same action are connected;
connected components, found by depth-first search, are assigned alternately to T1 and T2, so that related truths stay
together; an action whose related truths are all in T1 is assigned to A1, every other action to A2.

The paper does not specify the order of the components. We assign the largest first (ties by name) for the balance that
the paper asks for. The authors' halves of the medical domain keep every component whole and assign every action by this
rule, but their order cannot be inferred.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from creval.plugin import UsageError
from creval_kumo.analysis.graph import components, domain_graph
from creval_kumo.domains.domain import Action, Domain, Outcome

__all__ = ["split_actions", "split_domain", "split_truths"]


def split_truths(domain: Domain) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return T1 and T2, in the domain's order. Raises UsageError if all truths are connected."""
    parts = components(domain_graph(domain))
    if len(parts) < 2:
        raise UsageError(
            f"all {len(domain.truths)} truths are connected through actions, so they cannot be split",
            where=f"domain {domain.name}",
            fix="Choose a domain whose graph has several components: creval analyse kumo-graph --domain all",
        )
    dealt = sorted(parts, key=lambda part: (-len(part), min(part)))
    first = {name for part in dealt[0::2] for name in part}
    names = [truth.name for truth in domain.truths]
    return tuple(n for n in names if n in first), tuple(n for n in names if n not in first)


def split_actions(domain: Domain, first: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return A1 and A2 for T1 = `first`, in the domain's order (an action related to no truth is in A1)."""
    inside = set(first)
    ours = {action.name for action in domain.actions if action.related <= inside}
    names = [action.name for action in domain.actions]
    return tuple(n for n in names if n in ours), tuple(n for n in names if n not in ours)


def split_domain(domain: Domain) -> tuple[Domain, Domain]:
    """Return the two halves, named `<domain>_ind` and `<domain>_ood`; outcomes rule out only truths of their half."""
    truths = split_truths(domain)
    actions = split_actions(domain, truths[0])
    halves = [
        _part(domain, (suffix, label), truths[half], actions[half])
        for half, (suffix, label) in enumerate((("ind", "in distribution"), ("ood", "out of distribution")))
    ]
    return halves[0], halves[1]


def _part(domain: Domain, words: tuple[str, str], truths: Sequence[str], actions: Sequence[str]) -> Domain:
    inside = frozenset(truths)
    return replace(
        domain,
        name=f"{domain.name}_{words[0]}",
        title=f"{domain.title} ({words[1]})",
        truths=tuple(truth for truth in domain.truths if truth.name in inside),
        actions=tuple(_inside(domain.action_by_name[name], inside) for name in actions),
    )


def _inside(action: Action, truths: frozenset[str]) -> Action:
    return replace(
        action, outcomes=tuple(Outcome(outcome.state, outcome.rules_out & truths) for outcome in action.outcomes)
    )
