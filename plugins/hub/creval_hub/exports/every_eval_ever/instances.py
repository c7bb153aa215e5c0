"""The instance file: one line for each sample and each result that includes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from creval.plugin import CallRecord, Run, Sample, ScoreRecord
from creval_hub.exports.cleaning import encodable
from creval_hub.exports.every_eval_ever.about import SCHEMA, About, as_texts, model_info
from creval_hub.exports.every_eval_ever.aggregate import evaluation_id, exported_metrics, result_id

__all__ = ["instances"]


def instances(run: Run, task: str, about: About) -> Iterator[dict[str, Any]]:
    """Yield the lines of a task's samples.

    The schema has no sample without a score: if the metric counts it as 0, it gets 0 and its
    status; otherwise it is left out (the aggregate has the counts by status).
    """
    model = model_info(run, "target", about)["id"]
    metrics = list(exported_metrics(run.result(task)))
    for sample, score in run.scored(task):
        said = _input_and_output(sample, score)
        for metric in metrics:
            value = _value(metric, score)
            if value is None or metric.get("condition") not in (None, sample.key.condition):
                continue
            yield {
                "schema_version": SCHEMA,
                "evaluation_id": evaluation_id(run, task, model),
                "model_id": model,
                "evaluation_name": f"creval.{task}",
                "evaluation_result_id": result_id(task, metric),
                "sample_id": f"{sample.key.doc}|{sample.key.condition}|{sample.key.repeat}",
                **said,
                "evaluation": {"score": value, "is_correct": _is_correct(metric, value)},
            }


def _value(metric: Mapping[str, Any], score: ScoreRecord) -> float | None:
    value = score.scores.get(str(metric.get("definition", {}).get("score") or metric["name"]))
    if value is not None:
        return float(value)
    return 0.0 if score.status.is_failure and metric["failed"] == "zero" else None


def _is_correct(metric: Mapping[str, Any], value: float) -> bool:
    """Return whether a sample is correct: its score of 0 or 1 is 1. Other scores are neither correct nor wrong."""
    whole = metric.get("definition", {}).get("range") or ()
    return list(whole) == [0, 1] and metric["higher_is_better"] and value == 1


def _input_and_output(sample: Sample, score: ScoreRecord) -> dict[str, Any]:
    calls = [call for call in sample.calls if call.role == "target"]
    first = calls[0].messages if calls else ()
    raw = "\n\n".join(str(message.get("content", "")) for message in first)
    target = sample.doc.get("target", sample.doc.get("solution"))
    reference = [] if target is None else [str(one) for one in (target if isinstance(target, list) else [target])]
    several = len(calls) > 1
    texts = [encodable(answer) for answer in sample.answers]
    turns = _dialogue(calls) if several else None
    return {
        "sample_hash": _hash({"raw": encodable(raw), "reference": reference}),
        "interaction_type": "multi_turn" if several else "single_turn",
        "input": {"raw": encodable(raw), "reference": reference},
        "output": None if several else {"raw": texts or [""]},
        "messages": turns,
        "answer_attribution": [
            {
                "turn_idx": len(turns) - 1 if turns else 0,
                "source": "messages" if several else "output.raw",
                "extracted_value": _extracted(score, texts),
                "extraction_method": score.route or "none",
                "is_terminal": True,
            }
        ],
        **_usage(calls),
        "performance": {"latency_ms": round(sample.seconds * 1000, 3)},
        "error": None if score.reason is None else encodable(score.reason),
        "metadata": as_texts({"status": score.status.value, "route": score.route}),
    }


def _extracted(score: ScoreRecord, texts: Sequence[str]) -> str:
    if score.value is None:
        return texts[-1] if texts else ""
    text = score.value if isinstance(score.value, str) else json.dumps(score.value, ensure_ascii=False)
    return encodable(text)


def _dialogue(calls: Sequence[CallRecord]) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    for call in calls:
        for message in call.messages:
            text = encodable(str(message.get("content", "")))
            turns.append({"turn_idx": len(turns), "role": str(message["role"]), "content": text})
    last = calls[-1].reply if calls else None
    if last and last.completions:
        text = encodable(last.text)
        turns.append({"turn_idx": len(turns), "role": "assistant", "content": text})
    return turns


def _usage(calls: Sequence[CallRecord]) -> dict[str, Any]:
    counted = [reply.usage for call in calls if (reply := call.reply) is not None]
    tokens = [sum(one.input_tokens for one in counted), sum(one.output_tokens for one in counted)]
    if not any(tokens):
        return {}
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1], "total_tokens": sum(tokens)}
    reasoning = sum(one.reasoning_tokens for one in counted)
    return {"token_usage": {**usage, "reasoning_tokens": reasoning} if reasoning else usage}


def _hash(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
