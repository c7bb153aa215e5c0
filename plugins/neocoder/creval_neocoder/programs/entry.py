"""How a program reaches its solve(): whether it calls the function itself, and what to run if it does not.

Only the syntax tree is examined, with loops instead of recursion, so that no program is too deep.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["runs_itself", "with_call"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINING = (ast.Import, ast.ImportFrom, *_FUNCTIONS, ast.ClassDef)
_ASSIGNING = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_INPUTS = frozenset({"input", "sys.stdin", "builtins.input", "__builtins__.input", "stdin"})


def runs_itself(tree: ast.Module) -> bool:
    """Return whether to run the program as written.

    It is so if the code that runs at the top level, under the main guard or in functions used there calls solve() or
    passes it on, unless each of these calls is an example (all its arguments are literals), or the code after the last
    solve() feeds itself (rebinds `sys.stdin` or `input`) or asserts something about solve(). A solve() that cannot be
    called without arguments is a helper of the program.
    """
    last = max((at for at, node in enumerate(tree.body) if _is_solve(node)), default=None)
    if last is None or _needs_arguments(tree.body[last]):
        return True
    uses = _Uses(tree)
    if not uses.handed and all(map(_is_example, uses.calls)):
        return False
    return not any(_rebinds(node) or _asserts(node) for node in _executed(tree.body[last + 1 :], _defined(tree)))


def with_call(source: str, tree: ast.Module) -> str:
    """Return the source up to the end of the last top-level solve(), the definitions after it, and a call.

    Of the rest, imports, definitions and assignments are kept, except those that rebind the input or use solve().
    """
    last = max(at for at, node in enumerate(tree.body) if _is_solve(node))
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept = ["\n".join(lines[: tree.body[last].end_lineno])]
    if last + 1 < len(tree.body) and tree.body[last + 1].lineno == tree.body[last].end_lineno:  # after a semicolon
        kept = ["\n".join([*lines[: tree.body[last].lineno - 1], _text(lines, tree.body[last])])]
    kept += [_text(lines, node) for node in tree.body[last + 1 :] if _is_kept(node)]
    return "\n".join([*kept, "solve()", ""])


@dataclass
class _Uses:
    """How the executed part of a program uses solve() under any of its names."""

    tree: ast.Module
    calls: list[ast.Call] = field(default_factory=list)
    handed: bool = False

    def __post_init__(self) -> None:
        executed = list(_executed(self.tree.body, _defined(self.tree)))
        names = {"solve"}
        renaming = {id(node.value): node for node in executed if isinstance(node, ast.Assign | ast.AnnAssign)}
        for assignment in renaming.values():
            if isinstance(assignment.value, ast.Name) and assignment.value.id in names:
                targets = assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
        called = {id(node.func): node for node in executed if isinstance(node, ast.Call)}
        attributes = [node for node in executed if isinstance(node, ast.Attribute)]
        described = {id(node.value) for node in attributes if not isinstance(node.ctx, ast.Load)}  # solve.cache = {}
        for node in executed:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
                if id(node) in called:
                    self.calls.append(called[id(node)])
                elif id(node) not in renaming and id(node) not in described:
                    self.handed = True


def _executed(statements: Sequence[ast.stmt], defined: dict[str, list[ast.stmt]]) -> Iterator[ast.AST]:
    """Yield every node that runs with these statements: not the bodies of functions, except those used here by name.

    solve() itself is not entered: its effect follows from its call.
    """
    entered = {"solve"}
    waiting: list[ast.AST] = list(reversed(statements))
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            waiting += [*getattr(node, "decorator_list", []), *node.args.defaults, *filter(None, node.args.kw_defaults)]
            if isinstance(node, ast.Lambda):
                waiting.append(node.body)
            continue
        name = _used_name(node)
        if name in defined and name not in entered:
            entered.add(name)
            waiting += defined[name]
        waiting += reversed(list(ast.iter_child_nodes(node)))


def _used_name(node: ast.AST) -> str:
    """Return the name that is read here; for `Solution().main`, both `Solution` and `main` are visited."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _defined(tree: ast.Module) -> dict[str, list[ast.stmt]]:
    """Return the bodies of all functions and methods by name; under a class name, those that Python calls itself."""
    found: dict[str, list[ast.stmt]] = {}
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            found.setdefault(node.name, []).extend(node.body)
        elif isinstance(node, ast.ClassDef):
            special = [each for each in node.body if isinstance(each, _FUNCTIONS) and each.name.startswith("__")]
            found.setdefault(node.name, []).extend(part for each in special for part in each.body)
    return found


def _is_solve(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "solve"


def _needs_arguments(node: ast.stmt) -> bool:
    assert isinstance(node, ast.FunctionDef)
    asked = node.args
    required = len(asked.posonlyargs) + len(asked.args) > len(asked.defaults)
    return required or any(default is None for default in asked.kw_defaults)


def _is_example(call: ast.Call) -> bool:
    """Return whether a call has arguments, and all of them are literals."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    return bool(arguments) and all(map(_is_literal, arguments))


def _is_literal(node: ast.expr) -> bool:
    plain = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.unaryop, ast.expr_context)
    return all(isinstance(part, plain) for part in ast.walk(node))


def _rebinds(node: ast.AST) -> bool:
    """Return whether the program replaces its input."""
    if isinstance(node, _FUNCTIONS):
        return node.name == "input"
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
        return _dotted(node) in _INPUTS
    if isinstance(node, ast.Call):  # patch("builtins.input", ...), setattr(sys, "stdin", ...)
        name = _dotted(node.func).rpartition(".")[2]
        words = {part.value for part in node.args if isinstance(part, ast.Constant)}
        return (name == "patch" and not words.isdisjoint(_INPUTS)) or (
            name in ("setattr", "object") and not words.isdisjoint({"stdin", "input"})
        )
    return False


def _asserts(node: ast.AST) -> bool:
    """Return whether something is asserted about solve(), by the statement or by a method of a test case."""
    is_assertion = isinstance(node, ast.Assert) or (
        isinstance(node, ast.Call) and _dotted(node.func).rpartition(".")[2].startswith("assert")
    )
    return is_assertion and _names_solve(node)


def _names_solve(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "solve" for part in ast.walk(node))


def _is_kept(node: ast.stmt) -> bool:
    if isinstance(node, _DEFINING):
        return not _rebinds(node)
    return isinstance(node, _ASSIGNING) and not _names_solve(node) and not any(map(_rebinds, ast.walk(node)))


def _dotted(node: ast.AST) -> str:
    """Return `sys.stdin` for that expression; empty for any other."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def _text(lines: Sequence[str], node: ast.stmt) -> str:
    """Return the source of a statement, including its decorators."""
    top = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    part = list(lines[top - 1 : node.end_lineno])
    part[-1] = part[-1].encode()[: node.end_col_offset].decode()
    if top == node.lineno:
        part[0] = part[0].encode()[node.col_offset :].decode()
    return "\n".join(part)
