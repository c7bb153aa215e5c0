"""What the compiled kernel relies on beyond its results."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from creval_kumo.search import kernel
from creval_kumo.search.compiled_engine import CompiledEngine
from creval_kumo.search.limits import Budget, Limits
from creval_kumo.search.puzzle import Puzzle
from creval_kumo.search.python_engine import PythonEngine


def test_compiled_functions_call_none_of_another_file() -> None:
    """Else numba would go on using machine code that was compiled with an older version of what they call."""
    tree = ast.parse(Path(str(kernel.__file__)).read_text(encoding="utf-8"))
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [module for module in modules if str(module).startswith("creval")]


def test_full_tables_grow_and_change_nothing() -> None:
    pytest.importorskip("numba")
    outcomes = tuple((0b111 << a & 0xFFF, (0b10101 << a | 0b10101 >> a) & 0xFFF) for a in range(12))
    puzzle = Puzzle(12, outcomes)
    compiled, plain = CompiledEngine(puzzle, 12), PythonEngine(puzzle, 12)
    start = len(compiled.game.rows), len(compiled.game.values)
    for bound in (2.0, 4.0, float("inf")):
        answers = [
            engine.below(puzzle.all_truths, puzzle.all_actions, bound, Budget(Limits(None)))
            for engine in (compiled, plain)
        ]
        assert answers[0].exact == answers[1].exact
        assert answers[0].value == pytest.approx(answers[1].value, abs=1e-12)
    assert len(compiled.game.rows) > start[0] or len(compiled.game.values) > start[1]
