"""How often a batch is polled, how long errors are retried, and how large a batch may be."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Polling"]


@dataclass(frozen=True, slots=True)
class Polling:
    """Times in seconds, and the limits of one batch.

    A batch is sent after `quiet` seconds without activity. It is polled after `first`, then after pauses that grow by
    `growth` up to `longest`. If it is unknown whether a batch was created (the connection broke, the process was
    killed), it is searched for until `doubt` after it was sent. `tries` limits tries of an incomplete download, and of
    a provider that does not answer, whose Retry-After is followed up to `asked`. `requests` and `size` (bytes) are the
    limits of OpenAI's files.
    """

    quiet: float = 0.5
    first: float = 2.0
    growth: float = 1.5
    longest: float = 60.0
    doubt: float = 15.0
    tries: int = 12
    asked: float = 600.0
    requests: int = 50_000
    size: int = 200_000_000

    def wait(self, pause: float, retry_after: float | None) -> float:
        """Return the wait before another try: the pause, or the server's if that is longer."""
        return max(pause, min(retry_after or 0.0, self.asked))

    def next(self, pause: float) -> float:
        """The pause after one of `pause` seconds."""
        return min(self.longest, pause * self.growth)
