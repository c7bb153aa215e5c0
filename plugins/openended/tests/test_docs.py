"""The task of one's own that the documentation shows works as printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.commands import creval

PAGE = Path(__file__).resolve().parents[3] / "docs" / "openended.md"
pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="the documentation is not next to the package")


def test_the_task_on_the_page_works(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    files = dict(re.findall(r"`(garden\.\w+)`:\n\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert set(files) == {"garden.jsonl", "garden.yaml"}
    assert len(files["garden.yaml"].splitlines()) <= 23
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    offline = ("--resource", "entailment=cosine/0.85", "--resource", "embedding=embedded/minilm", "--offline")
    checked = creval(tmp_path, "validate", "./garden.yaml", "--tests", *offline[:4])
    assert checked.returncode == 0, checked.stdout + checked.stderr
    done = creval(tmp_path, "--tasks", "./garden.yaml", "--model", "baseline/ceiling", *offline, "--output", "run")
    assert done.returncode == 0, done.stdout + done.stderr
    (task,) = json.loads((tmp_path / "run" / "results.json").read_text())["tasks"]
    primary = task["metrics"][0]
    assert primary["name"].startswith("semantic_entropy[") and primary["n"] == 2
    assert primary["value"] == pytest.approx(1.6094, abs=1e-3)
