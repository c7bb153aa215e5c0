"""Parts of the core for creval-page: folders, samples, floor and ceiling, papers' numbers.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.engine.planning.check_plans import pinned_providers, provider_advice
from creval.engine.run_options import RunOptions
from creval.escape import json_text, visible
from creval.opener import UnsafeFileError, open_plain, plain_size, read_bytes
from creval.plugins.loader import load_plugins
from creval.report.baselines import Baselines, find_baselines
from creval.report.output_files import csv_text, write_text
from creval.report.terminal_tables import cut, fits
from creval.runs.folder import RunFolder, file_name
from creval.runs.jsonl import Line, whole_lines
from creval.runs.media import MediaFolder
from creval.runs.record_data import read_sample, read_score
from creval.runs.sample_rows import sample_row
from creval.runs.sweep_folder import SWEEP_FILE, expand_runs, run_names, without_leftovers
from creval.runs.text_references import RunTexts
from creval.tasks.yaml.nodes import plain
from creval.tasks.yaml.yaml_reader import read_yaml_text
from creval.types.content import data_url, media_file_name, media_type_of
