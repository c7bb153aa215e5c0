"""Parts of the core for creval-testing: tasks, their data, examples and parsers, runs, YAML checked by a schema.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.api import RunOptions, RunResult, run
from creval.data.check_task_data import check_components, check_fields
from creval.data.dataset import Dataset
from creval.data.mirror import REMOTE_KEY
from creval.data.open_dataset import open_dataset
from creval.engine.setup import open_plans
from creval.errors import TaskError
from creval.parsing.chain import build_chain
from creval.tasks.index import TaskIndex
from creval.tasks.task_model import ComponentRef, Said, Task
from creval.tasks.task_paths import FILE_KEY, TaskFile, find_data_file
from creval.tasks.templates.rendering import render_prompt
from creval.tasks.yaml.headers import TaskHeader
from creval.tasks.yaml.nodes import Node, plain
from creval.tasks.yaml.schema import named_validator, problems_of
from creval.tasks.yaml.yaml_reader import read_yaml
