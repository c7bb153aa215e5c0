"""Parts of the core for `creval validate`: task files and their problems, and a run of a task's stated answers.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.data.check_task_data import parsers_of, scorers_of
from creval.data.doc_fit import doc_problems
from creval.engine.generation.sampling import make_sample
from creval.engine.roles.context import OpenResources, with_roles
from creval.engine.roles.role_models import TARGET
from creval.engine.run_options import Consents
from creval.engine.setup import Common, Setup, open_resources, open_setup
from creval.errors import Problem
from creval.models.budget import Budget
from creval.models.limiter import LimiterPool
from creval.models.model import Model, ModelParts
from creval.models.model_options import ModelSpec
from creval.models.retries import RetryPolicy, SystemClock
from creval.tasks.index import yaml_files
from creval.tasks.load_task import load_task
from creval.tasks.suites import check_suite
from creval.tasks.task_model import ComponentRef, Example, ScorerRef
from creval.tasks.task_paths import is_path, is_pattern, parse_path
from creval.tasks.yaml.headers import Head, read_heads
from creval.types.execution import WorkItem
