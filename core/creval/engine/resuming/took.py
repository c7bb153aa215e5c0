"""What the samples of a task took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.engine.resuming.rows import Column
from creval.engine.resuming.spending import Spending
from creval.engine.roles.usage import UsageTally

__all__ = ["Took"]

_COSTS = ("costs", "costs_again")


class Took:
    """The `Summary` of samples: what the target's calls took (`usage`), and what was paid for them (`spending`).

    What samples took that are made again was paid nevertheless.
    """

    def __init__(self) -> None:
        self.spending = Spending()
        self._stays, self._again = UsageTally(), UsageTally()

    @property
    def usage(self) -> UsageTally:
        """What all samples took that are there."""
        whole = UsageTally()
        whole.join(self._stays)
        whole.join(self._again)
        return whole

    def add(self, record: Mapping[str, Any], stays: bool) -> None:
        """Add a line of samples/."""
        self.spending.add_sample(record)
        (self._stays if stays else self._again).add(record)

    def forget(self) -> None:
        """Take out what samples took that are made again."""
        self._again = UsageTally()

    def saved(self) -> tuple[Mapping[str, Any], dict[str, Column]]:
        """Return it as plain data and arrays."""
        both = [each.saved() for each in (self._stays, self._again)]
        columns = dict(zip(_COSTS, (costs for _, costs in both), strict=True))
        return {"usage": [data for data, _ in both], "spending": self.spending.saved()}, columns

    def restore(self, data: Mapping[str, Any], columns: Mapping[str, Column]) -> None:
        """Become what was saved."""
        self.spending = Spending(*data["spending"])
        self._stays, self._again = (
            UsageTally.restored(saved, columns[name]) for saved, name in zip(data["usage"], _COSTS, strict=True)
        )
