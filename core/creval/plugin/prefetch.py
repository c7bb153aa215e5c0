"""Parts of the core for `creval prefetch`: opening the data and resources of tasks.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.data.mirror import REMOTE_KEY
from creval.data.open_dataset import open_dataset
from creval.resources.open_resource import open_resource
from creval.tasks.index import TaskIndex
from creval.tasks.task_model import Task
