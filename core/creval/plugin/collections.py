"""Collections of tasks: tasks of another tool, listed by name and written as task files on first use.

Promised: these names follow semantic versioning. The hook `creval_task_collection` names a `TaskCollection`. `State` is
the user's folder for digests of trusted files; `cache_folder` is for task files and indexes;
`installed_version` reads no more of a distribution than its name and version.
"""

from __future__ import annotations

from creval.plugins.distributions import installed_version
from creval.tasks.task_collections import CollectedTask, TaskCollection
from creval.user_folders import State, cache_folder

__all__ = ["CollectedTask", "State", "TaskCollection", "cache_folder", "installed_version"]
