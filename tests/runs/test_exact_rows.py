"""Rows are read quickly, and exactly as they were written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from creval.errors import RunError
from creval.runs.jsonl import Line, dump_line, read_lines

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
RECORDS = st.dictionaries(
    st.text(), st.recursive(SCALARS, lambda some: st.lists(some) | st.dictionaries(st.text(), some))
)


@settings(max_examples=60)
@given(RECORDS)
@example({"seed": 2**64, "small": -(2**63) - 1, "digits": "1234567890123456789", "nested": [{"x": 10**30}]})
@example({"surrogate": "\ud800", "nul": "\x00", "float": 5e-324, "big": 1.7976931348623157e308, "minus": -0.0})
def test_what_was_written_is_read(record: dict[str, object]) -> None:
    line = dump_line(record)
    read = Line(line, 1, 0, Path("rows.jsonl")).record()
    assert read == json.loads(line)
    assert repr(read) == repr(record)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_json_is_damage(tmp_path: Path, number: str) -> None:
    (tmp_path / "rows.jsonl").write_text(f'{{"x": "\\ud800"}}\n{{"x": {number}}}\n')
    records = read_lines(tmp_path / "rows.jsonl")
    assert next(records) == {"x": "\ud800"}
    with pytest.raises(RunError, match=f"rows.jsonl:2: a damaged line: {number} is not a JSON value"):
        next(records)


@pytest.mark.parametrize("depth", [1_000, 1_020, 3_000])
def test_a_row_that_json_finds_too_deep_is_damage(tmp_path: Path, depth: int) -> None:
    (tmp_path / "rows.jsonl").write_text(f'{{"x": {"[" * depth}{"]" * depth}}}\n')
    with pytest.raises(RunError, match=r"rows\.jsonl:1: a damaged line"):
        next(read_lines(tmp_path / "rows.jsonl"))
