"""Every command in README and docs that asks a model of `hf/` runs as printed, with a tiny model under its name.

What is added: one doc, one repeat and a short answer.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from creval.cli.main import invoke

pytestmark = pytest.mark.model

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "plugins").glob("*/README.md"))]
LINE = re.compile(r"^ *(?:\$ )?(creval (?:[^\n#]* )?--model \"?hf/[^\n#]*)(?:#[^\n]*)?$", re.MULTILINE)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def commands() -> list[str]:
    texts = [re.sub(r" *\\\n *", " ", page.read_text(encoding="utf-8")) for page in PAGES]
    return list(dict.fromkeys(match[1].strip() for text in texts for match in LINE.finditer(text)))


@pytest.fixture
def home(tiny: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `my-model`, a cache that holds the models of the Hub, and the examples of the tree."""
    model = tiny("llama", max_position_embeddings=8192)
    shutil.copytree(model, tmp_path / "my-model")
    for name in {shlex.split(text)[shlex.split(text).index("--model") + 1] for text in commands()}:
        place = name.removeprefix("hf/").partition("?")[0].partition("@")[0]
        if not place.startswith("."):
            folder = tmp_path / "hub" / f"models--{place.replace('/', '--')}"
            shutil.copytree(model, folder / "snapshots" / COMMIT)
            (folder / "refs").mkdir()
            (folder / "refs" / "main").write_text(COMMIT)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("creval_hf.weights.hub_answers", lambda: False)
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_of_the_pages_run(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = commands()
    assert len(found) >= 5
    for number, text in enumerate(found):
        words = [*shlex.split(text)[1:], "--output", str(home / f"run{number}")]
        words += ["--repeats", "1"] + ([] if "--limit" in text else ["--limit", "1"])
        if "likeliest" not in text:
            words += ["--generation", "max_tokens=4"]
        assert invoke(words) == 0, f"{text}\n{capfd.readouterr().err[-1500:]}"
        rows = [p.read_text() for p in (home / f"run{number}" / "samples").glob("*.jsonl")]
        assert rows and all('"served_by":"hf"' in row.replace(" ", "") for row in rows), text
