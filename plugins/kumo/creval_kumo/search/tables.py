"""The flat tables of the compiled search, and their hashing.

Few wide arrays with named columns, because numba's compile time grows with the number of arrays. Truth sets
and action sets are bit masks in int64, at most 62 each. Hash tables are open-addressed and their sizes are
powers of two; a free slot holds -1.

numba keeps compiled code on disk and renews it when the file of a function has changed, but not when only a
file has changed that it calls. So `truth_rows.py` states the digest of this file and `kernel.py` that of
`truth_rows.py`: after an edit here both change, too (a test holds this).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
import numpy.typing as npt

__all__ = ["Game", "compiled", "find_state", "inlined", "place_rows", "place_states", "popcount", "scatter"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Function = TypeVar("Function", bound=Callable[..., Any])

MULTIPLIER = 0x1F58D4B3C2A69E71  # odd, below 2**63; spreads keys over the slots

# Columns of `actions`: the truths related to it, the number of outcomes, then what each outcome rules out.
RELATED, N_OUTCOMES, OUTCOMES = 0, 1, 2
# Columns of `rows`; the ends of each action's moves (counted from FIRST) start at ENDS, the classes follow.
TRUTHS, SIZE, FIRST, ACTIONS, N_CLASSES, ENDS = 0, 1, 2, 3, 4, 5
# Columns of `states`: twice the row, plus 1 where the value is exact; the action set.
STATE_ROW, STATE_ACTIONS = 0, 1
# Columns of `frames`; the ordered actions start at ORDER, the truths by number of related actions follow.
ROW, LEFT, ONLY, N_ORDER, AT, MOVE, ORDER = 0, 1, 2, 3, 4, 5, 6
# Columns of `sums`; the bounds of the ordered actions start at PROMISED, the bounds of the moves follow.
UB, CUT, BEST, LOW, TOTAL, PROMISED = 0, 1, 2, 3, 4, 5
# Places in `counts`.
N_ROWS, N_MOVES, N_STATES, N_NODES, DEPTH, NO_ROOM, PHASE, EXACT, N_VALID = 0, 1, 2, 3, 4, 5, 6, 7, 8


class Game(NamedTuple):
    """Every table of one instance."""

    actions: Ints  # [action, column]
    actions_of: Ints  # [truth] the actions related to it
    slots: Ints  # hash slots: row number or -1
    rows: Ints  # [row, column] all that depends on a truth set alone
    bounds: Floats  # [row, k] value of the relaxed game of k steps, -1 while unknown
    next_row: Ints  # [move] the row that a move leads to
    chance: Floats  # [move] its probability
    states: Ints  # [slot, column] hash slots: the memo
    values: Floats  # [slot] value or lower bound
    frames: Ints  # [depth, column] the stack
    sums: Floats  # [depth, column] the stack's numbers
    counts: Ints  # what changes from call to call


def compiled(function: Function) -> Function:
    """Compile `function` when it is first called, and keep the code on disk."""
    return _jit(function, forceinline=False)


def inlined(function: Function) -> Function:
    """Like `compiled`, and put the code into every caller."""
    return _jit(function, forceinline=True)


def _jit(function: Function, forceinline: bool) -> Function:
    njit: Any = numba.njit
    compiled_function: Function = njit(
        cache=True, forceinline=forceinline, error_model="numpy", **_no_reference_counts()
    )(function)
    return compiled_function


def _no_reference_counts() -> dict[str, Any]:
    """The option that leaves out counting references to every array in every call.

    The kernel allocates nothing, and it runs five times as fast without. The option is not public, so it is
    used only where this numba knows it.
    """
    try:
        from numba.core.options import DefaultOptions
    except ImportError:
        return {}
    return {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


@inlined
def popcount(bits: int) -> int:
    """Number of bits set, for 0 <= bits < 2**62."""
    bits = bits - ((bits >> 1) & 0x5555555555555555)
    bits = (bits & 0x3333333333333333) + ((bits >> 2) & 0x3333333333333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (bits * 0x0101010101010101) >> 56


@inlined
def scatter(key: int) -> int:
    """A hash of an integer."""
    key = (key ^ (key >> 31)) * MULTIPLIER
    key = (key ^ (key >> 29)) * MULTIPLIER
    return key ^ (key >> 32)


@inlined
def find_state(row: int, left: int, states: Ints) -> int:
    """The slot of the state (row, actions left), or the free slot where it belongs."""
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
