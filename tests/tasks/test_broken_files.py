"""Broken task files: every fault is found at once, with file, line, column, key path and the nearest valid name."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.toy_plugins import sound_task, toy_plugins, toy_registry, write_task

from creval.data.data_options import DataOptions
from creval.errors import Problem, TaskError, UsageError
from creval.tasks.index import TaskIndex
from creval_testing.check_files import check
from creval_testing.check_tasks import check_data


def faults(file: Path) -> list[tuple[str, str]]:
    """(path, message and fix) of every problem of a file."""
    found = check([file], toy_plugins())
    assert all(problem.file == file and problem.line for problem in found)
    return [(problem.path, f"{problem.message}. {problem.fix or ''}".strip()) for problem in found]


def places(file: Path) -> list[tuple[int | None, int | None]]:
    """(line, column) of every problem of a file."""
    return [(problem.line, problem.column) for problem in check([file], toy_plugins())]


def place_of(file: Path, text: str) -> tuple[int, int]:
    """Line and column of the last place in the file where the text stands."""
    content = file.read_text(encoding="utf-8")
    position = content.rindex(text)
    return content.count("\n", 0, position) + 1, position - content.rfind("\n", 0, position)


def test_the_sound_file_has_no_fault(tmp_path: Path) -> None:
    assert check([write_task(tmp_path)], toy_plugins()) == []


# --- ten broken files ------------------------------------------------------------------------------------


def test_1_typo_in_a_key_at_every_depth(tmp_path: Path) -> None:
    file = write_task(
        tmp_path,
        title="titel: A toy task",
        source="source: {papr: x}",
        prompt="prompt:\n  - {rol: user, content: x}",
        generation="generation: {temprature: 1}",
        metrics="metrics:\n  - {name: length, failed: zero, agregate: mean}",
        tests="tests:\n  - {name: gold, status: scored, answer: x, scores: {length: {mim: 1}}}",
    )
    wrong = ["titel", "rol:", "agregate", "papr", "temprature", "mim"]
    paths = ["titel", "prompt[0].rol", "metrics[0].agregate", "source.papr", "generation.temprature"]
    right = ["title", "role", "aggregate", "paper", "temperature", "min"]
    assert places(file) == [place_of(file, key) for key in wrong]
    assert [path for path, _ in faults(file)] == [*paths, "tests[0].scores.length.mim"]
    assert [text for _, text in faults(file)] == [
        f"unknown key {key.rstrip(':')!r}. Did you mean {near!r}?" for key, near in zip(wrong, right, strict=True)
    ]


def test_2_duplicate_key(tmp_path: Path) -> None:
    file = write_task(tmp_path, prompt="prompt:\n  - {role: user, content: 'Say {{ word }}', role: system}")
    assert places(file) == [place_of(file, "role: system")]
    line, _ = place_of(file, "role: user")
    assert faults(file) == [
        ("prompt[0].role", f"the key 'role' occurs twice; the first is on line {line}. Remove one of the two.")
    ]


def test_3_wrong_types(tmp_path: Path) -> None:
    file = write_task(
        tmp_path,
        version="version: 1.0",
        repeats="repeats: '3'",
        metrics="metrics:\n  - {name: length, failed: zero, primary: yes}",
        conditions="conditions: {temperature: 1.0}",
        measures="measures: divergent",
        generation="generation: {max_tokens: many, top_p: 3}",
    )
    assert places(file) == [place_of(file, text) for text in ("1.0\n", "yes", "'3'", "1.0}", "divergent", "many", "3}")]
    semantic = "It is a semantic version such as 1.0.0, bumped whenever a score could change."
    assert faults(file) == [
        ("version", f"must be a text, but is 1.0. {semantic} Write 1.0.0."),
        ("metrics[0].primary", "must be true or false, but is the text 'yes'. Write true or false."),
        ("repeats", "must be a whole number, but is the text '3'. Remove the quotes."),
        ("conditions.temperature", "must be a list, but is 1.0."),
        ("measures", "must be a list, but is the text 'divergent'."),
        ("generation.max_tokens", "must be a whole number, but is the text 'many'."),
        ("generation.top_p", "must be at most 1, but is 3."),
    ]


@pytest.mark.parametrize(
    ("section", "text", "kind"),
    [
        ("score", "score: lenght", "scorer"),
        ("parse", "parse: [word]", "parser"),
        ("protocol", "protocol: chatt", "protocol"),
        ("dataset", "dataset: {source: fil, file: docs.jsonl}", "source"),
        ("baselines", "baselines: {floor: random_word}", "baseline"),
        ("metrics", "metrics: [{name: length, failed: zero, aggregate: meen}]", "aggregation"),
        ("resources", "resources: {embedding: glov/840b}", "embedding"),
    ],
)
def test_4_unknown_component(tmp_path: Path, section: str, text: str, kind: str) -> None:
    ((path, found),) = faults(write_task(tmp_path, **{section: text}))
    assert path.startswith(section)
    assert found.startswith(f"unknown {kind}")
    assert "Did you mean" in found


def test_5_bad_component_parameters(tmp_path: Path) -> None:
    file = write_task(
        tmp_path,
        parse="parse:\n  - words: {limits: 10}\n  - regex\n  - json_array: 7",
        resources="resources: {embedding: glove/840b}",
        score="score:\n  - length\n  - drat: {utility: maximum, quantile: 1.5}",
        dataset="dataset: {source: generator, generator: {letters: {count: 0, leter: a}}}",
    )
    bare = "Write its parameters as a mapping; it has: items."
    assert faults(file) == [
        ("dataset.generator.letters.count", "must be at least 1, but is 0."),
        ("dataset.generator.letters.leter", "unknown key 'leter'. Did you mean 'letter'?"),
        ("parse[0].words.limits", "unknown key 'limits'. Did you mean 'limit'?"),
        ("parse[1]", "the key 'pattern' is missing."),
        ("parse[2].json_array", f"the parser 'json_array' takes no bare value. {bare}"),
        ("score[1].drat.utility", "must be min or mean or max, but is the text 'maximum'. Did you mean 'max'?"),
        ("score[1].drat.quantile", "must be below 1, but is 1.5."),
    ]
    assert places(file)[-1] == place_of(file, "1.5")


def test_6_template_field_that_the_data_lack(tmp_path: Path) -> None:
    file = write_task(
        tmp_path,
        prompt="prompt:\n  - role: user\n    content: |\n      Hello.\n      Say {{ wrod }} to {{ who }}.",
        docs='{"word": "a", "who": "x"}\n{"word": "b"}\n',
    )
    plugins = toy_plugins()
    task = TaskIndex(plugins).load(file)
    first, second = check_data(task, plugins.registry, DataOptions())
    line, _ = place_of(file, "Say")
    assert (first.file, first.line, first.path) == (file, line, "prompt")
    assert first.message == "no doc has the field 'wrod'"
    assert first.fix == "Did you mean 'word'? The docs have: word."
    assert (second.line, second.message) == (line, "only some docs have the field 'who'")


def test_7_missing_file(tmp_path: Path) -> None:
    file = write_task(tmp_path, dataset="dataset: {source: file, file: dosc.jsonl}", titel="titel: also reported")
    assert places(file) == [place_of(file, "dosc.jsonl"), place_of(file, "titel")]
    assert faults(file) == [
        ("dataset.file", "there is no data file 'dosc.jsonl'. Did you mean 'docs.jsonl'?"),
        ("titel", "unknown key 'titel'. Did you mean 'title'?"),
    ]


def test_8_tag_that_runs_code(tmp_path: Path) -> None:
    witness = tmp_path / "ran"
    file = write_task(tmp_path, description=f"description: !!python/object/apply:os.system ['touch {witness}']")
    assert places(file)[0] == place_of(file, "!!python")
    path, text = faults(file)[0]
    assert path == "description"
    assert text.startswith("the tag '!!python/object/apply:os.system' is not allowed")
    assert not witness.exists()


def test_9_circular_include(tmp_path: Path) -> None:
    file = write_task(tmp_path, include="include: b.yaml")
    (tmp_path / "b.yaml").write_text("include: ./c.yaml\n")
    (tmp_path / "c.yaml").write_text("title: x\ninclude: [toy.yaml]\n")
    (problem,) = check([file], toy_plugins())
    assert (problem.file, problem.line, problem.column) == (tmp_path / "./c.yaml", 2, 11)
    assert problem.message.startswith("the includes form a circle: ")
    names = [Path(part.strip()).name for part in problem.message.split(": ")[1].split("->")]
    assert names == ["toy.yaml", "b.yaml", "c.yaml", "toy.yaml"]


def test_10_two_tasks_of_one_name(tmp_path: Path) -> None:
    one, two = write_task(tmp_path / "a"), write_task(tmp_path / "b")
    plugins = toy_plugins([("red", tmp_path / "a"), ("blue", tmp_path / "b")])
    with pytest.raises(UsageError) as error:
        TaskIndex(plugins).load("toy")
    assert (
        str(error.value) == f"2 tasks are called 'toy':\n  red/toy: {one}\n  blue/toy: {two}\nWrite the qualified name."
    )
    assert TaskIndex(plugins).load("blue/toy").file == two
    same = write_task(tmp_path / "a", "toy2.yaml")
    with pytest.raises(UsageError, match="Rename one of them"):
        TaskIndex(plugins).load("red/toy")
    (problem,) = check([one, same], plugins)
    assert str(one) in problem.message and str(same) in problem.message


# --- more ------------------------------------------------------------------------------------------------


def test_all_faults_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(
        sound_task(
            title=None,
            dataset="dataset: {source: file, file: nope.jsonl}",
            conditions="conditions: {temprature: [1], top_p: [0.5, 2]}",
            prompt="prompt:\n  - {role: user, content: 'Say {{ word'}",
            score="score: [drat, fields]",
            metrics="metrics:\n  - {name: a, from: survivor, failed: zero}\n  - {name: a, failed: never}",
        )
    )
    found = check([file], toy_plugins())
    at_top = {"", "dataset.file", "conditions.temprature", "score[0]"}
    assert {problem.path for problem in found} == at_top | {
        "conditions.top_p[1]",
        "prompt[0].content",
        "metrics[1].failed",
    }
    assert all(problem.file == file and problem.line for problem in found)


def test_metrics_must_be_made_of_scores_that_the_scorers_give(tmp_path: Path) -> None:
    file = write_task(
        tmp_path, metrics="metrics:\n  - {name: x, from: lengths, failed: zero}\n  - {name: y, failed: zero}"
    )
    assert faults(file) == [
        ("metrics[0].from", "no scorer of the task returns 'lengths'. Did you mean 'length'?"),
        ("metrics[1].name", "no scorer of the task returns 'y'. The scorers return: length."),
    ]
    open_ended = write_task(
        tmp_path, "open.yaml", score="score: {fields: {names: [y]}}", metrics="metrics: [{name: y, failed: zero}]"
    )
    assert faults(open_ended) == []


def test_a_resource_that_a_component_uses_must_be_named(tmp_path: Path) -> None:
    file = write_task(tmp_path, score="score:\n  - length\n  - drat")
    assert places(file) == [place_of(file, "drat")]
    message = "the scorer 'drat' needs the resource 'embedding', which the task does not name."
    assert faults(file) == [("score[1]", f"{message} Add it: resources: {{embedding: ...}}.")]


def test_a_protocol_can_need_a_prompt(tmp_path: Path) -> None:
    ((_, text),) = faults(write_task(tmp_path, prompt=None))
    assert text == "the protocol chat needs the prompt 'prompt', which is missing. Add the key prompt."
    assert faults(write_task(tmp_path, prompt=None, protocol="protocol: chain")) == []


def test_conditions_may_vary_only_what_is_declared(tmp_path: Path) -> None:
    file = write_task(tmp_path, protocol="protocol: chain", conditions="conditions: {rounds: [1, 0], difficulty: [2]}")
    known = faults(file)[1][1].split("Known are: ")[1]
    assert faults(file) == [
        ("conditions.rounds[1]", "must be at least 1, but is 0."),
        ("conditions.difficulty", f"no setting 'difficulty' can be varied by conditions. Known are: {known}"),
    ]
    assert "temperature" in known and "rounds" in known
    many = ", ".join(map(str, range(101)))
    ((_, text),) = faults(write_task(tmp_path, conditions=f"conditions: {{seed: [{many}], top_k: [{many}]}}"))
    assert "the grid has 10,201 cells" in text


def test_a_known_setting_does_not_hide_under_extra(tmp_path: Path) -> None:
    ((path, text),) = faults(write_task(tmp_path, generation="generation: {extra: {top_p: 7}}"))
    assert (path, text.split(";")[0]) == ("generation.extra.top_p", "'top_p' is a known setting")


def test_two_scorers_must_not_give_one_score(tmp_path: Path) -> None:
    ((path, text),) = faults(write_task(tmp_path, score="score: [length, {length: {unit: words}}]"))
    assert path == "score[1].length"
    assert "both return 'length'" in text


def test_tests_must_fit_the_task(tmp_path: Path) -> None:
    file = write_task(
        tmp_path,
        tests="""
        tests:
          - {name: a, status: scored}
          - {name: a, status: errored, answer: x, scores: {length: 1}}
          - {name: b, status: scored, baseline: ceiling}
          - {name: c, status: scored, answer: x, scores: {lenght: 1, length: {min: 2, max: 1}}}
        """,
    )
    assert faults(file) == [
        ("tests[0]", "a test has exactly one of answer, answers, baseline."),
        ("tests[1].name", "two tests are called 'a'. Rename one of them."),
        ("tests[1].scores", "a test that ends as errored states no scores."),
        ("tests[2].baseline", "the task names no baseline 'ceiling'. Add it to baselines."),
        ("tests[3].scores.lenght", "no scorer of the task returns 'lenght'. Did you mean 'length'?"),
        ("tests[3].scores.length", "min is above max."),
    ]


def test_a_file_of_another_shape(tmp_path: Path) -> None:
    for text, part in [
        ("[1, 2]", "must be a mapping, but is a list"),
        ("just text", "must be a mapping"),
        ("a: [", "not valid YAML"),
    ]:
        file = tmp_path / "other.yaml"
        file.write_text(text)
        (problem, *_) = check([file], toy_plugins())
        assert part in problem.message
        with pytest.raises(TaskError):
            TaskIndex(toy_plugins()).load(file)


def test_an_ambiguous_component_prefers_the_own_plugin_then_the_core(tmp_path: Path) -> None:
    registry = toy_registry()
    registry.scoped("red").add("parser", "json_array", "support.toy_plugins:Letters")
    registry.scoped("red").add("parser", "rhyme", "support.toy_plugins:Letters")
    registry.scoped("blue").add("parser", "rhyme", "support.toy_plugins:Letters")
    file = write_task(tmp_path / "red", parse="parse: [json_array, rhyme]")
    plugins = toy_plugins([("red", tmp_path / "red")], registry)
    task = TaskIndex(plugins).load(file)
    assert [ref.name for ref in task.parse] == ["red/json_array", "red/rhyme"]
    outside = write_task(tmp_path / "outside", parse="parse: [json_array, rhyme]")
    (problem,) = check([outside], plugins)
    assert problem.message == "2 plugins have the parser 'rhyme': red/rhyme and blue/rhyme"
    qualified = write_task(tmp_path / "outside", parse="parse: [json_array, blue/rhyme]")
    assert [ref.name for ref in TaskIndex(plugins).load(qualified).parse] == ["json_array", "blue/rhyme"]


def test_a_faulty_schema_of_a_plugin_is_the_plugins_fault(tmp_path: Path) -> None:
    registry = toy_registry()
    registry.scoped("bad").add(
        "parser",
        "odd",
        "support.toy_plugins:Letters",
        parameters={"type": "object", "properties": {"x": {"type": "strnig"}}},
    )
    file = write_task(tmp_path, parse="parse: {odd: {x: 1}}")
    (problem,) = check([file], toy_plugins(registry=registry))
    assert problem.message.startswith("the plugin bad declares a faulty JSON Schema for 'odd'")


def test_a_flood_of_faults_is_cut_and_quickly_found(tmp_path: Path) -> None:
    keys = "".join(f"key{number}: x\n" for number in range(3000))
    items = ", ".join(f"{number}, [{number}], {{a: {number}}}" for number in range(2000))
    file = tmp_path / "flood.yaml"
    file.write_text(sound_task(measures=f"measures: [{items}]") + keys)
    found = check([file], toy_plugins())
    assert len(found) < 300
    assert any(problem.message == "2980 more unknown keys" for problem in found)


@pytest.mark.parametrize(
    ("values", "twice"),
    [("1, 1.0", True), ("1, true", False), ("a, a", True), ("[1], [1.0]", True), ("{a: 1}, {a: 2}", False)],
)
def test_equal_values_are_those_that_json_schema_calls_equal(tmp_path: Path, values: str, twice: bool) -> None:
    file = write_task(tmp_path, conditions=f"conditions: {{temperature: [{values}]}}")
    assert any("the same value twice" in text for _, text in faults(file)) is twice


def test_problems_print_as_one_line_each(tmp_path: Path) -> None:
    problem = Problem("unknown key 'titel'", Path("a.yaml"), 4, 1, "titel", "Did you mean 'title'?")
    assert str(problem) == "a.yaml:4:1: [titel] unknown key 'titel'. Did you mean 'title'?"
    assert check([tmp_path], toy_plugins())[0].message.endswith("holds no task files")
    assert check(["nope"], toy_plugins())[0].message == "unknown task 'nope'"


def test_a_weight_is_a_score_and_goes_with_a_mean_that_leaves_failures_out(tmp_path: Path) -> None:
    metric = "metrics:\n  - {name: length, failed: exclude, weight: length}"
    assert faults(write_task(tmp_path, metrics=metric)) == []
    wrong = "metrics:\n  - {name: length, failed: zero, weight: lenght}"
    texts = [text for path, text in faults(write_task(tmp_path, metrics=wrong)) if path == "metrics[0].weight"]
    assert len(texts) == 2 and "Did you mean 'length'?" in texts[0] and "failed: exclude" in texts[1]
