"""creval: a plugin-based benchmark registry and runner for creativity and reasoning of language models.

The names below are the whole public Python API; everything is imported on first use.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers know the name; importing `typing` would delay the start, and Ctrl-C during it
if TYPE_CHECKING:
    from creval.api import RunOptions, RunResult, run
    from creval.errors import CrevalError
    from creval.runs.reader import Run, open_run
    from creval_compare.compare_runs import Compared, compare

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

_MODULES = {
    "RunOptions": "creval.api",
    "RunResult": "creval.api",
    "run": "creval.api",
    "Compared": "creval_compare.compare_runs",
    "compare": "creval_compare.compare_runs",
    "CrevalError": "creval.errors",
    "Run": "creval.runs.reader",
    "open_run": "creval.runs.reader",
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a public name on first use (PEP 562)."""
        import importlib

        if name == "__version__":
            from importlib.metadata import version

            return version("creval")
        if name in _MODULES:
            try:
                return getattr(importlib.import_module(_MODULES[name]), name)
            except ModuleNotFoundError as error:
                if not str(error.name).startswith("creval_compare"):
                    raise
            from creval.errors import MissingPartError

            fix = "Install it: pip install creval-compare"
            raise MissingPartError(f"creval.{name} is in creval-compare, which is not installed", fix=fix)
        raise AttributeError(f"module 'creval' has no attribute {name!r}")

    def __dir__() -> list[str]:
        """List the public names, imported or not."""
        return sorted({*globals(), *__all__} - {"TYPE_CHECKING", "annotations"})
