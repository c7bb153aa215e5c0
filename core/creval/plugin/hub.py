"""Parts of the core for creval-hub: run folders and their files, secrets of the environment, safe texts.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.escape import visible
from creval.models.secrets import Mask, redact, secret_variables
from creval.opener import open_plain, plain_size
from creval.runs.folder import RunFolder, file_name
from creval.runs.jsonl import dump_line
from creval.runs.record_data import score_data
from creval.runs.sweep_folder import without_leftovers
from creval.runs.trust import MADE_HERE
from creval.tasks.task_model import ComponentRef, Task
