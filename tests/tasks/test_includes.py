"""`include:`: what it merges, where each value then comes from, and how it goes wrong."""

from __future__ import annotations

from pathlib import Path

from support.toy_plugins import toy_plugins, write_task

from creval.data.data_options import DataOptions
from creval.data.open_dataset import open_dataset
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval.tasks.task_paths import is_path
from creval.tasks.templates.rendering import undefined_fields
from creval_testing.check_files import check


def test_later_includes_win_and_the_file_itself_wins_over_all(tmp_path: Path) -> None:
    (tmp_path / "_one.yaml").write_text("generation: {temperature: 1, max_tokens: 10}\nrepeats: 2\nmeasures: [a, b]\n")
    (tmp_path / "_two.yaml").write_text("generation: {max_tokens: 20, top_p: 0.5}\nmeasures: [c]\n")
    file = write_task(tmp_path, include="include: [./_one.yaml, _two.yaml]", generation="generation: {top_p: 0.9}")
    task = TaskIndex(toy_plugins()).load(file)
    assert task.generation == {"temperature": 1, "max_tokens": 20, "top_p": 0.9}
    assert (task.repeats, task.measures) == (2, ("c",))
    assert "include" not in task.resolved
    origins = {path: Path(task.origins[path].rpartition(":")[0]).name for path in task.origins}
    assert origins["generation.temperature"] == "_one.yaml"
    assert origins["generation.max_tokens"] == "_two.yaml"
    assert origins["generation.top_p"] == "toy.yaml"
    assert origins["measures"] == "_two.yaml"


def test_a_null_takes_an_included_key_away(tmp_path: Path) -> None:
    (tmp_path / "_base.yaml").write_text("conditions: {temperature: [1, 2], top_p: [1]}\n")
    file = write_task(tmp_path, include="include: _base.yaml", conditions="conditions: {temperature: null}")
    assert [c.name for c in TaskIndex(toy_plugins()).load(file).conditions] == ["top_p=1"]


def test_a_task_can_build_on_another_by_name(tmp_path: Path) -> None:
    base = write_task(tmp_path / "red" / "tasks", repeats="repeats: 4")
    variant = tmp_path / "blue" / "tasks" / "variant.yaml"
    variant.parent.mkdir(parents=True)
    variant.write_text("include: red/toy\ntask: variant\ngeneration: {temperature: 0}\n")
    plugins = toy_plugins([("red", base.parent), ("blue", variant.parent)])
    task = TaskIndex(plugins).load("variant")
    assert (task.name, task.plugin, task.repeats, task.title) == ("variant", "blue", 4, "A toy task")
    # Data files stay where the file that names them is.
    assert task.dataset.base == base.parent
    assert [(h.name, h.title) for h in TaskIndex(plugins).headers()] == [
        ("toy", "A toy task"),
        ("variant", "A toy task"),
    ]


def test_a_faulty_template_is_reported_in_the_included_file(tmp_path: Path) -> None:
    (tmp_path / "_base.yaml").write_text("prompt:\n  - role: user\n    content: |\n      Say\n      {{ wrod }}\n")
    file = write_task(tmp_path, include="include: _base.yaml", prompt=None)
    task = TaskIndex(toy_plugins()).load(file)
    (problem,) = undefined_fields(task.prompts["prompt"], ["word"], task.file)
    assert (problem.file, problem.line) == (tmp_path / "_base.yaml", 5)


def test_problems_of_included_files_are_reported_there(tmp_path: Path) -> None:
    (tmp_path / "_base.yaml").write_text("repeats: 1\nrepeats: 2\ngenration: {}\n")
    file = write_task(tmp_path, include="include: [_base.yaml, _none.yaml, red/none]")
    found = check([file], toy_plugins())
    assert [(p.file and p.file.name, p.line, p.path) for p in found] == [
        ("_base.yaml", 2, "repeats"),
        ("_base.yaml", 3, "genration"),
        ("toy.yaml", 12, "include"),
        ("toy.yaml", 12, "include"),
    ]
    assert "_none.yaml' to include" in found[2].message
    assert found[3].message == "unknown task 'red/none', to be included"


def test_a_file_may_be_included_twice_but_not_without_end(tmp_path: Path) -> None:
    (tmp_path / "_a.yaml").write_text("repeats: 2\n")
    (tmp_path / "_b.yaml").write_text("include: _a.yaml\n")
    assert check([write_task(tmp_path, include="include: [_a.yaml, _b.yaml]")], toy_plugins()) == []
    for n in range(30):
        (tmp_path / f"_n{n}.yaml").write_text(f"include: [_n{n + 1}.yaml, _n{n + 1}.yaml]\n")
    (tmp_path / "_n30.yaml").write_text("repeats: 1\n")
    found = check([write_task(tmp_path, include="include: _n0.yaml")], toy_plugins())
    assert any("more than 50 files are included" in problem.message for problem in found)


def test_an_include_of_a_wrong_type_is_a_problem_of_shape(tmp_path: Path) -> None:
    (problem,) = check([write_task(tmp_path, include="include: 5")], toy_plugins())
    assert problem.message == "must be a text or a list, but is 5"


def test_a_partial_file_is_no_task(tmp_path: Path) -> None:
    write_task(tmp_path / "red")
    (tmp_path / "red" / "_part.yaml").write_text("repeats: 2\n")
    (tmp_path / "red" / "odd.yaml").write_text("taks: odd\n")
    index = TaskIndex(toy_plugins([("red", tmp_path / "red")]))
    assert [header.name for header in index.headers()] == ["toy"]
    (problem,) = index.problems()
    assert problem.file == tmp_path / "red" / "odd.yaml"


def test_names_and_paths_are_distinguished_by_their_look_alone(tmp_path: Path) -> None:
    paths = ["./drat", "../drat", "/x/drat", "~/drat", "drat.yaml", "a/drat.yml"]
    names = ["drat", "association/drat", "drat2", "x.y/drat"]
    assert all(map(is_path, paths))
    assert not any(map(is_path, names))


def test_an_included_task_of_a_plugin_finds_the_data_of_its_package(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("include: association/rat\ntask: own\ntitle: Items of the plugin, a task of one's own\n")
    plugins = load_plugins()
    task = TaskIndex(plugins).load(file)
    assert not check([file], plugins)
    assert len(open_dataset(task.dataset, plugins.registry, DataOptions(cache=tmp_path))) == 30
