"""Statistics of the calls of a model."""

from __future__ import annotations

from dataclasses import dataclass, field

from creval.types.messages import Reply, Usage

__all__ = ["ModelStats", "Tally"]


@dataclass(frozen=True, slots=True)
class ModelStats:
    """A snapshot. `calls` ended with an answer, `errors` without one, `cached` came from the cache.

    `tries` counts the requests sent, `retries` those after the first of a call. `cost` is the sum in US dollars of
    calls with a known price; `unpriced` counts the others. `in_flight` and `limit` are the provider's current ones.
    """

    calls: int = 0
    cached: int = 0
    errors: int = 0
    tries: int = 0
    retries: int = 0
    rate_limited: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0
    in_flight: int = 0
    limit: float = 0.0

    def to_json(self) -> dict[str, float]:
        """Return plain numbers, for the run folder."""
        return {
            "calls": self.calls,
            "cached": self.cached,
            "errors": self.errors,
            "tries": self.tries,
            "retries": self.retries,
            "rate_limited": self.rate_limited,
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "reasoning_tokens": self.usage.reasoning_tokens,
            "cached_input_tokens": self.usage.cached_input_tokens,
            "cost": self.cost,
            "unpriced": self.unpriced,
            "seconds": self.seconds,
        }


class Tally:
    """The counters behind `ModelStats`."""

    def __init__(self) -> None:
        self.calls = self.cached = self.errors = self.tries = self.retries = self.rate_limited = self.unpriced = 0
        self.usage = Usage()
        self.cost = self.seconds = self.dearest = 0.0
        self.priced = 0

    def paid(self, reply: Reply) -> None:
        """Count the tokens and cost of a reply, usable or not."""
        self.usage = self.usage + reply.usage
        self.seconds += reply.latency
        if reply.cost is None:
            self.unpriced += 1
        else:
            self.priced += 1
            self.cost += reply.cost
            self.dearest = max(self.dearest, reply.cost)

    def snapshot(self, in_flight: int, limit: float) -> ModelStats:
        """Return the current counters."""
        return ModelStats(
            calls=self.calls,
            cached=self.cached,
            errors=self.errors,
            tries=self.tries,
            retries=self.retries,
            rate_limited=self.rate_limited,
            usage=self.usage,
            cost=self.cost,
            unpriced=self.unpriced,
            seconds=self.seconds,
            in_flight=in_flight,
            limit=limit,
        )
