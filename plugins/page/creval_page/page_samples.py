"""The samples of a page: their selection, their rows, and their transcripts in compressed pieces."""

from __future__ import annotations

import base64
import gzip
import hashlib
import heapq
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from creval.plugin import Run, RunError, SampleKey
from creval.plugin.page import MediaFolder, data_url, media_type_of
from creval_page.sample_views import Seen, judge_calls, seen_samples, transcript

__all__ = ["MOST", "PageSamples", "collect_samples", "cut"]

MOST = 10_000
"""The most samples of a page; if there are more, this number is drawn at random."""
MOST_IMAGES = 24_000_000
LARGEST_IMAGE = 4_000_000
"""Maximum bytes of all images of a page, and of one."""
_SHOWN_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"})
_PIECE = 50  # transcripts in one compressed piece
_PREVIEW = 140
_SHORT = 70  # characters of a right answer, and of a parsed one
_BINS = 20
_FEW = 12  # most distinct values of a score that is counted by value


class _RankedSample(NamedTuple):
    rank: bytes
    run: int
    key: SampleKey


@dataclass(slots=True)
class PageSamples:
    """`rows` are lists in the order of COLUMNS, `pieces` transcripts as base64 of gzip of JSON lists.

    There are `total` samples, `len(rows)` of them in the page. `served` counts by run who answered, `scores` are all
    scores by (task, score) and run. `images` are data URLs by sha256, with `space` bytes left for more.
    """

    total: int = 0
    rows: list[list[Any]] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    served: list[Counter[str]] = field(default_factory=list)
    scores: dict[tuple[str, str], dict[int, list[float]]] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)
    space: int = MOST_IMAGES

    COLUMNS = (
        *("run", "key", "task", "doc", "condition", "repeat", "status", "route", "scores", "preview"),
        *("input", "target", "answer", "tokens", "seconds"),
    )

    def distributions(self) -> list[dict[str, Any]]:
        """Return each score's counts by run, over all samples: by value if there are few values, else in bins."""
        found = [(names, by_run) for names, by_run in self.scores.items() if by_run]
        return [{"task": task, "score": score, **_counted(by_run)} for (task, score), by_run in found]


def collect_samples(runs: Sequence[Run], most: int = MOST) -> PageSamples:
    """Read the samples of runs. If there are more than `most`, keep the first ones by a hash of doc and repeat.

    So runs over the same docs keep the same samples, for comparison.
    """
    page = PageSamples(served=[Counter() for _ in runs])
    kept = _chosen(runs, page, most)
    piece: list[dict[str, Any]] = []
    for number, run in enumerate(runs):
        judged = judge_calls(run)
        media = MediaFolder(run.folder)
        for seen in seen_samples(run):
            _count_served(seen, page.served[number])
            if kept is not None and (number, seen.sample.key) not in kept:
                continue
            page.rows.append(_row(number, seen))
            piece.append(transcript(seen, judged.get(seen.sample.key, ())))
            _add_images(page, piece[-1], media)
            if len(piece) == _PIECE:
                page.pieces.append(_packed(piece))
                piece = []
    if piece:
        page.pieces.append(_packed(piece))
    return page


def _add_images(page: PageSamples, row: Mapping[str, Any], media: MediaFolder) -> None:
    """Add the images of a transcript to the page, each once, while there is space.

    A file's bytes decide its type, not the sample: a run folder may come from another user.
    """
    turns = [*row["turns"], *(turn for judge in row["judges"] for turn in judge["turns"])]
    for part in (part for turn in turns for part in turn.get("parts", ())):
        digest = part.get("sha256")
        if part.get("type") != "image" or not isinstance(digest, str) or digest in page.images:
            continue
        try:
            data = media.find(part, min(LARGEST_IMAGE, page.space))
        except RunError:  # a link, too large
            continue
        if data is not None and (media_type := media_type_of(data)) in _SHOWN_TYPES:
            page.images[digest] = data_url(media_type, data)
            page.space -= len(data)


def _chosen(runs: Sequence[Run], page: PageSamples, most: int) -> set[tuple[int, SampleKey]] | None:
    """Count samples and scores, and return the samples to keep; None for all."""
    places: list[_RankedSample] = []
    for number, run in enumerate(runs):
        for seen in seen_samples(run):
            places.append(_RankedSample(_rank(seen.sample.key), number, seen.sample.key))
            for name, value in (seen.score.scores if seen.score else {}).items():
                page.scores.setdefault((seen.sample.key.task, name), {}).setdefault(number, []).append(float(value))
    page.total = len(places)
    if page.total <= most:
        return None
    return {(place.run, place.key) for place in heapq.nsmallest(most, places)}


def _rank(key: SampleKey) -> bytes:
    text = "\x1f".join(map(str, key))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:12]


def _row(number: int, seen: Seen) -> list[Any]:
    key, score = seen.sample.key, seen.score
    record = seen._replace(score=score and replace(score, scores={})).to_row()  # a score may have the name of a column
    scores = {name: round(value, 6) for name, value in (score.scores if score else {}).items()}
    route = score.route if score else None
    row = [number, seen.key, *key, seen.sample.status.value, route, scores, cut(" ".join(seen.sample.answers)) or ""]
    tokens = [record["input_tokens"], record["output_tokens"]]
    texts = [cut(record["input"]), cut(record["target"], _SHORT), cut(record["answer"], _SHORT)]
    return [*row, *texts, tokens if any(tokens) else None, round(float(record["seconds"] or 0), 2)]


def cut(value: object, most: int = _PREVIEW) -> str | None:
    """Return the beginning of a text on one line."""
    return None if value is None else " ".join(str(value)[: most * 2].split())[:most]


def _count_served(seen: Seen, served: Counter[str]) -> None:
    for call in seen.sample.calls:
        if call.role == "target" and call.reply_data is not None:
            served[str(call.reply_data.get("served_by") or "")] += 1


def _packed(piece: Sequence[Mapping[str, Any]]) -> str:
    text = json.dumps(piece, ensure_ascii=False, separators=(",", ":"))
    packed = gzip.compress(text.encode("utf-8", "surrogatepass"), compresslevel=6, mtime=0)
    return base64.b64encode(packed).decode("ascii")


def _counted(by_run: Mapping[int, Sequence[float]]) -> dict[str, Any]:
    values = sorted({value for own in by_run.values() for value in own})
    if len(values) <= _FEW:
        counts = {run: [own.count(value) for value in values] for run, own in by_run.items()}
        return {"values": values, "edges": None, "counts": counts}
    low, high = values[0], values[-1]
    edges = [low + (high - low) * step / _BINS for step in range(_BINS + 1)]
    return {
        "values": None,
        "edges": edges,
        "counts": {run: list(_binned(own, low, high)) for run, own in by_run.items()},
    }


def _binned(values: Sequence[float], low: float, high: float) -> Iterator[int]:
    counts = Counter(min(_BINS - 1, int((value - low) / (high - low) * _BINS)) for value in values)
    return (counts[number] for number in range(_BINS))
