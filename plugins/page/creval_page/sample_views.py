"""Views of a run's samples: rows with filters, and one complete sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from creval.plugin import CallRecord, Run, Sample, SampleKey, ScoreRecord, UnknownNameError, UsageError, nearest
from creval.plugin.page import RunTexts, sample_row

__all__ = ["Filter", "Seen", "find_sample", "judge_calls", "key_writer", "seen_samples", "transcript", "with_texts"]


_SHOWN = 10


class Seen(NamedTuple):
    """A sample with its final status, its key, unique within the run, and its score, if any."""

    key: str
    sample: Sample
    score: ScoreRecord | None

    def to_row(self) -> dict[str, Any]:
        """Return one flat row: the key, then the fields of `sample_row`."""
        return {"key": self.key, **sample_row(self.sample, self.score)}


@dataclass(frozen=True, slots=True)
class Filter:
    """The criteria of samples; None accepts all. `text` occurs in an answer, in any letter case."""

    task: str | None = None
    status: str | None = None
    doc: str | None = None
    condition: str | None = None
    text: str | None = None

    def passes(self, sample: Sample) -> bool:
        """Return whether a sample matches, without task and status (the reader filters those)."""
        if self.doc is not None and sample.key.doc != self.doc:
            return False
        if self.condition is not None and sample.key.condition != self.condition:
            return False
        return self.text is None or any(self.text.casefold() in answer.casefold() for answer in sample.answers)


def seen_samples(run: Run, wanted: Filter | None = None) -> Iterator[Seen]:
    """Yield the samples of a run, in the order in which they ended.

    Raises UnknownNameError for an unknown task or status, RunError if a row is damaged.
    """
    wanted = wanted or Filter()
    write = key_writer(run)
    for task in run.tasks if wanted.task is None else [wanted.task]:
        scores = {score.key: score for score in run.scores(task)} if run.has_scores(task) else {}
        for sample in run.samples(task, wanted.status):
            if wanted.passes(sample):
                yield Seen(write(sample.key), sample, scores.get(sample.key))


def key_writer(run: Run) -> Callable[[SampleKey], str]:
    """Return the function that writes keys: `[task:]doc[:condition][:repeat]`, without the shared parts."""
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
    """Return a sample with the texts stored by reference restored from the data.

    Raises TaskError, DataError or RunError if the task or data are missing or have changed.
    """
    if seen.sample.doc_digest is None:
        return seen
    return seen._replace(sample=RunTexts(run.manifest, run.folder).sample(seen.sample))


def find_sample(run: Run, key: str) -> Seen:
    """Return the sample of this key; only the doc, or doc and repeat, suffices if a single sample has it.

    Raises UnknownNameError with the nearest keys if there is none, UsageError if there are several.
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
        raise UsageError(f"{len(found)} samples are called {key!r}", where=where, fix=f"Name one: {listed}")
    hint = f"List them: creval samples {run.folder}" if not nearest(key, known) else ""
    raise UnknownNameError("sample", key, known, where=where, hint=hint)


Judged = Mapping[SampleKey, Sequence[Mapping[str, Any]]]
"""Calls to other roles than the target, from calls/, by the sample for which they were made first."""


def judge_calls(run: Run, tasks: Sequence[str] | None = None) -> Judged:
    """Return the calls to a run's other roles for its samples."""
    found: dict[SampleKey, list[Mapping[str, Any]]] = {}
    for record in run.calls():
        asked = record.get("asked", {})
        if "doc_id" in asked and (tasks is None or asked["task"] in tasks):
            key = SampleKey(asked["task"], asked["doc_id"], asked["condition"], asked["repeat"])
            found.setdefault(key, []).append(record)
    return found


def transcript(seen: Seen, judged: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return a sample as plain data.

    `turns` are messages and answers in order, each with `who` and `text` (or `digest` and `characters` if the text
    is stored by reference), `parts` other than text, `calls` of tools, and for an answer its `thinking`; `score`
    contains the parsed answer and its scores; `judges` the calls of other roles in scoring.
    """
    sample, score = seen.sample, seen.score
    referenced = sample.doc_digest is not None and not sample.doc
    data: dict[str, Any] = {
        **seen.to_row(),
        "seed": sample.seed,
        "started": sample.started,
        "served_by": sorted({str(served) for call in sample.calls if (served := _served(call.reply_data))}),
        "doc_fields": {"digest": sample.doc_digest} if referenced else dict(sample.doc),
        "by_reference": referenced,
        "turns": list(_turns(sample.calls)),
        "outcome": dict(sample.outcome),
        "judges": [_judge(record) for record in judged if "messages" in record],
    }
    if not data["turns"]:
        data["turns"] = [{"who": "answer", "text": answer} for answer in sample.answers]
    if score is not None:
        data["value"] = score.value
        data["scores"] = dict(score.scores)
        data["details"] = dict(score.details)
        data["missing"] = {name: f"{lack.status.value}: {lack.reason}" for name, lack in score.missing.items()}
    return data


def _turns(calls: Sequence[CallRecord]) -> Iterator[dict[str, Any]]:
    for call in calls:
        name = "answer" if call.role == "target" else call.role
        for message in call.messages:
            yield {"who": message["role"], **_text(message), **({"to": name} if call.role != "target" else {})}
        if call.error is not None:
            yield {"who": name, "text": "", "error": call.error}
        for completion in (call.reply_data or {}).get("completions", ()):
            yield {"who": name, **_answer(completion)}


def _text(message: Mapping[str, Any]) -> dict[str, Any]:
    calls = _calls(message)
    if "digest" in message:
        return {"digest": message["digest"], "characters": message.get("characters", 0), **calls}
    content = message["content"]
    if isinstance(content, str):
        return {"text": content, **calls}
    texts = [str(part["text"]) for part in content if "text" in part]
    return {"text": "\n".join(texts), "parts": [dict(part) for part in content if "text" not in part], **calls}


def _calls(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tool calls of a message or completion, under the key `calls`."""
    return {"calls": [dict(call) for call in said["tool_calls"]]} if said.get("tool_calls") else {}


def _answer(completion: Mapping[str, Any]) -> dict[str, Any]:
    view: dict[str, Any] = {"text": completion["text"], **_calls(completion)}
    if completion.get("reasoning"):
        view["thinking"] = completion["reasoning"]
    if completion.get("refusal"):
        view["refusal"] = completion["refusal"]
    if completion["finish_reason"] != "stop":
        view["ended"] = completion["finish_reason"]
    return view


def _judge(record: Mapping[str, Any]) -> dict[str, Any]:
    reply = record.get("reply") or {}
    return {
        "role": record["role"],
        "model": record.get("model", ""),
        "step": record.get("asked", {}).get("step", ""),
        "turns": [{"who": message["role"], **_text(message)} for message in record["messages"]],
        "answers": [_answer(completion) for completion in reply.get("completions", ())],
        "error": record.get("error"),
        "cost": reply.get("cost"),
    }


def _served(reply: Mapping[str, Any] | None) -> str | None:
    return (reply or {}).get("served_by")
