"""Inspecting samples, and scoring them again with another YAML."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from support.chat_server import Answer, ChatServer, Received
from support.commands import write_spelling

import creval
from creval.cli.main import invoke


def say(request: Received) -> Answer:
    if "word3" in request.prompt:
        return Answer("")
    thinking = f"<think>is it {request.prompt[-6:-1]}?</think>"
    return Answer(f"{thinking}ok")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("looking")
    write_spelling(folder, {f"word{i}": "OK" if i % 2 else "ok" for i in range(6)})
    with ChatServer(say) as server:
        command = ["--tasks", str(folder / "spelling.yaml"), "-m", "m/x", "--base-url", server.url]
        assert invoke([*command, "--repeats", "2", "-o", str(folder / "run")]) == 0
    return folder


def test_samples_are_listed_by_status_and_text(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(made / "run")
    assert invoke(["samples", run, "--status", "unparsed"]) == 0
    shown = capsys.readouterr()
    assert shown.out.count("unparsed") == 2 and "w3:0" in shown.out and "w3:1" in shown.out
    assert f"creval sample {run} 'w3:" in shown.err
    assert invoke(["samples", run, "--doc", "w2", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["key"], row["doc"], row["status"], row["exact_match"]) for row in rows] == [
        ("w2:0", "w2", "scored", "1.0"),
        ("w2:1", "w2", "scored", "1.0"),
    ]
    assert invoke(["samples", run, "--text", "OK", "--json"]) == 0
    assert len([json.loads(line) for line in capsys.readouterr().out.splitlines()]) == 10
    assert invoke(["samples", run, "--limit", "3"]) == 0
    assert "and 9 more" in capsys.readouterr().err
    assert invoke(["samples", run, "--status", "unparssed"]) == 2
    assert "'unparsed'" in capsys.readouterr().err


def test_the_table_of_samples_names_docs_for_another_run(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["samples", str(made / "run"), "--status", "unparsed", "--csv"]) == 0
    (made / "again.csv").write_text(capsys.readouterr().out)
    with ChatServer(answer="ok") as server:
        command = ["--tasks", str(made / "spelling.yaml"), "-m", "m/x", "--base-url", server.url]
        assert invoke([*command, "--docs", str(made / "again.csv"), "-o", str(made / "again")]) == 0
    assert len((made / "again" / "samples" / "spelling.jsonl").read_text().splitlines()) == 1


def test_one_sample_is_shown_whole_with_its_thinking_folded(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(made / "run")
    assert invoke(["sample", run, "w2:1"]) == 0
    shown = capsys.readouterr().out
    assert "Write the word word2." in shown and "characters of thinking" in shown and "is it word2?" not in shown
    assert "parser: text" in shown and "exact_match: 1" in shown
    assert invoke(["sample", run, "w2:1", "--thinking"]) == 0
    assert "is it word2?" in capsys.readouterr().out
    assert invoke(["sample", run, "w3:0", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["status"] == "unparsed" and reported["reason"] and reported["turns"][-1]["who"] == "answer"
    assert invoke(["sample", run, "w2"]) == 2
    assert "2 samples are called 'w2'" in capsys.readouterr().err
    assert invoke(["sample", run, "w9"]) == 2
    assert "unknown sample 'w9'" in capsys.readouterr().err


def test_another_yaml_scores_the_same_answers_next_to_the_old_scores(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, again = str(made / "run"), str(made / "lenient")
    old = (made / "run" / "results.json").read_bytes()
    text = (made / "run" / "tasks" / "spelling.yaml").read_text()
    (made / "other.yaml").write_text(text.replace("score: exact_match", "score: {exact_match: {ignore_case: true}}"))
    assert invoke(["score", run, "--task-file", str(made / "other.yaml"), "--output", again]) == 0, capsys.readouterr()
    assert (made / "run" / "results.json").read_bytes() == old
    new = json.loads((made / "lenient" / "results.json").read_text())
    assert json.loads(old)["tasks"][0]["metrics"][0]["value"] == 0.5
    assert new["tasks"][0]["metrics"][0]["value"] == pytest.approx(10 / 12)
    assert "ignore_case" in (made / "lenient" / "tasks" / "spelling.yaml").read_text()
    (made / "asks.yaml").write_text(text.replace("Write the word", "Spell the word"))
    assert invoke(["score", run, "--task-file", str(made / "asks.yaml")]) == 2
    assert "changed in its requests" in capsys.readouterr().err
    (made / "named.yaml").write_text(text.replace("task: spelling", "task: speling"))
    assert invoke(["score", run, "--task-file", str(made / "named.yaml")]) == 2
    assert "Did you mean 'spelling'?" in capsys.readouterr().err


def test_question_target_answer_and_cost_are_seen_side_by_side(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(made / "run")
    assert invoke(["samples", run, "--doc", "w2", "--json"]) == 0
    row = json.loads(capsys.readouterr().out.splitlines()[0])
    (sample, *_) = [sample for sample in creval.open_run(run).samples() if sample.key.doc == "w2"]
    assert row["input"] == sample.calls[0].messages[-1]["content"]
    assert (row["target"], row["answer"], row["output"]) == (sample.doc["target"], "ok", sample.answers[0])
    assert row["input_tokens"] > 0 and row["output_tokens"] > 0 and row["seconds"] == sample.seconds > 0
    assert "cost" in row and row["reason"] is None
    (shown, *_) = [one for one in creval.open_run(run).to_rows() if one["doc"] == "w2"]
    assert {name: shown[name] for name in row if name != "key"} == {name: row[name] for name in row if name != "key"}
    assert invoke(["samples", run, "--columns", "doc, target,output"]) == 0
    head = capsys.readouterr().out.split("\n")[1]
    assert head.split() == ["doc", "target", "output"]
    assert invoke(["samples", run, "--columns", "doc,tarket"]) == 2
    assert "Did you mean 'target'" in capsys.readouterr().err
    for words in ([], ["--doc", "w3"], ["--limit", "2"]):
        assert invoke(["samples", run, *words]) == 0
        assert max(len(line.rstrip()) for line in capsys.readouterr().out.splitlines()) <= 100
    assert invoke(["samples", run, "--doc", "w2"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()[:5]
    assert first.startswith("w2:0   scored   exact_match 1   ") and "tokens" in first and first.endswith(" s")
    assert [line.split()[0] for line in lines] == ["input", "target", "answer", "output"]
    assert invoke(["sample", run, "w2:0"]) == 0
    printed = capsys.readouterr().out
    assert "target: ok" in printed and "tokens in," in printed
