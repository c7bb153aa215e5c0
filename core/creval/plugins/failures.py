"""What is known of a plugin that failed, and the fence inside which plugin code is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from creval.errors import CrevalError

__all__ = ["PluginFailure", "failure_of"]


@dataclass(frozen=True, slots=True)
class PluginFailure:
    """A plugin that is left out. `error` says what happened in one line; `cause` is the exception, with traceback."""

    name: str
    distribution: str
    error: str
    cause: BaseException | None = None

    def __str__(self) -> str:
        return f"plugin {self.name} (distribution {self.distribution}): {self.error}"


def failure_of(name: str, distribution: str, when: str, action: Callable[[], object]) -> PluginFailure | None:
    """Run a piece of plugin code. Whatever it raises, SystemExit included, is returned as its failure.

    KeyboardInterrupt passes: it is the user's.
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
