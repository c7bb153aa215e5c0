"""creval: a plugin-based benchmark registry and runner for creativity and reasoning of language models.

The names below are the whole public Python API; everything is imported on first use.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers know the name; `typing` would hold up the start, and Ctrl-C within it
if TYPE_CHECKING:
    from creval.api import RunOptions, RunResult, run
    from creval.comparison.compare_runs import Compared, compare
    from creval.errors import CrevalError
    from creval.runs.reader import Run, open_run

    __version__: str

__all__ = [
    "Compared",
    "CrevalError",
    "Run",
    "RunOptions",
    "RunResult",
    "__version__",
    "compare",
    "open_run",
    "run",
]

_HOMES = {
    "RunOptions": "creval.api",
    "RunResult": "creval.api",
    "run": "creval.api",
    "Compared": "creval.comparison.compare_runs",
    "compare": "creval.comparison.compare_runs",
    "CrevalError": "creval.errors",
    "Run": "creval.runs.reader",
    "open_run": "creval.runs.reader",
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a public name when it is first asked for (PEP 562)."""
        import importlib

        if name == "__version__":
            from importlib.metadata import version

            return version("creval")
        if name in _HOMES:
            return getattr(importlib.import_module(_HOMES[name]), name)
        raise AttributeError(f"module 'creval' has no attribute {name!r}")

    def __dir__() -> list[str]:
        """List the public names, imported or not."""
        return sorted({*globals(), *__all__} - {"TYPE_CHECKING", "annotations"})
