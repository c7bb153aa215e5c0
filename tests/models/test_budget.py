"""--max-cost and --max-calls over concurrent calls, in virtual time."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.virtual_time import run_virtual

from creval.errors import BudgetError, UsageError
from creval.models.budget import Budget


async def call(budget: Budget, estimate: float | None, cost: float, seconds: float = 1.0) -> float:
    ticket = await budget.admit(lambda: estimate)
    try:
        await asyncio.sleep(seconds)
        budget.spend(cost)
        return cost
    finally:
        budget.settle(ticket)


def outcomes(budget: Budget, calls: list[tuple[float | None, float]]) -> tuple[int, int]:
    """How many of concurrent calls were made, how many refused."""

    async def go() -> list[object]:
        return await asyncio.gather(*(call(budget, e, c) for e, c in calls), return_exceptions=True)

    results = run_virtual(go())
    refused = sum(isinstance(result, BudgetError) for result in results)
    assert all(isinstance(result, BudgetError | float) for result in results)
    return len(results) - refused, refused


def test_max_calls_is_never_passed() -> None:
    budget = Budget(max_calls=7)
    assert outcomes(budget, [(0.0, 0.0)] * 20) == (7, 13)
    assert budget.calls == 7


def test_the_error_says_what_was_spent_and_what_to_do() -> None:
    async def go() -> None:
        await Budget(max_calls=0).admit(lambda: 0.0)

    with pytest.raises(BudgetError, match=r"made 0 calls, and --max-calls allows 0(.|\n)*higher --max-calls") as caught:
        run_virtual(go())
    assert caught.value.exit_code == 3


def test_cost_stops_exactly_where_calls_cost_what_was_set_aside() -> None:
    budget = Budget(max_cost=1.0)
    made, refused = outcomes(budget, [(0.25, 0.25)] * 20)
    assert (made, refused) == (4, 16)
    assert budget.cost == 1.0


def test_calls_wait_for_those_in_flight_rather_than_being_refused() -> None:
    """Set aside: 0.5 each, so two at a time; used: 0.1 each, so all twelve fit in the end but the last few."""
    budget = Budget(max_cost=1.0)
    made, _ = outcomes(budget, [(0.5, 0.1)] * 12)
    assert made == 6  # after the sixth 0.6 is spent, and 0.5 more would be too much
    assert budget.cost == pytest.approx(0.6)


def test_one_first_call_goes_through_alone_whatever_its_estimate() -> None:
    budget = Budget(max_cost=0.01)
    assert outcomes(budget, [(5.0, 0.002)] * 3) == (1, 2)


def test_free_calls_are_not_held_up_by_the_cost_limit() -> None:
    budget = Budget(max_cost=0.0)
    assert outcomes(budget, [(None, 0.0)] * 5) == (5, 0)
    assert outcomes(budget, [(0.0, 0.0)]) == (0, 1)


def test_an_interrupted_run_carries_on_with_what_it_spent() -> None:
    assert outcomes(Budget(max_calls=10, spent_calls=8), [(0.0, 0.0)] * 5) == (2, 3)
    assert outcomes(Budget(max_cost=1.0, spent_cost=0.8), [(0.15, 0.15)] * 5) == (1, 4)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32), st.floats(0.1, 3.0))
def test_overshoot_is_bounded_by_what_calls_in_flight_cost_above_their_estimate(seed: int, limit: float) -> None:
    """The documented bound, and no call is left waiting for ever (that would raise)."""
    rng = random.Random(seed)
    budget = Budget(max_cost=limit)
    calls = [(rng.uniform(0.0, 0.3), rng.uniform(0.0, 0.5)) for _ in range(40)]

    async def go() -> None:
        jobs = (call(budget, e, c, rng.uniform(0.1, 2.0)) for e, c in calls)
        await asyncio.gather(*jobs, return_exceptions=True)

    run_virtual(go())
    excess = sum(max(0.0, cost - estimate) for estimate, cost in calls)
    first = max(cost for _, cost in calls)
    assert budget.cost <= limit + excess + first


def test_a_cancelled_wait_leaves_the_others_going() -> None:
    async def go() -> list[object]:
        budget = Budget(max_cost=1.0)
        tasks = [asyncio.ensure_future(call(budget, 0.6, 0.1)) for _ in range(4)]
        await asyncio.sleep(0.5)
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    results = run_virtual(go())
    assert isinstance(results[1], asyncio.CancelledError)
    assert [r for i, r in enumerate(results) if i != 1] == [0.1, 0.1, 0.1]


@pytest.mark.parametrize("bad", [{"max_cost": -1.0}, {"max_cost": float("nan")}, {"max_calls": -1}])
def test_nonsense_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Budget(**bad)
