"""Registers what `--batch` uses. Imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import hookimpl

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the scheduler of batches."""
    registry.add("batching", "batches", "creval_batches.scheduler:BatchScheduler", "calls through batch endpoints")
