"""The Jinja environment of prompt templates: sandboxed, and bounded in time and memory.

Task files may come from anybody. Jinja's sandbox keeps a template away from Python's internals, but does not bound
loops, repetition and padding. This environment has only the filters that prompts need (none of them random). It refuses
macros, includes, imports, blocks, powers and recursive loops.

Each render has one budget of WORK: an iteration costs ITERATION, each member of a list or mapping costs 1 at any depth,
a text costs 1 for every CHARACTERS characters. The budget pays for the input, arguments and result of every filter and
call, the results of `*`, `+`, `~` and slices, compared values, and the lists, mappings and namespaces that a template
writes. Lazy results of a filter are paid for item by item. `*`, `~`, join and replace are refused before they produce
more than the rest of the budget.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from typing import Any

from jinja2 import StrictUndefined, nodes, pass_context
from jinja2.exceptions import SecurityError, TemplateSyntaxError
from jinja2.filters import FILTERS
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

__all__ = ["BUDGET", "WORK", "PromptEnvironment", "environment"]

WORK = 1_000_000
BUDGET = "creval work left"
"""The variable that holds the remaining work of a render; no template can name it."""

_CHARACTERS = 10
_ITERATION = 10
_MAX_SOURCE = 100_000
_MAX_BITS = 4096
_MAX_DEPTH = 40
_MAX_RANGE = 10_000
_MAX_PLACES = 15
_MAX_INDENT = 8

_FILTERS = {
    *("abs", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first", "float", "groupby", "int"),
    *("items", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse", "select"),
    *("selectattr", "sort", "string", "sum", "title", "trim", "truncate", "unique", "upper", "wordcount"),
}
_GROWING_METHODS = {
    *("ljust", "rjust", "center", "zfill", "expandtabs", "format", "format_map", "translate", "replace", "join"),
    *("fromkeys", "to_bytes"),
}
_FREE = {"count", "first", "last", "length"}  # they copy nothing, whatever the size of their input
_READING = {"lower", "upper"}  # tests without arguments that read a whole text
_REFUSED: dict[type[nodes.Node], str] = {
    nodes.Include: "include",
    nodes.Import: "import",
    nodes.FromImport: "import",
    nodes.Extends: "extends",
    nodes.Block: "block",
    nodes.Macro: "macro",
    nodes.CallBlock: "call",
    nodes.With: "with",
    nodes.AssignBlock: "set ... endset",
    nodes.FilterBlock: "filter",
    nodes.Pow: "**",
}


class PromptEnvironment(ImmutableSandboxedEnvironment):
    """See the module."""

    intercepted_binops = frozenset(("+", "*", "%"))

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)
        self.filters = {**{name: FILTERS[name] for name in _FILTERS}, **_OWN_FILTERS}
        self.globals = {"range": _range, "dict": dict, "namespace": Namespace}

    def prepare(self, source: str) -> nodes.Template:
        """Parse a template. Raises TemplateSyntaxError, also for constructs that prompts may not use."""
        if len(source) > _MAX_SOURCE:
            raise TemplateSyntaxError(f"a template of more than {_MAX_SOURCE:,} characters is too long", 1)
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
        """Make a parsed template pay for its work."""
        _bound_members(tree)
        tree.set_environment(self)
        return tree

    def call_filter(
        self, name: str, value: Any, args: Any = None, kwargs: Any = None, context: Any = None, eval_ctx: Any = None
    ) -> Any:
        """Apply a filter, also one that `map` names, and pay for its input and result."""
        if name in _FREE:
            return super().call_filter(name, value, args, kwargs, context, eval_ctx)
        for each in (value, *(args or ()), *(kwargs or {}).values()):
            _pay_for(context, each)
        return _pay_for(context, super().call_filter(name, value, args, kwargs, context, eval_ctx))

    def call_test(
        self, name: str, value: Any, args: Any = None, kwargs: Any = None, context: Any = None, eval_ctx: Any = None
    ) -> Any:
        """Apply a test, also one that `select` names, and pay for what it compares."""
        if args or name in _READING:
            for each in (value, *(args or ())):
                _pay_for(context, each)
        return super().call_test(name, value, args, kwargs, context, eval_ctx)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute `+`, `*` or `%`, once it is paid for."""
        if operator == "%" and isinstance(left, str | bytes):
            raise SecurityError("texts cannot be formatted with % in a prompt; use ~")
        if operator == "*":
            _pay_for_product(context, left, right)
        elif operator == "+":
            _pay_for(context, left)
            _pay_for(context, right)
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Context, __obj: Any, *given: Any, **named: Any) -> Any:  # noqa: N805
        """Call a function or method, and pay for its arguments, the object it belongs to, and its result."""
        for each in (getattr(__obj, "__self__", None), *given, *named.values()):
            _pay_for(__context, each)
        found = super().call(__context, __obj, *given, **named)
        return found if isinstance(found, Namespace) else _pay_for(__context, found)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return attr not in _GROWING_METHODS and super().is_safe_attribute(obj, attr, value)


@functools.cache
def environment() -> PromptEnvironment:
    """Return the one environment of this process, which never changes."""
    return PromptEnvironment()


# --- work ----------------------------------------------------------------------------------------------


def _pay(context: Context, work: int) -> None:
    """Take work from the budget of a render. Raises SecurityError if it is used up."""
    budget = context.parent[BUDGET]
    budget[0] -= work
    if budget[0] < 0:
        raise _too_much()


def _pay_for(context: Context, value: Any) -> Any:
    """Pay for a value and return it; an iterator is paid for as its items are taken."""
    if isinstance(value, Iterator):
        return _paid_items(context, value)
    budget = context.parent[BUDGET]
    budget[0] = _weigh(value, budget[0], 0)
    return value


def _paid_items(context: Context, items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        _pay(context, _ITERATION)
        yield _pay_for(context, item)


def _weigh(value: Any, left: int, depth: int) -> int:
    """Return what remains of a budget of `left` after this value. Raises SecurityError if the budget is too small."""
    if isinstance(value, str | bytes):
        left -= len(value) // _CHARACTERS
    elif isinstance(value, range):
        left -= len(value)
    elif isinstance(value, int | float | None):
        return left
    elif isinstance(value, Mapping | Sequence | Set | ValuesView):
        left -= 1
        if depth > _MAX_DEPTH:
            raise SecurityError(f"data of more than {_MAX_DEPTH} levels are too deep for a prompt")
        for member in (part for pair in value.items() for part in pair) if isinstance(value, Mapping) else value:
            left = _weigh(member, left - 1, depth + 1)
    elif isinstance(value, Namespace):
        raise SecurityError("a namespace cannot be stored in a prompt's data")
    if left < 0:
        raise _too_much()
    return left


def _afford(context: Context, characters: int) -> None:
    """Refuse a text for which the budget is too small, before it is made."""
    if characters // _CHARACTERS > context.parent[BUDGET][0]:
        raise _too_much()


def _pay_for_product(context: Context, left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() + right.bit_length() > _MAX_BITS:
        raise SecurityError("this product is too large for a prompt")
    sequence, times = (left, right) if hasattr(left, "__len__") else (right, left)
    if isinstance(sequence, str | bytes) and isinstance(times, int):
        _pay(context, len(sequence) * max(times, 0) // _CHARACTERS)
    elif hasattr(sequence, "__len__") and isinstance(times, int):
        _pay(context, (WORK - _weigh(sequence, WORK, 0)) * max(times, 1))


def _too_much() -> SecurityError:
    most = f"{WORK:,} values or {_CHARACTERS * WORK:,} characters"
    return SecurityError(f"this is too large for a prompt: it is more work than {most}")


# --- functions and filters -----------------------------------------------------------------------------


def _range(*bounds: int) -> range:
    found = range(*bounds)
    if len(found) > _MAX_RANGE:
        raise SecurityError(f"range() gives at most {_MAX_RANGE:,} numbers in a prompt")
    return found


@pass_context
def _join(context: Context, items: Iterable[Any], separator: str = "", attribute: str | int | None = None) -> str:
    members = list(items)
    if attribute is not None:
        members = [context.environment.getitem(member, attribute) for member in members]
    texts = [str(member) for member in members]
    _afford(context, sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


@pass_context
def _replace(context: Context, text: Any, old: str, new: str, count: int = -1) -> str:
    whole = str(text)
    _afford(context, len(whole) + (whole.count(old) if count < 0 else count) * len(new))
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


@pass_context
def _walked(context: Context, items: Iterable[Any]) -> Iterator[Any]:
    """Yield the items of a loop, each of which costs an iteration."""
    for item in items:
        _pay(context, _ITERATION)
        yield item


@pass_context
def _applied(context: Context, value: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    return context.environment.call_filter(name, value, args, kwargs, context)


_OWN_FILTERS: Mapping[str, Callable[..., Any]] = {
    "join": _join,
    "replace": _replace,
    "round": _round,
    "tojson": _tojson,
    "creval_walked": _walked,
    "creval_applied": _applied,
    "creval_paid": pass_context(_pay_for),
}


# --- the template's own expressions --------------------------------------------------------------------


def _bound_members(tree: nodes.Node) -> None:
    for name, value in tree.iter_fields():
        bound = [_bound_member(member) for member in value] if isinstance(value, list) else _bound_member(value)
        setattr(tree, name, bound)


def _bound_member(node: Any) -> Any:
    """Send filters through `call_filter`, and the items of loops and compared or written values through a filter."""
    if not isinstance(node, nodes.Node):
        return node
    _bound_members(node)
    if isinstance(node, nodes.Filter):
        node.args.insert(0, nodes.Const(node.name, lineno=node.lineno))
        node.name = "creval_applied"
    elif isinstance(node, nodes.Test) and (node.args or node.name in _READING):
        node.node = _through("creval_paid", node.node)
        node.args = [_through("creval_paid", each) for each in node.args]
    elif isinstance(node, nodes.Compare):
        node.expr = _through("creval_paid", node.expr)
        for operand in node.ops:
            operand.expr = _through("creval_paid", operand.expr)
    elif isinstance(node, nodes.For):
        node.iter = _through("creval_walked", node.iter)
    elif isinstance(node, nodes.Concat):
        joined = nodes.Const("join", lineno=node.lineno)
        return _through("creval_applied", nodes.List(node.nodes, lineno=node.lineno), joined)
    elif isinstance(node, nodes.Assign) and isinstance(node.target, nodes.NSRef):
        node.node = _through("creval_paid", node.node)
    elif isinstance(node, nodes.Tuple) and node.ctx != "load":
        return node
    elif isinstance(node, nodes.List | nodes.Dict | nodes.Tuple) or (
        isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice)
    ):
        return _through("creval_paid", node)
    return node


def _through(name: str, node: Any, *given: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, list(given), [], None, None, lineno=node.lineno)
