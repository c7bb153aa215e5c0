"""Suites: members, nesting, overlap, overrides, circles, and the rule for names."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.toy_plugins import toy_plugins, write_task

from creval.errors import TaskError, UsageError
from creval.tasks.index import TaskIndex
from creval_testing.check_files import check

HEAD = "schema: 1\nversion: 1.0.0\ntitle: A suite\n"
SCORED = {
    "score": "score:\n  - length\n  - drat: {utility: max}",
    "resources": "resources: {embedding: glove/50d}",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two plugins: red with one and two, blue with three."""
    red, blue = tmp_path / "red", tmp_path / "blue"
    write_task(red, "one.yaml", task="task: one", conditions="conditions: {temperature: [1, 2]}")
    write_task(red, "two.yaml", task="task: two", **SCORED)
    write_task(blue, "three.yaml", task="task: three", parse="parse: [{regex: x}, words]")
    return tmp_path


def suite(folder: Path, name: str, body: str) -> Path:
    file = folder / "red" / "suites" / f"{name}.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{HEAD}suite: {name}\n{body}")
    return file


def index(folder: Path) -> TaskIndex:
    return TaskIndex(toy_plugins([("red", folder / "red"), ("blue", folder / "blue")]))


def names(folder: Path, *targets: str) -> list[str]:
    return [task.name for task in index(folder).expand(targets)]


def faults(folder: Path, file: Path) -> list[tuple[int | None, str, str]]:
    plugins = toy_plugins([("red", folder / "red"), ("blue", folder / "blue")])
    return [(p.line, p.path, f"{p.message}. {p.fix or ''}".strip()) for p in check([file], plugins)]


def test_a_suite_expands_to_its_tasks_in_order_each_once(folder: Path) -> None:
    suite(folder, "inner", "tasks: [two, blue/three]\n")
    suite(folder, "outer", "tasks:\n  - suite: inner\n  - one\n  - red/two\n  - inner\n  - ../one.yaml\n")
    assert names(folder, "outer") == ["two", "three", "one"]
    assert names(folder, "one", "red/outer", "one") == ["one", "two", "three"]


def test_suites_are_listed_as_such(folder: Path) -> None:
    suite(folder, "inner", "tasks: [two]\n")
    headers = {header.name: (header.kind, header.plugin, header.title) for header in index(folder).headers()}
    assert headers["inner"] == ("suite", "red", "A suite")
    assert headers["one"] == ("task", "red", "A toy task")
    with pytest.raises(UsageError, match="'inner' is a suite, not a task"):
        index(folder).load("inner")


def test_overrides_are_laid_over_the_task(folder: Path) -> None:
    suite(
        folder,
        "strict",
        """
overrides: {repeats: 7, generation: {seed: 1}}
tasks:
  - task: one
    conditions: {temperature: [0], top_p: [0.5, 1]}
    generation: {max_tokens: 9}
    repeats: 2
    score: {length: {unit: words}}
  - task: two
    resources: {embedding: glove/840b}
    score: {drat: {quantile: 0.5}}
    dataset: {file: other.jsonl}
    protocol: {}
""",
    )
    one, two = index(folder).expand(["strict"])
    # What holds for the whole suite is laid on last: the outer wins over the inner.
    assert (one.repeats, two.repeats) == (7, 7)
    assert one.generation == {"max_tokens": 9, "seed": 1}
    assert [c.name for c in one.conditions] == ["temperature=0,top_p=0.5", "temperature=0,top_p=1"]
    assert one.score[0].parameters == {"unit": "words"}
    assert two.resources == {"embedding": "glove/840b"}
    assert two.score[1].parameters == {"utility": "max", "quantile": 0.5}
    assert two.dataset.parameters["file"] == "other.jsonl"
    assert two.dataset.base == folder / "red" / "suites"
    assert two.origins["score[1].drat.quantile"].startswith(str(folder / "red" / "suites" / "strict.yaml"))
    assert one.hash != index(folder).load("one").hash


def test_nested_overrides_apply_from_the_inside_out(folder: Path) -> None:
    suite(folder, "inner", "tasks:\n  - {task: one, repeats: 2, generation: {seed: 1, n: 1}}\n  - two\n")
    suite(folder, "outer", "tasks:\n  - {suite: inner, generation: {seed: 5}, score: {drat: {utility: min}}}\n")
    one, two = index(folder).expand(["outer"])
    assert (one.repeats, one.generation) == (2, {"seed": 5, "n": 1})
    assert two.generation == {"seed": 5}
    assert two.score[1].parameters == {"utility": "min"}


def test_versions_of_one_task_get_distinct_names(folder: Path) -> None:
    suite(
        folder,
        "many",
        "tasks: [one, {task: one, repeats: 2}, {task: one, repeats: 3, as: three}, {task: two, repeats: 2}]\n",
    )
    plain, second, labelled, alone = index(folder).expand(["many"])
    assert plain.name == "one"
    assert second.name == f"one@{second.hash[:8]}"
    assert (labelled.name, labelled.qualified) == ("one@three", "red/one@three")
    assert alone.name == "two"  # only one version of it is here; its hash shows that it is not the plain one
    assert {task.short_name for task in (plain, second, labelled)} == {"one"}


def test_equal_names_of_several_plugins_are_made_distinct(folder: Path) -> None:
    write_task(folder / "blue", "one.yaml", task="task: one")
    assert names(folder, "red/one", "blue/one", "two") == ["red.one", "blue.one", "two"]
    with pytest.raises(UsageError, match="2 tasks are called 'one'"):
        names(folder, "one")


def test_equal_labels_are_refused(folder: Path) -> None:
    suite(folder, "twice", "tasks: [{task: one, repeats: 2, as: x}, {task: one, repeats: 3, as: x}]\n")
    with pytest.raises(UsageError, match="two different tasks would be called 'one@x'"):
        names(folder, "twice")


def test_circles_are_refused_and_named(folder: Path) -> None:
    suite(folder, "a", "tasks: [one, b]\n")
    suite(folder, "b", "tasks: [{suite: c}]\n")
    file = suite(folder, "c", "tasks: [two, a]\n")
    with pytest.raises(TaskError) as caught:
        names(folder, "a")
    (problem,) = caught.value.problems
    assert problem.file == file
    assert [Path(part.strip()).stem for part in problem.message.split(": ")[1].split("->")] == ["a", "b", "c", "a"]


def test_faults_of_a_suite_are_reported_at_once_with_their_places(folder: Path) -> None:
    file = suite(
        folder,
        "bad",
        """overrides: {resources: {embeding: x}, repeat: 2}
tasks:
  - onne
  - {task: one, suite: two}
  - {suite: one}
  - {task: one, repeats: 0}
  - {task: two, score: {dart: {quantile: 0.5}}, resources: {sandbox: x}}
  - {task: two, score: {drat: {quantil: 0.5}}}
  - {task: three, parse: {regex: {pattern: y}}}
  - {task: one, generation: {temprature: 1}}
  - ./none.yaml
""",
    )
    found = {(line, path): text for line, path, text in faults(folder, file)}
    assert found[5, "overrides.repeat"] == "unknown key 'repeat'. Did you mean 'repeats'?"
    assert found[5, "overrides.resources.embeding"] == "no task of the suite has 'embeding' under resources."
    assert found[7, "tasks[0]"].startswith("unknown task 'onne'. Did you mean 'one'")
    assert found[8, "tasks[1]"] == "an entry has exactly one of task and suite."
    assert found[9, "tasks[2]"] == "'one' is a task, not a suite."
    assert found[10, "tasks[3].repeats"] == "must be at least 1, but is 0."
    assert found[11, "tasks[4].score.dart"] == "the task has no 'dart' under score. Did you mean 'drat'?"
    assert found[11, "tasks[4].resources.sandbox"] == "the task has no 'sandbox' under resources. It has: embedding."
    assert found[12, "score[1].drat.quantil"] == "unknown key 'quantil'. Did you mean 'quantile'?"
    assert "is written with a bare value" in found[13, "tasks[6].parse.regex"]
    assert found[14, "generation.temprature"] == "unknown key 'temprature'. Did you mean 'temperature'?"
    assert any(line is None and "none.yaml" in text for (line, _), text in found.items())


def test_what_is_for_one_task_cannot_be_said_of_many(folder: Path) -> None:
    suite(folder, "inner", "tasks: [one]\n")
    file = suite(folder, "outer", "tasks:\n  - {suite: inner, protocol: {rounds: 2}}\n")
    ((line, path, text),) = faults(folder, file)
    assert (line, path) == (6, "tasks[0].protocol")
    assert text.startswith("protocol cannot be overridden for several tasks at once")


def test_roles_can_be_given_models(folder: Path) -> None:
    write_task(
        folder / "red", "judged.yaml", task="task: judged", score="score: [length, judged]", roles="roles: [judge]"
    )
    suite(folder, "with_judge", "tasks: [{task: judged, roles: {judge: openai/x}}]\n")
    (task,) = index(folder).expand(["with_judge"])
    assert task.role_models == {"judge": "openai/x"}
