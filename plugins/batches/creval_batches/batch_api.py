"""The interface of a provider's batch calls, whichever library makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, Protocol

from creval.plugin import Reply
from creval.plugin.batches import Failure
from creval.plugin.models import GenerateRequest, ProviderTraits

__all__ = ["ENDPOINT", "NAMED", "WINDOW", "BatchApi", "BatchState", "Fault", "is_batch", "state_of"]

ENDPOINT = "/v1/chat/completions"
WINDOW = "24h"
"""The only completion window of the protocol."""
NAMED = "creval"
"""The key of a batch's metadata for creval's name of the batch."""
_ENDED = frozenset({"failed", "completed", "expired", "cancelled"})


class Fault(NamedTuple):
    """A fault of an input file. `line` counts from 1; None: the whole file."""

    code: str
    message: str
    line: int | None


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as the provider describes it. `counts` are (total, completed, failed), or None if unknown.

    `output` and `error` are the ids of the files with its answers and failures, None if there is none (yet).
    """

    id: str
    status: str
    counts: tuple[int, int, int] | None = None
    output: str | None = None
    error: str | None = None
    faults: Sequence[Fault] = ()

    @property
    def ended(self) -> bool:
        """Whether the batch has ended."""
        return self.status in _ENDED


class BatchApi(Protocol):
    """One model at one provider. All calls raise ModelError; the provider may have received a `create` that raised."""

    @property
    def secrets(self) -> Sequence[str]:
        """Texts that no file may contain."""

    @property
    def traits(self) -> ProviderTraits:
        """The traits of the provider."""

    def body(self, request: GenerateRequest) -> bytes:
        """The JSON body of one request, as the ordinary provider sends it."""

    def reply(self, body: Any, request: GenerateRequest) -> Reply:
        """Read an answer's body. Raises ModelError as the ordinary provider does."""

    def refused(self, failure: Failure, request: GenerateRequest) -> Reply:
        """Judge a failure as the ordinary provider does: a declined question is a reply, everything else raises."""

    async def upload(self, file: BinaryIO, name: str) -> str:
        """Send the whole file of a batch and return its id; the file stays open."""

    async def create(self, file_id: str, name: str) -> BatchState:
        """Make a batch of an uploaded file."""

    async def state(self, batch_id: str) -> BatchState:
        """Return the state of a batch."""

    async def find(self, name: str, file_id: str | None, since: float) -> BatchState | None:
        """Search the account's batches made after `since` (epoch seconds) for creval's name or the input file."""

    async def fetch(self, file_id: str, target: BinaryIO) -> None:
        """Write a file of answers to `target`."""

    async def close(self) -> None:
        """Close connections."""


def state_of(data: Mapping[str, Any]) -> BatchState:
    """Read a batch object. Raises KeyError or TypeError if it is none."""
    counts = data.get("request_counts")
    numbers = None
    if isinstance(counts, Mapping) and counts.get("total"):
        total, completed, failed = (int(counts.get(name) or 0) for name in ("total", "completed", "failed"))
        numbers = (total, completed, failed)
    return BatchState(
        id=_text(data["id"]),
        status=_text(data["status"]),
        counts=numbers,
        output=data.get("output_file_id") or None,
        error=data.get("error_file_id") or None,
        faults=tuple(_faults(data.get("errors"))),
    )


def is_batch(data: Mapping[str, Any], name: str, file_id: str | None) -> bool:
    """Whether a batch object is the one of this name, or of this input file."""
    metadata = data.get("metadata")
    named = isinstance(metadata, Mapping) and metadata.get(NAMED) == name
    return named or (file_id is not None and data.get("input_file_id") == file_id)


def _faults(errors: Any) -> list[Fault]:
    listed = errors.get("data") if isinstance(errors, Mapping) else errors
    found = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    return [
        Fault(
            str(each.get("code") or ""),
            str(each.get("message") or ""),
            each["line"] if isinstance(each.get("line"), int) else None,
        )
        for each in found
    ]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value
