"""Where everything lives that may be kept across runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder: CREVAL_CACHE, else `creval` in XDG_CACHE_HOME or in the user's ~/.cache."""
    own = environment.get("CREVAL_CACHE")
    if own:
        return Path(own).expanduser()
    return Path(environment.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "creval"
