"""The components of this plugin. Imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import hookimpl

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the provider."""
    registry.add(
        "provider",
        "hf",
        "creval_hf.provider:HfProvider",
        "hf/ORG/NAME or hf/./folder: a model of the Hugging Face Hub in this process, by transformers",
        loglikelihood=True,
    )
