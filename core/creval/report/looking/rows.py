"""The samples of a run as rows with short keys, filtered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from creval.errors import UnknownNameError, UsageError
from creval.names import nearest
from creval.runs.reader import Run
from creval.runs.texts import RunTexts
from creval.types.sample import Sample, SampleKey, ScoreRecord

__all__ = ["Filter", "Seen", "find_sample", "key_writer", "seen_samples", "with_texts"]

_SHOWN = 10


class Seen(NamedTuple):
    """A sample with its final status, the key by which the run's samples are told apart, and its score, if any."""

    key: str
    sample: Sample
    score: ScoreRecord | None

    def to_row(self) -> dict[str, Any]:
        """Return it as one flat row: key, task, doc, condition, repeat, status, route, reason and every score."""
        score = self.score
        return {
            "key": self.key,
            **self.sample.key._asdict(),
            "status": self.sample.status.value,
            "route": score.route if score else None,
            "reason": self.sample.reason,
            **(score.scores if score else {}),
        }


@dataclass(frozen=True, slots=True)
class Filter:
    """Which samples are wanted; None lets all pass. `text` occurs in an answer, letter case aside."""

    task: str | None = None
    status: str | None = None
    doc: str | None = None
    condition: str | None = None
    text: str | None = None

    def passes(self, sample: Sample) -> bool:
        """Whether a sample is wanted, task and status aside (the reader leaves those out)."""
        if self.doc is not None and sample.key.doc != self.doc:
            return False
        if self.condition is not None and sample.key.condition != self.condition:
            return False
        return self.text is None or any(self.text.casefold() in answer.casefold() for answer in sample.answers)


def seen_samples(run: Run, wanted: Filter | None = None) -> Iterator[Seen]:
    """Yield the samples of a run, in the order in which they ended.

    Raises UnknownNameError for a task or status that is none, RunError where a row is damaged.
    """
    wanted = wanted or Filter()
    write = key_writer(run)
    for task in run.tasks if wanted.task is None else [wanted.task]:
        scores = {score.key: score for score in run.scores(task)} if run.has_scores(task) else {}
        for sample in run.samples(task, wanted.status):
            if wanted.passes(sample):
                yield Seen(write(sample.key), sample, scores.get(sample.key))


def key_writer(run: Run) -> Callable[[SampleKey], str]:
    """Return the function that writes keys: `[task:]doc[:condition][:repeat]`, without what all of the run share."""
    entries: list[Mapping[str, Any]] = list(run.manifest["tasks"])
    tasks = len(entries) > 1
    conditions = any(len(entry["conditions"]) > 1 for entry in entries)
    repeats = any(int(entry["repeats"]) > 1 for entry in entries)

    def write(key: SampleKey) -> str:
        parts = [key.task] if tasks else []
        parts += [key.doc, *([key.condition] if conditions else []), *([str(key.repeat)] if repeats else [])]
        return ":".join(parts)

    return write


def with_texts(seen: Seen, run: Run) -> Seen:
    """Return a sample with what is kept by reference put back from the data.

    Raises TaskError, DataError or RunError where task or data are gone, or are others.
    """
    if seen.sample.doc_digest is None:
        return seen
    return seen._replace(sample=RunTexts(run.manifest, run.folder).sample(seen.sample))


def find_sample(run: Run, key: str) -> Seen:
    """Return the sample of this key; the doc alone, or doc and repeat, will do where only one sample has it.

    Raises UnknownNameError with the nearest keys where there is none, UsageError where there are several.
    """
    found: list[Seen] = []
    known: list[str] = []
    for seen in seen_samples(run):
        if seen.key == key:
            return seen
        known.append(seen.key)
        own = seen.sample.key
        if key in (own.doc, f"{own.task}:{own.doc}", f"{own.doc}:{own.repeat}", ":".join(map(str, own))):
            found.append(seen)
    if len(found) == 1:
        return found[0]
    where = str(run.folder)
    if found:
        listed = ", ".join(seen.key for seen in found[:_SHOWN]) + (", ..." if len(found) > _SHOWN else "")
        raise UsageError(f"{len(found)} samples are called {key!r}", where=where, cure=f"Name one: {listed}")
    hint = f"List them: creval samples {run.folder}" if not nearest(key, known) else ""
    raise UnknownNameError("sample", key, known, where=where, hint=hint)
