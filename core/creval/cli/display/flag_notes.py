"""What the user should know of replies that were odd: a line for each task and kind, with what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.models.answers.flags import (
    AT_LIMIT,
    CUT_PROMPT,
    DEFAULT_LEFT_OUT,
    ENDLESS_THINKING,
    LOGPROBS_DROPPED,
    OVER_LIMIT,
    STRANGE_PARTS,
    TEMPLATE_TOKENS,
    UNKNOWN_FINISH_REASON,
)

__all__ = ["flag_notes"]

_WORDS = {
    CUT_PROMPT: (
        "the server counts far fewer tokens than the prompt needs: it has probably cut the prompt. Give the model a "
        "longer context on the server (Ollama: num_ctx, OLLAMA_CONTEXT_LENGTH)"
    ),
    ENDLESS_THINKING: (
        "the model's thinking never ends, so there is no answer. Raise the limit: --generation max_tokens=..."
    ),
    AT_LIMIT: "the server calls an answer whole that is as long as the limit allows; it counts as truncated",
    OVER_LIMIT: "the answer is longer than the limit that was sent: the server does not keep it",
    LOGPROBS_DROPPED: "log-probabilities that are no finite numbers, or do not fit the answer, were left out",
    UNKNOWN_FINISH_REASON: (
        "the server gave a finish reason that creval does not know; the answer counts as whole. `creval samples` shows "
        "which samples, `creval sample` the word"
    ),
    DEFAULT_LEFT_OUT: (
        "a setting at the provider's default (top_p 1, temperature 1) was not sent: the model takes only one of the two"
    ),
    STRANGE_PARTS: "the answer holds parts of a kind that creval does not know; they were left out",
    TEMPLATE_TOKENS: (
        "tokens of the chat template were in the answer and were taken out; the server may use the wrong template"
    ),
}


def flag_notes(results: Mapping[str, Any]) -> list[str]:
    """Return the lines for a run's results."""
    return [
        f"{task['task']}: in {count} of {task['planned']} samples {_WORDS[flag]}."
        for task in results["tasks"]
        for flag, count in task.get("flags", {}).items()
        if flag in _WORDS
    ]
