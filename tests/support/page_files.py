"""The files that a page shows, each named in backticks before its block, written as a reader would."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

__all__ = ["shown_files", "write_plugin", "write_shown"]

_SHOWN = re.compile(r"`([\w./-]+\.\w+)`[^`]*:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown_files(text: str) -> dict[str, str]:
    """Return the files of a page by their names."""
    return dict(_SHOWN.findall(text))


def write_shown(files: Mapping[str, str], folder: Path) -> None:
    """Write them below a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def write_plugin(files: Mapping[str, str], folder: Path) -> None:
    """Write the files of the plugin of docs/plugins.md, with what installing it would leave next to them."""
    write_shown(files, folder)
    info = folder / "creval_alliteration-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: creval-alliteration\nVersion: 1.0.0\nRequires-Dist: creval>=0.1,<0.2\n")
    points = files["pyproject.toml"].split("[project.entry-points.creval]\n")[1].replace('"', "")
    (info / "entry_points.txt").write_text(f"[creval]\n{points}")
