"""Random puzzles for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from creval_kumo.search.puzzle import Puzzle


@st.composite
def puzzles(draw: st.DrawFn, truths: int = 7, actions: int = 7, outcomes: int = 4, valid: int = 2) -> Puzzle:
    """Any puzzle of at most these sizes, degenerate ones (empty and full exclusions) among them."""
    n_truths = draw(st.integers(1, truths))
    mask = st.integers(0, (1 << n_truths) - 1)
    sparse = st.tuples(mask, mask).map(lambda pair: pair[0] & pair[1])
    action = st.lists(st.one_of(mask, sparse, sparse), min_size=1, max_size=outcomes).map(tuple)
    return Puzzle(n_truths, tuple(draw(st.lists(action, max_size=actions))), draw(st.integers(1, valid)))
