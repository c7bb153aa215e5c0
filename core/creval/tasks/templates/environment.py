"""The Jinja environment of prompt templates: sandboxed, and bounded in time and memory.

Task files come from anybody. Jinja's sandbox keeps a template away from Python's internals; what it does not bound are
loops, repetition and padding. Here a render takes at most MAX_STEPS steps and MAX_TEXT characters, what can grow goes
through `creval.tasks.templates.bounds`, only filters that prompts need exist (none of them random), and macros,
includes, imports, blocks, powers and recursive loops are refused.
"""

from __future__ import annotations

import functools
from typing import Any

from jinja2 import StrictUndefined, nodes
from jinja2.exceptions import SecurityError, TemplateSyntaxError
from jinja2.filters import FILTERS
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from creval.tasks.templates.bounds import (
    EXTRA_FILTERS,
    MAX_STEPS,
    MAX_TEXT,
    charge,
    charging,
    check_size,
    checked,
    checked_dict,
    cost,
    namespace,
    numbers,
    pay,
)

__all__ = ["MAX_TEXT", "PromptEnvironment", "environment"]

_MAX_SOURCE = 100_000
_MAX_BITS = 4096

_FILTERS = {
    *("abs", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first", "float", "groupby", "int"),
    *("items", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse", "select"),
    *("selectattr", "sort", "string", "sum", "title", "trim", "truncate", "unique", "upper", "wordcount"),
}
_GROWING_METHODS = {
    *("ljust", "rjust", "center", "zfill", "expandtabs", "format", "format_map", "translate", "replace", "join"),
    *("fromkeys", "to_bytes"),
}
_AT_ONCE = {"count", "first", "last", "length"}  # they copy nothing, however long what they are given is
_COMPARING = {
    *("in", "eq", "equalto", "==", "ne", "!=", "lt", "lessthan", "<", "le", "<=", "gt", "greaterthan", ">", "ge", ">="),
    *("lower", "upper"),
}
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
        plain = {name: FILTERS[name] if name in _AT_ONCE else charging(FILTERS[name]) for name in _FILTERS}
        self.filters = {**plain, **EXTRA_FILTERS}
        tests: dict[str, Any] = dict(self.tests)
        self.tests = {name: charging(test) if name in _COMPARING else test for name, test in tests.items()}
        self.globals = {"range": numbers, "dict": checked_dict, "namespace": namespace}

    def prepare(self, source: str) -> nodes.Template:
        """Parse a template and refuse what is not for prompts. Raises TemplateSyntaxError."""
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
        """Send through the extra filters what loops go over, every `~`, what is put into a list or namespace, compared
        or sliced.
        """
        for loop in tree.find_all(nodes.For):
            loop.iter = _through("creval_bounded", loop.iter)
        for assignment in tree.find_all(nodes.Assign):
            if isinstance(assignment.target, nodes.NSRef):
                assignment.node = _through("creval_checked", assignment.node)
        _bound_members(tree)
        tree.set_environment(self)
        return tree

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "%" and isinstance(left, str | bytes):
            raise SecurityError("texts cannot be formatted with % in a prompt; use ~")
        if operator == "*":
            self._check_product(left, right)
        elif hasattr(left, "__len__") and hasattr(right, "__len__"):
            check_size(len(left) + len(right))
            return charge(context, checked(super().call_binop(context, operator, left, right)))
        return charge(context, super().call_binop(context, operator, left, right))

    def call(__self, __context: Context, __obj: Any, *given: Any, **named: Any) -> Any:  # noqa: N805
        """Call a function or method; of a method the object it belongs to is charged too."""
        pay(__context, cost(getattr(__obj, "__self__", None)))
        return charge(__context, super().call(__context, __obj, *given, **named))

    def _check_product(self, left: Any, right: Any) -> None:
        if _is_number(left, right):
            if isinstance(left, int) and isinstance(right, int) and left.bit_length() + right.bit_length() > _MAX_BITS:
                raise SecurityError("this product is too large for a prompt")
            return
        sequence, times = (left, right) if hasattr(left, "__len__") else (right, left)
        if hasattr(sequence, "__len__") and isinstance(times, int):
            check_size(len(sequence) * max(times, 0))
            # Nested lists: what one copy weighs counts as often as it is repeated.
            if not isinstance(sequence, str | bytes) and times > 1:
                checked([sequence] * min(times, MAX_STEPS))

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return attr not in _GROWING_METHODS and super().is_safe_attribute(obj, attr, value)


@functools.cache
def environment() -> PromptEnvironment:
    """Return the one environment of this process; it is never changed."""
    return PromptEnvironment()


def _through(name: str, node: Any) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _bound_members(tree: nodes.Node) -> None:
    for name, value in tree.iter_fields():
        if isinstance(value, list):
            setattr(tree, name, [_bound_member(member) for member in value])
        else:
            setattr(tree, name, _bound_member(value))


def _bound_member(value: Any) -> Any:
    if not isinstance(value, nodes.Node):
        return value
    _bound_members(value)
    if isinstance(value, nodes.Concat):
        return _through("creval_concat", nodes.List(value.nodes, lineno=value.lineno))
    if isinstance(value, nodes.Compare):
        value.expr = _through("creval_charged", value.expr)
        for operand in value.ops:
            operand.expr = _through("creval_charged", operand.expr)
        return value
    if isinstance(value, nodes.Getitem) and isinstance(value.arg, nodes.Slice):
        return _through("creval_charged", value)
    if isinstance(value, nodes.List | nodes.Dict) or (isinstance(value, nodes.Tuple) and value.ctx == "load"):
        return _through("creval_checked", value)
    return value


def _is_number(*values: object) -> bool:
    return all(isinstance(value, int | float) for value in values)
