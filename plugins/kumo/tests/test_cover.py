"""The plain search for a selection and the SAT solver find the same one, and it is the smallest in the order."""

from __future__ import annotations

from itertools import product
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval_kumo.games import cover
from creval_kumo.games.cover import Candidate, TooHard, first_cover
from creval_kumo.games.selection import select


@st.composite
def problems(draw: st.DrawFn, max_candidates: int = 12) -> tuple[list[Candidate], int]:
    """Candidates of a few actions over up to five invalid truths."""
    invalid = draw(st.integers(1, 31))
    pairs = st.tuples(st.integers(0, 4), st.integers(1, 31))
    drawn = draw(st.lists(pairs, max_size=max_candidates))
    return [Candidate(action, place, mask & invalid) for place, (action, mask) in enumerate(drawn) if mask & invalid], (
        invalid
    )


def smallest(candidates: list[Candidate], invalid: int, max_actions: int) -> list[Candidate] | None:
    """All selections in order, leaving out before taking: the first that is one."""
    for taken in product((False, True), repeat=len(candidates)):
        chosen = [candidate for candidate, take in zip(candidates, taken, strict=True) if take]
        actions = [candidate.action for candidate in chosen]
        union = 0
        for candidate in chosen:
            union |= candidate.rules_out
        if union == invalid and len(set(actions)) == len(actions) <= max_actions:
            return chosen
    return None


@given(problems(max_candidates=9), st.integers(1, 5))
@settings(max_examples=150, deadline=None)
def test_the_selection_is_the_smallest_in_the_order(problem: tuple[list[Candidate], int], max_actions: int) -> None:
    candidates, invalid = problem
    wanted = smallest(candidates, invalid, max_actions)
    assert select(candidates, invalid, max_actions) == wanted
    assert select(candidates, invalid, max_actions, "minisat22") == wanted


@given(problems(), st.sampled_from(["minisat22", "cadical153", "glucose4", "lingeling"]))
@settings(max_examples=150, deadline=None)
def test_plain_search_and_every_sat_solver_agree(problem: tuple[list[Candidate], int], solver: str) -> None:
    candidates, invalid = problem
    assert first_cover(candidates, invalid) == select(candidates, invalid, 5, solver)


def test_what_is_too_hard_is_left_to_the_sat_solver() -> None:
    candidates = [Candidate(place, 0, 1 << place % 5) for place in range(30)]
    wanted = select(candidates, 31, 5, "minisat22")
    with mock.patch.object(cover, "MAX_STEPS", 3):
        with pytest.raises(TooHard):
            first_cover(candidates, 31)
        assert select(candidates, 31, 5) == wanted
