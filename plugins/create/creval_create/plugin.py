"""What this plugin registers. Imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import hookimpl

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the parser."""
    registry.add(
        "parser",
        "create_paths",
        "creval_create.reading.parser:CreatePaths",
        "the numbered paths of triples in an answer, each read by itself",
    )
