"""Runs the code of plugins in isolation, so that a plugin that fails does not affect the others.

Output that plugin code prints goes to standard error, never into a command's output.

Of the observers a plugin that raises is not called again.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from creval.errors import CrevalError

if TYPE_CHECKING:
    import pluggy

    from creval.types.sample import ScoreRecord

__all__ = ["HookCalls", "PluginFailure", "PluginHooks", "aside", "failure_of"]


class _Aside:
    """Counts users over all threads: `contextlib.redirect_stdout` in two threads at once never restores the output."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before: TextIO | None = None

    def enter(self) -> None:
        with self._lock:
            if not self._inside:
                self._before, sys.stdout = sys.stdout, sys.stderr
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._before is not None:
                sys.stdout, self._before = self._before, None


_ASIDE = _Aside()


@contextmanager
def aside() -> Iterator[None]:
    """Redirect printed output to standard error; safe in several threads at once."""
    _ASIDE.enter()
    try:
        yield
    finally:
        _ASIDE.leave()


class PluginFailure(NamedTuple):
    """A plugin that could not be used. `error` is one line; `cause` is the exception, with traceback."""

    name: str
    distribution: str
    error: str
    cause: BaseException | None = None

    def __str__(self) -> str:
        return f"plugin {self.name} (distribution {self.distribution}): {self.error}"


def failure_of(name: str, distribution: str, when: str, action: Callable[[], object]) -> PluginFailure | None:
    """Run plugin code and return what it raises, including SystemExit, as its failure.

    KeyboardInterrupt, which comes from the user, is not caught.
    """
    try:
        action()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return PluginFailure(name, distribution, f"{_describe(error)} {when}".strip(), error)
    return None


def _describe(error: BaseException) -> str:
    if isinstance(error, CrevalError):
        text = error.what
    elif isinstance(error, SystemExit):
        text = f"it tried to end the program (SystemExit: {error.code})"
    else:
        text = f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:500]


class PluginHooks:
    """The pluggy manager of one loaded plugin."""

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

    A plugin that raises is reported in `failures` and not called again; the run and the other plugins go on. Each
    plugin gets its own copies, so changing them affects neither the run nor the other plugins.
    """

    def __init__(self, plugins: Sequence[PluginHooks] = ()) -> None:
        self._observers = {hook: [plugin for plugin in plugins if plugin.implements(hook)] for hook in _OBSERVERS}
        self.failures: list[PluginFailure] = []

    @property
    def observers(self) -> frozenset[str]:
        """The names of the plugins that are notified of runs."""
        return frozenset(plugin.name for plugins in self._observers.values() for plugin in plugins)

    def creval_run_started(self, manifest: Mapping[str, Any], folder: Path) -> None:
        """Notify every plugin that a run begins or resumes."""
        self._call("creval_run_started", manifest=manifest, folder=folder)

    def creval_sample_finished(self, score: ScoreRecord) -> None:
        """Notify every plugin that a sample has been scored."""
        if self._observers["creval_sample_finished"]:
            self._call("creval_sample_finished", score=score)

    def creval_run_finished(self, results: Mapping[str, Any], folder: Path) -> None:
        """Notify every plugin that results.json is written."""
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
