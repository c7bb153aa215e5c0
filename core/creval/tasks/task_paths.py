"""Names and paths of tasks and data files: which of both a text is, which plugin owns a file, where files may be."""

from __future__ import annotations

import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from creval.plugins.loader import LOCAL, PluginInfo

__all__ = [
    "FILE_KEY",
    "PATHS_FOLLOW",
    "STRAY_FIX",
    "Owner",
    "TaskFile",
    "find_data_file",
    "is_path",
    "is_pattern",
    "is_pipe",
    "names_a_stray",
    "names_an_address",
    "package_around",
    "parse_path",
    "parts_of_name",
    "search_folders",
    "strays",
]


class Owner(NamedTuple):
    """The plugin that a task file belongs to; `package` is the folder of its package."""

    plugin: str = LOCAL
    version: str = "0"
    package: Path | None = None

    @classmethod
    def of(cls, info: PluginInfo | None) -> Owner:
        return cls() if info is None else cls(info.name, info.version, info.folder)


FILE_KEY = "x-file"
"""A mark in the parameter schema of a dataset source: the parameter names a file."""

PATHS_FOLLOW = ("replay", "file")
"""Providers and resources whose names contain a path."""

STRAY_FIX = "Put it into that folder, or give it on the command line: --data TASK=FILE"

_WITH_VARIANT = r"(?s)(.+\.ya?ml):([^:/\\]+)"


class TaskFile(NamedTuple):
    """The location of a task: its file and, for a member of a family, the variant (None: the file itself)."""

    file: Path
    variant: str | None = None

    def __str__(self) -> str:
        return str(self.file) if self.variant is None else f"{self.file}:{self.variant}"


def search_folders(base: Path, package: Path | None) -> Sequence[Path]:
    """Return the folders in which a relative name is looked up: that of the YAML file, then the plugin's package."""
    return [base] if package is None or package == base else [base, package]


def package_around(base: Path) -> Path | None:
    """Return the package with the task folder `base`: a task included from elsewhere still finds its package's data."""
    return base.parent if (base.parent / "__init__.py").is_file() else None


def find_data_file(name: str, folders: Sequence[Path]) -> Path | None:
    """Return the first file of this name in the folders, or None; links out of them (`strays`) do not count."""
    return next((file for folder in folders if not strays(file := folder / name, folders) and file.is_file()), None)


def strays(file: Path, folders: Sequence[Path]) -> bool:
    """Whether a file that a task file names is outside of all these folders; links are followed.

    A task file may come from anyone: it may only read files in its own folder or in the package of its plugin.
    """
    try:
        real = file.resolve()
        return not any(real.is_relative_to(folder.resolve()) for folder in folders)
    except (OSError, RuntimeError, ValueError):
        return True


def parts_of_name(name: str) -> Sequence[str]:
    """Return what may be a path in a model's name without provider: all of it, the part before `?`, option values."""
    head, _, options = name.partition("?")
    return [name, head, *(option.partition("=")[2] for option in options.split("&"))]


def names_a_stray(spec: str, folder: Path) -> bool:
    """Whether the name of a model or resource in a task file is an address, or a path out of the file's folder."""
    first, _, rest = spec.strip().partition("/")
    if first in PATHS_FOLLOW:  # opened relative to the working directory
        return strays(Path(rest).expanduser(), [folder])
    parts = parts_of_name(rest)
    return any(part.startswith(("/", "~")) or ".." in Path(part).parts for part in parts) or names_an_address(spec)


def names_an_address(spec: str) -> bool:
    """Whether the name of a model contains an address, to which some of litellm's providers send calls and keys."""
    return "://" in spec


def is_path(text: str) -> bool:
    """Whether a text names a file, not a task: it ends in .yaml or .yml, or starts with ./ ../ / ~ or a drive.

    A variant may follow the file: `./drat.yaml:k2`. Only the form of the text counts, not which files exist: a folder
    with the name of a task makes no difference.
    """
    text = parse_path(text).file.as_posix() if ":" in text and re.fullmatch(_WITH_VARIANT, text) else text
    starts = ("./", "../", "/", "~", ".\\", "..\\")
    return text.endswith((".yaml", ".yml")) or text.startswith(starts) or text[1:3] == ":\\"


def parse_path(text: str) -> TaskFile:
    """Return the file and the variant that a path names: `drat.yaml`, `./drat.yaml:k2`."""
    match = re.fullmatch(_WITH_VARIANT, text) if ":" in text else None
    return TaskFile(Path(match[1]).expanduser(), match[2]) if match else TaskFile(Path(text).expanduser())


def is_pattern(text: str) -> bool:
    """Whether a text is a pattern: it contains `*`, `?` or `[`, which names do not."""
    return any(mark in text for mark in "*?[")


def is_pipe(file: Path) -> bool:
    """Whether a file is a pipe on which reading could block; `<(...)` of the shell is not."""
    return stat.S_ISFIFO(file.stat().st_mode) and not str(file).startswith(("/dev/", "/proc/"))
