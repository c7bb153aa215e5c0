"""No module of the core imports, over whatever way round, a module that imports it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

CORE = Path(__file__).resolve().parents[2] / "core"


def imports_of(file: Path) -> Iterator[str]:
    """Every module that a file names in an import, those inside functions and of type checkers included."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def graph_of(root: Path) -> dict[str, set[str]]:
    """Module -> the modules of the same root that it imports."""
    files = {".".join(file.relative_to(root).with_suffix("").parts): file for file in root.rglob("*.py")}
    files = {name.removesuffix(".__init__"): file for name, file in files.items()}
    return {name: {other for other in imports_of(file) if other in files} - {name} for name, file in files.items()}


def test_the_core_has_no_circles() -> None:
    # The two lazy faces name what they hand on for type checkers alone; who imports a face imports nothing through it.
    graph = {name: others for name, others in graph_of(CORE).items() if name not in ("creval", "creval.plugin")}
    TopologicalSorter(graph).prepare()


def test_a_circle_is_found_wherever_its_imports_stand(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def late():\n    from two import name\n")
    (tmp_path / "two.py").write_text("import one\n")
    with pytest.raises(CycleError):
        TopologicalSorter(graph_of(tmp_path)).prepare()
