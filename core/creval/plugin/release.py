"""Parts of the core for creval-release: comparisons of runs, YAML files and their schemas, finding runs.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.cli.lazy_group import missing_distribution
from creval.errors import Problem, TaskError
from creval.escape import json_text, visible
from creval.format import decimals, number, without_empty
from creval.report.output_files import FORMATS
from creval.runs.result_metrics import namesakes
from creval.runs.sweep_folder import without_leftovers
from creval.tasks.yaml.nodes import Node, plain, problem_at
from creval.tasks.yaml.schema import named_validator, problems_of
from creval.tasks.yaml.yaml_reader import read_yaml
from creval.user_folders import cache_folder
