"""Which installed distributions name an entry point of group `creval`.

Reads the same files as `importlib.metadata` (`*.dist-info/entry_points.txt` and `METADATA` on the import path),
because importing that module alone costs more than the rest of a start.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Distribution", "absent_distribution", "find_distributions", "installed_version"]

GROUP = "creval"
_KNOWN_ELSEWHERE = {("sandbox", "bubblewrap"): "creval-sandbox", ("provider", "human"): "creval-people"}
"""Components by kind and name that have a distribution of their own."""
_REQUIREMENT = re.compile(r"creval(?![\w.-])\s*(?:\[[^\]]*\])?\s*\(?([^;)]*)\)?\s*(?:;(.*))?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Distribution:
    """An installed distribution that names plugins.

    `plugins` are (plugin name, target) pairs, the target a module or `module:attribute`. `core_api` is the
    requirement on the distribution `creval` (`>=0.1,<0.2`; empty: none stated). `folder` is its dist-info.
    """

    name: str
    version: str
    core_api: str
    plugins: Sequence[tuple[str, str]]
    folder: Path


def find_distributions(path: Sequence[str] | None = None) -> Sequence[Distribution]:
    """Return the distributions on `path` (default: sys.path) with entry points of group `creval`, sorted by name.

    Of two copies of one distribution the one first on the path counts, as it does for imports.
    """
    found: dict[str, Distribution] = {}
    for folder in _metadata_folders(sys.path if path is None else path):
        plugins = _entry_points(folder)
        if plugins:
            name, version, core_api = _metadata(folder)
            found.setdefault(_normal(name), Distribution(name, version, core_api, plugins, Path(folder)))
    return [found[name] for name in sorted(found)]


def installed_version(name: str, path: Sequence[str] | None = None) -> str | None:
    """Return the version of an installed distribution, or None."""
    for folder in _metadata_folders(sys.path if path is None else path):
        if _normal(Path(folder).name).startswith(_normal(name)):
            found, version, _ = _metadata(folder)
            if _normal(found) == _normal(name):
                return version
    return None


def absent_distribution(kind: str, name: str) -> str | None:
    """Return the distribution that brings a component of this name, where one is known and not installed."""
    known = _KNOWN_ELSEWHERE.get((kind, name))
    return known if known is not None and installed_version(known) is None else None


def _metadata_folders(path: Sequence[str]) -> Iterator[str]:
    """Yield dist-info folders as text: at every start there are hundreds, and Path objects would cost milliseconds."""
    for entry in dict.fromkeys(path):
        try:
            names = os.listdir(entry or ".")  # noqa: PTH208
        except OSError:
            continue
        for name in sorted(names):
            if name.endswith((".dist-info", ".egg-info")):
                yield f"{entry or '.'}/{name}"


def _entry_points(folder: str) -> list[tuple[str, str]]:
    try:
        with open(f"{folder}/entry_points.txt", "rb") as file:  # noqa: PTH123
            content = file.read()
    except OSError:
        return []
    if GROUP.encode() not in content:
        return []
    plugins = []
    section = ""
    for line in content.decode("utf-8", "replace").splitlines():
        text = line.strip()
        if text.startswith("[") and text.endswith("]"):
            section = text[1:-1].strip()
        elif section == GROUP and "=" in text and not text.startswith(("#", ";")):
            name, _, target = text.partition("=")
            plugins.append((name.strip(), target.partition("[")[0].strip()))
    return plugins


def _metadata(folder: str) -> tuple[str, str, str]:
    """Return name, version and the requirement on creval from the metadata's header."""
    stem = Path(folder).name.rsplit(".", 1)[0]
    name, _, version = stem.partition("-")
    clauses: list[str] = []
    for line in _header(folder):
        key, _, value = line.partition(":")
        value = value.strip()
        if key == "Name":
            name = value
        elif key == "Version":
            version = value
        elif key == "Requires-Dist":
            match = _REQUIREMENT.match(value)
            # A requirement of an extra says nothing about the plugin itself.
            if match and "extra" not in (match[2] or ""):
                clauses.append(match[1].strip())
    # "creval @ file:..." pins a place, not a version.
    return name, version, ",".join(clause for clause in clauses if clause and not clause.startswith("@"))


def _header(folder: str) -> Iterator[str]:
    for file_name in ("METADATA", "PKG-INFO"):
        try:
            with open(f"{folder}/{file_name}", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                for line in file:
                    if not line.strip():
                        return
                    yield line
            return
        except OSError:
            continue


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
