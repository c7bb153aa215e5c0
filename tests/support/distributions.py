"""Our distributions, found in the tree: a plugin that is added there joins every test of packaging by itself."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

__all__ = ["EXAMPLE", "PLUGINS", "ROOT", "SOURCES", "project"]

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = sorted(file.parent.name for file in (ROOT / "plugins").glob("*/pyproject.toml"))
EXAMPLE = ROOT / "examples" / "creval-wordchain"
SOURCES = {"core": ROOT, **{name: ROOT / "plugins" / name for name in PLUGINS}, EXAMPLE.name: EXAMPLE}
"""The folder of each: `core`, the plugins by their folders, the example."""


def project(name: str) -> dict[str, Any]:
    """Return what the pyproject.toml of a distribution says of it."""
    found: dict[str, Any] = tomllib.loads((SOURCES[name] / "pyproject.toml").read_text("utf-8"))["project"]
    return found
