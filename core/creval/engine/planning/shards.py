"""Shards: fixed parts of a run's docs, so that several processes and machines make one run."""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from creval.errors import UsageError

__all__ = ["MAX_SHARDS", "Shard", "parse_shard"]

MAX_SHARDS = 100_000
_FORM = re.compile(r"([0-9]{1,9})/([0-9]{1,9})", re.ASCII)
_FIX = "Write NUMBER/OF, from 1/16 to 16/16 for 16 shards."


class Shard(NamedTuple):
    """The part `number` (from 1) of `of` parts.

    A doc belongs to the part whose number is 1 + (first 8 bytes of the sha256 of its id in UTF-8, as a whole number,
    big end first) modulo `of`: the same on every machine, whatever the order of the data, and for every task that has
    a doc of this id.
    """

    number: int
    of: int

    def holds(self, doc_id: str) -> bool:
        """Whether a doc belongs to this part."""
        digest = hashlib.sha256(doc_id.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def parse_shard(text: str | None) -> Shard | None:
    """Return the shard that a text such as `3/16` names; None for None. Raises UsageError."""
    if text is None:
        return None
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise UsageError(f"{text!r} is not a shard", where="--shard", fix=_FIX)
    shard = Shard(int(match[1]), int(match[2]))
    if not 1 <= shard.number <= shard.of:
        raise UsageError(f"{text} is not a shard: the first is 1/{max(1, shard.of)}", where="--shard", fix=_FIX)
    if shard.of > MAX_SHARDS:
        raise UsageError(f"{shard.of:,} shards are too many", where="--shard", fix=f"Use at most {MAX_SHARDS:,}.")
    return shard
