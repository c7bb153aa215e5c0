"""Samples as they are scored, and scores as they are stored, where docs are stored by reference."""

from __future__ import annotations

from creval.data.dataset import Dataset
from creval.quotations import Originals
from creval.runs.references import quotations_of, score_by_reference
from creval.runs.texts import with_doc
from creval.types.sample import Sample, SampleKey, ScoreRecord

__all__ = ["Storing"]


class Storing:
    """Gives samples their docs back. What a score quotes of its sample's doc or messages is sealed again."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._originals: dict[SampleKey, Originals] = {}

    def opened(self, sample: Sample) -> Sample:
        """Return a sample as it was made. Raises RunError or DataError where its doc is not there."""
        whole = with_doc(sample, self._dataset)
        if sample.doc_digest is not None:
            originals = Originals.of(dict(whole.doc))
            self._originals[sample.key] = originals.and_texts(quotations_of(sample, originals))
        return whole

    def stored(self, score: ScoreRecord) -> ScoreRecord:
        """Return a score of a sample that was opened here as it is stored."""
        originals = self._originals.get(score.key)
        return score if originals is None else score_by_reference(score, originals)

    def done(self, key: SampleKey) -> None:
        """Drop what is held of a sample: its score is stored."""
        self._originals.pop(key, None)
