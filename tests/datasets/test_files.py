"""Datasets from local files: every format, lazy reading, checked rows, ids, fields and fingerprints."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.data.dataset import Dataset
from creval.data.row_types import ListRows
from creval.data.table_files import JsonLinesRows, _quick, open_file
from creval.errors import DataError, MissingPartError
from creval.types.sample import Doc

DOCS: list[dict[str, Any]] = [
    {"id": "x", "text": "äöü\n2", "n": 1, "list": [1, {"a": None}], "f": 0.5},
    {"id": "y", "text": "", "n": -7, "list": [], "f": 1e-9},
    {"id": "z", "text": "\u2028,;\"'", "n": 0, "list": [[]], "f": 2.0},
]


def write(folder: Path, ending: str, docs: list[dict[str, Any]] = DOCS) -> Path:
    file = folder / f"docs{ending}"
    if ending == ".jsonl":
        file.write_text("".join(json.dumps(doc, ensure_ascii=False) + "\n" for doc in docs), encoding="utf-8")
    elif ending == ".json":
        file.write_text(json.dumps(docs), encoding="utf-8")
    elif ending == ".parquet":
        pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        from pyarrow import parquet

        parquet.write_table(pyarrow.Table.from_pylist(docs), file, row_group_size=2)
    return file


def fault(file: Path, id_field: str | None = None) -> str:
    with pytest.raises(DataError) as caught:
        Dataset(open_file(file), id_field)
    return str(caught.value)


# --- formats ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".jsonl", ".json"])
def test_json_formats_give_the_docs_as_they_are(tmp_path: Path, ending: str) -> None:
    with Dataset(open_file(write(tmp_path, ending)), "id") as dataset:
        assert len(dataset) == 3
        assert [dataset[i] for i in (2, 0, 1)] == [Doc(doc["id"], doc) for doc in (DOCS[2], DOCS[0], DOCS[1])]
        assert [doc.fields for doc in dataset] == DOCS
        assert (dataset.fields, dataset.optional_fields) == (("id", "text", "n", "list", "f"), ())
        assert dataset.by_id("y").fields == DOCS[1]
        with pytest.raises(IndexError):
            dataset[3]


def test_the_fingerprint_is_of_the_content_alone(tmp_path: Path) -> None:
    lines, whole = write(tmp_path, ".jsonl"), write(tmp_path, ".json")
    shuffled = [dict(reversed(doc.items())) for doc in DOCS]
    other = write(tmp_path / "..", ".json", shuffled)
    prints = {Dataset(open_file(file), "id").fingerprint for file in (lines, whole, other)}
    assert len(prints) == 1
    (only,) = prints
    assert len(only) == 64
    changed = write(tmp_path, ".json", [*DOCS[:2], {**DOCS[2], "n": 1}])
    assert Dataset(open_file(changed), "id").fingerprint != only
    assert Dataset(open_file(lines)).fingerprint != only  # other ids
    assert Dataset(open_file(write(tmp_path, ".json", DOCS[::-1])), "id").fingerprint != only


def test_parquet_is_read_by_row_group(tmp_path: Path) -> None:
    docs = [{"id": f"d{i}", "n": i, "x": None if i == 3 else i / 2, "tags": ["a"] * i} for i in range(5)]
    with Dataset(open_file(write(tmp_path, ".parquet", docs)), "id") as dataset:
        assert len(dataset) == 5
        assert [dataset[i].fields for i in (4, 0, 3, 1, 2)] == [docs[i] for i in (4, 0, 3, 1, 2)]
        assert [doc.id for doc in dataset] == [f"d{i}" for i in range(5)]


def test_parquet_without_its_package_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "docs.parquet"
    file.write_bytes(b"PAR1")
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPartError, match=r"pip install pyarrow"):
        open_file(file)


def test_a_faulty_parquet_file(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    file = tmp_path / "docs.parquet"
    file.write_bytes(b"PAR1 not really")
    assert "not a valid Parquet file" in fault(file)


cells = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=8)


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8), st.sampled_from([("csv", ","), ("tsv", "\t")]))
def test_tables_are_read_row_by_row_as_csv_means_them(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, str, str]], kind: tuple[str, str]
) -> None:
    ending, delimiter = kind
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([("a", "b", "c"), *table])
    file = tmp_path_factory.mktemp("table") / f"docs.{ending}"
    file.write_text(text.getvalue(), encoding="utf-8", newline="")
    with Dataset(open_file(file)) as dataset:
        assert [tuple(dataset[i].fields.values()) for i in reversed(range(len(dataset)))] == table[::-1]
        assert [tuple(doc.fields.values()) for doc in dataset] == table
        assert dataset.fields == ("a", "b", "c")


def test_csv_faults_name_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "docs.csv"
    file.write_text('a,b\n1,2\n"two\nlines",x\n3\n4,5,6\n\n7,8\n')
    message = fault(file)
    assert f"{file}:5: the row has 1 cell, the header 2" in message
    assert f"{file}:6: the row has 3 cells, the header 2" in message
    file.write_text("a,a\n1,2\n")
    assert "columns without a name or named twice: ['a']" in fault(file)
    file.write_text("")
    assert "the file is empty" in fault(file)
    file.write_bytes(b"a,b\ncaf\xe9,1\n")
    assert "not UTF-8" in fault(file)
    file.write_text("\ufeffa,b\n1,2\n", encoding="utf-8")
    assert Dataset(open_file(file)).fields == ("a", "b")


# --- JSON Lines ------------------------------------------------------------------------------------------


def test_malformed_lines_are_all_named_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"a": 1}\n\n{"a": 2\n[1]\n{"a": NaN}\n   \n{"a": "\xff"}\n{"a": 3}')
    lines = fault(file).splitlines()
    assert lines == [
        f"{file}: 4 rows are faulty:",
        f"  {file}:3: not valid JSON: Expecting ',' delimiter (column 8)",
        f"  {file}:4: a line must contain a JSON object {{...}}",
        f"  {file}:5: not valid JSON: NaN is not a JSON value",
        f"  {file}:7: not valid JSON: not UTF-8 text",
        "Correct these rows; no doc is left out silently.",
    ]


def test_of_many_faults_ten_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    file.write_text("x\n" * 25)
    message = fault(file)
    assert "25 rows are faulty" in message and "and 15 more" in message


def test_ids_must_be_there_and_unique(tmp_path: Path) -> None:
    docs: list[dict[str, Any]] = [
        {"k": 1},
        {"k": "1"},
        {"k": ""},
        {"k": None},
        {"x": 1},
        {"k": True},
        {"k": 1.5},
        {"k": "b"},
    ]
    file = write(tmp_path, ".jsonl", docs)
    message = fault(file, "k")
    assert f"{file}:2: the id '1' is also at {file}:1" in message
    for line, shown in [(3, "''"), (4, "empty"), (6, "True"), (7, "1.5")]:
        assert f"{file}:{line}: the id field 'k' is {shown}; it must be a text or whole number" in message
    assert f"{file}:5: the id field 'k' is missing; the row has x" in message
    assert "6 rows are faulty" in message


def test_without_an_id_field_docs_are_numbered(tmp_path: Path) -> None:
    dataset = Dataset(open_file(write(tmp_path, ".jsonl")))
    assert [doc.id for doc in dataset] == ["0", "1", "2"]
    with pytest.raises(DataError, match="there is no doc with the id '9'"):
        dataset.by_id("9")


def test_fields_that_only_some_docs_have(tmp_path: Path) -> None:
    dataset = Dataset(open_file(write(tmp_path, ".jsonl", [{"a": 1, "b": 2}, {"a": 1, "c": 3}, {"c": 1, "a": 2}])))
    assert (dataset.fields, dataset.optional_fields) == (("a",), ("b", "c"))


def test_of_a_large_file_only_offsets_are_held(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    with file.open("w") as lines:
        for i in range(20_000):
            lines.write(json.dumps({"id": f"doc{i}", "text": "x" * 200}) + "\n")
    with Dataset(open_file(file), "id") as dataset:
        assert len(dataset) == 20_000
        assert dataset[17_345].id == "doc17345"
        rows = dataset.rows
        assert isinstance(rows, JsonLinesRows)
        held = sum(
            value.buffer_info()[1] * value.itemsize for value in vars(rows).values() if hasattr(value, "itemsize")
        )
        assert held < 600_000 < file.stat().st_size / 5


def test_a_file_that_changes_underneath_is_noticed(tmp_path: Path) -> None:
    file = write(tmp_path, ".jsonl")
    dataset = Dataset(open_file(file), "id")
    with file.open("r+b") as content:
        content.write(b"garbage")
    with pytest.raises(DataError, match="has changed since it was opened"):
        dataset[0]
    dataset.close()
    with pytest.raises(DataError, match="the dataset is closed"):
        dataset[1]


def test_files_are_closed_when_the_rows_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    file.write_text("x\n")
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else None  # noqa: PTH208
    if before is None:
        pytest.skip("no /proc on this system")
    fault(file)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


# --- others ----------------------------------------------------------------------------------------------


def test_json_faults(tmp_path: Path) -> None:
    file = tmp_path / "docs.json"
    for text, part in [
        ("[1, {}]", "docs.json, item 1: an item must be a JSON object"),
        ('{"a": 1}', "the file must contain a JSON list of objects"),
        ('[{"a": 1},\n{"b" 2}]', "docs.json:2:6: not valid JSON"),
        ("[NaN]", "NaN is not a JSON value"),
        ("[]", "the dataset contains no docs"),
        ("[" * 100_000, "not valid JSON"),
    ]:
        file.write_text(text)
        assert part in fault(file)


def test_formats_are_recognised_by_their_ending(tmp_path: Path) -> None:
    file = tmp_path / "docs.txt"
    file.write_text('{"a": 1}\n')
    assert "the file name does not show the format: '.txt'" in fault(file)
    assert len(Dataset(open_file(file, "jsonl"))) == 1
    with pytest.raises(DataError, match="there is no such data file"):
        open_file(tmp_path / "none.jsonl")


class _Odd:
    """A value that no JSON can hold."""


def test_values_become_plain_json_data() -> None:
    import datetime
    from types import MappingProxyType

    rows: list[Any] = [
        {"when": datetime.date(2026, 1, 2), "nan": float("nan"), "t": (1, 2), "m": MappingProxyType({"k": (1,)})},
    ]
    (doc,) = Dataset(ListRows(rows, "here"))
    assert doc.fields == {"when": "2026-01-02", "nan": None, "t": [1, 2], "m": {"k": [1]}}
    odd = Dataset(ListRows([{"x": _Odd(), "y": 1}], "here"))
    assert (odd.fields, odd.left_out) == (("y",), " ('x' holds _Odd objects, and is left out)")


@pytest.mark.parametrize("row", ['{"id": "b", "id": "c"}', '{"id": "b", "deep": [{"x": 1, "x": 1}]}'])
def test_a_key_that_occurs_twice_is_a_fault_with_its_line(tmp_path: Path, row: str) -> None:
    name = "id" if '"c"' in row else "x"
    lines = tmp_path / "docs.jsonl"
    lines.write_text(f'{{"id": "a"}}\n{row}\n', encoding="utf-8")
    assert f"{lines}:2: not valid JSON: the key {name!r} occurs twice" in fault(lines, "id")
    whole = tmp_path / "docs.json"
    whole.write_text(f'[{{"id": "a"}},\n{row}]', encoding="utf-8")
    assert f"the key {name!r} occurs twice" in fault(whole, "id")


@pytest.mark.parametrize(
    ("name", "text"), [("a.csv", "id;word\n1;x\n"), ("a.tsv", "id,word\n1,x\n"), ("b.csv", "id\tword\n1\tx\n")]
)
def test_a_table_with_another_separator_is_reported(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=r"separated by \w+, not by \w+"):
        open_file(tmp_path / name)


COLUMNS = {
    "id": ["a", "b"],
    "text": ["x", "y"],
    "image": [b"\x89PNG", None],
    "thumb": [{"bytes": b"\x00", "path": "p"}, {"bytes": b"\x01", "path": "q"}],
    "price": [Decimal("19999.99"), Decimal("1.50")],
    "large": [Decimal("12345678901234567.891"), None],
    "whole": [Decimal("9007199254740993"), Decimal("2")],
    "took": [timedelta(seconds=90), timedelta(milliseconds=1500)],
}


def columns(folder: Path) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table(COLUMNS)
    counts = pyarrow.array([1_500_000_000, 1]).cast(pyarrow.duration("ns"))
    parquet.write_table(table.append_column("nanos", counts), folder / "columns.parquet")
    return folder / "columns.parquet"


def test_columns_of_decimals_and_durations_are_exact_and_bytes_refuse_nothing(tmp_path: Path) -> None:
    with Dataset(open_file(columns(tmp_path)), "id") as dataset:
        first, second = dataset
        assert first.fields == {
            "id": "a",
            "text": "x",
            "price": 19999.99,
            "large": "12345678901234567.891",
            "whole": 9007199254740993,
            "took": 90,
            "nanos": 1.5,
        }
        assert (second.fields["price"], second.fields["took"], second.fields["nanos"]) == (1.5, 1.5, 1e-09)
        assert dataset.left_out == " ('image' holds bytes, 'thumb' holds bytes, and is left out)"
        assert dataset[0] == first and dataset.by_id("b") == second


def test_rows_of_a_source_may_hold_them_too() -> None:
    np = pytest.importorskip("numpy")
    rows = [{"id": "a", "f": Decimal("NaN"), "t": np.timedelta64(1500, "ms"), "b": memoryview(b"x"), "o": object()}]
    with Dataset(ListRows(rows, "list"), "id") as dataset:
        assert dataset[0].fields == {"id": "a", "f": None, "t": 1.5}
        assert "'b' holds bytes, 'o' holds object objects" in dataset.left_out
    with pytest.raises(DataError, match=r"'id' is missing.*'id' holds bytes"):
        Dataset(ListRows([{"id": b"a"}], "list"), "id")


_INFINITE = [
    ('{"id": "a", "f": 1}\n{"id": "b", "f": 1e400}\n', ("id",), ("f",), "'f'"),
    ('{"id": "a", "f": 1e400}\n{"id": "b", "f": -1e400}\n', ("id",), (), "'f'"),
    ('{"id": "a", "f": {"g": [1, 1e400]}}\n{"id": "b", "f": 1}\n', ("id",), ("f",), "'f'"),
    ('{"id": 1e400, "f": 1}\n', None, (), "'id'"),
]


@pytest.mark.parametrize(("text", "fields", "optional", "column"), _INFINITE)
@pytest.mark.parametrize("shape", ["lines", "rows"])
def test_an_infinite_number_refuses_no_file_but_where_it_is_used(
    tmp_path: Path, text: str, fields: tuple[str, ...] | None, optional: tuple[str, ...], column: str, shape: str
) -> None:
    """As with bytes: the data may hold columns that no task uses. Its use is reported with the row."""
    file = tmp_path / "docs.jsonl"
    file.write_text(text)
    given = [json.loads(line) for line in text.splitlines()]
    rows = open_file(file) if shape == "lines" else ListRows(given, "list")
    line = next(i for i, row in enumerate(text.splitlines()) if "1e400" in row)
    if fields is None:
        with pytest.raises(DataError, match=f"{column} holds an infinite number|field {column} is inf"):
            Dataset(rows, "id")
        return
    with Dataset(rows, "id") as dataset:
        assert (dataset.fields, dataset.optional_fields) == (fields, optional)
        assert dataset.left_out == f" ({column} holds an infinite number ({rows.where(line)}), and is left out)"
        read = [doc.fields for doc in dataset]
        assert read == [dataset[i].fields for i in range(len(dataset))]
        assert not any("inf" in json.dumps(each).lower() for each in read)


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), Decimal("Infinity"), Decimal("-Infinity")])
def test_infinite_numbers_of_any_kind_are_left_out(value: Any) -> None:
    with Dataset(ListRows([{"id": "a", "f": value, "t": "x"}], "list"), "id") as dataset:
        assert dataset[0].fields == {"id": "a", "t": "x"}


def test_the_fingerprint_does_not_depend_on_which_reading_met_the_infinite_number(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    file.write_text('{"id": "a", "t": "x"}\n{"id": "b", "t": "y", "f": 1e400}\n{"id": "c", "t": "z"}\n')
    with Dataset(open_file(file), "id") as first:
        pass
    file.write_text('{"id": "a", "t": "x"}\n{"id": "b", "t": "y"}\n{"id": "c", "t": "z"}\n')
    with Dataset(open_file(file), "id") as second:
        assert second.fingerprint == first.fingerprint


@pytest.mark.parametrize(
    ("line", "quick"),
    [
        ('{"id": 1, "question": "Choose: a:b or c"}', True),
        ('{"a:b": 1, "c": ":"}', True),
        (r'{"a": "\u003a\u003A", "b": 1}', True),
        (r'{"a": ":", "a": "\u003a"}', False),
        (r'{"a": "\u003a\u003a", "a": 1}', False),
        ('{"a": ":", "a": 1}', False),
        ('{"a": 1, "a": ":"}', False),
        ('{"a": {"b": 1}}', False),
        ('{"a": 0.5}', False),
    ],
)
def test_rows_with_colons_in_texts_are_read_quickly(line: str, quick: bool) -> None:
    assert _quick(line.encode()) == (json.loads(line) if quick else None)


def test_rows_in_order_are_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "rows.jsonl"
    texts = ["x" * (7 * number) for number in range(100)] + ["y" * 40_000, "z"]
    file.write_text("".join(f'{{"x": "{text}"}}\n' for text in texts))
    rows, sizes = JsonLinesRows(file), []

    def pread(descriptor: int, size: int, start: int) -> bytes:
        sizes.append(size)
        return os.read(descriptor, size) if os.lseek(descriptor, start, os.SEEK_SET) == start else b""

    monkeypatch.setattr("creval.data.table_files.os.pread", pread)
    assert [rows.row(index)["x"] for index in range(len(rows))] == texts
    assert len(sizes) <= 6
    assert [rows.row(index)["x"] for index in reversed(range(len(rows)))] == texts[::-1]
    rows.close()
