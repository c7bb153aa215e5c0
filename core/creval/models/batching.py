"""The interface of a component of kind `batching`, which sends a run's calls through batch endpoints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from creval.errors import CrevalError, MissingPartError
from creval.models.model_options import ModelSpec
from creval.models.prices import Price
from creval.plugins.distributions import absent_distribution
from creval.plugins.registry import Registry
from creval.types.components import Provider
from creval.types.messages import GenerateRequest

__all__ = ["BOUGHT", "OWED", "BatchCounts", "BatchedProvider", "Batching", "open_batching"]

BOUGHT: Literal["bought"] = "bought"
"""The state of a request whose answer an earlier attempt of the run received and paid for."""
OWED: Literal["owed"] = "owed"
"""The state of a request that is pending in a batch of an earlier attempt, and will have to be paid for."""
_NAME = "batches"


class BatchCounts(NamedTuple):
    """The numbers of pending batches, of requests in them, and of finished requests."""

    batches: int
    requests: int
    done: int


class BatchedProvider(Provider, Protocol):
    """A provider whose calls wait until a batch is sent, and return when its answers arrive."""

    def earlier_state(self, request: GenerateRequest) -> Literal["bought", "owed"] | None:
        """Return BOUGHT or OWED for a request that an earlier attempt of the run sent in a batch, else None."""


class Batching(Protocol):
    """The batches of a run over all its models. A component of this kind is a factory: `(detach, most)`.

    `detach`: stop the run once all batches are sent (every waiting call raises DetachedError). `most`: the most
    requests in a batch. The run sets `others_in_flight`, a function that says whether single calls are in flight: a
    batch that is not full is sent when there are none. It also sets `resume_command`, the command that collects, and
    `watch`.
    """

    others_in_flight: Callable[[], bool]
    resume_command: str
    watch: Callable[[BatchCounts], None] | None

    @property
    def counts(self) -> BatchCounts:
        """Return the pending batches and requests."""

    @property
    def spent(self) -> tuple[float, int]:
        """Return the US dollars and answers of earlier attempts of the run, from the journal."""

    def wrap(self, provider: Provider, name: ModelSpec, price: Price | None) -> BatchedProvider:
        """Return a provider that sends the calls of an open one in batches. Raises UsageError if that is impossible."""

    def open_journal(self, path: Path) -> None:
        """Read the run's journal of batches and append further records to it. Raises RunError."""

    def drop_answers(self) -> None:
        """Remove the answers from the journal, once every sample and call has its own."""

    def fail_waiting(self, error: CrevalError) -> None:
        """Raise an error in every waiting call; the batches stay at the provider."""

    async def close(self) -> None:
        """Stop, and write the journal to disk."""


def open_batching(registry: Registry, detach: bool = False, most: int | None = None) -> Batching:
    """Return the batching of a run. Raises MissingPartError if its distribution is absent."""
    if _NAME not in registry.names("batching"):
        absent = absent_distribution("batching", _NAME) is not None
        state = "not installed: pip install creval-batches" if absent else "not loaded; see: creval plugins"
        raise MissingPartError(f"batches need creval-batches, which is {state}", where="--batch")
    batching: Batching = registry.get("batching", _NAME, where="--batch").load()(detach=detach, most=most)
    return batching
