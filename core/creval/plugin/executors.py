"""How a plugin carries out the samples of a run: the types of an executor, a component of kind `executor`.

Promised: these names follow semantic versioning.
"""

from __future__ import annotations

from creval.types.execution import ExecutionContext, Executor, ItemResult, ScoreSink, WorkItem

__all__ = ["ExecutionContext", "Executor", "ItemResult", "ScoreSink", "WorkItem"]
