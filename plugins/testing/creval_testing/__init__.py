"""What the tests of a plugin import, and the fixtures that come with it: a plugin of pytest.

    from creval_testing import conformance

    TestConformance = conformance("rhymes")

The fixtures are there wherever creval-testing is installed; nothing has to be imported for them:

- `run_task(task, model, ...)` runs a task in a temporary folder and returns its `RunResult`;
- `scripted_model(says)` and `scripted_judge(says)` are models that say what a test states;
- `replay(lines)` is a model that says what was recorded;
- `run_folder` is the place of a run that does not exist yet.

Their names follow semantic versioning, as those of `creval.plugin` do (docs/testing.md). They are imported when the
first of them is used (PEP 562): each start of creval imports this package for its entry point, and needs no pytest.
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
        """List the names, imported or not: pytest looks for fixtures here."""
        return sorted({*globals(), *__all__})
