"""The hooks that a plugin may implement.

A plugin is a module (or object) named by an entry point of group `creval`:

    [project.entry-points.creval]
    mine = "creval_mine.plugin"

    # creval_mine/plugin.py
    from creval.plugin import hookimpl

    @hookimpl
    def creval_tasks():
        return [Path(__file__).parent / "tasks"]

Nothing heavy may be imported at the top of that module: components are named as `"module:attribute"` and
imported when first used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from creval.plugins.registry import Registry
    from creval.types.sample import ScoreRecord

__all__ = ["PROJECT", "Hooks", "hookimpl", "hookspec"]

PROJECT = "creval"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function (or method) of a plugin as the hook of its name; see the table of hooks in docs/plugins.md."""


class Hooks:
    """Specifications; the docstring of each is its reference."""

    @hookspec
    def creval_tasks(self) -> Sequence[Path]:  # type: ignore[empty-body]
        """Return folders of task YAML (searched one level deep; `suites/` inside them holds suites).

        Example: `return [Path(__file__).parent / "tasks"]`
        """

    @hookspec
    def creval_components(self, registry: Registry) -> None:
        """Register components.

        Example: `registry.add("scorer", "rhyme", "creval_mine.rhyme:Rhyme", produces=("rhyme",))`
        """

    @hookspec
    def creval_commands(self) -> Mapping[str, str]:  # type: ignore[empty-body]
        """Return commands under `creval <plugin> ...`: name -> `"module:attribute"` of a click command.

        Example: `return {"generate": "creval_kumo.cli.generate:generate"}`
        """

    @hookspec
    def creval_task_collection(self) -> str:  # type: ignore[empty-body]
        """Return `"module:attribute"` of a function that returns a `TaskCollection`: tasks written on first use.

        Example: `return "creval_lmeval.collection:LmEvalTasks"`
        """

    @hookspec
    def creval_run_started(self, manifest: Mapping[str, Any], folder: Path) -> None:
        """Called once when a run begins or resumes. Example: start a tracker with `manifest["command"]`."""

    @hookspec
    def creval_sample_finished(self, score: ScoreRecord) -> None:
        """Called when a sample has been scored. Example: count `score.status`."""

    @hookspec
    def creval_run_finished(self, results: Mapping[str, Any], folder: Path) -> None:
        """Called once when results.json is written. Example: send `results["tasks"]` somewhere."""
