"""Calls of the observer hooks, each plugin in isolation: one that raises is left out from then on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.plugins.failures import PluginFailure, failure_of

if TYPE_CHECKING:
    import pluggy

    from creval.types.sample import ScoreRecord

__all__ = ["HookCalls", "PluginHooks"]


class PluginHooks:
    """The pluggy manager of one plugin that was loaded."""

    def __init__(self, name: str, distribution: str, manager: pluggy.PluginManager) -> None:
        self.name = name
        self.distribution = distribution
        self._manager = manager

    def implements(self, hook: str) -> bool:
        return bool(getattr(self._manager.hook, hook).get_hookimpls())

    def call(self, hook: str, **arguments: Any) -> Sequence[Any]:
        results: Sequence[Any] = getattr(self._manager.hook, hook)(**arguments)
        return results


class HookCalls:
    """The observers of all plugins. Each method calls every plugin that implements the hook of its name.

    A plugin that raises is reported in `failures`, is not called again, and stops neither the run nor the others. Each
    plugin is given copies of its own: what it does to them changes neither the run nor what the others see.
    """

    def __init__(self, plugins: Sequence[PluginHooks] = ()) -> None:
        self._observers = {hook: [plugin for plugin in plugins if plugin.implements(hook)] for hook in _OBSERVERS}
        self.failures: list[PluginFailure] = []

    @property
    def observers(self) -> frozenset[str]:
        """The names of the plugins that are told of runs."""
        return frozenset(plugin.name for plugins in self._observers.values() for plugin in plugins)

    def creval_run_started(self, manifest: Mapping[str, Any], folder: Path) -> None:
        """Tell every plugin that a run begins or resumes."""
        self._call("creval_run_started", manifest=manifest, folder=folder)

    def creval_sample_finished(self, score: ScoreRecord) -> None:
        """Tell every plugin that a sample has been scored."""
        if self._observers["creval_sample_finished"]:
            self._call("creval_sample_finished", score=score)

    def creval_run_finished(self, results: Mapping[str, Any], folder: Path) -> None:
        """Tell every plugin that results.json is written."""
        self._call("creval_run_finished", results=results, folder=folder)

    def _call(self, hook: str, **arguments: Any) -> None:
        for plugin in tuple(self._observers[hook]):
            failure = failure_of(
                plugin.name,
                plugin.distribution,
                f"in the hook {hook}",
                partial(_call_with_copies, plugin, hook, arguments),
            )
            if failure is not None:
                self.failures.append(failure)
                for observers in self._observers.values():
                    if plugin in observers:
                        observers.remove(plugin)


def _call_with_copies(plugin: PluginHooks, hook: str, arguments: Mapping[str, Any]) -> None:
    plugin.call(hook, **deepcopy(dict(arguments)))


_OBSERVERS = ("creval_run_started", "creval_sample_finished", "creval_run_finished")
