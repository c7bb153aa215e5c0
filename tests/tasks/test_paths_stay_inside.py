"""A task file reads what is in its own folder, and errors quote a few characters of its data."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.toy_plugins import toy_plugins, toy_registry, write_task

from creval.data.data_options import DataOptions
from creval.data.open_dataset import open_dataset
from creval.errors import CrevalError, DataError, TaskError
from creval.tasks.index import TaskIndex

LONG = "s3cret" * 40


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The folder of a task; what is next to it is the user's own."""
    (tmp_path / "private.jsonl").write_text(json.dumps({"id": "d1", "word": LONG}) + "\n")
    (tmp_path / "_private.yaml").write_text(f"description: {LONG}\n")
    (tmp_path / "strange" / "sub").mkdir(parents=True)
    (tmp_path / "strange" / "link.jsonl").symlink_to(tmp_path / "private.jsonl")
    (tmp_path / "strange" / "_link.yaml").symlink_to(tmp_path / "_private.yaml")
    (tmp_path / "strange" / "away").symlink_to(tmp_path)
    return tmp_path / "strange"


def out_of(place: Path, link: str, name: str) -> list[str]:
    return [f"../{name}", str(place.parent / name), f"sub/../../{name}", link, f"away/{name}", f"~/../..{place}/{link}"]


@pytest.mark.parametrize("way", range(6))
@pytest.mark.parametrize("key", ["dataset", "few_shot", "include"])
def test_no_path_leads_out_of_the_folder(place: Path, key: str, way: int) -> None:
    ways = out_of(place, "_link.yaml" if key == "include" else "link.jsonl", f"{'_' * (key == 'include')}private")
    ending = ".yaml" if key == "include" else ".jsonl"
    path = ways[way] if ways[way].endswith(ending) else ways[way] + ending
    parts = {
        "dataset": {"dataset": f"dataset: {{source: file, file: {json.dumps(path)}, id: id}}"},
        "few_shot": {"few_shot": f"few_shot: {{n: 1, pool: {json.dumps(path)}, answer: '{{{{ word }}}}'}}"},
        "include": {"include": f"include: {json.dumps(path if path.startswith(('/', '.', '~')) else './' + path)}"},
    }
    file = write_task(place, **parts[key])
    with pytest.raises(CrevalError, match=r"outside of the task's folder|is outside the folder") as caught:
        task = TaskIndex(toy_plugins()).load(file)
        open_dataset(task.dataset, toy_registry(), DataOptions())
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    "model",
    [
        *("replay/private.jsonl", "huggingface/https://198.51.100.7/v1", "replay/away/x.jsonl"),
        *("hf/ada/x?adapter=/srv/lora", "hf/ada/x?dtype=auto&adapter=~/lora", "hf/ada/x?adapter=../lora"),
    ],
)
def test_a_role_leads_neither_to_a_file_elsewhere_nor_to_an_address(
    place: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place if "away" in model else place.parent)
    file = write_task(place, roles=f"roles: {{judge: {json.dumps(model)}}}")
    with pytest.raises(TaskError, match="outside of the task's folder"):
        TaskIndex(toy_plugins()).load(file)


def test_data_given_on_the_command_line_may_be_anywhere(place: Path) -> None:
    file = write_task(place, dataset="dataset: {source: file, file: ../private.jsonl, id: id}")
    task = TaskIndex(toy_plugins()).load(file)
    with pytest.raises(DataError, match="--data TASK=FILE"):
        open_dataset(task.dataset, toy_registry(), DataOptions())
    assert open_dataset(task.dataset, toy_registry(), DataOptions(replacement=place.parent / "private.jsonl"))[0].id


def test_a_folder_below_may_use_what_is_in_the_folder(place: Path) -> None:
    (place / "_base.yaml").write_text("repeats: 3\n")
    (place / "sub" / "_more.yaml").write_text("include: ../_base.yaml\n")
    file = write_task(place, include="include: ./sub/_more.yaml")
    assert TaskIndex(toy_plugins()).load(file).repeats == 3


def test_a_suite_reads_no_task_out_of_its_folder(place: Path) -> None:
    write_task(place.parent)
    suite = place / "suite.yaml"
    suite.write_text("schema: 1\nsuite: mine\nversion: 1.0.0\ntitle: Mine\ntasks: [../toy.yaml]\n")
    with pytest.raises(TaskError, match="is outside the folder of suite"):
        TaskIndex(toy_plugins()).expand([str(suite)])


@pytest.mark.parametrize(
    "row",
    [
        '{"id": ["%s"], "word": "x"}',
        '{"id": "a", "word": "x", "%s": 1, "%s": 2}',
        '{"id": "a", "%s": 1}\n{"id": "a", "word": "x"}',
        '{"id": "a", "word": "%s"',
    ],
)
def test_errors_quote_a_few_characters(place: Path, row: str) -> None:
    (place / "rows.jsonl").write_text(row.replace("%s", LONG) + "\n")
    file = write_task(
        place,
        dataset="dataset: {source: file, file: rows.jsonl, id: id, fields: {first: {from: none}}}",
    )
    task = TaskIndex(toy_plugins()).load(file)
    with pytest.raises(DataError) as caught:
        open_dataset(task.dataset, toy_registry(), DataOptions())
    assert "s3crets3crets3crets3crets3cret" not in str(caught.value)
    assert "rows.jsonl" in str(caught.value)


def test_a_pipe_is_not_waited_for(place: Path) -> None:
    os.mkfifo(place / "_pipe.yaml")
    with pytest.raises(TaskError, match="not a plain file"):
        TaskIndex(toy_plugins()).load(place / "_pipe.yaml")
