"""A sound task file becomes a frozen Task: every key, every way of writing a component, hash and origins."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path

import pytest
from support.toy_plugins import sound_task, toy_plugins, write_task

from creval.errors import TaskError
from creval.tasks.index import TaskIndex
from creval.tasks.task_model import Bounds, ComponentRef, Said, Task
from creval.types.sample import Condition, Status

FULL = """
schema: 1
task: full
version: 1.2.3-rc.1
title: Everything at once
description: |
  Long words.
source: {paper: "arXiv:2605.13450", section: "4.2", licence: CC-BY-4.0, url: "https://example.org"}
measures: [divergent, convergent]
dataset: {source: generator, generator: {letters: {count: 2}}, id: word}
conditions: {temperature: [1.0, 1.5], rounds: [1, 2]}
repeats: 3
protocol: {name: chain, rounds: 2}
prompt:
  - role: system
    content: Be brief.
  - role: user
    content: |
      Say
      {{ word }} {{ story }}
prompts:
  second:
    - {role: user, content: Again.}
generation: {max_tokens: 512, stop: ["."], extra: {top_a: 0.2}}
parse:
  - json_array
  - {name: words, limit: 10, unique: true}
  - regex: "[a-z]+"
  - either: {of: [json_array, {words: {limit: 2}}]}
resources: {embedding: sentence-transformers/all-mpnet-base-v2, embedding_small: glove/50d}
roles: {judge: openai/gpt-4.1-mini, helper: null}
requires: [logprobs]
score:
  - drat: {utility: max, quantile: 0.9}
  - judged
metrics:
  - {name: drat, failed: zero, higher_is_better: true, unit: points}
  - name: kept
    from: survivors
    aggregate: {pass_at_k: 3}
    ci: t
    failed: exclude
    higher_is_better: null
    primary: true
  - {name: low, from: drat, failed: zero, failed_value: -1}
baselines: {floor: random_words, ceiling: {greedy: {width: 4}}}
tests:
  - {name: gold, doc: a, answer: '["x"]', status: scored, scores: {drat: 70, survivors: {min: 3}}}
  - {name: cut, doc: {word: z}, answers: ["a", "b"], finish_reason: length, status: truncated}
  - {name: best, baseline: ceiling, status: scored}
"""


def load(tmp_path: Path, text: str, name: str = "full.yaml") -> Task:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return TaskIndex(toy_plugins()).load(file)


def test_every_key_is_read(tmp_path: Path) -> None:
    task = load(tmp_path, FULL)
    assert (task.name, task.plugin, task.qualified, task.version) == ("full", "local", "local/full", "1.2.3-rc.1")
    assert task.description == "Long words.\n"
    assert dataclasses.asdict(task.source) == {
        "paper": "arXiv:2605.13450",
        "section": "4.2",
        "licence": "CC-BY-4.0",
        "url": "https://example.org",
    }
    assert task.measures == ("divergent", "convergent")
    assert task.dataset.source == "generator"
    assert task.dataset.parameters == {"generator": ComponentRef("letters", {"count": 2})}
    assert (task.dataset.id_field, task.dataset.base, task.dataset.task) == ("word", tmp_path, "full")
    assert task.conditions == (
        Condition("temperature=1.0,rounds=1", {"temperature": 1.0, "rounds": 1}),
        Condition("temperature=1.0,rounds=2", {"temperature": 1.0, "rounds": 2}),
        Condition("temperature=1.5,rounds=1", {"temperature": 1.5, "rounds": 1}),
        Condition("temperature=1.5,rounds=2", {"temperature": 1.5, "rounds": 2}),
    )
    assert task.repeats == 3
    assert task.protocol == ComponentRef("chain", {"rounds": 2})
    assert task.generation == {"max_tokens": 512, "stop": ["."], "top_a": 0.2}
    assert task.parse == (
        ComponentRef("json_array"),
        ComponentRef("words", {"limit": 10, "unique": True}),
        ComponentRef("regex", {"pattern": "[a-z]+"}),
        ComponentRef("either", {"of": [ComponentRef("json_array"), ComponentRef("words", {"limit": 2})]}),
    )
    assert task.resources == {
        "embedding": "sentence-transformers/all-mpnet-base-v2",
        "embedding_small": "glove/50d",
    }
    assert (task.roles, task.role_models) == (("judge", "helper"), {"judge": "openai/gpt-4.1-mini"})
    assert task.requires == ("logprobs",)
    assert task.score == (ComponentRef("drat", {"utility": "max", "quantile": 0.9}), ComponentRef("judged"))
    assert task.baselines == {"floor": ComponentRef("random_words"), "ceiling": ComponentRef("greedy", {"width": 4})}


def test_metrics(tmp_path: Path) -> None:
    drat, kept, low = load(tmp_path, FULL).metrics
    assert (drat.source, drat.aggregate, drat.ci, drat.failed) == (
        "drat",
        ComponentRef("mean"),
        "auto",
        "zero",
    )
    assert (drat.primary, drat.unit, drat.higher_is_better) == (False, "points", True)
    assert (kept.source, kept.aggregate, kept.ci) == ("survivors", ComponentRef("pass_at_k", {"k": 3}), "t")
    assert (kept.failed, kept.higher_is_better, kept.primary) == ("exclude", None, True)
    assert low.failed_value == -1


def test_the_first_metric_is_primary_where_none_says_so(tmp_path: Path) -> None:
    first, second = load(tmp_path, FULL.replace("    primary: true\n", "")).metrics[:2]
    assert (first.primary, second.primary) == (True, False)


def test_prompts_know_their_lines(tmp_path: Path) -> None:
    task = load(tmp_path, FULL)
    lines = FULL.split("\n")
    system, user = task.prompts["prompt"]
    assert (system.role, system.template) == ("system", "Be brief.")
    assert user.template == "Say\n{{ word }} {{ story }}\n"
    assert user.line is not None and lines[user.line - 1].strip() == "Say"
    assert user.file == tmp_path / "full.yaml"
    assert [message.template for message in task.prompts["second"]] == ["Again."]


def test_examples(tmp_path: Path) -> None:
    gold, cut, best = load(tmp_path, FULL).examples
    assert (gold.name, gold.doc, gold.answers, gold.status) == ("gold", "a", ((Said('["x"]'),),), Status.SCORED)
    assert gold.scores == {"drat": Bounds(70, 70), "survivors": Bounds(3, math.inf)}
    assert (cut.doc, cut.status) == ({"word": "z"}, Status.TRUNCATED)
    assert cut.answers == ((Said("a", "length"),), (Said("b", "length"),))
    assert (best.baseline, best.answers, best.doc) == ("ceiling", (), None)


def test_defaults(tmp_path: Path) -> None:
    task = TaskIndex(toy_plugins()).load(write_task(tmp_path))
    assert task.protocol == ComponentRef("chat")
    assert task.conditions == (Condition(),)
    assert (task.repeats, task.generation, task.resources, task.roles, task.examples) == (1, {}, {}, (), ())
    assert task.metrics[0].primary


def test_roles_that_components_ask_join_those_of_the_file(tmp_path: Path) -> None:
    text = sound_task(score="score: [length, judged]", roles="roles: [helper]")
    assert load(tmp_path, text).roles == ("helper", "judge")


def test_an_empty_section_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    task = load(tmp_path, sound_task(baselines="baselines:", generation="generation: ~"))
    assert task.baselines == {} and task.generation == {}


def test_names_of_conditions_are_stable(tmp_path: Path) -> None:
    text = sound_task(
        conditions="conditions: {stop: [['a b'], x], seed: [1], logprobs: [true], reasoning_effort: [low]}"
    )
    assert [condition.name for condition in load(tmp_path, text).conditions] == [
        'stop=["a b"],seed=1,logprobs=true,reasoning_effort=low',
        "stop=x,seed=1,logprobs=true,reasoning_effort=low",
    ]


# --- hash ------------------------------------------------------------------------------------------------


def test_the_hash_does_not_depend_on_how_the_task_is_written(tmp_path: Path) -> None:
    base = load(tmp_path, FULL)
    assert len(base.hash) == 64
    for old, new in [
        ("title: Everything at once", "title: Another title"),
        ("Long words.", "Other words."),
        ("{name: words, limit: 10, unique: true}", "words: {unique: true, limit: 10}"),
        ('regex: "[a-z]+"', "{name: regex, pattern: '[a-z]+'}"),
        ("status: truncated", "status: refused"),
        ("protocol: {name: chain, rounds: 2}", "protocol: {chain: {rounds: 2}}"),
        ("measures: [divergent, convergent]", "measures:\n  - divergent\n  - convergent"),
    ]:
        assert old in FULL
        assert load(tmp_path, FULL.replace(old, new), "other.yaml").hash == base.hash, new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Be brief.", "Be brief!"),
        ("limit: 10", "limit: 11"),
        ("version: 1.2.3-rc.1", "version: 1.2.3"),
        ("repeats: 3", "repeats: 4"),
        ("count: 2", "count: 3"),
        ("quantile: 0.9", "quantile: 0.8"),
        ("failed: exclude", "failed: zero"),
        ("glove/50d", "glove/100d"),
    ],
)
def test_the_hash_changes_with_whatever_can_change_a_score(tmp_path: Path, old: str, new: str) -> None:
    assert old in FULL
    assert load(tmp_path, FULL).hash != load(tmp_path, FULL.replace(old, new)).hash


def test_what_only_concerns_intervals_is_no_other_task(tmp_path: Path) -> None:
    """Runs that were made before these keys stay runs of their task; `ci`, the oldest of them, always counted."""
    before = "09e938ae8dd0f6f843befbbf04624ca2ce97704a81466a5be425d84233a2fec3"
    assert load(tmp_path, FULL).hash == before
    for metric in ("ci: auto", "binary: false", "range: [0, 200]", "binary: true"):
        assert load(tmp_path, FULL.replace("unit: points", f"unit: points, {metric}")).hash == before, metric
    assert load(tmp_path, FULL.replace("repeats: 3", "repeats: 3\ncluster: trial")).hash == before
    assert load(tmp_path, FULL.replace("unit: points", "unit: points, ci: t")).hash != before


def test_a_task_says_what_is_independent_and_where_its_metrics_lie(tmp_path: Path) -> None:
    task = load(tmp_path, FULL)
    assert (task.cluster, task.metrics[0].range, task.metrics[0].binary) == ("doc", (None, None), False)
    text = FULL.replace("unit: points", "range: [0, null]").replace("repeats: 3", "repeats: 3\ncluster: trial")
    task = load(tmp_path, text)
    assert (task.cluster, task.metrics[0].range) == ("trial", (0, None))


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("range: [3, 3]", "ends at 3 and begins at 3"),
        ("range: [1, 5]", "a failed answer counts 0, which lies outside the range"),
        ("range: [0, 1, 2]", "at most 2"),
        ("range: [0, 5], binary: true", "the scores of a binary metric are 0 or 1"),
        ("binary: true, failed_value: -1", "a failed answer counts -1"),
    ],
)
def test_an_impossible_range_is_a_problem_of_the_file(tmp_path: Path, written: str, message: str) -> None:
    with pytest.raises(TaskError, match=re.escape(message)):
        load(tmp_path, FULL.replace("unit: points", written))


def test_the_hash_changes_with_the_plugins_version(tmp_path: Path) -> None:
    write_task(tmp_path / "tasks")
    plugins = toy_plugins([("red", tmp_path / "tasks")])
    newer = dataclasses.replace(plugins, infos=[plugins.infos[0]._replace(version="1.3.0")])
    one, two = TaskIndex(plugins).load("toy"), TaskIndex(newer).load("toy")
    assert (one.plugin, one.plugin_version, two.plugin_version) == ("red", "1.2.0", "1.3.0")
    assert one.hash != two.hash


# --- where values come from ------------------------------------------------------------------------------


def test_origins_name_file_and_line_of_every_value(tmp_path: Path) -> None:
    task = load(tmp_path, FULL)
    lines = FULL.split("\n")
    for path, key in [
        ("repeats", "repeats"),
        ("generation.max_tokens", "max_tokens"),
        ("score[0].drat.quantile", "quantile"),
    ]:
        file, _, line = task.origins[path].rpartition(":")
        assert file == str(tmp_path / "full.yaml")
        assert key in lines[int(line) - 1]
    assert "measures" in task.origins and "measures[0]" not in task.origins


def test_a_task_is_frozen(tmp_path: Path) -> None:
    task = TaskIndex(toy_plugins()).load(write_task(tmp_path))
    with pytest.raises(dataclasses.FrozenInstanceError):
        task.repeats = 5  # type: ignore[misc]
