"""Parts of the core for creval-sweeps: runs new and resumed, what runs of a sweep share, plans and their prices.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.api import RunResult
from creval.cli.option_values import executor_of
from creval.cli.report_layout import lay_out
from creval.cli.run_summary import ending, last_words
from creval.cli.runner import command_line
from creval.cli.signals import fix_shown
from creval.engine.event_loop import DRIVER, drive
from creval.engine.execution import open_executor
from creval.engine.generation.session import LiveSession, TaskRuntime
from creval.engine.manifest import options_data, read_options
from creval.engine.observer import Observer
from creval.engine.planning.plan import TaskPlan, asks_people
from creval.engine.progress.terminal import watch_several
from creval.engine.resuming.resume_state import spent_by
from creval.engine.roles.context import OpenResources, resource_options_of
from creval.engine.roles.role_models import TARGET, model_options
from creval.engine.run import SweepLimits, resume, run_new
from creval.engine.run_options import MAY_DIFFER, RunOptions
from creval.engine.setup import Setup, open_plans, open_setup
from creval.engine.shared_answers import with_shared
from creval.engine.snapshot import keep_files
from creval.engine.steps import Finished
from creval.errors import Problem, TaskError
from creval.escape import visible
from creval.interruption import CURRENT
from creval.models.batching import open_batching
from creval.models.budget import Budget
from creval.models.limiter import LimiterPool
from creval.models.local.baseline_provider import check_baseline_name
from creval.models.model_options import ModelOptions
from creval.models.open_model import listed_price, open_model
from creval.models.prices import Price
from creval.models.providers.addresses import HIDDEN
from creval.plugins.loader import Plugins, load_plugins
from creval.report.baselines import find_baselines
from creval.resources.open_resource import CALLS_A_PAIR, PROMPT_BYTES
from creval.runs.folder import RunFolder
from creval.runs.lock import RunLock
from creval.runs.run_commands import CONSENTS
from creval.runs.sweep_folder import run_names
from creval.runs.trust import MADE_HERE, Claims
from creval.tasks.index import TaskIndex
from creval.tasks.prompt_overrides import with_system
from creval.tasks.sections.resource_section import role_behind
from creval.tasks.task_model import Task
from creval.tasks.task_paths import is_path, parse_path
from creval.tasks.yaml.nodes import Node, plain, problem_at
from creval.tasks.yaml.schema import named_validator, problems_of
from creval.tasks.yaml.yaml_reader import read_yaml
from creval.types.execution import WorkItem
