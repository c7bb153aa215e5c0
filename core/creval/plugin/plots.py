"""Parts of the core for creval-plot: results, floor and ceiling.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.api import RunResult, load_result
from creval.format import fold_name, number
from creval.report.baselines import find_baselines
from creval.report.metric_choice import MetricChoice, chosen
