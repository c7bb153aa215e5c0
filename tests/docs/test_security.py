"""SECURITY.md names the tests that hold each line of its table."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_each_line_of_the_threat_model_names_tests_that_exist() -> None:
    rows = [line for line in (ROOT / "SECURITY.md").read_text("utf-8").splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 8
    for row in rows:
        named = re.findall(r"`([\w/.]+\.py)::(\w+)`", row)
        assert named, row
        for file, name in named:
            tree = ast.parse((ROOT / file).read_text("utf-8"))
            known = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
            assert name in known, f"{file}::{name}"
