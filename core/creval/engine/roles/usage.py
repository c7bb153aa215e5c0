"""What calls took: tokens and cost, summed so that their order changes no digit."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from creval.types.messages import Usage

__all__ = ["UsageTally"]

_TARGET = "target"
_COUNTS = ("calls", "errors", "reused", "unpriced", "lost_tries", "flags", "served_by")
_KINDS = tuple(each.name for each in fields(Usage))


@dataclass(slots=True)
class UsageTally:
    """What calls took, with the tries of them that gave nothing (`lost_tries`).

    `reused` are answers that another run had paid for; they cost nothing here. `flags` counts the samples of which an
    answer of the target was odd (`creval.models.answers.flags`), `served_by` its calls by the provider that answered.
    """

    calls: int = 0
    errors: int = 0
    reused: int = 0
    unpriced: int = 0
    lost_tries: int = 0
    flags: Counter[str] = field(default_factory=Counter)
    served_by: Counter[str] = field(default_factory=Counter)
    _costs: array[float] = field(default_factory=lambda: array("d"))
    _tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_KINDS, 0))

    @property
    def usage(self) -> Usage:
        """The tokens of all calls."""
        return Usage(**self._tokens)

    def add(self, record: Mapping[str, Any]) -> None:
        """Add the target's calls of a sample, a line of samples/; those of other roles stand in the ledger."""
        flags: set[str] = set()
        for call in record["calls"]:
            if call["role"] == _TARGET:
                reply = call.get("reply")
                self.add_call(reply, call.get("lost"))
                if reply is not None and "flags" in reply:
                    flags.update(reply["flags"])
                if reply is not None and reply.get("served_by"):
                    self.served_by[reply["served_by"]] += 1
        if flags:
            self.flags.update(flags)

    def add_call(self, reply: Mapping[str, Any] | None, lost: Mapping[str, Any] | None) -> None:
        """Add one call as it is stored: its reply, if it has one, and what its tries before took."""
        if reply is not None:
            self.calls += 1
            self._pay(reply)
        if lost is not None:
            self.lost_tries += lost["tries"]
            self._pay(lost)

    def _pay(self, paid: Mapping[str, Any]) -> None:
        tokens = self._tokens
        for kind, count in paid.get("usage", {}).items():
            tokens[kind] += count
        cost = paid.get("cost")
        if cost is None:
            self.unpriced += 1
        elif cost:
            self._costs.append(cost)

    def join(self, other: UsageTally) -> None:
        """Add what other calls took."""
        self.calls += other.calls
        self.errors += other.errors
        self.reused += other.reused
        for kind, count in other._tokens.items():
            self._tokens[kind] += count
        self.unpriced += other.unpriced
        self.lost_tries += other.lost_tries
        self.flags.update(other.flags)
        self.served_by.update(other.served_by)
        self._costs.extend(other._costs)

    def saved(self) -> tuple[Mapping[str, Any], np.ndarray[Any, np.dtype[np.float64]]]:
        """Return all of it as plain data, with the costs of single calls."""
        data = {name: getattr(self, name) for name in _COUNTS}
        return data | {"tokens": self._tokens}, np.array(self._costs, dtype=np.float64)

    @classmethod
    def restored(cls, data: Mapping[str, Any], costs: np.ndarray[Any, Any]) -> UsageTally:
        """Return what was saved. Raises KeyError, TypeError, ValueError where it is not that."""
        blank = cls()
        made = cls(**{name: type(getattr(blank, name))(data[name]) for name in _COUNTS})
        made._tokens = {kind: int(data["tokens"][kind]) for kind in _KINDS}
        made._costs = array("d", costs.astype(np.float64).tobytes())
        return made

    @property
    def cost(self) -> float:
        """US dollars over the calls whose price is known."""
        return math.fsum(self._costs)

    def to_json(self) -> dict[str, float]:
        """Return the sums as results.json holds them."""
        return {
            "calls": self.calls,
            "input_tokens": self._tokens["input_tokens"],
            "output_tokens": self._tokens["output_tokens"],
            "reasoning_tokens": self._tokens["reasoning_tokens"],
            "cost": self.cost,
            "unpriced_calls": self.unpriced,
            "lost_tries": self.lost_tries,
        }
