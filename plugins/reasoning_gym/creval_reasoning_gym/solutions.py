"""Right answers: those that the library stores, or else ones found by search."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["solution", "stored_answer"]

_SIDE = 6
_EXIT = "A"
Cars = tuple[tuple[str, int, int, bool], ...]
"""Name, first cell, length, whether it is horizontal."""


def stored_answer(item: Mapping[str, Any]) -> str | None:
    """Return the answer that the library stores with an item, even if only as an example; None if there is none."""
    if item["answer"] is not None:
        return str(item["answer"])
    about = item["metadata"]
    for name in ("example_correct_answer", "example_answer"):
        if about.get(name):
            return str(about[name])
    if about.get("possible_answer"):
        return json.dumps({str(node): colour for node, colour in about["possible_answer"].items()})
    return None


def solution(item: Mapping[str, Any]) -> str | None:
    """Return a right answer, found by search if the library stores none."""
    stored = stored_answer(item)
    if stored is not None:
        return stored
    about = item["metadata"]
    if "board_config" in about:  # cars have the letters of the printed board
        return _free_the_red_car("".join(str(item["question"]).partition("Board:")[2].split()))
    if "initial_state" in about:
        return _carry_the_boxes(about["initial_state"])
    return None


def _free_the_red_car(board: str) -> str | None:
    """Return the fewest moves that bring the car A to the right edge, by breadth-first search."""
    walls = frozenset(i for i, label in enumerate(board) if label == "x")
    cells: dict[str, list[int]] = {}
    for i, label in enumerate(board):
        if label not in "ox.":
            cells.setdefault(label, []).append(i)
    start: Cars = tuple((name, own[0], len(own), own[1] == own[0] + 1) for name, own in sorted(cells.items()))
    before: dict[Cars, tuple[Cars, str] | None] = {start: None}
    queue = deque([start])
    while queue:
        cars = queue.popleft()
        if any(name == _EXIT and cell % _SIDE + length == _SIDE for name, cell, length, _ in cars):
            return " ".join(reversed(list(_back(before, cars))))
        for after, move in _moves(cars, walls):
            if after not in before:
                before[after] = (cars, move)
                queue.append(after)
    return None


def _back(before: Mapping[Cars, tuple[Cars, str] | None], cars: Cars) -> Iterator[str]:
    while (step := before[cars]) is not None:
        cars, move = step
        yield move


def _moves(cars: Cars, walls: frozenset[int]) -> Iterator[tuple[Cars, str]]:
    taken = set(walls)
    for _, cell, length, across in cars:
        taken |= {cell + i * (1 if across else _SIDE) for i in range(length)}
    for place, (name, cell, length, across) in enumerate(cars):
        step = 1 if across else _SIDE
        for sign in (1, -1):
            for far in range(1, _SIDE):
                head = cell + (length - 1 + far) * step if sign > 0 else cell - far * step
                if not 0 <= head < _SIDE * _SIDE or head in taken or (across and head // _SIDE != cell // _SIDE):
                    break
                moved = (*cars[:place], (name, cell + sign * far * step, length, across), *cars[place + 1 :])
                yield moved, f"{name}{'+' if sign > 0 else '-'}{far}"


def _carry_the_boxes(state: Mapping[str, list[str]]) -> str:
    """Return a plan that carries the boxes in turn to their target squares, one step at a time."""
    where = {thing: square for square, things in state.items() for thing in things}
    plan = []
    for box in [thing for thing in where if thing.startswith("box_")]:
        target = f"target_{box.removeprefix('box_')}"
        (row, column), (to_row, to_column) = (tuple(map(float, where[each].split("_"))) for each in (box, target))
        while (row, column) != (to_row, to_column):
            old = (row, column)
            if row != to_row:
                row += 1 if to_row > row else -1
            else:
                column += 1 if to_column > column else -1
            plan.append({f"Agent[{old[0]}, {old[1]}]": f"move({box}, square[{row}, {column}])"})
        plan.append({f"Agent[{row}, {column}]": f"move({box}, {target})"})
    return json.dumps(plan)
