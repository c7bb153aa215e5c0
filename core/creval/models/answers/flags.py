"""Flags of replies that are odd but usable; results count the samples with each flag."""

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
"""An answer contained thinking, which was removed."""

ENDLESS_THINKING = "endless_thinking"
"""The thinking in an answer never ends, so there is no answer."""

LOGPROBS_DROPPED = "logprobs_dropped"
"""Log-probabilities that are not finite numbers, or do not match the answer, were left out."""

MALFORMED_ARGUMENTS = "malformed_arguments"
"""The arguments of a tool call are not a JSON object; they are kept as the model wrote them."""

AT_LIMIT = "at_limit"
"""The server reports a complete answer, but it has exactly as many tokens as the limit sent: it counts as cut."""

OVER_LIMIT = "over_limit"
"""The answer has more tokens than the limit sent."""

CUT_PROMPT = "cut_prompt"
"""The server counts far fewer tokens in the prompt than its characters need: it has probably cut the prompt."""

UNKNOWN_FINISH_REASON = "unknown_finish_reason"
"""The server's finish reason is unknown: the answer counts as complete, but may not be."""

STRANGE_PARTS = "strange_parts"
"""The answer came in parts, some of them of an unknown kind, which were left out."""

TEMPLATE_TOKENS = "template_tokens"
"""The answer contained end tokens or other marks of a chat template, which were removed."""

DEFAULT_LEFT_OUT = "default_left_out"
"""A setting with the provider's default was not sent, because the model does not accept it together with another."""

EXTRA_ANSWERS = "extra_answers"
"""The server sent more answers than requested; the first ones count."""

CONTEXT_CUT = "context_cut"
"""A context was cut on the left to the model's length."""

FIRST_TOKEN = "first_token"
"""The first token of a text has no probability, as nothing comes before it: it is not counted."""

BATCH = "batch"
"""The answer came from a batch: it is not odd, but its price differs and its latency is unknown (0)."""
