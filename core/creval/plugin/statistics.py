"""Statistics for analyses: agreement between raters, means with intervals.

Promised: these names follow semantic versioning. It imports numpy.
"""

from __future__ import annotations

from creval.plugins.traits import Raters
from creval.scoring.agreement import agreement
from creval.scoring.metric_estimate import estimate_mean
from creval.types.metrics import Estimate

__all__ = ["Estimate", "Raters", "agreement", "estimate_mean"]
