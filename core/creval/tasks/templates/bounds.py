"""What a prompt template may do: how large its data may become, and how many steps a render may take.

A template makes data larger only by the functions and filters here: ranges, repetition, concatenation, joining,
replacing, and lists of variables. A list may hold the same list twice, so that a few assignments would describe more
than any memory holds; therefore what is written into a list is *weighed*: all its members, however deep; 100 characters
count like one.

Sizes alone bound no time: ten thousand iterations over the largest text take minutes. So each render has one budget of
steps. An iteration costs 1, a text one step per CHARACTERS characters, a list one step per MEMBERS members and what its
texts cost. Charged are the input and the result of every filter, of every method, of `*`, `+`, `~`, slices and
comparisons; what a filter gives lazily is charged item by item.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from jinja2 import pass_context, pass_environment
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import Namespace

__all__ = [
    "BUDGET",
    "EXTRA_FILTERS",
    "MAX_STEPS",
    "MAX_TEXT",
    "charge",
    "charging",
    "check_size",
    "checked",
    "checked_dict",
    "cost",
    "namespace",
    "numbers",
    "pay",
]

MAX_TEXT = 10_000_000
MAX_WEIGHT = 100_000
MAX_STEPS = 100_000
CHARACTERS = 100
MEMBERS = 10

BUDGET = "creval steps left"
"""The variable that carries the steps a render has left; no template can name it."""

_MAX_DEPTH = 40
_MAX_RANGE = 10_000
_MAX_PLACES = 15
_MAX_INDENT = 8


# --- steps ---------------------------------------------------------------------------------------------


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


# --- sizes ---------------------------------------------------------------------------------------------


def check_size(size: int) -> None:
    """Refuse texts and lists that are too long."""
    if size > MAX_TEXT:
        raise SecurityError(f"a text or list of more than {MAX_TEXT:,} members is too large for a prompt")


def checked(value: Any) -> Any:
    """Return a value that is about to be stored in a list or mapping. Raises SecurityError where it is too heavy."""
    _weigh(value, MAX_WEIGHT, 0)
    return value


def _weigh(value: Any, left: int, depth: int) -> int:
    """Return what is left of the weight that a value may have."""
    if isinstance(value, Namespace):
        raise SecurityError("a namespace cannot be stored in a prompt's data")
    members: Iterable[Any] = ()
    if isinstance(value, str | bytes):
        left -= len(value) // CHARACTERS
    elif isinstance(value, Mapping):
        members = (part for pair in value.items() for part in pair)
    elif isinstance(value, list | tuple | set | frozenset):
        members = value
    left -= 1
    if left < 0 or depth > _MAX_DEPTH:
        raise SecurityError(f"data of more than {MAX_WEIGHT:,} values are too large for a prompt")
    for member in members:
        left = _weigh(member, left, depth + 1)
    return left


# --- functions -----------------------------------------------------------------------------------------


def numbers(*bounds: int) -> range:
    """`range(...)`."""
    found = range(*bounds)
    if len(found) > _MAX_RANGE:
        raise SecurityError(f"range() gives at most {_MAX_RANGE:,} numbers in a prompt")
    return found


def checked_dict(*pairs: Any, **members: Any) -> dict[Any, Any]:
    """`dict(...)`."""
    found: dict[Any, Any] = checked(dict(*pairs, **members))
    return found


def namespace(**members: Any) -> Namespace:
    """`namespace(...)`: counters and texts that a loop changes."""
    for member in members.values():
        checked(member)
    return Namespace(**members)


# --- filters -------------------------------------------------------------------------------------------


@pass_context
def _bounded(context: Context, items: Iterable[Any]) -> Iterator[Any]:
    """Yield the items of a loop, each of which costs a step."""
    for item in items:
        pay(context, 1)
        yield item


@pass_context
def _checked(context: Context, value: Any) -> Any:
    """`checked`; the weighing itself is charged."""
    pay(context, (MAX_WEIGHT - _weigh(value, MAX_WEIGHT, 0)) // MEMBERS)
    return value


def _concat(parts: Sequence[Any]) -> str:
    texts = [str(part) for part in parts]
    check_size(sum(map(len, texts)))
    return "".join(texts)


@pass_environment
def _join(
    environment: SandboxedEnvironment, items: Iterable[Any], separator: str = "", attribute: str | int | None = None
) -> str:
    members = list(items)
    if attribute is not None:
        members = [environment.getitem(member, attribute) for member in members]
    texts = [str(member) for member in members]
    check_size(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


def _replace(text: Any, old: str, new: str, count: int = -1) -> str:
    whole = str(text)
    check_size(len(whole) + (whole.count(old) if count < 0 else count) * len(new))
    return whole.replace(old, new, count)


def _round(value: float, precision: int = 0, method: str = "common") -> Any:
    if abs(precision) > _MAX_PLACES:
        raise SecurityError(f"round() keeps at most {_MAX_PLACES} places in a prompt")
    return FILTERS["round"](value, precision, method)


def _tojson(value: Any, indent: int | None = None) -> Any:
    from json import dumps

    if indent is not None and indent > _MAX_INDENT:
        raise SecurityError(f"tojson() indents by at most {_MAX_INDENT} blanks in a prompt")
    return dumps(value, indent=indent, ensure_ascii=False)


EXTRA_FILTERS: Mapping[str, Callable[..., Any]] = {
    "join": charging(_join),
    "replace": charging(_replace),
    "round": charging(_round),
    "tojson": charging(_tojson),
    "creval_bounded": _bounded,
    "creval_concat": charging(_concat),
    "creval_checked": _checked,
    "creval_charged": charged,
}
