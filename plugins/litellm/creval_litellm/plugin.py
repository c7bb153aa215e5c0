"""The provider that creval-litellm registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import hookimpl

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the provider `litellm`, for names that no other provider claims."""
    registry.add("provider", "litellm", "creval_litellm.provider:litellm", "every provider that litellm knows")
