"""What creval-analyses needs of the core: to open models, roles, resources and docs as a run does.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.data.open_dataset import open_dataset
from creval.engine.event_loop import drive
from creval.engine.roles.context import OpenResources, RoleAccess, TaskContext, chosen_resources, resource_options_of
from creval.engine.roles.ledger import CallOrigin, Ledger, question_key
from creval.engine.roles.role_models import TARGET, RoleModels, model_options
from creval.models.budget import Budget
from creval.models.model import Model
from creval.plugins.loader import load_plugins
from creval.plugins.registry import Component
from creval.runs.call_journal import CallJournal
from creval.runs.folder import RunFolder
from creval.runs.lock import RunLock
from creval.runs.trust import Claims, names_a_file
from creval.tasks.index import TaskIndex
from creval.tasks.task_model import Task
