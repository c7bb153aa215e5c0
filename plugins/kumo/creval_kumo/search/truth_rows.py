"""The rows of the compiled search: all that depends on a truth set alone, worked out once for each truth set."""

from __future__ import annotations

import numpy as np

from creval_kumo.search.tables import (
    ACTIONS,
    ENDS,
    FIRST,
    N_CLASSES,
    N_MOVES,
    N_NODES,
    N_OUTCOMES,
    N_ROWS,
    N_VALID,
    NO_ROOM,
    OUTCOMES,
    RELATED,
    SIZE,
    TRUTHS,
    Game,
    compiled,
    inlined,
    popcount,
    scatter,
)

__all__ = ["add_row", "canonical", "expand_row", "has_room", "moves_of", "relaxed"]

TABLES = "a047dde9a356d668"  # start of the SHA-256 of tables.py, see there

EPSILON = 1e-9  # Algorithm 3's guard against a division by zero; part of the value


@inlined
def add_row(truths: int, game: Game) -> int:
    """The row of this truth set, made if new. The caller has seen to it that there is room."""
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
def has_room(game: Game) -> bool:
    """Whether one more row can be worked out, however many next sets it has."""
    widest = game.actions.size + 2
    rows, moves = game.counts[N_ROWS] + widest, game.counts[N_MOVES] + widest
    return rows <= game.rows.shape[0] and moves <= game.chance.size and rows * 2 <= game.slots.size  # type: ignore[no-any-return]


@inlined
def add_moves(row: int, action: int, game: Game) -> None:
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
def moves_of(row: int, action: int, game: Game) -> tuple[int, int]:
    """First and last-but-one move of `action` on this row, which has been worked out."""
    first = game.rows[row, FIRST]
    start = first + game.rows[row, ENDS + action - 1] if action else first
    return start, first + game.rows[row, ENDS + action]


@inlined
def times_left(truths: int, action: int, left: int, game: Game) -> int:
    """How many outcomes of `action` leave exactly the truths `left`."""
    number = 0
    for outcome in range(game.actions[action, N_OUTCOMES]):
        if truths & ~game.actions[action, OUTCOMES + outcome] == left:
            number += 1
    return number


@inlined
def alike(row: int, one: int, two: int, game: Game) -> bool:
    """Whether two actions are interchangeable while the truths of `row`, or some of them, are left.

    They leave the same sets equally often, and relate to the same truths. Sets that end play count too: on
    fewer truths they weigh differently. Only the empty set, which never weighs anything, may differ in number.
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
def expand_row(row: int, game: Game) -> None:
    """Work out the moves of every action on this truth set, and the classes of interchangeable actions."""
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
def canonical(row: int, left: int, game: Game) -> int:
    """The actions left that matter on this row, those of each class replaced by its lowest members."""
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
def relaxed(row: int, steps: int, game: Game) -> float:
    """Value of the relaxed game of at most `steps` steps; 1, the plain bound, where the tables are full."""
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
