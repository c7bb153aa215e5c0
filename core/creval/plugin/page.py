"""What creval-page needs of the core to write runs as a page: runs, samples, floor and ceiling, papers' numbers.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.engine.planning.check_plans import pinned_providers, provider_advice
from creval.engine.run_options import RunOptions
from creval.escape import json_text, visible
from creval.opener import plain_size, read_bytes
from creval.plugins.loader import load_plugins
from creval.report.baselines import Baselines, find_baselines
from creval.report.output_files import csv_text, write_text
from creval.runs.folder import file_name
from creval.runs.media import MediaFolder
from creval.runs.sample_rows import sample_row
from creval.runs.sweep_folder import expand_runs
from creval.runs.text_references import RunTexts
from creval.tasks.yaml.nodes import plain
from creval.tasks.yaml.yaml_reader import read_yaml_text
from creval.types.content import data_url, media_file_name, media_type_of

__all__ = [
    "Baselines",
    "MediaFolder",
    "RunOptions",
    "RunTexts",
    "csv_text",
    "data_url",
    "expand_runs",
    "file_name",
    "find_baselines",
    "json_text",
    "load_plugins",
    "media_file_name",
    "media_type_of",
    "pinned_providers",
    "plain",
    "plain_size",
    "provider_advice",
    "read_bytes",
    "read_yaml_text",
    "sample_row",
    "visible",
    "write_text",
]
