"""A sample as one flat row: question, right answer, answer, parsed value, scores, tokens and cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from creval.types.sample import CallRecord, Sample, ScoreRecord

__all__ = ["sample_row", "target_of"]

_TARGETS = ("target", "solution", "answer", "gold", "truth", "label")
"""Fields of a doc that may hold its right answer; the first one present counts."""


def target_of(doc: Mapping[str, Any]) -> Any:
    """Return the right answer in a doc: its `target`, else `solution`, `answer` ..., or None."""
    return next((doc[name] for name in _TARGETS if name in doc), None)


def sample_row(sample: Sample, score: ScoreRecord | None) -> dict[str, Any]:
    """Return a sample as a flat row of texts and numbers.

    `input` is the last message to the target in its first call, `target` the doc's right answer, `answer` the parsed
    value, `output` the texts of the model. Lists and mappings are JSON. Tokens and cost (US dollars, None without a
    known price) are those of the target's calls, `seconds` the time from the first request to the last answer. The
    scores follow under their names. Values stored by reference are None.
    """
    target = [call for call in sample.calls if call.role == "target"]
    return {
        **sample.key._asdict(),
        "status": sample.status.value,
        "route": score.route if score else None,
        "reason": sample.reason,
        "input": _input(target),
        "target": _cell(target_of(sample.doc)),
        "answer": _cell(score.value) if score else None,
        "output": "\n\n".join(sample.answers) or None,
        "input_tokens": _tokens(target, "input_tokens"),
        "output_tokens": _tokens(target, "output_tokens"),
        "cost": _cost(target),
        "seconds": sample.seconds,
        **(score.scores if score else {}),
    }


def _cost(calls: list[CallRecord]) -> float | None:
    """Return the sum of the calls' cost in US dollars; None without calls, or if the price of one is unknown."""
    costs = [call.reply_data.get("cost") for call in calls if call.reply_data]
    return None if not costs or None in costs else sum(float(cost or 0) for cost in costs)


def _input(calls: list[CallRecord]) -> str | None:
    messages = calls[0].messages if calls else ()
    return next((_text(message) for message in reversed(messages) if message.get("role") == "user"), None)


def _text(message: Mapping[str, Any]) -> str | None:
    content = message.get("content")
    return "".join(_parts(content)) if isinstance(content, list) else content


def _parts(content: list[Any]) -> Iterator[str]:
    for part in content:
        if isinstance(part, Mapping):
            yield part["text"] if part.get("type") == "text" else f"[{part.get('type')}]"


def _tokens(calls: list[CallRecord], name: str) -> int | None:
    counts = [(call.reply_data.get("usage") or {}).get(name) for call in calls if call.reply_data]
    return sum(count or 0 for count in counts) if any(counts) else None


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
