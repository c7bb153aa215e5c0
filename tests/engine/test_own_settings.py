"""Settings of the user in place of a task's: they win, they are reported, and no plain number is set next to them."""

from __future__ import annotations

import io
import json
import shutil

import pytest
from rich.console import Console

import creval
from creval.api import load_result
from creval.engine.run import rescore, resume
from creval.report.baselines import NumberBasis, find_baselines
from creval.report.result_tables import print_results

MODEL = "hosted_vllm/parrot"
VARIED = "conditions: {temperature: [0.5, 1.5], top_p: [0.9, 1]}"


def run(task, server, options, model=MODEL, **changes):
    return creval.run([task], model, options(base_url=server.url, **changes))


def sent(server, name):
    return sorted({request.body.get(name, "none") for request in server.requests}, key=str)


def cells(result):
    metrics = result.results["tasks"][0]["metrics"]
    return [metric["condition"] for metric in metrics if metric["name"] == "right"]


def shown(*results, baselines=None):
    console = Console(file=io.StringIO(), width=200)
    print_results(results, baselines, console)
    return console.file.getvalue()


def test_generation_wins_over_a_condition_and_its_axis_collapses(make_task, server, options):
    result = run(make_task(docs=4, conditions=VARIED), server, options, generation={"temperature": 0.2})
    assert sent(server, "temperature") == [0.2]
    assert sent(server, "top_p") == [0.9, 1]
    assert cells(result) == [None, "temperature=0.2,top_p=0.9", "temperature=0.2,top_p=1"]
    assert result.results["tasks"][0]["planned"] == len(server.requests) == 8
    assert result.results["tasks"][0]["generation_overrides"] == {"temperature": 0.2}
    assert "--generation temperature=0.2" in shown(result)


def test_null_takes_a_condition_s_setting_away(make_task, server, options):
    """What reasoning models need, which refuse a temperature."""
    result = run(make_task(docs=4, conditions=VARIED), server, options, generation={"temperature": None, "top_p": None})
    assert sent(server, "temperature") == sent(server, "top_p") == ["none"]
    assert len(server.requests) == 4
    assert "--generation temperature=null; --generation top_p=null" in shown(result)


@pytest.mark.parametrize("conditions", ["", "conditions: {temperature: [0.5], top_p: [1]}"])
def test_conditions_are_swept_whether_the_task_varies_them_or_not(make_task, server, options, conditions):
    task = make_task(docs=4, conditions=conditions)
    result = run(task, server, options, conditions={"temperature": [0.7, 1.0]})
    assert sent(server, "temperature") == [0.7, 1.0]
    assert len([name for name in cells(result) if name and name.startswith("temperature=")]) == 2
    assert result.results["tasks"][0]["condition_overrides"] == {"temperature": [0.7, 1.0]}
    assert "--condition temperature=0.7,1.0" in shown(result)


def test_such_a_run_can_be_resumed_and_scored_again(make_task, server, options, tmp_path):
    task = make_task(docs=4, conditions=VARIED)
    result = run(task, server, options, conditions={"temperature": [0.7, 1.0]}, generation={"top_p": 1})
    samples = tmp_path / "run" / "samples" / "parrot.jsonl"
    samples.write_text("".join(samples.read_text().splitlines(keepends=True)[:3]))
    assert resume(tmp_path / "run").results["tasks"] == result.results["tasks"]
    assert rescore(tmp_path / "run").results["tasks"] == result.results["tasks"]


def test_identity_and_baselines_know_the_settings(make_task, server, options, tmp_path):
    task = make_task(docs=4, conditions="conditions: {temperature: [0.5]}")
    made = {}
    for name, changes in {
        "plain": {},
        "cold": {"generation": {"temperature": 0}},
        "swept": {"conditions": {"temperature": [0.5]}},
    }.items():
        made[name] = run(task, server, options, output=tmp_path / name, **changes).results["tasks"][0]
    assert len({each["identity"] for each in made.values()}) == 3
    assert len({NumberBasis.of(each) for each in made.values()}) == 3
    shutil.copytree(tmp_path / "plain", tmp_path / "runs" / "floor")
    floor = tmp_path / "runs" / "floor" / "results.json"
    floor.write_text(json.dumps({**json.loads(floor.read_text()), "model": "baseline/floor"}))
    found = find_baselines(tmp_path / "runs")
    assert found.known(made["plain"]) == ["floor"]
    assert found.known(made["cold"]) == found.known(made["swept"]) == []
    assert found.elsewhere(made["cold"]) == ["floor"]


def test_other_data_mark_the_heading(make_task, server, options, tmp_path):
    task = make_task(docs=4)
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "x", "word": "sun", "target": "sun"}\n')
    result = run(task, server, options, data={"parrot": other})
    assert result.results["tasks"][0]["replaced_data"] == "other.jsonl"
    assert "--data parrot=other.jsonl" in shown(result)


def test_runs_that_do_not_compare_are_said_to(make_task, server, options, tmp_path):
    task = make_task(docs=8)
    for name, changes in {"a": {}, "b": {"limit": 4, "generation": {"temperature": 0}}, "c": {"repeats": 2}}.items():
        run(task, server, options, output=tmp_path / name, **changes)
    a, b, c = (load_result(tmp_path / name) for name in "abc")
    note = "numbers of local/parrot cannot be compared: these runs differ in docs, generation settings"
    assert note in shown(a, b)
    assert "cannot be compared" not in shown(a, c)
    assert "cannot be compared" not in shown(b)


def test_a_limit_beyond_the_docs_is_reported(make_task, server, options, caplog):
    run(make_task(docs=3), server, options, limit="first:99")
    assert "parrot: --limit first:99, but there are 3 docs; all of them are taken" in caplog.text
