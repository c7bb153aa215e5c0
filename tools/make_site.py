#!/usr/bin/env python3
"""Gathers the pages of the documentation site in build/site-pages; `make docs` builds the site from them.

    python tools/make_site.py [FOLDER]       (from the repository's root)

Pages are those of docs/, the README files, and one page a task, made from its YAML. A link to a file that is no page
of the site leads to that file in the repository; a link to nothing ends this with an error.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from site_tasks import task_pages

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "https://github.com/creval/creval/blob/main/"
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s#:]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^(```.*?^```\s*?$)", re.MULTILINE | re.DOTALL)


def pages() -> Mapping[Path, str]:
    """Return each page's file in the repository, with its path on the site."""
    found = {ROOT / "README.md": "index.md"}
    for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"):
        found[ROOT / name] = name
    for file in sorted((ROOT / "docs").glob("*.md")):
        found[file] = f"docs/{file.name}"
    for file in sorted((ROOT / "docs" / "papers").glob("*.md")):
        found[file] = f"docs/papers/{file.name}"
    for file in sorted((ROOT / "plugins").glob("*/README.md")):
        found[file] = f"plugins/{file.parent.name}.md"
    for file in sorted((ROOT / "plugins").glob("*/CHANGELOG.md")):
        found[file] = f"plugins/{file.parent.name}-changes.md"
    return found


def relinked(text: str, file: Path, known: Mapping[Path, str]) -> str:
    """Return a page's text with links that hold on the site. Raises SystemExit for a link to nothing."""
    here = posixpath.dirname(known[file])

    def link(match: re.Match[str]) -> str:
        label, target, anchor = match[1], match[2], match[3] or ""
        path = (file.parent / target).resolve()
        if path in known:
            return f"{label}({posixpath.relpath(known[path], here or '.')}{anchor})"
        if not path.exists():
            raise SystemExit(f"{file.relative_to(ROOT)} links to {target}, which is not there")
        if path.suffix in (".png", ".svg"):
            return f"{label}({posixpath.relpath(path.relative_to(ROOT).as_posix(), here or '.')})"
        return f"{label}({SOURCE}{path.relative_to(ROOT).as_posix()}{anchor})"

    parts = FENCE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def plugin_list() -> str:
    """Return the page that lists the plugins."""
    lines = ["# Plugins", "", "Each is a distribution of its own with its own version.", ""]
    for file in sorted((ROOT / "plugins").glob("*/README.md")):
        text = file.read_text(encoding="utf-8").splitlines()
        sentence = next((line for line in text[1:] if line and not line.startswith(("#", "`", "|", "["))), "")
        lines.append(
            f"- [{file.parent.name}]({file.parent.name}.md) ([changes]({file.parent.name}-changes.md)): {sentence}"
        )
    return "\n".join([*lines, ""])


def make(folder: Path) -> None:
    """Write every page into a folder, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    known = pages()
    texts = {place: relinked(file.read_text(encoding="utf-8"), file, known) for file, place in known.items()}
    texts["plugins/index.md"] = plugin_list()
    texts |= task_pages()
    for place, text in texts.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    for image in [*(ROOT / "docs").rglob("*.png"), *(ROOT / "docs").rglob("*.svg")]:
        target = folder / image.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(image, target)


if __name__ == "__main__":
    os.chdir(ROOT)
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site-pages")
