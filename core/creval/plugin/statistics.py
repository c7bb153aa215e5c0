"""Statistics for analyses: agreement between raters, paired differences with intervals.

Promised: these names follow semantic versioning. It imports numpy.
"""

from __future__ import annotations

from creval.comparison.paired import Difference, paired_means
from creval.scoring.agreement import agreement

__all__ = ["Difference", "agreement", "paired_means"]
