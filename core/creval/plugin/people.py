"""Parts of the core for creval-people: beginning and resuming runs, finding tasks, screens and scores.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.cli.run_summary import ending
from creval.engine.roles.role_models import TARGET
from creval.engine.run import resume, run_new
from creval.engine.run_options import Consents, Resuming, RunOptions
from creval.engine.setup import open_plans
from creval.engine.steps import Finished
from creval.escape import visible
from creval.format import cell
from creval.models.model_options import RunTasks
from creval.models.model_stats import ModelStats
from creval.plugins.loader import load_plugins
from creval.runs.folder import RunFolder
from creval.runs.jsonl import DiskError
from creval.runs.run_commands import resume_command
from creval.runs.task_copies import tasks_here
from creval.runs.trust import made_here
from creval.tasks.index import TaskIndex
from creval.tasks.task_model import Task
from creval.tasks.templates.rendering import render
