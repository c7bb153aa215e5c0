"""Rows are read quickly, and exactly as they were written."""

from __future__ import annotations

import json
import math
from datetime import date
from enum import Enum
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from creval.errors import RunError
from creval.exact_json import quick_loads
from creval.runs.jsonl import Appender, Line, UnstorableError, dump_line, read_lines

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


class _Word(str):
    pass


class _Odd(Enum):
    A = 1


@settings(max_examples=40)
@given(st.dictionaries(st.text() | st.integers(), st.recursive(SCALARS, lambda some: st.lists(some) | st.tuples(some))))
@example({"exponents": [1e16, 1e-05, 1e-4, 9999999999999998.0, 5e-324, -0.0], "big": 2**64})
@example({"word": _Word("x\u2028"), "nested": {"k": ("a", 1.5)}, "signs": "".join(map(chr, range(0x300)))})
@example({"deep": json.loads("[" * 300 + "]" * 300)})
def test_rows_are_the_bytes_of_json(record: dict[object, object]) -> None:
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if not any("\ud800" <= sign <= "\udfff" for sign in text):
        assert dump_line(record) == text.encode() + b"\n"


@pytest.mark.parametrize("value", [math.nan, math.inf, _Odd.A, UUID(int=0), date(2000, 1, 1), Path("x"), b"x", {1}])
def test_what_json_refuses_is_refused(value: object) -> None:
    with pytest.raises(UnstorableError):
        dump_line({"x": [{"y": value}]})


NUMBERS = ["-0", "9" * 19, "9" * 20, "-" + "9" * 19, str(2**63), str(-(2**63)), "1e400", "1" * 25 + ".5", "0.1e1"]


TEXTS = ['{"a":1,"a":2}', '"\\ud800"', "[" * 400 + "]" * 400, "NaN", "01", "null", ""]


@pytest.mark.parametrize("text", [*NUMBERS, *TEXTS])
def test_what_is_read_quickly_is_what_json_reads(text: str) -> None:
    found = quick_loads(f"[{text}]".encode())
    if found is not None:
        assert repr(found) == repr(json.loads(f"[{text}]"))


def test_numbers_of_64_bits_are_read_quickly() -> None:
    assert quick_loads(b'{"seed":%d}' % (2**63 - 1)) == {"seed": 2**63 - 1}


def test_the_position_of_a_line_needs_no_system_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"{}\n")
    file = Appender(tmp_path / "rows.jsonl")
    monkeypatch.delattr("os.lseek")
    assert [file.append({"x": 1}), file.append({"x": 2})] == [3, 11]
    file.close()
    assert list(read_lines(tmp_path / "rows.jsonl")) == [{}, {"x": 1}, {"x": 2}]


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
