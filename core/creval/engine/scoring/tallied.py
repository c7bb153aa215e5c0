"""The scores of a task as they come in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from creval.engine.planning.plan import TaskPlan
from creval.engine.resuming.row_state import Column
from creval.engine.scoring.aggregate import empty_tally
from creval.engine.scoring.tally import TaskTally
from creval.errors import ScoringError

__all__ = ["Tallied"]

_AGAIN = "again:"


class Tallied:
    """The `Summary` of scores: the columns that metrics are made from."""

    def __init__(self, plan: TaskPlan) -> None:
        self._make = partial(empty_tally, plan)
        self._stays, self._again = self._make(), self._make()
        self._sound = True

    def whole(self) -> TaskTally | None:
        """Return the columns of all scores; None where one is no score that can be told: reading the file says why."""
        if not self._sound:
            return None
        if not len(self._again):
            return self._stays
        whole = self._make()
        whole.join(self._stays)
        whole.join(self._again)
        return whole

    def add(self, record: Mapping[str, Any], stays: bool) -> None:
        """Add a line of scores/."""
        try:
            (self._stays if stays else self._again).add_row(record)
        except ScoringError:
            self._sound = False

    def forget(self) -> None:
        """Take out the scores that are made again."""
        self._again = self._make()

    def saved(self) -> tuple[Mapping[str, Any], dict[str, Column]]:
        """Return it as plain data and arrays."""
        (stays, columns), (again, others) = self._stays.saved(), self._again.saved()
        both = {**columns, **{_AGAIN + name: column for name, column in others.items()}}
        return {"sound": self._sound, "stays": stays, "again": again}, both

    def restore(self, data: Mapping[str, Any], columns: Mapping[str, Column]) -> None:
        """Become what was saved. Raises KeyError, TypeError, ValueError where it is not that, or of unsound scores."""
        if not data["sound"]:
            raise ValueError("the scores have to be read")
        self._stays.restore(data["stays"], columns)
        self._again.restore(data["again"], columns, _AGAIN)
