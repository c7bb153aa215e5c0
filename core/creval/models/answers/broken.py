"""Answers that the server broke off: its fault, never the model's."""

from __future__ import annotations

from creval.errors import RetryableModelError
from creval.types.messages import Lost, Reply

__all__ = ["broken_off"]

_BROKEN = frozenset({"error", "unknown"})  # finish reasons


def broken_off(reply: Reply, where: str) -> RetryableModelError | None:
    """Return the error of a reply that broke off, with what it took all the same; None where it did not."""
    broken = next((c.finish_reason for c in reply.completions if c.finish_reason in _BROKEN), None)
    if broken is None:
        return None
    said = "without a finish reason" if broken == "unknown" else f"with the finish reason {broken!r}"
    fault = RetryableModelError(f"the answer broke off {said}", where=where)
    fault.lost = Lost(1, reply.usage, reply.cost)
    return fault
