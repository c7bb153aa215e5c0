"""The optimal search as a compiled kernel: branch and bound with a memo, in flat arrays.

The value is the one of Algorithm 3 (paper 002): E[S](T, A) = 1 + min over actions a of the sum over outcomes s
of P(s) E[S](T minus T_s, A minus a), and 0 where at most one truth is left, no action is left, or some truth is
related to no action left. What makes it fast, and why each step keeps the value:

- *Rows.* What an action does to a truth set T does not depend on the actions left, so it is computed once per
  T: the live next sets (more truths than are valid), merged where equal, with their probabilities.
- *Reduced action sets.* An action related to no truth of T changes nothing and costs a step: it is dropped.
  Two actions that leave the same sets of T equally often and relate to the same truths of T are interchangeable
  from there on: those left of such a class are replaced by as many of its lowest members.
- *Relaxed bound.* Let k be the smallest number of actions left that relate to one truth of T. Before k steps the
  third base case cannot occur. So the value is at least that of the game of at most k steps in which actions
  may be taken again and only the first base case ends play; that game depends on (T, k) alone.
- *Windows.* A node is asked for its value only below a bound; it answers with the exact value, or with a lower
  bound that is not below the bound asked for. Both are remembered.

The kernel runs in slices, so that the caller can look at the clock and enlarge full tables: all its state
stands in the arrays. `PythonEngine` is the same search in readable form.
"""

from __future__ import annotations

import numpy as np

from creval_kumo.search.tables import (
    ACTIONS,
    AT,
    BEST,
    CUT,
    DEPTH,
    EXACT,
    FIRST,
    LEFT,
    LOW,
    MOVE,
    N_NODES,
    N_ORDER,
    N_STATES,
    NO_ROOM,
    ONLY,
    ORDER,
    PHASE,
    PROMISED,
    RELATED,
    ROW,
    STATE_ACTIONS,
    STATE_ROW,
    TOTAL,
    TRUTHS,
    UB,
    Game,
    compiled,
    find_state,
    inlined,
    popcount,
)
from creval_kumo.search.truth_rows import add_row, canonical, expand_row, has_room, moves_of, relaxed

__all__ = ["DONE", "FULL", "PAUSED", "prepare", "run_slice"]

TRUTH_ROWS = "358bde3a365e17fa"  # start of the SHA-256 of truth_rows.py, see tables.py

DONE, PAUSED, FULL = 0, 1, 2
ENTER, RETURN, NEXT = 0, 1, 2


@inlined
def count_related(depth: int, game: Game) -> None:
    """Sort the truths of the node by the number of its actions that relate to them."""
    frames, n_actions = game.frames, game.actions.shape[0]
    levels = ORDER + n_actions
    for number in range(n_actions + 1):
        frames[depth, levels + number] = 0
    todo = game.rows[frames[depth, ROW], TRUTHS]
    while todo:
        bit = todo & -todo
        todo &= todo - 1
        number = popcount(frames[depth, LEFT] & game.actions_of[popcount(bit - 1)])
        frames[depth, levels + number] |= bit


@inlined
def bound_move(depth: int, action: int, child: int, game: Game) -> float:
    """Lower bound of the state after this move; 0 where the move ends play."""
    frames = game.frames
    levels = ORDER + game.actions.shape[0]
    truths = game.rows[child, TRUTHS]
    related = game.actions[action, RELATED] & truths
    if related & frames[depth, levels + 1]:
        return 0.0
    least = 1
    while not truths & frames[depth, levels + least]:
        least += 1
    if related & frames[depth, levels + least]:
        least -= 1
    least = min(least, game.bounds.shape[1] - 1)
    bound = game.bounds[child, least]
    if bound < 0.0:
        bound = relaxed(child, least, game)
        if game.counts[NO_ROOM]:
            return 1.0
    slot = find_state(child, canonical(child, frames[depth, LEFT] & ~(1 << action), game), game.states)
    if game.states[slot, STATE_ROW] >= 0:
        bound = max(bound, game.values[slot])
    return bound  # type: ignore[no-any-return]


@inlined
def open_node(depth: int, game: Game) -> bool:
    """Bound and order the actions of the node at `depth`; True where one of them surely ends play."""
    frames, sums, n_actions = game.frames, game.sums, game.actions.shape[0]
    count_related(depth, game)
    row, only = frames[depth, ROW], frames[depth, ONLY]
    bounds = PROMISED + n_actions - game.rows[row, FIRST]
    todo = frames[depth, LEFT] if only < 0 else 1 << only
    placed = 0
    while todo:
        action = popcount((todo & -todo) - 1)
        todo &= todo - 1
        total = 1.0
        start, end = moves_of(row, action, game)
        for move in range(start, end):
            bound = bound_move(depth, action, game.next_row[move], game)
            if game.counts[NO_ROOM]:
                return False
            sums[depth, bounds + move] = bound
            total += game.chance[move] * bound
        if total == 1.0:
            return True
        place = placed
        placed += 1
        while place > 0 and sums[depth, PROMISED + place - 1] > total:
            sums[depth, PROMISED + place] = sums[depth, PROMISED + place - 1]
            frames[depth, ORDER + place] = frames[depth, ORDER + place - 1]
            place -= 1
        sums[depth, PROMISED + place] = total
        frames[depth, ORDER + place] = action
    frames[depth, N_ORDER] = placed
    return False


@inlined
def answer(depth: int, value: float, exact: int, game: Game) -> int:
    """Answer for the node at `depth`, and remember the answer."""
    frames, states = game.frames, game.states
    game.sums[depth, BEST] = value
    game.counts[EXACT] = exact
    if frames[depth, ONLY] < 0:
        row, left = frames[depth, ROW], frames[depth, LEFT]
        slot = find_state(row, left, states)
        if states[slot, STATE_ROW] < 0:
            game.counts[N_STATES] += 1
            states[slot, STATE_ACTIONS] = left
            game.values[slot] = 0.0
        if exact or value > game.values[slot]:
            states[slot, STATE_ROW] = 2 * row + exact
            game.values[slot] = value
    return RETURN


@inlined
def enter(depth: int, game: Game) -> int:
    """Start the node at `depth` and return the next phase; the answer of a node stands in its BEST."""
    frames, sums = game.frames, game.sums
    if frames[depth, ONLY] < 0:
        slot = find_state(frames[depth, ROW], frames[depth, LEFT], game.states)
        known = game.states[slot, STATE_ROW]
        if known >= 0 and (known & 1 or game.values[slot] >= sums[depth, UB]):
            sums[depth, BEST] = game.values[slot]
            game.counts[EXACT] = known & 1
            return RETURN
    ends = open_node(depth, game)
    if game.counts[NO_ROOM]:
        return ENTER
    game.counts[N_NODES] += 1
    if ends:
        return answer(depth, 1.0, 1, game)
    frames[depth, AT] = 0
    frames[depth, MOVE] = -1
    sums[depth, BEST] = np.inf
    sums[depth, LOW] = np.inf
    sums[depth, CUT] = sums[depth, UB]
    return NEXT


@inlined
def step(depth: int, game: Game) -> int:
    """Advance the node at `depth` by one move: go down (ENTER), answer (RETURN), or look again (NEXT)."""
    frames, sums, row = game.frames, game.sums, game.frames[depth, ROW]
    place = frames[depth, AT]
    if frames[depth, MOVE] < 0:
        if place == frames[depth, N_ORDER] or sums[depth, PROMISED + place] >= sums[depth, CUT]:
            if place < frames[depth, N_ORDER]:
                sums[depth, LOW] = min(sums[depth, LOW], sums[depth, PROMISED + place])
            if sums[depth, BEST] < sums[depth, UB]:
                return answer(depth, sums[depth, BEST], 1, game)
            return answer(depth, sums[depth, LOW], 0, game)
        sums[depth, TOTAL] = sums[depth, PROMISED + place]
    action = frames[depth, ORDER + place]
    start, end = moves_of(row, action, game)
    move = max(frames[depth, MOVE], start)
    bounds = PROMISED + game.actions.shape[0] - game.rows[row, FIRST]
    while move < end and sums[depth, bounds + move] == 0.0:
        move += 1
    frames[depth, MOVE] = move
    if move == end or sums[depth, TOTAL] >= sums[depth, CUT]:
        sums[depth, LOW] = min(sums[depth, LOW], sums[depth, TOTAL])
        if sums[depth, TOTAL] < sums[depth, CUT]:
            sums[depth, BEST] = sums[depth, TOTAL]
            sums[depth, CUT] = sums[depth, TOTAL]
        frames[depth, AT] += 1
        frames[depth, MOVE] = -1
        return NEXT
    child = game.next_row[move]
    slack = (sums[depth, CUT] - sums[depth, TOTAL]) / game.chance[move]
    frames[depth + 1, ROW] = child
    frames[depth + 1, LEFT] = canonical(child, frames[depth, LEFT] & ~(1 << action), game)
    frames[depth + 1, ONLY] = -1
    sums[depth + 1, UB] = sums[depth, bounds + move] + slack
    game.counts[DEPTH] = depth + 1
    return ENTER


@inlined
def take_answer(depth: int, game: Game) -> None:
    """Put the answer of the node below into the sum of the current action at `depth`."""
    frames, sums = game.frames, game.sums
    move = frames[depth, MOVE]
    old = sums[depth, PROMISED + game.actions.shape[0] - game.rows[frames[depth, ROW], FIRST] + move]
    sums[depth, TOTAL] += game.chance[move] * (sums[depth + 1, BEST] - old)
    if not game.counts[EXACT]:
        # Only a bound came back, so the action cannot get below the cut, whatever rounding says.
        sums[depth, TOTAL] = max(sums[depth, TOTAL], sums[depth, CUT])
    frames[depth, MOVE] = move + 1


@compiled
def prepare(truths: int, left: int, only: int, game: Game) -> bool:
    """Make the state (truths, actions left) the root; `only` is the one action to try, or -1. False: no room."""
    if not has_room(game):
        game.counts[NO_ROOM] = 1
        return False
    row = add_row(truths, game)
    if game.rows[row, FIRST] < 0:
        expand_row(row, game)
    game.frames[0, ROW] = row
    game.frames[0, LEFT] = left & game.rows[row, ACTIONS] if only >= 0 else canonical(row, left, game)
    game.frames[0, ONLY] = only
    game.counts[DEPTH] = 0
    game.counts[PHASE] = ENTER
    return True


@compiled
def run_slice(game: Game, nodes: int) -> int:
    """Run until done (the answer stands in `sums[0, BEST]`), for `nodes` more nodes (PAUSED), or until FULL."""
    counts = game.counts
    stop = counts[N_NODES] + nodes
    while True:
        depth = counts[DEPTH]
        if counts[PHASE] == ENTER:
            if counts[N_NODES] >= stop:
                return PAUSED
            if (counts[N_STATES] + 2) * 4 > game.values.size * 3:
                return FULL
            counts[PHASE] = enter(depth, game)
            if counts[NO_ROOM]:
                return FULL
        elif counts[PHASE] == NEXT:
            counts[PHASE] = step(depth, game)
        elif depth == 0:
            return DONE
        else:
            counts[DEPTH] = depth - 1
            take_answer(depth - 1, game)
            counts[PHASE] = NEXT
