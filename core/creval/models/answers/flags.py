"""What may be odd about a reply without making it useless; results count the samples that have each flag."""

from __future__ import annotations

__all__ = [
    "AT_LIMIT",
    "BATCH",
    "CONTEXT_CUT",
    "CUT_PROMPT",
    "DEFAULT_LEFT_OUT",
    "ENDLESS_THINKING",
    "EXTRA_ANSWERS",
    "FIRST_TOKEN",
    "LOGPROBS_DROPPED",
    "MALFORMED_ARGUMENTS",
    "OVER_LIMIT",
    "STRANGE_PARTS",
    "TEMPLATE_TOKENS",
    "THINKING",
    "UNKNOWN_FINISH_REASON",
]

THINKING = "thinking"
"""Thinking stood in an answer and was taken out of it."""

ENDLESS_THINKING = "endless_thinking"
"""The thinking in an answer never ends, so there is no answer."""

LOGPROBS_DROPPED = "logprobs_dropped"
"""Log-probabilities that are no finite numbers, or that do not fit the answer, were left out."""

MALFORMED_ARGUMENTS = "malformed_arguments"
"""The arguments of a tool call are no JSON object; they are kept as the model wrote them."""

AT_LIMIT = "at_limit"
"""The server calls the answer whole, but it has exactly as many tokens as the limit that was sent: it counts as cut."""

OVER_LIMIT = "over_limit"
"""The answer has more tokens than the limit that was sent."""

CUT_PROMPT = "cut_prompt"
"""The server counts far fewer tokens in the prompt than its characters need: it has probably cut the prompt."""

UNKNOWN_FINISH_REASON = "unknown_finish_reason"
"""The server ended the answer with a word that is not known: it counts as whole, and may be none."""

STRANGE_PARTS = "strange_parts"
"""The answer came in parts, and some of a kind that is not known; they were left out."""

TEMPLATE_TOKENS = "template_tokens"
"""End tokens or other marks of a chat template were in the answer and were taken out of it."""

DEFAULT_LEFT_OUT = "default_left_out"
"""A setting with the provider's default was not sent, because the model does not take it next to another."""

EXTRA_ANSWERS = "extra_answers"
"""The server sent more answers than were asked for; the first ones count."""

CONTEXT_CUT = "context_cut"
"""A context was cut on the left to the model's length."""

FIRST_TOKEN = "first_token"
"""The first token of a text has no probability, as nothing comes before it: it is not counted."""

BATCH = "batch"
"""The answer came from a batch: nothing is odd about it, but its price is another and its latency unknown (0)."""
