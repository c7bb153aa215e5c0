"""Select observed outcomes that rule out every invalid truth (Algorithm 2 of paper 002), by SAT.

A SAT solver returns the first model that it finds, which differs between solvers and their versions. So we use the
solver only to decide satisfiability: the outcomes are taken in a given order, and each is left out unless every
solution that agrees with the choices so far needs it. The result is the unique smallest solution in that order, for
every solver. A plain search (`creval_kumo.games.cover`) gives the same result and is faster in games with few truths;
it is tried first unless a solver is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from creval_kumo.games.cover import Candidate, TooHard, first_cover

__all__ = ["DEFAULT_SOLVER", "Candidate", "Obstacle", "diagnose", "select"]

DEFAULT_SOLVER = "minisat22"


class Obstacle(Enum):
    """Why there is no selection."""

    NOT_EXCLUDABLE = "no outcome spares the valid truths and rules out some other truth"
    TOO_FEW_ACTIONS = "more actions are needed to rule out all other truths"
    IN_CONFLICT = "two truths can be ruled out only by different outcomes of the same action"


def select(
    candidates: Sequence[Candidate], invalid: int, max_actions: int, solver: str | None = None
) -> list[Candidate] | None:
    """Return the selected outcomes, or None if the formula is unsatisfiable.

    Constraints: at most one outcome per action, at most `max_actions` actions, and every truth of the mask
    `invalid` ruled out by at least one selected outcome. The order of `candidates` decides between solutions.
    No outcome of the result is redundant, so it has at most as many outcomes as there are invalid truths.
    `solver` is the name of the python-sat solver to use; the result does not depend on it.
    """
    if solver is None and invalid.bit_count() <= max_actions:
        try:
            return first_cover(candidates, invalid)
        except TooHard:
            pass
    return _select_by_sat(candidates, invalid, max_actions, solver or DEFAULT_SOLVER)


def _select_by_sat(
    candidates: Sequence[Candidate], invalid: int, max_actions: int, solver: str
) -> list[Candidate] | None:
    clauses = _clauses(candidates, invalid, max_actions)
    if clauses is None:
        return None
    from pysat.solvers import Solver

    fixed: list[int] = []
    selected: list[Candidate] = []
    with Solver(name=solver, bootstrap_with=clauses) as sat:
        if not sat.solve():
            return None
        model = sat.get_model()
        for variable, candidate in enumerate(candidates, start=1):
            if not invalid:
                break  # the selection is already a solution, so the rest is left out
            if model[variable - 1] > 0:
                if not sat.solve(assumptions=[*fixed, -variable]):
                    fixed.append(variable)
                    selected.append(candidate)
                    invalid &= ~candidate.rules_out
                    continue
                model = sat.get_model()
            fixed.append(-variable)
    return selected


def diagnose(candidates: Sequence[Candidate], invalid: int, max_actions: int) -> tuple[Obstacle, int]:
    """Return why `select` returned None, and which truths (a mask) no candidate rules out."""
    reachable = 0
    for candidate in candidates:
        reachable |= candidate.rules_out
    if invalid & ~reachable:
        return Obstacle.NOT_EXCLUDABLE, invalid & ~reachable
    if select(candidates, invalid, len(candidates)) is None:
        return Obstacle.IN_CONFLICT, 0
    return Obstacle.TOO_FEW_ACTIONS, 0


def _clauses(candidates: Sequence[Candidate], invalid: int, max_actions: int) -> list[list[int]] | None:
    """Return the formula in CNF; variable i + 1 is candidate i. None if a truth cannot be ruled out."""
    of_action: dict[int, list[int]] = {}
    excluding: dict[int, list[int]] = {}
    reachable = 0
    for variable, candidate in enumerate(candidates, start=1):
        of_action.setdefault(candidate.action, []).append(variable)
        mask = candidate.rules_out
        reachable |= mask
        while mask:
            low = mask & -mask
            excluding.setdefault(low, []).append(variable)
            mask ^= low
    if invalid & ~reachable:
        return None
    clauses = [column for truth, column in excluding.items() if truth & invalid]
    for same_action in of_action.values():
        clauses += [[-a, -b] for i, a in enumerate(same_action) for b in same_action[i + 1 :]]
    # A result without redundant outcomes has at most one action per invalid truth, so a larger limit never binds.
    if min(len(of_action), invalid.bit_count()) > max_actions:
        clauses += _action_limit(list(of_action.values()), max_actions, len(candidates))
    return clauses


def _action_limit(of_action: Sequence[Sequence[int]], max_actions: int, top: int) -> list[list[int]]:
    """Return the clauses for: at most `max_actions` actions have a selected outcome."""
    from pysat.card import CardEnc, EncType

    chosen = list(range(top + 1, top + 1 + len(of_action)))
    clauses = [[-outcome, action] for action, outcomes in zip(chosen, of_action, strict=True) for outcome in outcomes]
    limit: Any = CardEnc.atmost(lits=chosen, bound=max_actions, top_id=chosen[-1], encoding=EncType.seqcounter)
    return clauses + [list(clause) for clause in limit.clauses]
