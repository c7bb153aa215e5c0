"""Every example in README and docs that stands in a `console` or `python` block runs as printed.

Blocks that need a key or the network are marked `sh` and are not run.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import program

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "plugins").glob("*/README.md"))]
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


def command(kind: str, text: str) -> list[str]:
    """Turn an example into a command of this interpreter."""
    if kind == "python":
        return [sys.executable, "-c", text]
    name, *rest = shlex.split(text)
    assert name == "creval", f"a console example must start with creval: {text}"
    return program(*rest)


@pytest.mark.parametrize("page", [p for p in PAGES if examples(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "COLUMNS": "120"}
    for kind, text in examples(page):
        done = subprocess.run(
            command(kind, text), cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900
        )
        assert done.returncode == 0, f"{page.name}: {text}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"
