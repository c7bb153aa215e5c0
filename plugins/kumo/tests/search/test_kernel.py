"""What the compiled kernel relies on beyond its results."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

import creval_kumo.search
from creval_kumo.search.compiled_engine import CompiledEngine
from creval_kumo.search.limits import Budget, Limits
from creval_kumo.search.puzzle import Puzzle
from creval_kumo.search.python_engine import PythonEngine

FOLDER = Path(creval_kumo.search.__file__).parent


@pytest.mark.parametrize(
    ("file", "constant", "called"),
    [("truth_rows.py", "TABLES", "tables.py"), ("kernel.py", "TRUTH_ROWS", "truth_rows.py")],
)
def test_a_file_changes_with_what_it_calls(file: str, constant: str, called: str) -> None:
    """Else numba would go on using machine code that was compiled with the older version."""
    stated = re.search(rf'^{constant} = "(\w+)"', (FOLDER / file).read_text(), re.MULTILINE)
    assert stated is not None
    digest = hashlib.sha256((FOLDER / called).read_bytes()).hexdigest()[:16]
    assert stated[1] == digest, f"write {digest} into {constant} of {file}"


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
