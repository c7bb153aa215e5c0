"""An estimate names the keys that models behind litellm lack, and knows their prices."""

from __future__ import annotations

from pathlib import Path

import pytest

from creval.engine.run_options import RunOptions
from creval_sweeps.estimate import estimate_run

TASK = """
schema: 1
task: parrot
version: 1.0.0
title: Say a word
dataset: {source: file, file: parrot.jsonl, id: id}
prompt: [{role: user, content: "Say {{ id }}"}]
generation: {max_tokens: 16}
score: exact_match
metrics: [{name: exact_match, failed: zero}]
"""


def test_a_missing_key_of_a_model_behind_litellm_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREVAL_PLUGINS", "litellm")
    for name in ("ANTHROPIC_API_KEY", "MISTRAL_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "parrot.jsonl").write_text('{"id": "a", "target": "a"}\n')
    (tmp_path / "parrot.yaml").write_text(TASK)
    tasks, options = [str(tmp_path / "parrot.yaml")], RunOptions(output=tmp_path / "run")

    found = estimate_run(tasks, "anthropic/claude-sonnet-4-5", options)
    other = estimate_run(tasks, "mistral/mistral-large-latest", options)

    assert "ANTHROPIC_API_KEY" in found.missing[0]
    price = found.tasks[0].price.low
    assert price is not None and price > 0
    assert "MISTRAL_API_KEY" in other.missing[0]
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-none-0123456789")
    assert estimate_run(tasks, "anthropic/claude-sonnet-4-5", options).missing == []
