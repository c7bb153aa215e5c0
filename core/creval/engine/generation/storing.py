"""A sample as it stands in its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from creval.models.secrets import redact
from creval.runs.jsonl import UnstorableError, dump_line
from creval.runs.record_data import sample_data
from creval.runs.references import by_reference
from creval.types.sample import Sample, Status

__all__ = ["Stored", "store_sample"]


class Stored(NamedTuple):
    """A sample, and how it is stored: as plain data, and as the line of its file."""

    sample: Sample
    record: Mapping[str, Any]
    line: bytes


def store_sample(sample: Sample, reference: bool) -> Stored:
    """Return how a sample is stored; where what the protocol reported is no plain data, as errored, without it.

    `reference`: without its doc and what quotes it, unless it was made so elsewhere.
    """
    stored = by_reference if reference and sample.doc_digest is None else _as_it_is
    try:
        record = sample_data(stored(sample))
        return Stored(sample, record, dump_line(record))
    except UnstorableError as error:
        reason = redact(f"the protocol reported what is no plain data: {error.what}")
        plain = replace(sample, status=Status.ERRORED, reason=reason, outcome={}, answers=())
        record = sample_data(stored(plain))
        return Stored(plain, record, dump_line(record))


def _as_it_is(sample: Sample) -> Sample:
    return sample
