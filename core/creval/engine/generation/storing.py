"""A sample as the line of its file."""

from __future__ import annotations

from dataclasses import replace

from creval.models.secrets import redact
from creval.runs.codec import sample_data
from creval.runs.jsonl import UnstorableError, dump_line
from creval.runs.references import by_reference
from creval.types.sample import Sample, Status

__all__ = ["sample_line"]


def sample_line(sample: Sample, reference: bool) -> tuple[bytes, Sample]:
    """Return a sample's line and the sample; where what the protocol reported is no plain data, errored without it.

    `reference`: without its doc and what quotes it, unless it was made so elsewhere.
    """
    stored = by_reference if reference and sample.doc_digest is None else _as_it_is
    try:
        return dump_line(sample_data(stored(sample))), sample
    except UnstorableError as error:
        reason = redact(f"the protocol reported what is no plain data: {error.what}")
        plain = replace(sample, status=Status.ERRORED, reason=reason, outcome={}, answers=())
        return dump_line(sample_data(stored(plain))), plain


def _as_it_is(sample: Sample) -> Sample:
    return sample
