"""What the work of a prompt template costs: every render has one budget of steps, and whatever copies or walks data
takes from it.

A loop step costs 1, a text one step per CHARACTERS characters, a list one step per MEMBERS members and what its texts
cost. Charged are the input and the result of every filter, of every method, of `*`, `+`, `~`, slices and comparisons;
what filters give out lazily is charged item by item, so that no list is built before it is paid for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

from jinja2 import pass_context
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context

__all__ = ["BUDGET", "MAX_STEPS", "charge", "charged", "charging", "cost", "pay"]

MAX_STEPS = 100_000
CHARACTERS = 100
MEMBERS = 10

BUDGET = "creval steps left"
"""The variable that carries the steps a render has left; no template can name it."""


def pay(context: Context, steps: int) -> None:
    """Take steps from the budget of a render. Raises SecurityError where it is used up."""
    budget = context.parent[BUDGET]
    budget[0] -= steps
    if budget[0] < 0:
        raise SecurityError(f"this is more work than the {MAX_STEPS:,} steps that a prompt may take")


def cost(value: Any) -> int:
    """Return the steps that going through a value costs once; 0 for what is small."""
    if isinstance(value, str | bytes):
        return len(value) // CHARACTERS
    if isinstance(value, Mapping):
        return len(value) // MEMBERS + _texts(value.values())
    if isinstance(value, Sequence | Set):
        return len(value) // MEMBERS + (0 if isinstance(value, range) else _texts(value))
    return 0


def _texts(members: Any) -> int:
    return sum(len(member) for member in members if isinstance(member, str)) // CHARACTERS


def charge(context: Context, value: Any) -> Any:
    """Charge a value and return it; an iterator is charged as its items are taken."""
    if isinstance(value, Iterator):
        return _charged_items(context, value)
    pay(context, cost(value))
    return value


def _charged_items(context: Context, items: Iterator[Any]) -> Iterator[Any]:
    for item in items:
        pay(context, 1 + cost(item))
        yield item


charged = pass_context(charge)
"""`charge` as a filter, put around what a template compares or slices."""


def charging(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter or test of Jinja that charges what it is given and what it gives."""
    passed = getattr(getattr(function, "jinja_pass_arg", None), "name", "")

    @pass_context
    @functools.wraps(function, updated=())
    def charged_call(context: Context, *given: Any, **named: Any) -> Any:
        for value in (*given, *named.values()):
            pay(context, cost(value))
        if passed == "context":
            given = (context, *given)
        elif passed == "eval_context":
            given = (context.eval_ctx, *given)
        elif passed == "environment":
            given = (context.environment, *given)
        return charge(context, function(*given, **named))

    return charged_call
