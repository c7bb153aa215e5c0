"""Compile KUMO's search, which numba then keeps next to its file: fifteen seconds that no test should take.

It does nothing where numba is not installed. Run it as `make test` does: python tools/compile_search.py
"""

from __future__ import annotations

import importlib.util

from creval_kumo.search.puzzle import Puzzle
from creval_kumo.search.solver import OptimalSearch


def main() -> None:
    """Solve a game that is small, but that the compiled engine plays."""
    if importlib.util.find_spec("numba"):
        OptimalSearch(Puzzle(2, ((0b01, 0b10),)), engine="compiled").prove()


if __name__ == "__main__":
    main()
