"""The index: heads of files, names, nearest names, and what a list costs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.toy_plugins import sound_task, toy_plugins, write_task

from creval.errors import Problem, TaskError, UnknownNameError, UsageError
from creval.plugins.loader import PluginFailure, Plugins
from creval.tasks.index import TaskIndex
from creval.tasks.yaml.headers import read_head
from creval.tasks.yaml.nodes import plain
from creval.tasks.yaml.yaml_reader import read_yaml_text

titles = st.one_of(
    st.text("ab: #'\"-[]{},.!&*?|>%@0123", min_size=1, max_size=12).map(lambda text: text.strip() or "x"),
    st.sampled_from(
        ["1.0", "true", "null", "~", "yes", "a: b", "a #b", "'q'", '"q"', "[a, b]", "{a: b}", "|", "- x", "1e5"]
    ),
)


@given(title=titles, style=st.sampled_from(["{}", '"{}"', "'{}'"]))
def test_a_head_says_what_the_yaml_reader_says(
    tmp_path_factory: pytest.TempPathFactory, title: str, style: str
) -> None:
    text = f"# comment\nschema: 1\ntask: toy\ntitle: {style.format(title)}\nmeasures: [a, b-c]  # two\nversion: 1.0.0\n"
    file = tmp_path_factory.mktemp("head") / "toy.yaml"
    file.write_text(text, encoding="utf-8")
    document = read_yaml_text(text, file)
    head = read_head(file)
    if document.root is None:
        return  # no YAML: whatever the list shows, loading reports it
    assert not isinstance(head, Problem)
    expected = plain(document.root)
    for key in ("task", "version", "measures"):
        assert head.values[key] == expected[key]
    assert str(head.values["title"]) == str(expected["title"])


@pytest.mark.parametrize(
    "title",
    ["|\n  two\n  lines", ">-\n  folded\n  text", "plain\n  continued", '"a \\"b\\" c"', "'it''s'"],
)
def test_titles_in_any_style(tmp_path: Path, title: str) -> None:
    file = write_task(tmp_path, title=f"title: {title}")
    document = read_yaml_text(file.read_text(), file)
    assert document.root is not None
    (header,) = TaskIndex(toy_plugins([("red", tmp_path)])).headers()
    assert header.title == plain(document.root)["title"]


def test_headers_carry_what_a_list_shows(tmp_path: Path) -> None:
    file = write_task(tmp_path, measures="measures: [divergent]", source='source: {paper: "arXiv:1", section: "4.2"}')
    (header,) = TaskIndex(toy_plugins([("red", tmp_path)])).headers()
    assert (header.name, header.plugin, header.qualified) == ("toy", "red", "red/toy")
    assert (header.version, header.title, header.measures) == ("1.0.0", "A toy task", ("divergent",))
    assert (header.file, header.kind, header.source) == (file, "task", {"paper": "arXiv:1", "section": "4.2"})


def test_a_broken_file_costs_the_others_nothing(tmp_path: Path) -> None:
    write_task(tmp_path)
    (tmp_path / "broken.yaml").write_text("task: [")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe")
    index = TaskIndex(toy_plugins([("red", tmp_path)]))
    assert [header.name for header in index.headers()] == ["toy"]
    assert {problem.file and problem.file.name for problem in index.problems()} == {"broken.yaml", "bytes.yaml"}
    assert index.load("toy").name == "toy"


def test_an_unknown_task_names_the_nearest_and_what_failed(tmp_path: Path) -> None:
    write_task(tmp_path, "drat.yaml", task="task: drat")
    (tmp_path / "broken.yaml").write_text("taks: x\n")
    base = toy_plugins([("red", tmp_path)])
    plugins = Plugins(base.registry, base.infos, [PluginFailure("green", "creval-green", "no")], base.task_folders)
    with pytest.raises(UnknownNameError) as caught:
        TaskIndex(plugins).load("dart")
    message = str(caught.value)
    assert "unknown task 'dart'" in message and "'drat'" in message
    assert "could not be loaded: green" in message and "broken.yaml" in message
    with pytest.raises(UnknownNameError, match="'drat'"):
        TaskIndex(plugins).load("blue/drat")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("DRAT", "unknown task 'DRAT'\nDid you mean 'drat'? "),
        ("DART", "Did you mean 'drat'"),
        ("drat rat", "'drat rat'\nSeparate tasks by commas: drat,rat."),
        ("drat rat_*", "Separate tasks by commas: drat,rat_*."),
        ("capitals", "Did you mean the file ./capitals.yaml?"),
    ],
)
def test_slips_in_the_names_of_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str) -> None:
    write_task(tmp_path / "red", "drat.yaml", task="task: drat")
    (tmp_path / "capitals.yaml").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        TaskIndex(toy_plugins([("red", tmp_path / "red")])).expand([name])
    assert said in str(caught.value)


def test_a_name_is_never_taken_for_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy").mkdir()
    write_task(tmp_path / "tasks")
    monkeypatch.chdir(tmp_path)
    index = TaskIndex(toy_plugins([("red", tmp_path / "tasks")]))
    assert index.load("toy").plugin == "red"
    assert index.load("./tasks/toy.yaml").plugin == "red"
    local = write_task(tmp_path / "elsewhere")
    assert index.load(local).plugin == "local"
    assert index.load("elsewhere/toy.yaml").qualified == "local/toy"


def test_extra_files_and_folders_belong_to_local(tmp_path: Path) -> None:
    write_task(tmp_path / "more")
    other = write_task(tmp_path / "single", "other.yml", task="task: other")
    index = TaskIndex(toy_plugins(), extra=[tmp_path / "more", other])
    assert [(header.name, header.plugin) for header in index.headers()] == [("other", "local"), ("toy", "local")]


def test_tasks_behind_a_symlink_belong_to_their_plugin(tmp_path: Path) -> None:
    file = write_task(tmp_path / "task_yaml")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "tasks").symlink_to(tmp_path / "task_yaml")
    index = TaskIndex(toy_plugins([("red", tmp_path / "package" / "tasks")]))
    assert index.load(file).plugin == "red"
    task = index.load("toy")
    assert (task.plugin, task.dataset.package) == ("red", tmp_path / "package")


def test_sound_task_text_is_read_without_the_yaml_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "toy.yaml"
    file.write_text(sound_task(measures="measures: [a]", source="source: {paper: x}"))

    def refuse(*_: object) -> None:
        raise AssertionError("the YAML reader was used")

    monkeypatch.setattr("creval.tasks.yaml.yaml_reader.read_yaml", refuse)
    head = read_head(file)
    assert not isinstance(head, Problem) and head.name == "toy"


@pytest.mark.parametrize("name", ["rhymes", "red/rhymes"])
def test_a_task_whose_file_is_no_yaml_is_reported_with_place_and_reason(name: str, tmp_path: Path) -> None:
    write_task(tmp_path)
    (tmp_path / "rhymes.yaml").write_text('task: rhymes\ntitle: "Rhymes\nversion: 1.0.0\n')
    index = TaskIndex(toy_plugins([("red", tmp_path)]))
    with pytest.raises(TaskError, match=r"rhymes\.yaml:\d+:\d+: not valid YAML"):
        index.load(name)
    with pytest.raises(UnknownNameError, match=r"These files are not tasks: rhymes\.yaml"):
        index.load("rhyme")
