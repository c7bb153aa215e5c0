"""All tasks through the whole of creval: their stated gold and mutants, floor and ceiling, a real small model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import creval
from creval.engine.run_options import RunOptions
from creval.errors import MissingPartError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_testing.task_examples import run_examples

SIX = ["dat", "cdat", "pace", "rat", "drat", "aut"]
TASKS = [*SIX, "dat_dictionary", "drat_k2", "drat_k3", "drat_conceptnet"]


def options(tmp_path: Path, **more: Any) -> RunOptions:
    settings = {"output": tmp_path / "run", "seed": 1, "offline": True, "cache_folder": tmp_path / "cache", **more}
    return RunOptions(**settings)


def run(tmp_path: Path, tasks: list[str], model: str, embedding: str, **more: Any) -> dict[str, Any]:
    pytest.importorskip("creval_embedded")
    try:
        chosen = options(tmp_path, resources={"embedding": embedding}, **more)
        result = creval.run(tasks=tasks, model=model, options=chosen)
    except MissingPartError as error:
        pytest.skip(str(error))
    results: dict[str, Any] = json.loads((result.folder / "results.json").read_text())
    return results


def overall(results: dict[str, Any]) -> dict[str, float]:
    return {
        metric["name"].partition("[")[0]: metric["value"]
        for task in results["tasks"]
        for metric in task["metrics"]
        if metric["condition"] is None and metric["primary"]
    }


@pytest.mark.parametrize("task", TASKS)
def test_stated_gold_and_mutants(task: str, tmp_path: Path, embedded: Any) -> None:
    embedded("glove-6b-50d")
    plugins = load_plugins()
    chosen = options(tmp_path, resources={} if task == "rat" else {"embedding": "embedded/glove-6b-50d"})
    outcomes = asyncio.run(run_examples(TaskIndex(plugins).load(task), chosen, plugins))
    assert len(outcomes) >= 4
    assert [(outcome.example, outcome.faults) for outcome in outcomes if outcome.faults] == []


def test_floor_and_ceiling_of_all_six(tmp_path: Path) -> None:
    embedding = "embedded/glove-6b-50d"
    floor = overall(run(tmp_path / "floor", SIX, "baseline/floor", embedding, limit=4, repeats=2))
    ceiling = overall(run(tmp_path / "ceiling", SIX, "baseline/ceiling", embedding, limit=4, repeats=2))
    assert set(floor) == set(ceiling) == {"dat", "cdat_n", "pace", "rat", "drat", "aut_originality"}
    assert ceiling["rat"] == 1.0 and floor["rat"] < 0.5
    for name in ("dat", "pace", "drat", "aut_originality"):
        assert ceiling[name] > floor[name], name


def test_a_metric_made_with_another_embedding_carries_its_name(tmp_path: Path) -> None:
    results = run(tmp_path, ["drat"], "baseline/floor", "embedded/glove-6b-50d", limit=2)
    assert {metric["name"] for metric in results["tasks"][0]["metrics"]} == {
        f"{name}[embedded/glove-6b-50d]" for name in ("drat", "survivors", "gate_passed")
    }


def test_all_six_with_a_small_model(tmp_path: Path, embedded: Any, small_model: str) -> None:
    """Real answers of a small model, cut short: every sample ends in a status, and nothing breaks."""
    embedded("glove-6b-50d")
    results = run(
        tmp_path,
        SIX,
        small_model,
        "embedded/glove-6b-50d",
        limit=1,
        repeats=1,
        generation={"max_tokens": 6, "temperature": 1.0},  # of several, one: all ask the same
    )
    assert {task["task"] for task in results["tasks"]} == set(SIX)
    for task in results["tasks"]:
        counts = task["counts"]
        assert sum(counts.values()) == task["planned"] > 0
        assert counts["errored"] == counts["skipped"] == 0, task["first_errors"]


def test_the_suite_is_the_paper_in_numbers() -> None:
    tasks = TaskIndex(load_plugins()).expand(["association"])
    grid = {
        task.name: ([c.settings.get("temperature") for c in task.conditions], task.repeats, dict(task.generation))
        for task in tasks
    }
    assert grid["dat"][:2] == ([1.0, 1.5, 2.0], 40) and grid["dat"][2]["top_p"] == 1
    assert grid["cdat"][:2] == ([1.0, 1.5, 2.0], 1) and grid["cdat"][2]["top_p"] == 1
    assert grid["pace"][:2] == ([0.0], 1) and grid["rat"][:2] == ([0.0], 1) and grid["drat"][:2] == ([1.0], 1)
    assert grid["aut"][1] == 10 and set(grid) == set(SIX)


def test_prompts_are_the_papers(reference_data: Path) -> None:
    """The prompts of Appendix E as they reach the model, against the text of the paper where it is at hand."""
    from creval.tasks.templates.rendering import render

    papers = list((reference_data.parent / "papers").glob("003_*.txt"))
    if not papers:
        pytest.skip("the text of arXiv:2605.13450 is not there")
    text = papers[0].read_text(encoding="utf-8")
    index = TaskIndex(load_plugins())
    cases = [
        ("dat", "prompt", {}),
        ("cdat", "prompt", {"cue": "rock"}),
        ("pace", "first", {"seed": "rock"}),
        ("pace", "chain", {"seed": "rock", "word": "stone", "reason": "<stage-1 reason>"}),
        ("rat", "prompt", {"stems": ["cracker", "fly", "fighter"]}),
    ]
    for name, prompt, fields in cases:
        task = index.load(name)
        (message,) = render(task.prompts[prompt], fields, task.file)
        assert message.content in text, (name, prompt)


def test_the_prompt_of_drat_names_all_anchors() -> None:
    from creval.tasks.templates.rendering import render

    task = TaskIndex(load_plugins()).load("drat")
    for anchors, said in (
        (["a", "b"], '"a" and "b".'),
        (["a", "b", "c"], '"a", "b" and "c".'),
        (["a", "b", "c", "d"], '"a", "b", "c" and "d".'),
    ):
        (message,) = render(task.prompts["prompt"], {"anchors": anchors}, task.file)
        assert f"all of the following anchor words: {said} Only use single nouns." in message.content
        assert "\n" not in message.content


def test_the_error_of_dat_is_over_its_trials(tmp_path: Path) -> None:
    """As in the paper: one instruction, the standard error of the mean over trials."""
    results = run(tmp_path, ["dat"], "baseline/floor", "embedded/glove-6b-50d", repeats=4)
    (dat,) = [each for each in results["tasks"][0]["metrics"] if each["primary"] and each["condition"] is None]
    assert (dat["cluster"], dat["clusters"], dat["n"], dat["method"]) == ("trial", 12, 12, "logit_t")
    lines = (tmp_path / "run" / "scores" / "dat.jsonl").read_text().splitlines()
    values = [json.loads(line)["scores"]["dat"] for line in lines]
    assert dat["standard_error"] == pytest.approx(np.std(values, ddof=1) / 12**0.5)
    assert 0 <= dat["ci_low"] < dat["value"] < dat["ci_high"] <= 200
