"""Joining sources: what wins, what clashes, what is on another scale, and which column is what."""

from __future__ import annotations

from pathlib import Path

import pytest

from creval.errors import CrevalError, DataError, UsageError
from creval_validity.tables.inputs import Columns, InputRequest, assemble, choose_columns
from creval_validity.tables.merge import merge
from creval_validity.tables.score_table import ScoreTable
from creval_validity.tables.shipped import shipped_table


def csv(folder: Path, text: str, name: str = "mine.csv") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_without_own_data_everything_shipped_joins() -> None:
    found = assemble(InputRequest())
    assert found.table.models == shipped_table().models
    assert found.csv_columns == ()
    columns = choose_columns(found, Columns())
    assert columns.tests == ("dat", "cdat", "cdat_n", "cdat_a", "pace", "rat", "drat")
    assert columns.benchmarks[0] == "arena_cw"


def test_with_own_data_only_benchmarks_join(tmp_path: Path) -> None:
    found = assemble(InputRequest(csv=(csv(tmp_path, "model,dat\ngpt-5,80\nmy-model,70\n"),)))
    assert found.table.cells()["gpt-5"]["dat"] == 80
    assert found.table.count("dat") == 2
    assert "pace" not in found.table.columns
    assert choose_columns(found, Columns()).tests == ("dat",)


@pytest.mark.parametrize(("conflict", "value"), [("mine", 80.0), ("shipped", 89.33)])
def test_conflicts_are_decided_by_the_user(tmp_path: Path, conflict: str, value: float) -> None:
    file = csv(tmp_path, "model,dat\ngpt-5,80\nmy-model,70\n")
    found = assemble(InputRequest(csv=(file,), shipped="all", conflict=conflict))  # type: ignore[arg-type]
    assert found.table.cells()["gpt-5"]["dat"] == value
    assert found.table.count("dat") == 56


def test_an_undecided_conflict_is_an_error(tmp_path: Path) -> None:
    file = csv(tmp_path, "model,dat\ngpt-5,80\n")
    with pytest.raises(DataError, match=r"dat of gpt-5 \(80 and 89\.33\); the second is the paper's"):
        assemble(InputRequest(csv=(file,), shipped="all"))


def test_two_csv_files_join(tmp_path: Path) -> None:
    first = csv(tmp_path, "model,a\nx,1\ny,2\n", "a.csv")
    second = csv(tmp_path, "model,b\nx,3\n", "b.csv")
    found = assemble(InputRequest(csv=(first, second), shipped="none"))
    assert found.table.cells() == {"x": {"a": 1.0, "b": 3.0}, "y": {"a": 2.0}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model,rat\ngpt-5,0.93\ngpt-4o,0.5\n", "your rat of 0.93 is on another scale"),
        ("model,cdat_a\ngpt-5,42\n", "your cdat_a of 42 is on another scale"),
        ("model,mmlu_pro\ngpt-5,87\n", "your mmlu_pro of 87 is on another scale"),
        ("model,pace\ngpt-5,74\n", "your pace of 74 is on another scale"),
    ],
)
def test_another_scale_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(DataError) as caught:
        assemble(InputRequest(csv=(csv(tmp_path, text),), shipped="all", conflict="mine"))
    assert words in str(caught.value)


def test_own_columns_must_be_known_or_named(tmp_path: Path) -> None:
    found = assemble(InputRequest(csv=(csv(tmp_path, "model,arena_ccw,zz\ngpt-5,1400,1\n"),)))
    with pytest.raises(UsageError) as caught:
        choose_columns(found, Columns())
    assert "'arena_ccw' (did you mean arena_cw?)" in str(caught.value)
    assert "'zz'" in str(caught.value)
    named = choose_columns(found, Columns(tests=("zz",), benchmarks=("arena_ccw",)))
    assert (named.tests, named.benchmarks) == (("zz",), ("arena_ccw",))
    assert choose_columns(found, Columns(tests=("zz",), benchmarks=("arena_cw",))).unused == ("arena_ccw",)


def test_variants_of_known_tests_are_tests(tmp_path: Path) -> None:
    file = csv(tmp_path, "model,drat_k2,drat[embedded/minilm],dat\ngpt-5,1,2,3\n")
    assert choose_columns(assemble(InputRequest(csv=(file,))), Columns()).tests == (
        "dat",
        "drat[embedded/minilm]",
        "drat_k2",
    )


def test_an_alias_file_joins_names(tmp_path: Path) -> None:
    names = csv(tmp_path, "gpt-5: [my deployment]\n", "names.yaml")
    file = csv(tmp_path, "model,t\nmy deployment,5\n")
    assert assemble(InputRequest(csv=(file,), aliases=names)).table.cells()["gpt-5"]["t"] == 5


def test_strangers_are_named_with_what_they_look_like(tmp_path: Path) -> None:
    found = assemble(InputRequest(csv=(csv(tmp_path, "model,t\ngpt-5-minii,5\ngpt-5,1\n"),)))
    near = "gpt-5-mini or gpt-5-4-mini or gpt-4o-mini"
    assert found.notes == (f"gpt-5-minii is not in the shipped tables; add an alias if it is {near}",)


def test_no_source_at_all() -> None:
    with pytest.raises(UsageError, match="no scores"):
        assemble(InputRequest(shipped="none"))


def test_merge_keeps_equal_cells_and_unites_the_rest() -> None:
    one = ScoreTable.from_cells({"a": {"x": 1.0}, "b": {"x": 2.0}})
    two = ScoreTable.from_cells({"a": {"x": 1.0, "y": 5.0}, "c": {"y": 6.0}})
    assert merge(one, two).cells() == {"a": {"x": 1.0, "y": 5.0}, "b": {"x": 2.0}, "c": {"y": 6.0}}
    with pytest.raises(CrevalError, match="different values"):
        merge(one, ScoreTable.from_cells({"b": {"x": 3.0}}))


def test_a_table_guards_itself() -> None:
    table = ScoreTable.from_cells({"a": {"x": 1.0}})
    with pytest.raises(ValueError, match="read-only"):
        table.column("x")[0] = 2.0
    with pytest.raises(DataError, match="occur twice"):
        ScoreTable(("a", "a"), {})
