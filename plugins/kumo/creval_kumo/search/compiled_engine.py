"""Driver of the compiled kernel: allocates and enlarges its tables, and checks the limits between slices."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from creval_kumo.search.limits import Answer, Budget, Limits
from creval_kumo.search.puzzle import Puzzle

if TYPE_CHECKING:
    from creval_kumo.search.kernel import GameTables

__all__ = ["MAX_BITS", "CompiledEngine", "available"]

MAX_BITS = 62
"""Most truths and most actions that fit the kernel's masks."""

_ROW_TABLES = frozenset({"slots", "rows", "bounds", "next_row", "chance"})
_STATE_TABLES = frozenset({"states", "values"})

DEEP_ENTRIES = 1 << 16, 1 << 20, 1 << 23
"""Entries in the memo of deep bounds, 16 bytes each: the initial size, then the next when one is half full."""

SLICE = 50_000
"""Nodes between two checks of the clock."""


def available() -> bool:
    """Return whether numba can be imported, without importing it."""
    import importlib.util

    return importlib.util.find_spec("numba") is not None


class CompiledEngine:
    """The kernel with its memo for one instance. Requires numba and at most 62 truths and 62 actions."""

    name = "compiled"

    def __init__(self, puzzle: Puzzle, horizon: int) -> None:
        if max(puzzle.n_truths, puzzle.n_actions) > MAX_BITS:
            raise ValueError(f"at most {MAX_BITS} truths and actions fit the kernel")
        self.puzzle = puzzle
        self.horizon = min(horizon, puzzle.n_actions)
        self.game = self._new_game()
        _load()

    def below(self, truths: int, actions: int, bound: float, budget: Budget, only: int = -1) -> Answer:
        """See `Engine.below`."""
        from creval_kumo.search import kernel

        while not kernel.prepare(truths, actions, only, self.game):
            self._grow(True, budget)
        self.game.sums[0, kernel.UB] = bound
        while True:
            budget.check()
            before = int(self.game.counts[kernel.N_NODES])
            rest = SLICE if budget.limits.nodes is None else min(SLICE, budget.limits.nodes - budget.nodes)
            status = kernel.run_slice(self.game, rest)
            budget.nodes += int(self.game.counts[kernel.N_NODES]) - before
            if status == kernel.DONE:
                exact = bool(self.game.counts[kernel.EXACT])
                return Answer(float(self.game.sums[0, kernel.BEST]), exact)
            if status == kernel.FULL:
                self._grow(bool(self.game.counts[kernel.NO_ROOM]), budget)
            self._widen_deep()

    def _new_game(self) -> GameTables:
        import numpy as np

        from creval_kumo.search.kernel import DEEP_BITS, HORIZON, N_VALID, OUTCOMES, GameTables

        puzzle = self.puzzle
        n_actions = max(1, puzzle.n_actions)
        widest = max((len(outcomes) for outcomes in puzzle.outcomes), default=1)
        n_moves = sum(map(len, puzzle.outcomes))
        actions = np.zeros((n_actions, OUTCOMES + widest), dtype=np.int64)
        for action, masks in enumerate(puzzle.outcomes):
            actions[action, :2] = puzzle.related[action], len(masks)
            actions[action, OUTCOMES : OUTCOMES + len(masks)] = masks
        start = _power_of_two(4 * actions.size)
        depths = n_actions + 2
        counts = np.zeros(10, dtype=np.int64)
        counts[N_VALID] = puzzle.valid
        return GameTables(
            actions=actions,
            actions_of=np.array(puzzle.actions_of, dtype=np.int64),
            **self._new_rows(max(start, 256), max(start, 2048)),
            **_new_states(1024),
            frames=np.zeros((depths, 6 + 2 * n_actions + 1), dtype=np.int64),
            sums=np.zeros((depths, 5 + n_actions + n_moves)),
            counts=counts,
            deep=np.zeros((DEEP_ENTRIES[0] if max(puzzle.n_truths, n_actions) <= DEEP_BITS else 0, 2), dtype=np.int64),
            tries=np.zeros((HORIZON + 1, 1 + n_actions), dtype=np.int64),
            hopes=np.zeros((HORIZON + 1, n_actions + n_moves)),
        )

    def _new_rows(self, n_rows: int, n_moves: int) -> dict[str, Any]:
        import numpy as np

        n_actions = max(1, self.puzzle.n_actions)
        return {
            "slots": np.full(2 * n_rows, -1, dtype=np.int64),
            "rows": np.zeros((n_rows, 5 + n_actions + n_actions // 2), dtype=np.int64),
            "bounds": np.zeros((n_rows, self.horizon + 1)),
            "next_row": np.zeros(n_moves, dtype=np.int64),
            "chance": np.zeros(n_moves),
        }

    def _grow(self, rows: bool, budget: Budget) -> None:
        """Double the tables of rows if `rows`, otherwise the memo; rows and moves keep their numbers.

        Raises OutOfBudget, and leaves the tables unchanged, if the larger ones would take too much memory.
        """
        from creval_kumo.search import kernel

        game = self.game
        doubled = _ROW_TABLES if rows else _STATE_TABLES
        budget.check_memory(sum(table.nbytes * (1 + (name in doubled)) for name, table in game._asdict().items()))
        if rows:
            game.counts[kernel.NO_ROOM] = 0
            larger = self._new_rows(2 * len(game.rows), 2 * len(game.chance))
            for name, table in larger.items():
                if name != "slots":
                    table[: len(getattr(game, name))] = getattr(game, name)
            kernel.place_rows(larger["slots"], larger["rows"], int(game.counts[kernel.N_ROWS]))
        else:
            larger = _new_states(2 * len(game.values))
            kernel.place_states(game.states, game.values, larger["states"], larger["values"])
        self.game = game._replace(**larger)

    def _widen_deep(self) -> None:
        """Replace a half-full memo of deep bounds with a larger, empty one; bounds are recomputed as needed."""
        import numpy as np

        from creval_kumo.search.kernel import N_DEEP

        larger = next((size for size in DEEP_ENTRIES if size > len(self.game.deep)), 0)
        if larger and 2 * int(self.game.counts[N_DEEP]) > len(self.game.deep) > 0:
            self.game.counts[N_DEEP] = 0
            self.game = self.game._replace(deep=np.zeros((larger, 2), dtype=np.int64))


@functools.cache
def _load() -> None:
    """Compile the kernel or read it from numba's cache, once per process, so that it counts toward no time limit."""
    engine = CompiledEngine.__new__(CompiledEngine)
    engine.puzzle, engine.horizon = Puzzle(3, ((1, 2), (2, 4), (4, 1))), 3
    engine.game = engine._new_game()
    engine.below(0b111, 0b111, float("inf"), Budget(Limits(None)))
    engine._grow(False, Budget(Limits(None)))
    engine._grow(True, Budget(Limits(None)))


def _new_states(size: int) -> dict[str, Any]:
    import numpy as np

    return {"states": np.full((size, 2), -1, dtype=np.int64), "values": np.zeros(size)}


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()
