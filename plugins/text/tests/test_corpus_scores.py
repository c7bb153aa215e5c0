"""Corpus BLEU and chrF of a run are those that sacrebleu's README prints for the same texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from creval.cli.root import cli
from creval.plugin import ScoringError, UsageError
from creval_testing.scripted_models import RunTask
from creval_text.corpus_scores import CorpusScores

TASK = """\
schema: 1
task: translated
version: 1.0.0
title: Sentences
dataset: {source: file, file: translated.jsonl, id: id}
prompt: [{role: user, content: "{{ id }}"}]
score: bleu
metrics: [{name: bleu, failed: zero}]
"""
SAID = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
REFERENCES = [
    ["The dog bit the man.", "The dog had bit the man."],
    ["It was not unexpected.", "No one was surprised."],
    ["The man bit him first.", "The man had bitten the dog."],
]
DEFAULTS = {"field": "target", "tokenize": "13a", "lowercase": False, "word_order": 0}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make a run that says these texts; returns its folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CREVAL_PLUGINS", "text,testing")
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    docs = [{"id": str(n), "target": texts} for n, texts in enumerate(REFERENCES)]
    (tmp_path / "translated.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    (tmp_path / "translated.yaml").write_text(TASK)

    def make(said: list[str]) -> str:
        done = RunTask(tmp_path)("./translated.yaml", dict(zip("012", said, strict=True)))
        return str(done.folder)

    return make


def test_the_numbers_of_sacrebleus_readme(run: Any) -> None:
    (row,) = CorpusScores().run([run(SAID)], **DEFAULTS).rows
    assert row[2:4] == (3, 0)
    assert row[4] == pytest.approx(48.53, abs=0.005)
    assert row[5] == pytest.approx(59.73, abs=0.005)


def test_a_failed_answer_is_an_empty_one(run: Any) -> None:
    found = CorpusScores().run([run([*SAID[:2], " "])], **DEFAULTS)
    (row,) = found.rows
    assert row[2:4] == (3, 1)
    assert row[4] < 48
    assert found.notes[0].startswith("BLEU nrefs:2|")


def test_the_command_prints_it_and_names_mistakes(run: Any) -> None:
    folder = run(SAID)
    shown = CliRunner().invoke(cli, ["analyse", "corpus-scores", folder])
    assert shown.exit_code == 0, shown.output
    assert "48.5" in shown.output
    with pytest.raises(ScoringError, match="has no text in the field 'reference'"):
        CorpusScores().run([folder], **DEFAULTS | {"field": "reference"})
    with pytest.raises(UsageError, match="there is no tokenizer 'moses'"):
        CorpusScores().run([folder], **DEFAULTS | {"tokenize": "moses"})
