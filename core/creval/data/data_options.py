"""Options for opening datasets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from creval.user_folders import cache_folder

__all__ = ["DataOptions"]


@dataclass(frozen=True, slots=True)
class DataOptions:
    """Settings for opening one dataset.

    `offline` forbids the network. `replacement` is a local file that replaces the dataset (`--data TASK=FILE`).
    `mirror` is a folder with local copies of remote datasets (CREVAL_DATA). `cache` is the folder for downloads. `seed`
    is the run's seed, for sources that sample. `open_dataset` sets `task` and `package` from the task.
    """

    offline: bool = False
    replacement: Path | None = None
    mirror: Path | None = None
    cache: Path = field(default_factory=cache_folder)
    seed: int = 0
    task: str = ""
    package: Path | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ, offline: bool = False) -> DataOptions:
        """Return the options from the variables CREVAL_DATA and CREVAL_CACHE."""
        mirror = environment.get("CREVAL_DATA")
        return cls(
            offline=offline,
            mirror=Path(mirror).expanduser() if mirror else None,
            cache=cache_folder(environment),
        )
