"""What creval-page needs of the core to write runs as a page: runs, samples, floor and ceiling, papers' numbers.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.engine.planning.check_plans import pinned_providers, provider_advice
from creval.engine.run_options import RunOptions
from creval.opener import plain_size, read_bytes
from creval.plugins.loader import load_plugins
from creval.report.baselines import Baselines, find_baselines
from creval.report.output_files import write_text
from creval.report.sample_views import Seen, judge_calls, seen_samples, transcript
from creval.runs.folder import file_name
from creval.runs.media import MediaFolder
from creval.tasks.yaml.nodes import plain
from creval.tasks.yaml.yaml_reader import read_yaml_text
from creval.types.content import data_url, media_type_of

__all__ = [
    "Baselines",
    "MediaFolder",
    "RunOptions",
    "Seen",
    "data_url",
    "file_name",
    "find_baselines",
    "judge_calls",
    "load_plugins",
    "media_type_of",
    "pinned_providers",
    "plain",
    "plain_size",
    "provider_advice",
    "read_bytes",
    "read_yaml_text",
    "seen_samples",
    "transcript",
    "write_text",
]
