"""The paper's Table 5 (Figure 6): creativity before and after a reasoning strategy, in percent.

`old` is the same model without the strategy: CodeGemma-7B for the tree search, GPT-3.5 for the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = ["MODELS", "TABLE_5", "Printed"]


class Printed(NamedTuple):
    """One entry: old -> new, in percent as printed."""

    old: float
    new: float

    @property
    def difference(self) -> float:
        """Return new minus old, in percentage points (Figure 6)."""
        return self.new - self.old


def _pairs(old: Sequence[float], new: Sequence[float]) -> tuple[Printed, ...]:
    return tuple(Printed(*pair) for pair in zip(old, new, strict=True))


MODELS: Mapping[str, str] = {
    "mcts": "CodeGemma-7B",
    "self_correction": "GPT-3.5",
    "planning": "GPT-3.5",
    "sampling": "GPT-3.5",
}

_NONE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_FIRST = (0.25, 0.0, 0.0, 0.0, 0.0, 0.0)

TABLE_5: Mapping[str, Mapping[str, tuple[Printed, ...]]] = {
    "mcts": {
        "convergent": _pairs((1.52, 0, 0, 0, 0, 0), (12.12, 3.03, 1.02, 0.52, 0, 0)),
        "divergent": _pairs((5.18, 6.31, 5.55, 5.35, 4.82, 4.23), (12.97, 14.93, 14.16, 14.46, 13.75, 13.92)),
        "neogauge": _pairs(_NONE, (0.82, 0.08, 0.10, 0, 0, 0)),
    },
    "self_correction": {
        "convergent": _pairs((2.53, 0.51, 0, 0, 0, 0), (14.65, 3.03, 1.02, 0, 0, 0)),
        "divergent": _pairs((5.41, 4.56, 3.79, 6.04, 3.70, 4.93), (5.04, 4.82, 4.03, 4.42, 5.47, 4.98)),
        "neogauge": _pairs(_FIRST, (0.54, 0.29, 0, 0, 0, 0)),
    },
    "planning": {
        "convergent": _pairs((2.53, 0.50, 0, 0, 0, 0), (9.60, 3.03, 1.02, 0.52, 0.57, 0)),
        "divergent": _pairs((5.41, 4.56, 3.78, 6.04, 3.70, 4.93), (4.25, 5.84, 5.85, 4.80, 6.37, 6.87)),
        "neogauge": _pairs(_FIRST, (0.50, 0.25, 0, 0, 0, 0)),
    },
    "sampling": {
        "convergent": _pairs((2.52, 0.51, 0, 0, 0, 0), (2.02, 0, 0, 0.52, 0, 0)),
        "divergent": _pairs((5.41, 4.56, 3.78, 6.04, 3.70, 4.93), (5.03, 4.46, 4.83, 4.35, 4.46, 3.07)),
        "neogauge": _pairs(_FIRST, (0.25, 0, 0, 0, 0, 0)),
    },
}
"""By strategy and metric, the states 0 to 5."""
