"""What a run has used up already when it is resumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.engine.resuming.row_state import Column
from creval.engine.roles.role_models import TARGET
from creval.engine.roles.usage import UsageTally
from creval.runs.folder import RunFolder
from creval.runs.jsonl import read_lines

__all__ = ["SampleUsage", "Spending"]


class Spending:
    """Cost (US dollars) and calls of saved samples, to which the calls of other roles and the run's books are added."""

    def __init__(self, cost: float = 0.0, calls: int = 0) -> None:
        self._cost = cost
        self._calls = calls

    def saved(self) -> tuple[float, int]:
        """Return what it is made of again."""
        return self._cost, self._calls

    def join(self, other: Spending) -> None:
        """Add what other samples took."""
        self._cost += other._cost
        self._calls += other._calls

    def add_sample(self, record: Mapping[str, Any]) -> None:
        """Add the target's calls of a line of samples/; an answer from the cache was not paid again."""
        for call in record["calls"]:
            if call["role"] == TARGET:
                reply, lost = call.get("reply"), call.get("lost")
                if reply is not None and not reply.get("cached"):
                    self._cost += reply.get("cost") or 0.0
                    self._calls += 1
                self._cost += (lost.get("cost") or 0.0) if lost else 0.0

    def of_run(self, folder: RunFolder, manifest: Mapping[str, Any]) -> tuple[float, int]:
        """Return the cost and calls that the run has used up, the calls of its ledger included.

        By the attempts' own books; a killed attempt has none, so never less than what the saved samples and calls took.
        """
        cost, calls = self._cost, self._calls
        for role in folder.called_roles():
            for call in read_lines(folder.calls(role)):
                if "unreadable" in call or "from" in call or call.get("reply", {}).get("cached"):
                    continue
                cost += sum(call.get(part, {}).get("cost") or 0.0 for part in ("reply", "lost"))
                calls += 1
        books = [model for attempt in manifest["attempts"] for model in attempt.get("models", {}).values()]
        booked = sum(int(model["calls"] + model["errors"]) for model in books)
        return max(cost, sum(model["cost"] for model in books)), max(calls, booked)


_COSTS = ("costs", "costs_again")


class SampleUsage:
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
