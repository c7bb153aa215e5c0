"""The answers of a batch that has ended: its downloaded files, and the position of each request's line."""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
from collections.abc import Collection, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple, cast

from creval_batches.batch_api import BatchApi

__all__ = ["Collector"]

_LOG = logging.getLogger("creval")
_BREATH = 256


class _Place(NamedTuple):
    file: int
    start: int
    good: bool


class Collector:
    """Files of answers and failures: temporary files without a name; `close` removes them.

    Of several lines for a request the first answer counts, before any failure. Incomplete lines, and those of requests
    that are not in the batch, are ignored.
    """

    def __init__(self) -> None:
        self._files: list[BinaryIO] = []
        self._places: dict[str, _Place] = {}

    async def fetch(self, api: BatchApi, files: Sequence[str], keys: Collection[str]) -> None:
        """Fetch the files of a batch with these keys. A second call starts again. Raises ModelError."""
        self._places.clear()
        self.close()
        foreign = doubles = 0
        for number, file_id in enumerate(files):
            file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115
            self._files.append(file)
            await api.fetch(file_id, file)
            file.seek(0)
            start = 0
            for count, text in enumerate(file):
                key, good = _head(text)
                if key in keys:
                    doubles += self._note(str(key), _Place(number, start, good))
                else:
                    foreign += key is not None
                start += len(text)
                if count % _BREATH == 0:
                    await asyncio.sleep(0)
        if foreign or doubles:
            _LOG.warning(
                "of a batch's answers %d belong to requests that are not in it, and %d are duplicates; "
                "the first answer of each request counts",
                foreign,
                doubles,
            )

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: str) -> bool:
        return key in self._places

    @property
    def good(self) -> int:
        """The number of answered requests; other lines are failures."""
        return sum(place.good for place in self._places.values())

    def only_good(self) -> None:
        """Remove failures."""
        self._places = {key: place for key, place in self._places.items() if place.good}

    def take(self, key: str) -> Mapping[str, Any]:
        """Return the line of a request, once."""
        place = self._places.pop(key)
        file = self._files[place.file]
        file.seek(place.start)
        line: Mapping[str, Any] = json.loads(file.readline())
        return line

    def close(self) -> None:
        """Remove the files."""
        for file in self._files:
            file.close()
        self._files.clear()

    def _note(self, key: str, place: _Place) -> bool:
        """Keep the better one of two lines; return whether there was one before."""
        before = self._places.get(key)
        if before is None or (place.good and not before.good):
            self._places[key] = place
        return before is not None


def _head(text: bytes) -> tuple[str | None, bool]:
    """Return the key of a line and whether it is an answer; no key where it is torn or no line of a batch."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None, False
    key = line.get("custom_id") if isinstance(line, dict) else None
    response = line.get("response") if isinstance(line, dict) else None
    good = isinstance(response, dict) and response.get("status_code") == 200
    return (key if isinstance(key, str) else None), good
