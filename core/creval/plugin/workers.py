"""Parts of the core for creval-ray: opening a run's parts in another process, making and scoring its samples.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.engine.execution import RunContext
from creval.engine.generation.generate import store_sample
from creval.engine.generation.sampling import make_sample
from creval.engine.manifest import core_version, library_data, options_data, plugin_data, read_options
from creval.engine.planning.plan import TaskPlan
from creval.engine.rescoring import with_task_files
from creval.engine.roles.ledger import CallOrigin, Ledger
from creval.engine.roles.role_models import TARGET
from creval.engine.run_options import RunOptions
from creval.engine.scoring.scoring_step import score_stream, store_score
from creval.engine.setup import Common, Setup, open_plans, open_setup
from creval.engine.snapshot import copied_data, task_yaml
from creval.models.budget import Budget, Ticket
from creval.models.limiter import AdaptiveLimiter, LimiterPool, Slot
from creval.models.model import Model
from creval.models.model_stats import ModelStats
from creval.models.retries import RetryPolicy
from creval.models.secrets import redact
from creval.plugins.loader import LOCAL, Plugins, load_plugins
from creval.runs.folder import file_name
from creval.runs.record_data import read_sample, read_score, sample_data
from creval.runs.run_commands import CONSENTS
from creval.tasks.task_model import Task
from creval.tasks.task_paths import is_path, parse_path
from creval.types.reply_json import (
    lost_from_json,
    lost_to_json,
    reply_from_json,
    reply_to_json,
)
from creval.types.tools import tool_calls_from_json
