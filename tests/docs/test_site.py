"""The documentation site builds without a warning, and has a page for every task."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages that the site is built from."""
    folder = tmp_path_factory.mktemp("site") / "pages"
    done = subprocess.run(
        [sys.executable, str(TOOLS / "make_site.py"), str(folder)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_task_and_suite_has_its_page(pages: Path) -> None:
    listed = (pages / "tasks" / "index.md").read_text()
    for header in TaskIndex(load_plugins()).headers():
        name = header.name if header.variant is None or header.family is None else header.family.name
        assert f"[{name}](" in listed, header.name
    drat = (pages / "tasks" / "association" / "drat.md").read_text()
    for part in ("## Prompts", "## Metrics", "## Floor and ceiling", "## Answers and what they are worth", "`drat_k2`"):
        assert part in drat


def test_the_site_builds_without_a_warning(pages: Path, tmp_path: Path) -> None:
    config = (ROOT / "mkdocs.yml").read_text().replace("docs_dir: build/site-pages", f"docs_dir: {pages}")
    (tmp_path / "mkdocs.yml").write_text(config.replace("site_dir: build/site", f"site_dir: {tmp_path / 'site'}"))
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(tmp_path / "mkdocs.yml")],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    home = (tmp_path / "site" / "index.html").read_text()
    assert "fonts.googleapis" not in home and '<script src="http' not in home


def test_a_dead_link_ends_the_build(pages: Path) -> None:
    code = "import sys, pathlib; sys.path.insert(0, 'tools'); import make_site as m; p = m.ROOT / 'README.md'; "
    code += "m.relinked('see [x](docs/nowhere.md)', p, {p: 'index.md'})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and "docs/nowhere.md, which is not there" in done.stderr
