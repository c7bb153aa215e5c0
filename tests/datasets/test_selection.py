"""`where`, `columns` and `take` over local files: which rows are taken, under which names, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from creval.data.data_options import DataOptions
from creval.data.open_dataset import open_dataset
from creval.data.row_selection import RowFilter
from creval.errors import DataError, TaskError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_testing.check_tasks import check_all

ROWS: list[dict[str, Any]] = [
    {"id": "a", "lang": "en", "year": 1999, "q": "one"},
    {"id": "b", "lang": "de", "year": 2003, "q": "two"},
    {"id": "c", "lang": "en", "year": 2005, "q": ""},
    {"id": "d", "year": 2007, "q": "four", "meta": {"hard": True}},
    {"id": "e", "lang": "fr", "year": 2010, "q": "five"},
]
TASK = """
schema: 1
task: chosen
version: 1.0.0
title: Chosen rows
dataset: {{source: {source}, {data}}}
prompt: [{{role: user, content: "{{{{ {field} }}}}"}}]
parse: text
score: {{exact_match: {{field: {field}}}}}
metrics: [{{name: exact_match, failed: zero}}]
"""


def written(folder: Path, data: str, form: str = "jsonl", field: str = "q", source: str = "file") -> Path:
    file = folder / f"rows.{form}"
    if form == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    elif form == "csv":
        lines = [",".join(str(row.get(name, "")) for name in ("id", "lang", "year", "q")) for row in ROWS]
        file.write_text("\n".join(["id,lang,year,q", *lines]) + "\n")
    else:
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        names = ("id", "lang", "year", "q")
        parquet.write_table(pyarrow.table({name: [row.get(name) for row in ROWS] for name in names}), file)
    task = folder / "chosen.yaml"
    task.write_text(TASK.format(data=f"file: {file.name}, id: id, {data}", field=field, source=source))
    return task


def docs(task: Path, options: DataOptions | None = None) -> list[dict[str, Any]]:
    plugins = load_plugins()
    loaded = TaskIndex(plugins).load(task)
    with open_dataset(loaded.dataset, plugins.registry, options or DataOptions(offline=True)) as dataset:
        assert [dataset.by_id(doc.id) for doc in dataset] == list(dataset)
        return [{"id": doc.id, **doc.fields} for doc in dataset]


def ids(task: Path) -> str:
    return "".join(doc["id"] for doc in docs(task))


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize(
    ("where", "taken"),
    [
        ("{lang: en}", "ac"),
        ("{lang: [en, fr]}", "ace"),
        ("{lang: {not: en}, year: {min: 2004}}", "de"),
        ("{year: {min: 2003, below: 2007}}", "bc"),
        ("{year: 2003}", "b"),
        ("{year: [1999, 2010]}", "ae"),
        ('{q: {not: ""}, year: {max: 2003}}', "ab"),
        ("{lang: {not_in: [de, fr], in: [en]}}", "ac"),
    ],
)
def test_rows_are_chosen_in_every_form(tmp_path: Path, form: str, where: str, taken: str) -> None:
    assert ids(written(tmp_path, f"where: {where}", form)) == taken


def test_paths_and_missing_values(tmp_path: Path) -> None:
    assert ids(written(tmp_path, "where: {meta.hard: true}")) == "d"
    assert ids(written(tmp_path, "where: {lang: null}")) == "d"


def test_a_package_file_is_chosen_from_too(tmp_path: Path) -> None:
    assert ids(written(tmp_path, "where: {lang: en}, take: 1", source="package")) == "a"


def test_columns_are_taken_and_renamed(tmp_path: Path) -> None:
    found = docs(written(tmp_path, "columns: {id: id, question: q}, where: {lang: en}, take: 1", field="question"))
    assert found == [{"id": "a", "question": "one"}]
    assert docs(written(tmp_path, "columns: [id, q], take: 2"))[1] == {"id": "b", "q": "two"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("where: {langs: en}", "`where` names the field 'langs', which the data do not have"),
        ("where: {lang: it}", "none of the 5 rows fits `where`"),
        ("where: {q: {min: 3}}", "compares the field 'q', 'one', with 3 (min)"),
        ("columns: {id: id, q: question}", "`columns` names the field 'question'"),
    ],
)
def test_what_cannot_be_chosen_is_said(tmp_path: Path, data: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        docs(written(tmp_path, data))
    assert message in str(caught.value) and "rows.jsonl" in str(caught.value)


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        ("where: {year: {mim: 3}}", "Did you mean 'min'?"),
        ("wher: {year: 3}", "unknown key 'wher'"),
        ("take: 0", "take"),
        ("where: {}", "where"),
    ],
)
def test_a_wrong_key_is_an_error_of_the_file(tmp_path: Path, data: str, hint: str) -> None:
    with pytest.raises(TaskError, match=r"chosen\.yaml:6") as caught:
        docs(written(tmp_path, data))
    assert hint in str(caught.value)


def test_a_faulty_row_is_still_named_by_its_line(tmp_path: Path) -> None:
    task = written(tmp_path, "where: {lang: en}")
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "lang": "en"}\n{"id": \n{"id": "a", "lang": "en"}\n')
    with pytest.raises(DataError, match=r"(?s)rows.jsonl:2.*rows.jsonl:3.*is also at .*rows.jsonl:1"):
        docs(task)


def test_given_data_are_taken_whole_and_a_local_copy_is_not(tmp_path: Path) -> None:
    task = written(tmp_path, "where: {lang: en}")
    given = DataOptions(offline=True, replacement=tmp_path / "rows.jsonl")
    assert len(docs(task, given)) == 5
    away = f'url: "https://x.invalid/rows.jsonl", sha256: "{"0" * 64}", id: id, where: {{lang: en}}'
    task.write_text(TASK.format(source="url", field="q", data=away))
    (tmp_path / "rows.jsonl").rename(tmp_path / "chosen.jsonl")
    assert len(docs(task, DataOptions(offline=True, mirror=tmp_path))) == 2


def test_rows_that_are_chosen_are_what_is_fingerprinted(tmp_path: Path) -> None:
    plugins = load_plugins()
    prints = set()
    for data in ("where: {lang: en}", "where: {year: [1999, 2005]}", "take: 3"):
        ref = TaskIndex(plugins).load(written(tmp_path, data)).dataset
        with open_dataset(ref, plugins.registry, DataOptions(offline=True)) as dataset:
            prints.add(dataset.fingerprint)
    assert len(prints) == 2


def test_a_filter_says_what_it_lacks() -> None:
    with pytest.raises(DataError, match="they have a"):
        RowFilter({"b": 1}, "here")({"a": 1})


def test_the_checks_of_a_task_take_the_chosen_rows(tmp_path: Path) -> None:
    task = written(tmp_path, 'where: {q: {not: ""}}')
    assert check_all([str(task)], load_plugins(), DataOptions(offline=True)) == []
    assert check_all([str(written(tmp_path, "take: 5"))], load_plugins(), DataOptions(offline=True))
