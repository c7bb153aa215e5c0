"""The optimal search as a compiled kernel: branch and bound with a memo, in flat arrays.

The value is that of Algorithm 3 (paper 002): E[S](T, A) = 1 + min over actions a of the sum over outcomes s
of P(s) E[S](T minus T_s, A minus a), and 0 if at most one truth is left, no action is left, or some truth is
related to no action left. The optimizations, and why each preserves the value:

- *Rows.* The effect of an action on a truth set T does not depend on the actions left, so it is computed once per
  T: the live next sets (more truths than are valid), equal ones merged, with their probabilities.
- *Reduced action sets.* An action related to no truth of T changes nothing and costs a step: it is dropped.
  Two actions that leave the same sets of T equally often and relate to the same truths of T are interchangeable
  from then on: the remaining members of such a class are replaced by the same number of its lowest members.
- *Relaxed bound.* Let k be the smallest number of actions left that relate to one truth of T. Before k steps the
  third base case cannot occur. So the value is at least that of the game of at most k steps in which actions
  may be repeated and only the first base case ends play; that game depends only on (T, k).
- *Deep bound.* The relaxed game is a weak bound if a truth has few actions left, since k is then small. So let D be
  these truths of T ("scarce"), and keep the game exact for them: an action related to a truth of D is used up, and a
  truth of D without an action left ends play. All other actions may be repeated, and play ends after k steps, k the
  smallest number of actions left that relate to one truth outside D (at most `HORIZON`). The value of this game is a
  lower bound: it has all plays of the real game with the same chances, since repeats only add plays, and ends no play
  later, since a truth outside D takes at least k steps to lose its actions and the other base cases are the same. It
  depends on T, D, k and the actions left that relate to D. D grows from the truths with one action left to those with
  at most `SCARCE`, and only as long as the smaller D does not settle the bound.
- *Windows.* A node gets a bound and returns either the exact value or a lower bound that is not below the given bound.
  Both are stored in the memo.

The kernel runs in slices, so that the caller can check the clock and enlarge full tables: all its state is in the
arrays. `PythonEngine` is the same search in readable form, without the deep bound, as an independent check. The memo of
deep bounds may evict entries: a key has few possible slots, which keep the most expensive entries.

There are few wide arrays with named columns, because numba's compile time grows with the number of arrays. Truth sets
and action sets are bit masks in int64, at most 62 each. Hash tables are open-addressed and their sizes are powers of
two; a free slot is -1.

All compiled functions are in this one file: numba caches compiled code on disk and recompiles a function when its file
changes, but not when only the file of a called function changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
import numpy.typing as npt

__all__ = ["DONE", "FULL", "PAUSED", "GameTables", "place_rows", "place_states", "prepare", "run_slice"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Function = TypeVar("Function", bound=Callable[..., Any])

DONE, PAUSED, FULL = 0, 1, 2
ENTER, RETURN, NEXT = 0, 1, 2

HORIZON = 6
"""Most steps of the deep bound's game."""
SCARCE = 5
"""A truth with more actions left than this is not scarce."""
DEEP_BITS = 31
"""Most truths and most actions for which the deep bound is computed; both masks share a word."""
WAYS = 4  # entries of the deep memo that a key may be in; they share a cache line
FIXED = 67108864.0  # 2**26: values of the deep memo are whole multiples of its inverse, rounded down

EPSILON = 1e-9  # Algorithm 3's guard against a division by zero; part of the value
MULTIPLIER = 0x1F58D4B3C2A69E71  # odd, below 2**63; spreads keys over the slots

# Columns of `actions`: the truths related to it, the number of outcomes, then what each outcome rules out.
RELATED, N_OUTCOMES, OUTCOMES = 0, 1, 2
# Columns of `rows`; the ends of each action's moves (counted from FIRST) start at ENDS, the classes follow.
TRUTHS, SIZE, FIRST, ACTIONS, N_CLASSES, ENDS = 0, 1, 2, 3, 4, 5
# Columns of `states`: twice the row, plus 1 if the value is exact; the action set.
STATE_ROW, STATE_ACTIONS = 0, 1
# Columns of `frames`; the ordered actions start at ORDER, the truths by number of related actions follow.
ROW, LEFT, ONLY, N_ORDER, AT, MOVE, ORDER = 0, 1, 2, 3, 4, 5, 6
# Columns of `sums`; the bounds of the ordered actions start at PROMISED, the bounds of the moves follow.
UB, CUT, BEST, LOW, TOTAL, PROMISED = 0, 1, 2, 3, 4, 5
# Places in `counts`.
N_ROWS, N_MOVES, N_STATES, N_NODES, DEPTH, NO_ROOM, PHASE, EXACT, N_VALID, N_DEEP = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9


class GameTables(NamedTuple):
    """Every table of one instance."""

    actions: Ints  # [action, column]
    actions_of: Ints  # [truth] the actions related to it
    slots: Ints  # hash slots: row number or -1
    rows: Ints  # [row, column] all that depends only on a truth set
    bounds: Floats  # [row, k] value of the relaxed game of k steps, -1 if unknown
    next_row: Ints  # [move] the row that a move leads to
    chance: Floats  # [move] its probability
    states: Ints  # [slot, column] hash slots: the memo
    values: Floats  # [slot] value or lower bound
    frames: Ints  # [depth, column] the stack
    sums: Floats  # [depth, column] the stack's numbers
    counts: Ints  # state that changes between calls
    deep: (
        Ints  # [slot, (row + 1, steps and value; masks)] the memo of deep bounds, with eviction; empty: no deep bounds
    )
    tries: Ints  # [steps, place] the actions of the deep bound being computed
    hopes: Floats  # [steps, column] their bounds, then the bounds of their moves


def compiled(function: Function) -> Function:
    """Compile `function` on its first call, and cache the code on disk."""
    return _jit(function, forceinline=False)


def inlined(function: Function) -> Function:
    """Like `compiled`, but inline the code into every caller."""
    return _jit(function, forceinline=True)


def _jit(function: Function, forceinline: bool) -> Function:
    njit: Any = numba.njit
    compiled_function: Function = njit(
        cache=True, forceinline=forceinline, error_model="numpy", **_no_reference_counts()
    )(function)
    return compiled_function


def _no_reference_counts() -> dict[str, Any]:
    """Return the option that turns off reference counting of arrays in every call.

    The kernel allocates nothing, and runs five times as fast with it. The option is not public, so it is
    used only if this version of numba supports it.
    """
    try:
        from numba.core.options import DefaultOptions
    except ImportError:
        return {}
    return {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


@inlined
def popcount(bits: int) -> int:
    """Return the number of bits set, for 0 <= bits < 2**62."""
    bits = bits - ((bits >> 1) & 0x5555555555555555)
    bits = (bits & 0x3333333333333333) + ((bits >> 2) & 0x3333333333333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (bits * 0x0101010101010101) >> 56


@inlined
def scatter(key: int) -> int:
    """Return a hash of an integer."""
    key = (key ^ (key >> 31)) * MULTIPLIER
    key = (key ^ (key >> 29)) * MULTIPLIER
    return key ^ (key >> 32)


@inlined
def find_state(row: int, left: int, states: Ints) -> int:
    """Return the slot of the state (row, actions left), or the free slot where it belongs."""
    last: int = states.shape[0] - 1
    slot = scatter(left ^ (row << 40) ^ row) & last
    while states[slot, STATE_ROW] >= 0 and (states[slot, STATE_ROW] >> 1 != row or states[slot, STATE_ACTIONS] != left):
        slot = (slot + 1) & last
    return slot


@compiled
def place_rows(slots: Ints, rows: Ints, n_rows: int) -> None:
    """Enter all rows into fresh slots (after growth)."""
    last = slots.size - 1
    for row in range(n_rows):
        slot = scatter(rows[row, TRUTHS]) & last
        while slots[slot] >= 0:
            slot = (slot + 1) & last
        slots[slot] = row


@compiled
def place_states(states: Ints, values: Floats, new_states: Ints, new_values: Floats) -> None:
    """Copy the memo into a larger, empty one."""
    for place in range(values.size):
        if states[place, STATE_ROW] >= 0:
            slot = find_state(states[place, STATE_ROW] >> 1, states[place, STATE_ACTIONS], new_states)
            new_states[slot, STATE_ROW] = states[place, STATE_ROW]
            new_states[slot, STATE_ACTIONS] = states[place, STATE_ACTIONS]
            new_values[slot] = values[place]


@inlined
def add_row(truths: int, game: GameTables) -> int:
    """Return the row of this truth set, adding it if new. The caller must ensure that there is room."""
    slots, rows = game.slots, game.rows
    last = slots.size - 1
    slot = scatter(truths) & last
    while slots[slot] >= 0:
        if rows[slots[slot], TRUTHS] == truths:
            return slots[slot]  # type: ignore[no-any-return]
        slot = (slot + 1) & last
    row = game.counts[N_ROWS]
    game.counts[N_ROWS] += 1
    slots[slot] = row
    rows[row, TRUTHS] = truths
    rows[row, SIZE] = popcount(truths)
    rows[row, FIRST] = -1
    for steps in range(game.bounds.shape[1]):
        game.bounds[row, steps] = -1.0
    return row  # type: ignore[no-any-return]


@inlined
def has_room(game: GameTables) -> bool:
    """Return whether there is room for one more row with any number of next sets."""
    widest = game.actions.size + 2
    rows, moves = game.counts[N_ROWS] + widest, game.counts[N_MOVES] + widest
    return rows <= game.rows.shape[0] and moves <= game.chance.size and rows * 2 <= game.slots.size  # type: ignore[no-any-return]


@inlined
def add_moves(row: int, action: int, game: GameTables) -> None:
    """Append the live next sets of `action`, equal ones merged, the smallest first."""
    rows, next_row, chance = game.rows, game.next_row, game.chance
    start = game.counts[N_MOVES]
    end = start
    weight = 0
    for outcome in range(game.actions[action, N_OUTCOMES]):
        left = rows[row, TRUTHS] & ~game.actions[action, OUTCOMES + outcome]
        size = popcount(left)
        weight += size
        if size <= game.counts[N_VALID]:
            continue
        child = add_row(left, game)
        place = start
        while place < end and next_row[place] != child:
            place += 1
        if place < end:
            chance[place] += size
            continue
        end += 1
        while place > start and (
            rows[next_row[place - 1], SIZE] > size
            or (rows[next_row[place - 1], SIZE] == size and rows[next_row[place - 1], TRUTHS] > left)
        ):
            next_row[place] = next_row[place - 1]
            chance[place] = chance[place - 1]
            place -= 1
        next_row[place] = child
        chance[place] = size
    for place in range(start, end):
        chance[place] /= weight + EPSILON
    game.counts[N_MOVES] = end


@inlined
def moves_of(row: int, action: int, game: GameTables) -> tuple[int, int]:
    """Return the first and last-but-one move of `action` on this row, which must be expanded."""
    first = game.rows[row, FIRST]
    start = first + game.rows[row, ENDS + action - 1] if action else first
    return start, first + game.rows[row, ENDS + action]


@inlined
def times_left(truths: int, action: int, left: int, game: GameTables) -> int:
    """Return how many outcomes of `action` leave exactly the truths `left`."""
    number = 0
    for outcome in range(game.actions[action, N_OUTCOMES]):
        if truths & ~game.actions[action, OUTCOMES + outcome] == left:
            number += 1
    return number


@inlined
def alike(row: int, one: int, two: int, game: GameTables) -> bool:
    """Return whether two actions are interchangeable while the truths of `row`, or some of them, are left.

    They leave the same sets equally often, and relate to the same truths. Sets that end play count too: on
    fewer truths their weights differ. Only the empty set, whose weight is always zero, may differ in number.
    """
    truths = game.rows[row, TRUTHS]
    if (game.actions[one, RELATED] ^ game.actions[two, RELATED]) & truths:
        return False
    for action in (one, two):
        for outcome in range(game.actions[action, N_OUTCOMES]):
            left = truths & ~game.actions[action, OUTCOMES + outcome]
            if left and times_left(truths, one, left, game) != times_left(truths, two, left, game):
                return False
    return True


@compiled
def expand_row(row: int, game: GameTables) -> None:
    """Compute the moves of every action on this truth set, and the classes of interchangeable actions."""
    rows, n_actions = game.rows, game.actions.shape[0]
    rows[row, FIRST] = game.counts[N_MOVES]
    todo = 0
    for action in range(n_actions):
        if game.actions[action, RELATED] & rows[row, TRUTHS]:
            todo |= 1 << action
            add_moves(row, action, game)
        rows[row, ENDS + action] = game.counts[N_MOVES] - rows[row, FIRST]
    rows[row, ACTIONS] = todo
    classes = 0
    while todo:
        leader = popcount((todo & -todo) - 1)
        members = 1 << leader
        for action in range(leader + 1, n_actions):
            if todo >> action & 1 and alike(row, leader, action, game):
                members |= 1 << action
        todo &= ~members
        if members & (members - 1):
            rows[row, ENDS + n_actions + classes] = members
            classes += 1
    rows[row, N_CLASSES] = classes


@inlined
def canonical(row: int, left: int, game: GameTables) -> int:
    """Return the actions left that matter on this row, with those of each class replaced by its lowest members."""
    left &= game.rows[row, ACTIONS]
    classes = ENDS + game.actions.shape[0]
    for place in range(classes, classes + game.rows[row, N_CLASSES]):
        members = game.rows[row, place]
        number = popcount(left & members)
        left &= ~members
        for _ in range(number):
            left |= members & -members
            members &= members - 1
    return left


@compiled
def relaxed(row: int, steps: int, game: GameTables) -> float:
    """Return the value of the relaxed game of at most `steps` steps; 1, the trivial bound, if the tables are full."""
    steps = min(steps, game.bounds.shape[1] - 1)
    if steps <= 0:
        return 0.0
    if game.bounds[row, steps] >= 0.0:
        return game.bounds[row, steps]  # type: ignore[no-any-return]
    if game.rows[row, FIRST] < 0:
        if game.counts[NO_ROOM] or not has_room(game):
            game.counts[NO_ROOM] = 1
            return 1.0
        expand_row(row, game)
    best = np.inf
    for action in range(game.actions.shape[0]):
        if game.rows[row, ACTIONS] >> action & 1:
            start, end = moves_of(row, action, game)
            total = 0.0
            for move in range(start, end):
                if game.counts[NO_ROOM]:
                    return 1.0
                total += game.chance[move] * relaxed(game.next_row[move], steps - 1, game)
                if total >= best:
                    break
            best = min(best, total)
    if game.counts[NO_ROOM]:
        return 1.0
    game.bounds[row, steps] = 1.0 + best
    game.counts[N_NODES] += 1
    return 1.0 + best


@inlined
def narrowed(truths: int, left: int, most: int, steps: int, game: GameTables) -> tuple[int, int]:
    """Return the `truths` related to at most `most` actions left, and the steps for which the others allow play."""
    scarce = 0
    while truths:
        bit = truths & -truths
        truths &= truths - 1
        number = popcount(left & game.actions_of[popcount(bit - 1)])
        if number == 0:
            return 0, 0
        if number <= most:
            scarce |= bit
        elif number < steps:
            steps = number
    return scarce, steps


@inlined
def deep_key(row: int, left: int, scarce: int, steps: int, game: GameTables) -> tuple[int, int, int]:
    """Return the two words of a key, the first without its value, and the slot of the first entry it may be in."""
    first, second = (row + 1) << 36 | steps << 32, left | scarce << DEEP_BITS
    return first, second, (scatter(second ^ scatter(first)) & (game.deep.shape[0] // WAYS - 1)) * WAYS


@inlined
def remember_deep(first: int, second: int, slot: int, value: float, game: GameTables) -> None:
    """Store a value; if its slots are full, evict the entry with the fewest steps."""
    deep = game.deep
    place = slot
    for other in range(slot, slot + WAYS):
        if deep[other, 0] == 0:
            place = other
            game.counts[N_DEEP] += 1
            break
        if (deep[other, 0] >> 32) & 15 < (deep[place, 0] >> 32) & 15:
            place = other
    deep[place, 0] = first | int(value * FIXED)
    deep[place, 1] = second


@inlined
def insert_try(steps: int, action: int, total: float, game: GameTables) -> None:
    """Insert an action among those of a deep bound, the smallest bound first."""
    tries, hopes = game.tries, game.hopes
    place = tries[steps, 0]
    tries[steps, 0] += 1
    while place > 0 and hopes[steps, place - 1] > total:
        hopes[steps, place] = hopes[steps, place - 1]
        tries[steps, place + 1] = tries[steps, place]
        place -= 1
    hopes[steps, place] = total
    tries[steps, place + 1] = action


@inlined
def find_deep(first: int, second: int, slot: int, game: GameTables) -> float:
    """Return the stored value of a key, or 0 if there is none."""
    for place in range(slot, slot + WAYS):
        if game.deep[place, 0] >> 32 == first >> 32 and game.deep[place, 1] == second:
            return (game.deep[place, 0] & 0xFFFFFFFF) / FIXED  # type: ignore[no-any-return]
    return 0.0


@inlined
def worked_out(row: int, game: GameTables) -> bool:
    """Compute the moves of a row if needed. Return False if there is no room."""
    if game.rows[row, FIRST] >= 0:
        return True
    if game.counts[NO_ROOM] or not has_room(game):
        game.counts[NO_ROOM] = 1
        return False
    expand_row(row, game)
    return True


@inlined
def used_and_free(row: int, left: int, scarce: int, game: GameTables) -> tuple[int, int]:
    """Return the canonical actions left that a deep bound uses up, and one per class of those that it may repeat."""
    rows = game.rows
    near = 0
    while scarce:
        near |= game.actions_of[popcount((scarce & -scarce) - 1)]
        scarce &= scarce - 1
    free = rows[row, ACTIONS] & ~near
    classes = ENDS + game.actions.shape[0]
    for place in range(classes, classes + rows[row, N_CLASSES]):
        members = rows[row, place]
        if members & free:
            free &= ~(members & (members - 1))
    return canonical(row, left & near, game), free


@compiled
def deepened(row: int, left: int, scarce: int, steps: int, game: GameTables) -> float:
    """Return the value of the deep bound's game for the scarce truths (see above); 1 if the tables are full."""
    rows, counts = game.rows, game.counts
    scarce &= rows[row, TRUTHS]
    if steps <= 1 or scarce == 0:
        return relaxed(row, steps, game)
    if not worked_out(row, game):
        return 1.0
    left, free = used_and_free(row, left, scarce, game)
    first, second, slot = deep_key(row, left, scarce, steps, game)
    known = find_deep(first, second, slot, game)
    if known > 0.0:
        return known
    counts[N_NODES] += 1
    tries, hopes, lows = game.tries, game.hopes, game.actions.shape[0] - rows[row, FIRST]
    best = np.inf
    todo = left | free
    tries[steps, 0] = 0
    while todo and best > 0.0:  # all actions, with D the truths with one action left, the smallest first
        action = popcount((todo & -todo) - 1)
        todo &= todo - 1
        rest = left & ~(1 << action)
        total = 0.0
        start, end = moves_of(row, action, game)
        for move in range(start, end):
            child = game.next_row[move]
            fewer, horizon = narrowed(scarce & rows[child, TRUTHS], rest, 1, steps - 1, game)
            bound = deepened(child, rest, fewer, horizon, game)
            if counts[NO_ROOM]:
                return 1.0
            hopes[steps, lows + move] = bound
            total += game.chance[move] * bound
        if total == 0.0:
            best = 0.0
        insert_try(steps, action, total, game)
    place = 1
    while place <= tries[steps, 0] and hopes[steps, place - 1] < best:
        action, total = tries[steps, place], hopes[steps, place - 1]
        start, end = moves_of(row, action, game)
        rest = left & ~(1 << action)
        for most in (2, SCARCE):
            for move in range(start, end):
                low = hopes[steps, lows + move]
                if low == 0.0 or total >= best:
                    continue
                child = game.next_row[move]
                fewer, horizon = narrowed(scarce & rows[child, TRUTHS], rest, most, steps - 1, game)
                bound = deepened(child, rest, fewer, horizon, game)
                if counts[NO_ROOM]:
                    return 1.0
                if bound > low:
                    hopes[steps, lows + move] = bound
                    total += game.chance[move] * (bound - low)
        best = min(best, total)
        place += 1
    remember_deep(first, second, slot, 1.0 + best, game)
    return 1.0 + best


@inlined
def count_related(depth: int, game: GameTables) -> None:
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
def bound_move(depth: int, action: int, child: int, game: GameTables) -> float:
    """Return a lower bound of the state after this move; 0 if the move ends play."""
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
def raise_bounds(depth: int, action: int, total: float, game: GameTables) -> float:
    """Raise the bounds of an action's moves by deep bounds with growing D until their sum reaches the given bound."""
    frames, sums, rows = game.frames, game.sums, game.rows
    row = frames[depth, ROW]
    bounds = PROMISED + game.actions.shape[0] - rows[row, FIRST]
    rest = frames[depth, LEFT] & ~(1 << action)
    start, end = moves_of(row, action, game)
    for most in range(1, SCARCE + 1):
        for move in range(start, end):
            old = sums[depth, bounds + move]
            if old == 0.0 or total >= sums[depth, UB]:
                continue
            child = game.next_row[move]
            scarce, steps = narrowed(rows[child, TRUTHS], rest, most, HORIZON, game)
            bound = deepened(child, rest, scarce, steps, game)
            if game.counts[NO_ROOM]:
                return total
            if bound > old:
                sums[depth, bounds + move] = bound
                total += game.chance[move] * (bound - old)
    return total


@inlined
def open_node(depth: int, game: GameTables) -> bool:
    """Bound and order the actions of the node at `depth`; return True if one of them certainly ends play."""
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
        if game.deep.shape[0] and total < sums[depth, UB]:
            total = raise_bounds(depth, action, total, game)
            if game.counts[NO_ROOM]:
                return False
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
def answer(depth: int, value: float, exact: int, game: GameTables) -> int:
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
def enter(depth: int, game: GameTables) -> int:
    """Start the node at `depth` and return the next phase; the answer of a node is in its BEST."""
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
def step(depth: int, game: GameTables) -> int:
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
def take_answer(depth: int, game: GameTables) -> None:
    """Put the answer of the node below into the sum of the current action at `depth`."""
    frames, sums = game.frames, game.sums
    move = frames[depth, MOVE]
    old = sums[depth, PROMISED + game.actions.shape[0] - game.rows[frames[depth, ROW], FIRST] + move]
    sums[depth, TOTAL] += game.chance[move] * (sums[depth + 1, BEST] - old)
    if not game.counts[EXACT]:
        # The result is only a bound, so the action cannot be below the cut, regardless of rounding.
        sums[depth, TOTAL] = max(sums[depth, TOTAL], sums[depth, CUT])
    frames[depth, MOVE] = move + 1


@compiled
def prepare(truths: int, left: int, only: int, game: GameTables) -> bool:
    """Make the state (truths, actions left) the root; `only` is the one action to try, or -1. False if out of room."""
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
def run_slice(game: GameTables, nodes: int) -> int:
    """Run until done (the answer is in `sums[0, BEST]`), for `nodes` more nodes (PAUSED), or until a table is FULL."""
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
