#!/usr/bin/env python3
"""Writes docs/reference-plugin.md: what a plugin may import, from signatures and docstrings.

    python tools/make_reference.py           (from the repository's root)

A test compares the page with what this would write, so that it never says something else than the code.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import creval.plugin
import creval_analyses

FACE = Path(str(creval.plugin.__file__)).parent
ANALYSES = Path(str(creval_analyses.__file__)).parent
PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference-plugin.md"
LIST = "promised.py"
GROUPS = {
    "Registering": ("creval.plugins", "creval.types.kinds"),
    "Components": ("creval.types.components",),
    "Samples and messages": (
        "creval.types.sample",
        "creval.types.messages",
        "creval.types.content",
        "creval.types.tools",
        "creval.types.likelihoods",
    ),
    "Runs": ("creval.runs",),
    "Errors": ("creval.errors",),
    "Resources": ("creval.resources",),
    "Messages to people": ("creval.format",),
}
HEAD = """# Reference: what a plugin may import

Every name of `creval.plugin`, of its promised modules and of those of creval-analyses, from the code itself
(`python tools/make_reference.py` writes this page). The guide is [plugins](plugins.md).

The names, what they take and what they mean follow semantic versioning: a minor version may add, only a major version
removes or changes. Nothing else inside creval is promised.
"""


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the page as Markdown."""
    modules = _module_names()
    parts = [HEAD]
    left = dict(modules)
    for title, prefixes in GROUPS.items():
        names = [name for name, home in modules.items() if home.startswith(prefixes)]
        parts += [f"\n## {title}\n", *(_entry(name, left.pop(name)) for name in names)]
    if left:
        raise SystemExit(f"no group for {', '.join(left)}: add their modules to GROUPS")
    for file in sorted(file for file in FACE.glob("[a-z]*.py") if file.name != LIST):
        parts += _module("creval.plugin", file)
    for file in sorted(ANALYSES.glob("[a-z]*.py")):
        parts += _module("creval_analyses", file)
    return "".join(parts)


def _module(package: str, file: Path) -> Iterator[str]:
    """One module below `package`, where its docstring promises it: this docstring, then its names."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    about = ast.get_docstring(tree) or ""
    if "Promised:" not in about:
        return
    module = f"{package}.{file.stem}"
    yield f"\n## `{module}`\n{_prose(about)}"
    promised = importlib.import_module(module).__all__
    modules = {name: home for name, home in _imported(tree.body).items() if name in promised}
    for name in promised:
        modules.setdefault(name, module)
    for name, home in modules.items():
        yield _entry(name, home)


def _module_names() -> dict[str, str]:
    """Return the home module of each name, in the order of modules and names."""
    modules = _imported(ast.parse((FACE / LIST).read_text(encoding="utf-8")).body)
    return {name: home for name, home in modules.items() if home != "creval.plugin"}  # `params` has its own section


def _imported(body: Sequence[ast.stmt]) -> dict[str, str]:
    nodes = [node for node in body if isinstance(node, ast.ImportFrom) and node.module != "__future__"]
    return {alias.name: str(node.module) for node in nodes for alias in node.names}


def _entry(name: str, home: str) -> str:
    value = getattr(importlib.import_module(home), name)
    if inspect.isclass(value):
        parts = [f"\n### `{name}`\n", _code(_class_line(name, value)), _prose(inspect.getdoc(value))]
        parts += [_member(name, *member) for member in _members(value)]
        return "".join(parts)
    if inspect.isfunction(value):
        return f"\n### `{name}`\n{_code(f'{name}{_signature(value)}')}{_prose(inspect.getdoc(value))}"
    return f"\n### `{name}`\n{_prose(_attribute_text(name, home))}{_values(value)}"


def _class_line(name: str, value: type) -> str:
    if getattr(value, "_is_protocol", False):
        return f"class {name}(Protocol)"
    bases = [base.__name__ for base in value.__bases__ if base is not object]
    if bases[:1] == ["StrEnum"]:
        return f"class {name}(StrEnum)\n    " + ", ".join(member.name for member in value)  # type: ignore[attr-defined]
    parents = f"({', '.join(bases)})" if bases else ""
    return f"class {name}{parents}\n    {name}{_signature(value)}"


def _members(value: type) -> Iterator[tuple[str, Any]]:
    for name, member in vars(value).items():
        inner = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if not name.startswith("_") and (inspect.isfunction(inner) or _is_property(inner)):
            yield name, inner


def _is_property(member: Any) -> bool:
    return isinstance(member, property) or type(member).__name__ == "cached_property"


def _member(owner: str, name: str, member: Any) -> str:
    text = inspect.getdoc(member) or ""
    head = f"`{owner}.{name}`" if _is_property(member) else f"`{owner}.{name}{_signature(member)}`"
    body = textwrap.indent(_fenced(text), "  ").strip()
    return f"\n- {head}" + (f"\n\n  {body}\n" if body else "\n")


def _signature(value: Any) -> str:
    signature = inspect.signature(value)
    parts: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
        parts.append(f"{star}{parameter.name}{_annotation(': ', parameter.annotation)}{default}")
    result = signature.return_annotation
    return f"({', '.join(parts)}){'' if inspect.isclass(value) else _annotation(' -> ', result)}"


def _annotation(sign: str, annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    return sign + (annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation)))


def _default(value: Any) -> str:
    plain = value is None or isinstance(value, bool | int | float | str | tuple)
    return repr(value).replace("'", '"') if plain else "..."


def _attribute_text(name: str, home: str) -> str:
    """The docstring below an assignment, which Python itself does not keep."""
    body = ast.parse(Path(str(importlib.import_module(home).__file__)).read_text(encoding="utf-8")).body
    for node, after in itertools.pairwise(body):
        named = isinstance(node, ast.Assign) and [getattr(t, "id", None) for t in node.targets] == [name]
        if named and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            return inspect.cleandoc(str(after.value.value))
    raise SystemExit(f"{name} of {home} has no docstring below it")


def _values(value: Any) -> str:
    values = get_args(value) or (value if isinstance(value, tuple) else ())
    return f"\n{', '.join(f'`{each}`' for each in values)}\n" if values else ""


def _code(text: str) -> str:
    return f"\n```text\n{text}\n```\n"


def _prose(text: str | None) -> str:
    if not text:
        raise SystemExit("a name of the face has no docstring")
    return f"\n{_fenced(text)}\n"


def _fenced(text: str) -> str:
    """Put indented examples into fences."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        code = line.startswith("    ") or (inside and not line.strip())
        if code != inside:
            lines += ["", "```text"] if code else ["```", ""]
            inside = code
        lines.append(line[4:] if code else line)
    if inside:
        while lines and not lines[-1].strip():
            lines.pop()
        lines.append("```")
    return re.sub(r"\n\n(```\n)", r"\n\1", re.sub(r"\n{3,}", "\n\n", "\n".join(lines)))


if __name__ == "__main__":
    main()
