"""What the search answers when it may not go on: bounds that hold, never a guess."""

from __future__ import annotations

import dataclasses
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kumo_puzzles import puzzles
from support.imports import imported_by

from creval.errors import ScoringError
from creval_kumo.search import solver
from creval_kumo.search.compiled_engine import MAX_BITS, CompiledEngine
from creval_kumo.search.limits import Limits, NotProvenError
from creval_kumo.search.puzzle import Puzzle
from creval_kumo.search.solver import OptimalSearch

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def large(truths: int, actions: int, seed: int = 5) -> Puzzle:
    """A puzzle in which every outcome rules out about a third of the truths."""
    chance = random.Random(seed)
    outcomes = tuple(
        tuple(sum(1 << t for t in range(truths) if chance.random() < 0.3) for _ in range(2)) for _ in range(actions)
    )
    return Puzzle(truths, outcomes)


@QUICK
@given(puzzle=puzzles(truths=7, actions=7), nodes=st.integers(0, 12))
def test_bounds_at_a_node_limit_hold(engine: str, puzzle: Puzzle, nodes: int) -> None:
    truth = OptimalSearch(puzzle, engine=engine).prove().value
    proof = OptimalSearch(puzzle, Limits(nodes=nodes), engine=engine).prove()
    assert proof.lower <= truth + 1e-9
    assert proof.upper >= truth - 1e-9
    assert not proof.proven or proof.lower == proof.upper == pytest.approx(truth, abs=1e-12)
    # The kernel finishes the bounds of a state, Python those that it is in the middle of.
    assert engine == "compiled" or proof.nodes <= nodes + 10


def test_no_value_and_no_action_without_proof(engine: str) -> None:
    search = OptimalSearch(large(12, 14), Limits(nodes=5), engine=engine)
    proof = search.prove()
    assert not proof.proven
    assert 1.0 <= proof.lower <= proof.upper <= 14.0
    with pytest.raises(NotProvenError) as caught:
        _ = proof.value
    assert isinstance(caught.value, ScoringError)
    assert "between" in str(caught.value)
    for question in (
        search.best_action,
        lambda: search.golden_run([0] * 14),
        lambda: search.action_value((1 << 12) - 1, (1 << 14) - 1, 3),
        lambda: search.is_optimal((1 << 12) - 1, (1 << 14) - 1, 3),
    ):
        with pytest.raises(NotProvenError):
            question()


def test_a_search_that_was_stopped_can_be_asked_again(engine: str) -> None:
    puzzle = large(9, 9)
    search = OptimalSearch(puzzle, Limits(nodes=15), engine=engine)
    stops = 0
    while not (proof := search.prove()).proven:
        stops += 1
        assert stops < 1000, "each question must get further"
    assert stops > 0
    assert proof.value == pytest.approx(OptimalSearch(puzzle, engine=engine).prove().value, abs=1e-12)


def test_time_limit_stops_the_search(engine: str) -> None:
    proof = OptimalSearch(large(14, 18), Limits(nodes=None, seconds=0.0), engine=engine).prove()
    assert not proof.proven


def test_node_limit_gives_the_same_bounds_every_time(engine: str) -> None:
    first, second = (OptimalSearch(large(12, 14), Limits(nodes=200), engine=engine).prove() for _ in range(2))
    assert dataclasses.replace(first, seconds=0.0) == dataclasses.replace(second, seconds=0.0)


def test_more_truths_than_bits_of_the_kernel_are_searched_in_python() -> None:
    everything = (1 << 64) - 1
    halves = [sum(1 << t for t in range(64) if t >> bit & 1) for bit in range(6)]
    puzzle = Puzzle(64, tuple((half, everything & ~half) for half in halves))
    with pytest.raises(ValueError, match=str(MAX_BITS)):
        CompiledEngine(puzzle, 2)
    proof = OptimalSearch(puzzle).prove()
    assert proof.engine == "python"
    # Six questions of a half each single out one of 64.
    assert proof.value == pytest.approx(6.0, abs=1e-6)


def test_small_games_stay_in_python_and_large_ones_change_to_the_kernel() -> None:
    pytest.importorskip("numba")
    assert OptimalSearch(large(4, 5)).prove().engine == "python"
    assert OptimalSearch(large(14, 18)).prove().engine == "compiled"


def test_without_numba_python_proves_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle = large(8, 10)
    with_numba = OptimalSearch(puzzle).prove().value
    monkeypatch.setattr(solver, "available", lambda: False)
    proof = OptimalSearch(puzzle).prove()
    assert proof.engine == "python"
    assert proof.value == pytest.approx(with_numba, abs=1e-12)


def test_importing_the_search_does_not_import_numba() -> None:
    loaded = imported_by(
        "import creval_kumo.search.solver, creval_kumo.search.golden, creval_kumo.published.published_domains"
    )
    assert loaded.isdisjoint(("numba", "numpy", "pysat", "networkx"))
