"""Which outcomes to show so that every invalid truth is ruled out (Algorithm 2 of paper 002), by SAT.

A SAT solver returns whatever model it meets first, which differs between solvers and versions. Here the one
selection is taken that is smallest in a given order of the outcomes: each in turn is left out unless a solution needs
it. So the solver decides only whether something is satisfiable, and every solver gives the same instance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from creval_kumo.domain import State

__all__ = ["DEFAULT_SOLVER", "Candidate", "select"]

DEFAULT_SOLVER = "cadical153"


class Candidate(NamedTuple):
    """An outcome that contradicts no valid truth, with the invalid truths that it rules out (at least one)."""

    action: str
    state: State
    rules_out: frozenset[str]


def select(
    candidates: Sequence[Candidate], invalid: Sequence[str], max_actions: int, solver: str = DEFAULT_SOLVER
) -> list[Candidate] | None:
    """Return the selected outcomes, or None where it is unsatisfiable.

    Constraints: at most one outcome an action; at most `max_actions` actions; every invalid truth ruled out by at
    least one selected outcome. The order of `candidates` decides among solutions (see the module).
    """
    clauses, variables = _clauses(candidates, invalid, max_actions)
    if clauses is None:
        return None
    from pysat.solvers import Solver

    with Solver(name=solver, bootstrap_with=clauses) as sat:
        if not sat.solve():
            return None
        model = set(sat.get_model())
        fixed: list[int] = []
        for variable in variables:
            if variable in model:
                if sat.solve(assumptions=[*fixed, -variable]):
                    model = set(sat.get_model())
                    fixed.append(-variable)
                else:
                    fixed.append(variable)
            else:
                fixed.append(-variable)
    chosen = set(fixed)
    return [candidate for variable, candidate in zip(variables, candidates, strict=True) if variable in chosen]


def _clauses(
    candidates: Sequence[Candidate], invalid: Sequence[str], max_actions: int
) -> tuple[list[list[int]] | None, list[int]]:
    variables = list(range(1, len(candidates) + 1))
    clauses: list[list[int]] = []
    of_action: dict[str, list[int]] = {}
    excluding: dict[str, list[int]] = {truth: [] for truth in invalid}
    for variable, candidate in zip(variables, candidates, strict=True):
        of_action.setdefault(candidate.action, []).append(variable)
        for truth in candidate.rules_out:
            excluding[truth].append(variable)
    if any(not column for column in excluding.values()):
        return None, variables
    clauses += excluding.values()
    for same_action in of_action.values():
        clauses += [[-a, -b] for i, a in enumerate(same_action) for b in same_action[i + 1 :]]
    if len(of_action) > max_actions:
        clauses += _action_limit(list(of_action.values()), max_actions, len(variables))
    return clauses, variables


def _action_limit(of_action: Sequence[Sequence[int]], max_actions: int, top: int) -> list[list[int]]:
    """At most `max_actions` actions have a selected outcome."""
    from pysat.card import CardEnc, EncType

    chosen = list(range(top + 1, top + 1 + len(of_action)))
    clauses = [[-outcome, action] for action, outcomes in zip(chosen, of_action, strict=True) for outcome in outcomes]
    limit: Any = CardEnc.atmost(lits=chosen, bound=max_actions, top_id=chosen[-1], encoding=EncType.seqcounter)
    return clauses + [list(clause) for clause in limit.clauses]
