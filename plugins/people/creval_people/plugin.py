"""The components of this plugin. Imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import hookimpl

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the provider. The commands `play` and `score-file` are in the core's list of commands."""
    registry.add("provider", "human", "creval_people.person:person", "a person answers: human/NAME")
