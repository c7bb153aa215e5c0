"""A run from one end to the other against a real server on the loopback address."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import jsonschema
import pytest

import creval
from creval.runs.jsonl import read_lines

MODEL = "hosted_vllm/parrot"


def validate(name: str, data: object) -> None:
    schema = json.loads((Path(creval.__file__).parent / "schemas" / f"{name}.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(data)


def test_every_artefact_validates_and_the_number_is_right(make_task, server, options):
    task = make_task(docs=40, repeats=2)
    result = creval.run([task], MODEL, options(base_url=server.url))
    metric = result.metrics("parrot")["right"]
    assert metric["value"] == 0.75
    assert (metric["n"], metric["clusters"], metric["n_failed"]) == (80, 40, 0)
    assert metric["ci_low"] < 0.75 < metric["ci_high"]
    assert len(server.requests) == 80
    samples = list(read_lines(result.folder / "samples" / "parrot.jsonl"))
    scores = list(read_lines(result.folder / "scores" / "parrot.jsonl"))
    assert len(samples) == len(scores) == 80
    for record in samples:
        validate("sample", record)
    for record in scores:
        validate("score", record)
    validate("results", json.loads((result.folder / "results.json").read_text("utf-8")))
    validate("run", json.loads((result.folder / "run.json").read_text("utf-8")))


def test_conditions_and_repeats_reach_the_model_and_the_results(make_task, server, options):
    task = make_task(docs=4, repeats=3, conditions="conditions: {temperature: [0.5, 1.5]}")
    result = creval.run([task], MODEL, options(base_url=server.url))
    asked = sorted(request.body["temperature"] for request in server.requests)
    assert asked == [0.5] * 12 + [1.5] * 12
    by_condition = {
        metric["condition"]: metric["n"]
        for metric in result.results["tasks"][0]["metrics"]
        if metric["name"] == "right"
    }
    assert by_condition == {None: 24, "temperature=0.5": 12, "temperature=1.5": 12}


@pytest.mark.parametrize(("limit", "docs"), [(5, 5), ("first:3", 3), (500, 20)])
def test_limit(make_task, server, options, limit, docs):
    result = creval.run([make_task(docs=20)], MODEL, options(base_url=server.url, limit=limit))
    assert result.results["tasks"][0]["planned"] == docs
    asked = {request.prompt for request in server.requests}
    if limit == "first:3":
        assert asked == {"Say word0", "Say word1", "Say word2"}
    assert len(asked) == docs


def test_results_name_the_docs_chosen(make_task, server, options, tmp_path):
    task = make_task(docs=20)

    def chosen(**given):
        run = options(base_url=server.url, output=tmp_path / f"run{len(list(tmp_path.glob('run*')))}", **given)
        entry = creval.run([task], MODEL, run).results["tasks"][0]
        return entry["docs"], entry["dataset_docs"], entry["docs_digest"]

    some = chosen(limit=5)
    assert some[:2] == (5, 20)
    indices = json.loads((tmp_path / "run0" / "run.json").read_text())["tasks"][0]["indices"]
    assert some[2] == hashlib.sha256(",".join(map(str, indices)).encode()).hexdigest()
    assert chosen(limit=5) == some
    assert len({chosen(limit=5, seed=2), chosen(limit="first:5"), chosen(), some}) == 4
    assert chosen() == chosen(limit=500)
