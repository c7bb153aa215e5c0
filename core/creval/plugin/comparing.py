"""Parts of the core for creval-compare: runs and their metrics, clusters and intervals, tables.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.api import RunResult
from creval.cli.report_layout import LaidOut
from creval.engine.planning.seeds import derive
from creval.engine.scoring.aggregate import part_clusters, with_records
from creval.engine.scoring.tally import Grouping, TaskTally
from creval.escape import json_text, visible
from creval.format import cell, decimals, fold_name, html_table, number, shorten_list, without_empty
from creval.plugins.loader import load_plugins
from creval.report.baselines import Baselines
from creval.report.output_files import FORMATS, Emphasis, plain_data
from creval.report.result_tables import LEGEND, labels, run_notes
from creval.report.terminal_tables import FIT, GAP, line_width, print_table, table_console
from creval.runs.result_metrics import data_frame, namesakes
from creval.scoring.clusters import Clusters, Floats
from creval.scoring.combined import Combined, averaged
from creval.scoring.intervals import ANY, Scale, least_defined, quantile, resampled, transformed_interval
from creval.scoring.metric_estimate import CONFIDENCE, NO_VARIATION
from creval.scoring.ratio import Mean, Ratio, degrees_of_freedom, effective_docs
