"""One sample whole: what was said, how it was read, what judges said, and the score, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from creval.report.looking.rows import Seen
from creval.runs.reader import Run
from creval.types.sample import CallRecord, SampleKey

__all__ = ["Judged", "judge_calls", "transcript"]

Judged = Mapping[SampleKey, Sequence[Mapping[str, Any]]]
"""Calls to other roles than the target, as calls/ holds them, by the sample for which they were asked first."""


def judge_calls(run: Run, tasks: Sequence[str] | None = None) -> Judged:
    """Return the calls that a run's other roles answered for its samples."""
    found: dict[SampleKey, list[Mapping[str, Any]]] = {}
    for record in run.calls():
        asked = record.get("asked", {})
        if "doc_id" in asked and (tasks is None or asked["task"] in tasks):
            key = SampleKey(asked["task"], asked["doc_id"], asked["condition"], asked["repeat"])
            found.setdefault(key, []).append(record)
    return found


def transcript(seen: Seen, judged: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return a sample as plain data.

    `turns` are messages and answers in order, each with `who` and `text` (or `digest` and `characters` where the text
    is kept by reference), an answer with its `thinking` too; `score` what was read and scored; `judges` the calls of
    other roles in scoring.
    """
    sample, score = seen.sample, seen.score
    referenced = sample.doc_digest is not None and not sample.doc
    data: dict[str, Any] = {
        **seen.to_row(),
        "seed": sample.seed,
        "started": sample.started,
        "seconds": sample.seconds,
        "served_by": sorted({str(served) for call in sample.calls if (served := _served(call.reply))}),
        "cost": _cost(sample.calls),
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
        for completion in (call.reply or {}).get("completions", ()):
            yield {"who": name, **_answer(completion)}


def _text(message: Mapping[str, Any]) -> dict[str, Any]:
    if "digest" in message:
        return {"digest": message["digest"], "characters": message.get("characters", 0)}
    return {"text": message["content"]}


def _answer(completion: Mapping[str, Any]) -> dict[str, Any]:
    told = {"text": completion["text"]}
    if completion.get("reasoning"):
        told["thinking"] = completion["reasoning"]
    if completion.get("refusal"):
        told["refusal"] = completion["refusal"]
    if completion["finish_reason"] != "stop":
        told["ended"] = completion["finish_reason"]
    return told


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


def _cost(calls: Sequence[CallRecord]) -> float | None:
    costs = [(call.reply or {}).get("cost") for call in calls if call.role == "target" and call.reply]
    return None if not costs or any(cost is None for cost in costs) else sum(float(cost or 0) for cost in costs)
