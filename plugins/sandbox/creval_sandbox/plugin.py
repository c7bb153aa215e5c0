"""What this plugin registers. Imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import hookimpl

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the sandbox."""
    registry.add(
        "sandbox",
        "bubblewrap",
        "creval_sandbox.bubblewrap:open_bubblewrap",
        "Python and C++ programs under Linux namespaces; `bubblewrap/plain` uses one bubblewrap per program",
    )
