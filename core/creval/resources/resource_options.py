"""The options that every resource gets when it is opened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from creval.user_folders import cache_folder

__all__ = ["ResourceOptions"]


@dataclass(frozen=True, slots=True)
class ResourceOptions:
    """Settings of a run that are passed to the factory of every resource.

    `offline` forbids the network. `cache` is the folder for vectors, models and embeddings that outlive the run
    (None: `cache_folder()`). `persist` False keeps embedded texts in memory only. `device` is the torch device
    (`cpu`, `cuda:0`; None: the library's choice). An encoder gets `batch_size` texts at once. With `trust_remote_code`
    program code from a model's folder or hub page may run; it can only be set on the command line.
    """

    offline: bool = False
    cache: Path | None = None
    persist: bool = True
    device: str | None = None
    batch_size: int = 64
    trust_remote_code: bool = False

    @property
    def folder(self) -> Path:
        """The effective cache folder."""
        return self.cache if self.cache is not None else cache_folder()
