"""How far a judge agrees with people and with itself, on runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.chat_server import Answer, ChatServer, Received
from support.parrot import parrot

import creval
from creval.cli.root import cli
from creval.engine.run import rescore
from creval.errors import DataError, UnknownNameError, UsageError
from creval_agreement.judge_agreement import JudgeAgreement

TASK = """\
schema: 1
task: judged
version: 1.0.0
title: Judged
dataset: {source: file, file: judged.jsonl, id: id}
prompt: [{role: user, content: "Say {{ word }}"}]
roles: {judge: {prompts: {rate: [{role: user, content: "Rate {{ answer }}"}]}}}
score: {judge: {prompt: rate, scale: [1, 5]}}
metrics: [{name: judge, failed: exclude}]
"""


JUDGE = {"judge": "hosted_vllm/judge"}
MODEL = "hosted_vllm/parrot"


def write(folder: Path) -> str:
    rows = "".join(json.dumps({"id": f"d{i}", "word": f"w{i}"}) + "\n" for i in range(4))
    (folder / "judged.jsonl").write_text(rows)
    (folder / "judged.yaml").write_text(TASK)
    return str(folder / "judged.yaml")


def test_the_judge_next_to_people(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: Any) -> None:
    def script(request: Received) -> Answer:
        said = parrot(request) if request.prompt.startswith("Say") else str(int(request.prompt[-1]) + 1)
        return Answer(said)

    with ChatServer(script) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        result = creval.run([write(tmp_path)], MODEL, options(roles=JUDGE))
    labels = tmp_path / "labels.csv"
    labels.write_text("doc,label\nd0,1\nd1,1\nd1,3\nd2,4\n")  # d1: two people, mean 2
    output = JudgeAgreement().run([str(result.folder)], score="judge", labels=str(labels))
    row = dict(zip(output.columns, output.rows[0], strict=True))
    assert (row["n"], row["accuracy"]) == (3, pytest.approx(2 / 3))
    assert row["spearman"] == 1.0
    assert "1 judged samples have no label" in output.notes[0]
    labels.write_text("doc,path,label\nd0,1,1\nd0,2,5\n")
    with pytest.raises(DataError, match="the column 'path' is unknown"):
        JudgeAgreement().run([str(result.folder)], score="judge", labels=str(labels))
    labels.write_text("doc,label\nd0,good\n")
    with pytest.raises(DataError, match=r"labels.csv:2"):
        JudgeAgreement().run([str(result.folder)], score="judge", labels=str(labels))
    labels.write_text("doc,label\nd0,1\n")
    with pytest.raises(UnknownNameError, match="unknown score 'juge'"):
        JudgeAgreement().run([str(result.folder)], score="juge", labels=str(labels))
    with pytest.raises(UsageError, match="needs a score"):
        JudgeAgreement().run([str(result.folder)], score="judge")
    for label in ("nan", "1_0", ""):
        labels.write_text(f"doc,label\nd0,{label}\n")
        with pytest.raises(DataError, match="not a label"):
            JudgeAgreement().run([str(result.folder)], score="judge", labels=str(labels))


def test_the_judge_next_to_itself_and_what_it_said_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: Any
) -> None:
    """The judge says another number each time it is asked about w0, and the same about the others."""

    def script(request: Received) -> Answer:
        if request.prompt.startswith("Say"):
            return Answer(parrot(request))
        return Answer(str(request.seen + 1) if request.prompt.endswith("w0") else "3")

    with ChatServer(script) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        result = creval.run([write(tmp_path)], MODEL, options(roles=JUDGE))
        output = JudgeAgreement().run([str(result.folder)], score="judge", repeat_judge=3)
        row = dict(zip(output.columns, output.rows[0], strict=True))
        assert (row["n"], row["verdicts"], row["samples with equal verdicts"]) == (4, 3, 0.75)
        assert row["mean SD in a sample"] == pytest.approx(0.25)
        asked = len(server.requests)
        assert asked == 4 + 4 * 3
        again = JudgeAgreement().run([str(result.folder)], score="judge", repeat_judge=3)
        assert again.rows == output.rows
        assert rescore(result.folder).results["tasks"][0]["metrics"] == result.results["tasks"][0]["metrics"]
        assert len(server.requests) == asked


def test_a_warning_stays_until_people_were_asked(tmp_path: Path, options: Any) -> None:
    rows = "".join(json.dumps({"id": f"d{i:02}", "word": f"w{i}"}) + "\n" for i in range(20))
    (tmp_path / "judged.jsonl").write_text(rows)
    (tmp_path / "judged.yaml").write_text(TASK.replace("scale: [1, 5]", "scale: [1, 5], people: true"))
    said = [
        {"task": "judged", "doc": f"d{i:02}", "role": role, "answers": [text]}
        for i in range(20)
        for role, text in (("target", f"w{i}"), ("judge", str(1 + i % 5)))
    ]
    (tmp_path / "said.jsonl").write_text("".join(json.dumps(each) + "\n" for each in said))
    model = f"replay/{tmp_path / 'said.jsonl'}"
    result = creval.run([str(tmp_path / "judged.yaml")], model, options(roles={"judge": model}))

    def note() -> str:
        rescore(result.folder)
        notes = json.loads((result.folder / "results.json").read_text())["tasks"][0]["notes"]
        return str(next(each for each in notes if "people" in each))

    warning = "WARNING: the judge of judge was not compared with people on 20 answers"
    assert note().startswith(warning)
    assert f"judged: {warning}" in CliRunner().invoke(cli, ["report", str(result.folder)]).stderr
    labels = tmp_path / "labels.csv"
    for count, said_then in (
        (19, warning),
        (20, "judge: people and judge agree on 20 answers with labels: kappa 1.000"),
    ):
        labels.write_text("doc,label\n" + "".join(f"d{i:02},{1 + i % 5}\n" for i in range(count)))
        JudgeAgreement().run([str(result.folder)], score="judge", labels=str(labels))
        assert note().startswith(said_then)
    stored = result.folder / "agreement.json"
    measured = json.loads(stored.read_text())
    measured["judged"]["judge"]["instruments"] = {"judge": "another"}
    for damaged in (json.dumps(measured), "[]", "{", '{"judged": {"judge": 3}}'):
        stored.write_text(damaged)
        assert note().startswith(warning)
