"""Every example in README and docs that is in a `console` or `python` block runs as printed.

Blocks that need a key or the network are marked `sh` and are not run. The one thing that is changed: a real small model
answers one doc of each task, not three, in 16 tokens at most: a token takes it a twentieth of a second; one hard game
is solved, not two; and an encoder that is at hand is opened for words (the default one loads torch: plugins/encoders).
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.forked import OF_PAGES, finished

pytestmark = pytest.mark.model

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "plugins").glob("*/README.md"))]
PATIENCE = 900
SMALL_MODEL = "embedded/smollm2"
HARD_GAMES = "kumo_hard_medical"
WORDS = "drat_k*"
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(page: Path) -> list[tuple[str, str]]:
    """Return (kind, text) of each example of a page: one a console command, one a python block."""
    found = []
    for kind, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "python":
            found.append((kind, body))
        else:
            found += [(kind, line[2:]) for line in body.splitlines() if line.startswith("$ ")]
    return found


def done(kind: str, text: str, folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run an example to its end."""
    if kind == "python":
        return finished((), folder, environment, PATIENCE, code=text, more=OF_PAGES)
    name, *rest = shlex.split(text)
    assert name == "creval", f"a console example must start with creval: {text}"
    if SMALL_MODEL in rest and "--limit" in rest:
        rest[rest.index("--limit") + 1] = "1"
        rest += ["--generation", "max_tokens=16"]
    if HARD_GAMES in rest and "--limit" in rest:
        rest[rest.index("--limit") + 1] = "1"
    if WORDS in rest:
        rest += ["--resource", "embedding=embedded/minilm"]
    return finished(rest, folder, environment, PATIENCE, more=OF_PAGES)


def share_rules(cache: Path) -> None:
    """Let Kingfisher keep its compiled rules where it keeps the user's: four seconds."""
    cache.mkdir()
    own = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "kingfisher"
    own.mkdir(parents=True, exist_ok=True)
    (cache / own.name).symlink_to(own)


@pytest.mark.parametrize("page", [p for p in PAGES if examples(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    share_rules(tmp_path / "cache")
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "COLUMNS": "120"}
    for kind, text in examples(page):
        ended = done(kind, text, tmp_path, environment)
        assert ended.returncode == 0, f"{page.name}: {text}\n{ended.stdout[-1500:]}\n{ended.stderr[-1500:]}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"
