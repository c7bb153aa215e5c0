"""CSV input: what is read, and that what cannot be read is refused by file and line."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from creval.errors import CrevalError, DataError
from creval_validity.tables.aliases import shipped_aliases
from creval_validity.tables.csv_table import read_csv, read_csv_text


def test_what_is_read(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(
        "\ufeffModel, Provider ,date,dat,my test\n"
        "openrouter/openai/gpt-5,OpenAI,2025-08-07,89.3,1e2\n"
        "\n"
        '"mine, tuned",,,—,-3\n'
        "third,,n/a,NaN,\n",
        encoding="utf-8",
    )
    table = read_csv(file, shipped_aliases().canonical)
    assert table.models == ("gpt-5", "mine,-tuned", "third")
    assert list(table.columns) == ["dat", "my test"]
    assert table.cells() == {"gpt-5": {"dat": 89.3, "my test": 100.0}, "mine,-tuned": {"my test": -3.0}, "third": {}}
    assert table.providers == {"gpt-5": "OpenAI"}
    assert table.dates == {"gpt-5": date(2025, 8, 7)}


@pytest.mark.parametrize("gap", ["", " ", "-", "–", "—", "NA", "n/a", "nan", "NULL", "None", "."])
def test_gaps(gap: str) -> None:
    table = read_csv_text(f"model,dat\na,{gap}\nb,2\n", "t.csv")
    assert np.isnan(table.column("dat")[0])
    assert table.count("dat") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "t.csv:1: has no column 'model'"),
        ("modle,dat\na,1\n", "Is it 'modle'?"),
        ("model,dat\n", "t.csv: contains no models"),
        ("model,dat,dat\na,1,2\n", "columns occur twice: dat"),
        ("model,,dat\na,1,2\n", "column 2 has no name"),
        ("model,dat\na,1\nb,2,3\n", "t.csv:3: has 3 cells where the header has 2"),
        ("model,dat\na,1\nb\n", "t.csv:3: has 1 cells"),
        ("model,dat\na,1\n,2\n", "t.csv:3: has no model name"),
        ("model,dat\na,1\nA,2\n", "t.csv:3: model 'a' occurs twice (first on line 2)"),
        ("model,dat\na,high\n", "t.csv:2: 'high' in column 'dat' is not a finite number"),
        ("model,dat\na,inf\n", "'inf' in column 'dat' is not a finite number"),
        ("model,dat\na,1e999\n", "not a finite number"),
        ("model,dat\na,78.2±0.8\n", "not a finite number"),
        ("model,date\na,07.08.2025\n", "is not a date"),
        ('model,dat\n"a,1\n', "is not a CSV table"),
    ],
)
def test_what_is_refused(text: str, words: str) -> None:
    with pytest.raises(DataError) as caught:
        read_csv_text(text, "t.csv", shipped_aliases().canonical)
    assert words in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_csv(tmp_path / "absent.csv")
    (tmp_path / "latin.csv").write_bytes("model,dat\nmüller,1\n".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        read_csv(tmp_path / "latin.csv")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
@example('model,"x\ny"\na,1\n')
@example("model,dat\n\x00,1\n")
@example("model,dat\r\na,1\r\n")
def test_any_text_is_a_table_or_a_clear_error(text: str) -> None:
    try:
        table = read_csv_text(text, "t.csv", shipped_aliases().canonical)
    except CrevalError as error:
        assert "t.csv" in str(error)
    else:
        assert table.models


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.text("abcdefgh-", min_size=1, max_size=8).filter(lambda name: name.strip("-") == name),
        st.lists(st.one_of(st.none(), st.floats(-1e9, 1e9)), min_size=2, max_size=2),
        min_size=1,
        max_size=8,
    )
)
def test_what_is_written_is_read_again(rows: dict[str, list[float | None]]) -> None:
    lines = [f"{model},{','.join('' if v is None else repr(v) for v in values)}" for model, values in rows.items()]
    table = read_csv_text("model,x,y\n" + "\n".join(lines), "t.csv")
    expected = {m: {c: v for c, v in zip("xy", vs, strict=True) if v is not None} for m, vs in rows.items()}
    assert table.cells() == expected
