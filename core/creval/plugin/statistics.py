"""Statistics for analyses: means with intervals; scores of several raters.

Promised: these names follow semantic versioning. It imports numpy.
"""

from __future__ import annotations

from creval.plugins.traits import Raters
from creval.scoring.metric_estimate import estimate_mean
from creval.types.metrics import Estimate

__all__ = ["Estimate", "Raters", "estimate_mean"]
