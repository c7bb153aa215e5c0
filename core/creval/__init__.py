"""creval: a plugin-based benchmark registry and runner for creativity and reasoning of language models.

The names below are the whole public Python API; everything is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from creval.api import RunOptions, RunResult, run
    from creval.errors import CrevalError

__all__ = ["CrevalError", "RunOptions", "RunResult", "__version__", "run"]

_HOMES = {
    "RunOptions": "creval.api",
    "RunResult": "creval.api",
    "run": "creval.api",
    "CrevalError": "creval.errors",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    import importlib

    if name == "__version__":
        from importlib.metadata import version

        return version("creval")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'creval' has no attribute {name!r}")
