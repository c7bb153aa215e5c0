"""The numbers in results.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Estimate", "MetricResult", "StatusCounts"]


@dataclass(frozen=True, slots=True)
class StatusCounts:
    """How many samples ended in each status; the sum is the number of samples planned.

    A metric does not count samples for which its score does not exist (`MissingScore`, SKIPPED).
    """

    scored: int = 0
    unparsed: int = 0
    truncated: int = 0
    refused: int = 0
    errored: int = 0
    skipped: int = 0

    @property
    def total(self) -> int:
        return self.scored + self.unparsed + self.truncated + self.refused + self.errored + self.skipped


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point estimate with its uncertainty. Undefined numbers are None (one doc has no standard error).

    It is computed from `n` values in `clusters` docs or trials (`unit`). `confidence` is the level of the interval,
    `method` how it was made: `clopper_pearson`, `t`, `log_t`, `logit_t`, `order_statistics`, `cluster_bootstrap`,
    `none`.
    `no_interval` is the reason why there is no interval, if one was requested.
    """

    value: float | None
    n: int
    clusters: int
    standard_error: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    confidence: float = 0.95
    method: str = "none"
    unit: str = "doc"
    no_interval: str | None = None


@dataclass(frozen=True, slots=True)
class MetricResult:
    """One metric of one task in one run, over all conditions or one (`condition` None means all).

    `name` has the resource in brackets if it is not the task's default: `drat[embedded/minilm]`. `failed` is the policy
    for samples without a score, `zero` or `exclude` (None: that of the metrics it is made of); `n_failed` is their
    number. `by` names the group of docs, or which mean over groups it is. `definition` is plain data from which the
    scores can be aggregated again.
    """

    name: str
    estimate: Estimate
    counts: StatusCounts
    failed: str | None
    n_failed: int
    higher_is_better: bool | None = True
    condition: str | None = None
    primary: bool = False
    unit: str | None = None
    definition: Mapping[str, Any] = field(default_factory=dict)
    by: Mapping[str, str] = field(default_factory=dict)
