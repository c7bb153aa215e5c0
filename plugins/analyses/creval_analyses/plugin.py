"""Makes creval-analyses a plugin that `creval plugins` lists. Its command is in the core's list of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import hookimpl

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register nothing: a command is not a component."""
