"""Parts of the core for creval-agreement: the tasks, samples and scorings of a run, and files of labels.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.data.row_types import MalformedRow
from creval.engine.manifest import read_options
from creval.engine.run_options import RunOptions
from creval.engine.scoring.task_scoring import make_scoring
from creval.engine.setup import open_plans
from creval.plugins.loader import load_plugins
from creval.report.output_files import unguarded
from creval.runs.folder import RunFolder
from creval.runs.labelled import write_labelled
from creval.runs.task_copies import tasks_here
from creval.runs.text_references import with_doc, with_media
from creval.runs.trust import Claims
from creval.tasks.index import TaskIndex
