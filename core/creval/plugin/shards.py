"""Parts of the core for creval-shards: plans, the lines of run folders, the ledger, scores and their aggregation.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.api import RunResult
from creval.cli.runner import command_line
from creval.engine.manifest import core_version, now, options_data, read_options, start_manifest
from creval.engine.planning.plan import TaskPlan, asked_people
from creval.engine.planning.sample_ranks import DoneRanks, Ranking
from creval.engine.planning.shards import Shard, parse_shard
from creval.engine.roles.ledger import Ledger, UsageTally, reusable
from creval.engine.roles.role_models import TARGET
from creval.engine.run_options import MAY_DIFFER, RunOptions
from creval.engine.scoring.aggregate import TaskUsage, aggregate_task, task_results
from creval.engine.scoring.tally import empty_tally
from creval.engine.scoring.used_resources import UsedResources
from creval.engine.setup import open_plans
from creval.engine.snapshot import keep_files
from creval.escape import visible
from creval.models.answers.read_answers import READING_VERSION, reading_version
from creval.opener import open_plain, read_json
from creval.plugins.loader import Plugins, load_plugins
from creval.report.baselines import find_baselines
from creval.report.result_tables import print_results
from creval.runs.call_journal import CallJournal
from creval.runs.folder import FORMAT_VERSION, REDO_STATUSES, RunFolder
from creval.runs.jsonl import Line, disk_error, dump_line, pieces, whole_lines
from creval.runs.lock import RunLock
from creval.runs.media import MediaFolder
from creval.runs.run_commands import resume_command
from creval.runs.schemas import check_manifest, check_results
from creval.runs.task_copies import tasks_here
from creval.runs.trust import MADE_HERE, Claims
