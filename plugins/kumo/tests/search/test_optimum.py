"""The searches against each other, against Algorithm 3 to the letter, and against every policy there is."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from kumo_puzzles import puzzles

from creval_kumo.bits import bits
from creval_kumo.search import compiled_engine
from creval_kumo.search.compiled_engine import CompiledEngine
from creval_kumo.search.limits import Budget, Limits
from creval_kumo.search.puzzle import Puzzle
from creval_kumo.search.reference import LiteralSearch
from creval_kumo.search.solver import TIE, OptimalSearch

EPSILON = Fraction(1, 10**9)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def every_policy(puzzle: Puzzle, truths: int, actions: int) -> list[Fraction]:
    """The expected number of tests of every way to play from here on, one by one (no memo, no bounds)."""
    left = [t for t in range(puzzle.n_truths) if truths >> t & 1]
    related = {
        t
        for t in left
        for a in range(len(puzzle.outcomes))
        if actions >> a & 1
        for s in puzzle.outcomes[a]
        if s >> t & 1
    }
    if len(left) <= puzzle.valid or len(related) < len(left):
        return [Fraction(0)]
    lengths = []
    for action in (a for a in range(len(puzzle.outcomes)) if actions >> a & 1):
        nexts = [truths & ~ruled_out for ruled_out in puzzle.outcomes[action]]
        total = sum(bin(after).count("1") for after in nexts) + EPSILON
        below = [every_policy(puzzle, after, actions & ~(1 << action)) for after in nexts]
        for choice in itertools.product(*below):
            steps = (bin(after).count("1") / total * length for after, length in zip(nexts, choice, strict=True))
            lengths.append(1 + sum(steps, Fraction(0)))
    return lengths


@QUICK
@given(puzzle=puzzles(truths=4, actions=3, outcomes=3))
def test_no_policy_is_better_and_one_is_as_good(engine: str, puzzle: Puzzle) -> None:
    best = min(every_policy(puzzle, puzzle.all_truths, puzzle.all_actions))
    assert OptimalSearch(puzzle, engine=engine).prove().value == pytest.approx(float(best), abs=1e-12)


ALMOST_ALIKE = Puzzle(6, ((0, 9), (8, 22, 33), (0, 8, 9, 41), (9, 48)))
"""Actions 0 and 3 leave the same live sets of truths 0 and 3, but on fewer truths they differ."""


@QUICK
@given(puzzle=puzzles())
@example(puzzle=ALMOST_ALIKE)
def test_value_of_every_state_is_that_of_algorithm_3(engine: str, puzzle: Puzzle) -> None:
    literal = LiteralSearch(puzzle)
    literal.solve(puzzle.all_truths, puzzle.all_actions)
    search = OptimalSearch(puzzle, engine=engine)
    states = {(puzzle.all_truths, puzzle.all_actions): literal.solve(puzzle.all_truths, puzzle.all_actions)[0]}
    for key, (value, _) in itertools.islice(literal.best.items(), 30):
        states[key & puzzle.all_truths, key >> puzzle.n_truths] = value
    for state, value in states.items():
        proof = search.prove(*state)
        assert proof.proven
        assert proof.lower == proof.upper == pytest.approx(value, abs=1e-12)


@QUICK
@given(puzzle=puzzles())
def test_value_of_every_first_action_and_the_choice_among_ties(engine: str, puzzle: Puzzle) -> None:
    truths, actions = puzzle.all_truths, puzzle.all_actions
    search = OptimalSearch(puzzle, engine=engine)
    if puzzle.ends(truths, actions):
        assert search.best_action() is None
        assert search.prove().value == 0.0
        return
    values = {action: first_action_value(puzzle, action) for action in bits(actions)}
    for action, value in values.items():
        assert search.action_value(truths, actions, action) == pytest.approx(value, abs=1e-12)
    best = min(values.values())
    useful = [a for a in values if puzzle.related[a]]
    optimal = [a for a in useful if values[a] < best + TIE]
    assert search.best_action() == optimal[0]
    assert [a for a in useful if search.is_optimal(truths, actions, a)] == optimal


def first_action_value(puzzle: Puzzle, action: int) -> float:
    """The value of taking this action first, by Algorithm 3 after it."""
    literal = LiteralSearch(puzzle)
    weights = [(puzzle.all_truths & ~mask).bit_count() for mask in puzzle.outcomes[action]]
    total = sum(weights) + 1e-9
    rest = puzzle.all_actions & ~(1 << action)
    return 1.0 + sum(
        weight / total * literal.solve(puzzle.all_truths & ~mask, rest)[0]
        for weight, mask in zip(weights, puzzle.outcomes[action], strict=True)
    )


@QUICK
@given(puzzle=puzzles(), data=st.data())
def test_golden_run_follows_the_policy_to_an_end_of_play(engine: str, puzzle: Puzzle, data: st.DataObject) -> None:
    observed = [data.draw(st.sampled_from(outcomes)) for outcomes in puzzle.outcomes]
    search = OptimalSearch(puzzle, engine=engine)
    run = search.golden_run(observed)
    truths, actions = puzzle.all_truths, puzzle.all_actions
    for action in run.tests:
        assert not puzzle.ends(truths, actions)
        assert search.is_optimal(truths, actions, action)
        truths &= ~observed[action]
        actions &= ~(1 << action)
    assert puzzle.ends(truths, actions)
    assert (run.prediction is None) == (truths == 0)
    assert run.prediction is None or truths >> run.prediction & 1


@QUICK
@given(puzzle=puzzles(truths=8, actions=9))
def test_engines_open_the_same_states_and_play_alike(puzzle: Puzzle) -> None:
    """Without the deep bound, which the plain search does not have."""
    pytest.importorskip("numba")
    with mock.patch.object(compiled_engine, "DEEP_ENTRIES", (0,)):
        plain, compiled = (OptimalSearch(puzzle, engine=name) for name in ("python", "compiled"))
    assert plain.prove().nodes == compiled.prove().nodes
    observed = [outcomes[0] for outcomes in puzzle.outcomes]
    assert plain.golden_run(observed) == compiled.golden_run(observed)


@pytest.mark.parametrize("entries", [4, 1 << 12])
@QUICK
@given(puzzle=puzzles(truths=8, actions=9))
def test_deep_bounds_change_no_value_however_much_of_them_is_forgotten(entries: int, puzzle: Puzzle) -> None:
    pytest.importorskip("numba")
    with mock.patch.object(compiled_engine, "DEEP_ENTRIES", (entries,)):
        compiled = OptimalSearch(puzzle, engine="compiled")
    exact = LiteralSearch(puzzle).solve(puzzle.all_truths, puzzle.all_actions)[0]
    assert compiled.prove().value == pytest.approx(exact, abs=1e-9)


@QUICK
@given(puzzle=puzzles(), data=st.data())
def test_deep_bound_is_never_above_the_value_and_is_it_where_all_truths_are_scarce(
    puzzle: Puzzle, data: st.DataObject
) -> None:
    kernel = pytest.importorskip("creval_kumo.search.kernel", exc_type=ImportError)
    truths = data.draw(st.integers(0, puzzle.all_truths))
    actions = data.draw(st.integers(0, puzzle.all_actions))
    if puzzle.ends(truths, actions):
        return
    exact = LiteralSearch(puzzle).solve(truths, actions)[0]
    for most in range(1, puzzle.n_actions + 1):
        bound, horizon = deep_bound(kernel, puzzle, truths, actions, most)
        assert bound <= exact + 1e-9
    if horizon == kernel.HORIZON and actions.bit_count() <= horizon:
        assert bound == pytest.approx(exact, abs=1e-6)


def deep_bound(kernel: Any, puzzle: Puzzle, truths: int, actions: int, most: int) -> tuple[float, int]:
    """The kernel's deep bound of a state with the truths of at most `most` actions scarce, and its steps."""
    engine = CompiledEngine(puzzle, puzzle.n_actions)
    while not kernel.prepare(truths, actions, -1, engine.game):
        engine._grow(True, Budget(Limits(None)))
    row = int(engine.game.frames[0, kernel.ROW])
    while True:
        scarce, steps = kernel.narrowed(truths, actions, most, kernel.HORIZON, engine.game)
        bound = kernel.deepened(row, actions, scarce, steps, engine.game)
        if not engine.game.counts[kernel.NO_ROOM]:
            return float(bound), int(steps)
        engine._grow(True, Budget(Limits(None)))


def test_truth_that_no_action_left_relates_to_ends_play_and_is_predicted() -> None:
    # Truth 2 can never be ruled out, so it is the answer before any test (the third base case).
    puzzle = Puzzle(3, ((0b001, 0b010), (0b011, 0)))
    run = OptimalSearch(puzzle).golden_run([0b001, 0])
    assert run.tests == ()
    assert run.prediction == 2


def test_with_two_valid_truths_play_ends_when_two_are_left() -> None:
    outcomes = ((0b0011, 0b1100), (0b0101, 0b1010))
    one = OptimalSearch(Puzzle(4, outcomes)).prove().value
    two = OptimalSearch(Puzzle(4, outcomes, valid=2)).prove().value
    assert two == 1.0
    assert one > two
