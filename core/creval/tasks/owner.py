"""Whose task a file is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from creval.plugins.loader import LOCAL, PluginInfo

__all__ = ["Owner"]


@dataclass(frozen=True, slots=True)
class Owner:
    """The plugin that a task file belongs to; `package` is the folder of its package."""

    plugin: str = LOCAL
    version: str = "0"
    package: Path | None = None

    @classmethod
    def of(cls, info: PluginInfo | None) -> Owner:
        return cls() if info is None else cls(info.name, info.version, info.folder)
