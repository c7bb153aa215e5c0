"""What this plugin registers. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping

from creval.plugin import hookimpl

__all__ = ["creval_commands"]


@hookimpl
def creval_commands() -> Mapping[str, str]:
    """Return the commands. The root command of creval names them too: `creval push` is `creval hub push`."""
    return {name: f"creval_hub.cli.{name}:{name}" for name in ("export", "pull", "push")}
