"""How datasets are opened."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from creval.user_folders import cache_folder

__all__ = ["DataOptions"]


@dataclass(frozen=True, slots=True)
class DataOptions:
    """Settings of one opening.

    `offline` forbids the network. `replacement` is a local file that takes the dataset's place (`--data TASK=FILE`).
    `mirror` is a folder with local copies of remote datasets (CREVAL_DATA). `cache` keeps downloads. `seed` is the
    run's seed, for sources that draw. `task` and `package` are filled in by `open_dataset` from the task.
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
        """Return the options that the variables CREVAL_DATA and CREVAL_CACHE ask for."""
        mirror = environment.get("CREVAL_DATA")
        return cls(
            offline=offline,
            mirror=Path(mirror).expanduser() if mirror else None,
            cache=cache_folder(environment),
        )
