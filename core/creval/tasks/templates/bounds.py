"""Functions and filters of prompt templates that cannot outgrow their bounds.

A template can make data larger only by what stands here: ranges, repetition, concatenation, joining, replacing, and
lists of variables. A list may hold the same list twice, so that a few assignments would describe more than any memory
holds; therefore what is written into a list is *weighed*: all its members, however deep; 100 characters count like one.
What the work costs that a template makes of such data is counted in `creval.tasks.templates.charges`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from jinja2 import pass_context, pass_environment
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import Namespace

from creval.tasks.templates.charges import MEMBERS, charged, charging, pay

__all__ = [
    "FILTERS_OF_OURS",
    "MAX_TEXT",
    "check_size",
    "checked",
    "checked_dict",
    "namespace",
    "numbers",
]

MAX_TEXT = 10_000_000
MAX_WEIGHT = 100_000
_CHARACTERS = 100
_MAX_DEPTH = 40
_MAX_RANGE = 10_000
_MAX_PLACES = 15
_MAX_INDENT = 8


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
        left -= len(value) // _CHARACTERS
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


FILTERS_OF_OURS: Mapping[str, Callable[..., Any]] = {
    "join": charging(_join),
    "replace": charging(_replace),
    "round": charging(_round),
    "tojson": charging(_tojson),
    "creval_bounded": _bounded,
    "creval_concat": charging(_concat),
    "creval_checked": _checked,
    "creval_charged": charged,
}
