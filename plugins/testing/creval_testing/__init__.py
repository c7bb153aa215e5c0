"""Test helpers for plugins of creval: a pytest plugin with `conformance` and fixtures.

    from creval_testing import conformance

    TestConformance = conformance("rhymes")

The fixtures are available without an import if creval-testing is installed:

- `run_task(task, model, ...)` runs a task in a temporary folder and returns its `RunResult`;
- `scripted_model(says)` and `scripted_judge(says)` return models with scripted answers;
- `replay(lines)` returns a model that replays recorded answers;
- `run_folder` is the path of a run folder that does not exist yet.

Their names follow semantic versioning, as those of `creval.plugin` do (docs/testing.md). They are imported lazily
(PEP 562): each start of creval imports this package for its entry point, and must not require pytest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["conformance", "replay", "run_folder", "run_task", "scripted_judge", "scripted_model"]

if TYPE_CHECKING:
    from creval_testing.fixtures import conformance, replay, run_folder, run_task, scripted_judge, scripted_model
else:

    def __getattr__(name: str) -> object:
        """Return a name of `creval_testing.fixtures`."""
        if name not in __all__:
            raise AttributeError(f"module 'creval_testing' has no attribute {name!r}")
        import importlib

        return getattr(importlib.import_module("creval_testing.fixtures"), name)

    def __dir__() -> list[str]:
        """List the names, imported or not, since pytest looks for fixtures here."""
        return sorted({*globals(), *__all__})
