"""The Jinja environment of prompt templates: sandboxed, and bounded in time and memory.

Task files come from anybody. Jinja's sandbox keeps a template away from Python's internals; what it does not bound are
loops, repetition and padding. Here a render makes at most MAX_STEPS loop steps and MAX_TEXT characters, only filters
that are needed for prompts exist (none of them random), and macros, includes and imports are refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from jinja2 import StrictUndefined, nodes, pass_context
from jinja2.exceptions import SecurityError, TemplateSyntaxError
from jinja2.filters import FILTERS
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

__all__ = ["BUDGET", "MAX_STEPS", "MAX_TEXT", "PromptEnvironment", "environment"]

MAX_STEPS = 100_000
MAX_TEXT = 10_000_000
_MAX_RANGE = 10_000
_MAX_POWER = 10**6

BUDGET = "creval steps left"
"""The variable that carries the steps a render has left; no template can name it."""

_FILTERS = [
    "abs",
    "capitalize",
    "count",
    "d",
    "default",
    "dictsort",
    "e",
    "escape",
    "first",
    "float",
    "groupby",
    "int",
    "items",
    "join",
    "last",
    "length",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "select",
    "selectattr",
    "sort",
    "string",
    "sum",
    "title",
    "tojson",
    "trim",
    "truncate",
    "unique",
    "upper",
    "wordcount",
]
_GROWING_METHODS = frozenset(("ljust", "rjust", "center", "zfill", "expandtabs", "format", "format_map", "translate"))
_REFUSED: dict[type[nodes.Node], str] = {
    nodes.Include: "include",
    nodes.Import: "import",
    nodes.FromImport: "import",
    nodes.Extends: "extends",
    nodes.Block: "block",
    nodes.Macro: "macro",
    nodes.CallBlock: "call",
}


class PromptEnvironment(ImmutableSandboxedEnvironment):
    """See the module."""

    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)
        self.filters = {name: FILTERS[name] for name in _FILTERS}
        self.filters.update(
            {"join": _join, "replace": _replace, "creval_bounded": _bounded, "creval_concat": _concat},
        )
        self.globals = {"range": _range, "dict": dict, "namespace": self.globals["namespace"]}

    def prepare(self, source: str) -> nodes.Template:
        """Parse a template, refuse what is not for prompts and put the bounds in. Raises TemplateSyntaxError."""
        tree = self.parse(source)
        for kind, word in _REFUSED.items():
            for node in tree.find_all(kind):
                raise TemplateSyntaxError(f"{word!r} is not available in prompts", node.lineno)
        for loop in tree.find_all(nodes.For):
            if loop.recursive:
                raise TemplateSyntaxError("recursive loops are not available in prompts", loop.lineno)
        for name in tree.find_all(nodes.Filter):
            if name.name not in self.filters:
                raise TemplateSyntaxError(f"there is no filter {name.name!r}", name.lineno)
        return tree

    def bound(self, tree: nodes.Template) -> nodes.Template:
        """Put counters into a prepared tree: every loop and every `~` goes through a filter of ours."""
        for loop in tree.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, "creval_bounded", [], [], None, None, lineno=loop.lineno)
        _replace_concats(tree)
        tree.set_environment(self)
        return tree

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "**":
            if not _is_number(left) or not _is_number(right) or abs(right) > 64 or abs(left) > _MAX_POWER:
                raise SecurityError("this power is too large for a prompt")
        elif operator == "%" and isinstance(left, str):
            raise SecurityError("texts cannot be formatted with % in a prompt; use ~")
        elif operator == "*" and not (_is_number(left) and _is_number(right)):
            length, times = (len(left), right) if hasattr(left, "__len__") else (len(right), left)
            _check_size(length * max(int(times), 0))
        elif operator == "+" and hasattr(left, "__len__") and hasattr(right, "__len__"):
            _check_size(len(left) + len(right))
        return super().call_binop(context, operator, left, right)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return attr not in _GROWING_METHODS and super().is_safe_attribute(obj, attr, value)


@functools.cache
def environment() -> PromptEnvironment:
    """Return the one environment of this process; it is never changed."""
    return PromptEnvironment()


def _replace_concats(tree: nodes.Node) -> None:
    for name, value in tree.iter_fields():
        if isinstance(value, list):
            setattr(tree, name, [_bounded_concat(member) for member in value])
        else:
            setattr(tree, name, _bounded_concat(value))


def _bounded_concat(value: Any) -> Any:
    if not isinstance(value, nodes.Node):
        return value
    _replace_concats(value)
    if not isinstance(value, nodes.Concat):
        return value
    parts = nodes.List(value.nodes, lineno=value.lineno)
    return nodes.Filter(parts, "creval_concat", [], [], None, None, lineno=value.lineno)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _check_size(size: int) -> None:
    if size > MAX_TEXT:
        raise SecurityError(f"a text or list of more than {MAX_TEXT:,} members is too large for a prompt")


def _range(*bounds: int) -> range:
    numbers = range(*bounds)
    if len(numbers) > _MAX_RANGE:
        raise SecurityError(f"range() gives at most {_MAX_RANGE:,} numbers in a prompt")
    return numbers


@pass_context
def _bounded(context: Context, items: Iterable[Any]) -> Iterator[Any]:
    budget = context.parent[BUDGET]
    for item in items:
        budget[0] -= 1
        if budget[0] < 0:
            raise SecurityError(f"more than {MAX_STEPS:,} loop steps are too many for a prompt")
        yield item


def _concat(parts: Sequence[Any]) -> str:
    texts = [str(part) for part in parts]
    _check_size(sum(map(len, texts)))
    return "".join(texts)


def _join(items: Iterable[Any], separator: str = "", attribute: str | int | None = None) -> str:
    members = list(items)
    if attribute is not None:
        getter: Callable[[Any], Any] = functools.partial(environment().getitem, argument=attribute)
        members = [getter(member) for member in members]
    texts = [str(member) for member in members]
    _check_size(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


def _replace(text: Any, old: str, new: str, count: int = -1) -> str:
    whole = str(text)
    _check_size(len(whole) + (whole.count(old) if count < 0 else count) * len(new))
    return whole.replace(old, new, count)
