"""Scorers and aggregations of the core, and the statistics of a metric. docs/statistics.md explains the choices."""

from __future__ import annotations

from creval.scoring.clusters import Clusters
from creval.scoring.metric_estimate import estimate

__all__ = ["Clusters", "estimate"]
