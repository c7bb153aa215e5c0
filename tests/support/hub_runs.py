"""A small run to push, and the token of the user who may."""

from __future__ import annotations

import json
from pathlib import Path

import creval

__all__ = ["TOKEN", "make_run"]

TOKEN = "hf_" + "abcdefgh12345678"

_TASK = """
schema: 1
task: toy
version: 1.0.0
title: Yes or no
dataset: {source: file, file: docs.jsonl, id: id}
prompt:
  - {role: user, content: "{{ question }}"}
parse: [{choice: ["no", "yes"]}]
score: exact_match
metrics:
  - {name: exact_match, failed: zero}
"""


def make_run(base: Path, answers: dict[str, str], model: str | None = None, extra: str = "") -> Path:
    """Run a small task (with more YAML) over the answers by doc, and return the run's folder."""
    base.mkdir(parents=True, exist_ok=True)
    docs = [json.dumps({"id": doc, "question": f"{doc}?", "target": "yes"}) for doc in answers]
    (base / "docs.jsonl").write_text("\n".join(docs) + "\n")
    (base / "toy.yaml").write_text(_TASK + extra)
    given = [{"task": "toy", "doc": doc, "repeat": 0, "answers": [text]} for doc, text in answers.items()]
    (base / "answers.jsonl").write_text("".join(json.dumps(one) + "\n" for one in given))
    options = creval.RunOptions(output=base / "run")
    return creval.run([str(base / "toy.yaml")], model or f"replay/{base / 'answers.jsonl'}", options).folder
