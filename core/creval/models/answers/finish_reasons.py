"""Why an answer ended: maps the words of many providers to five outcomes.

The words are those of OpenAI, Azure, Anthropic, Gemini and Vertex AI, Bedrock, Cohere, Mistral, OpenRouter, vLLM,
SGLang, TGI, llama.cpp, Ollama, LM Studio, Groq, Together, Fireworks, Cerebras, DeepSeek, Qwen, Zhipu, GigaChat,
YandexGPT, watsonx and litellm, in lower case with underscores.
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from typing import Any

from creval.errors import FatalModelError, ModelError, RetryableModelError
from creval.models.answers.flags import UNKNOWN_FINISH_REASON
from creval.types.messages import LostUsage, Reply

__all__ = ["ABSENT", "broken_off", "finish_reason", "with_known_finish_reasons"]

ABSENT = "unknown"
"""The server gave no finish reason: the answer broke off."""
_BY_OUTCOME = {
    "stop": (
        "stop stopped finish_stop stop_sequence stop_sequence_reached stop_criteria_met stop_string_found "
        "stop_token stop_trigger stop_word stopword hit_stop_sequence turn_complete eos_id end end_turn "
        "end_of_text end_of_turn endoftext eos eos_token eos_found eog_token complete completed completion finish "
        "finished final alternative_status_final done normal success succeeded word"
    ),
    "length": (
        "length limit max_length max_len too_long out_of_tokens cutoff context_overflow model_length max_tokens "
        "max_output max_output_tokens max_completion_tokens max_new_tokens max_predicted_tokens_reached max_token "
        "maximum_tokens max_tokens_exceeded token_limit output_limit length_limit context context_length "
        "context_length_reached context_length_exceeded context_window_exceeded context_limit "
        "model_context_window_exceeded error_limit truncated alternative_status_truncated_final partial "
        "alternative_status_partial continuation num_predict repetition"
    ),
    "content_filter": (
        "content_filter content_filtered content_filter_error content_policy content_policy_violation error_toxic "
        "prohibited_content safety recitation blocklist blacklist spii language refusal refused sensitive "
        "moderation moderated policy_violation guardrail guardrail_intervened guardrails blocked block "
        "model_armor alternative_status_content_filter image_safety image_prohibited_content image_recitation "
        "escalation responsible_ai_policy_violation harm_category jailbreak copyright unsafe flagged "
        "error_prohibited"
    ),
    "tool_calls": (
        "tool_calls tool_call tool_use tool_code function_call function_calls function_call_error "
        "function_call_failure malformed_function_call malformed_tool_use malformed_tool_call "
        "unexpected_tool_call too_many_tool_calls missing_thought_signature"
    ),
    "error": (
        "error errored abort aborted cancel cancelled canceled client_cancelled user_cancel user_cancelled "
        "user_stopped stopped_by_user killed disconnect failed failure internal_error server_error network_error "
        "connection_error upstream_error provider_error timeout timed_out time_limit deadline_exceeded overloaded "
        "rate_limit rate_limited insufficient_system_resource interrupted interrupt incomplete in_progress "
        "not_finished pause_turn paused compaction turn_detected preempted load unload model_unloaded no_image "
        "image_other other finish_reason_unspecified unspecified malformed_response malformed_model_output "
        "rag_query_when_rag_disabled"
    ),
    ABSENT: "unknown none null nil undefined",
}
_OUTCOME_OF = {word: outcome for outcome, words in _BY_OUTCOME.items() for word in words.split()} | {"": ABSENT}
_WORSE = ("stop", "tool_calls", "length", "content_filter", "error")
_PARTS = (
    ("error", r"error|fail|time_?out|cancel|abort|interrupt|overload|unavailable|disconnect|exhausted|crash|unload"),
    (
        "content_filter",
        r"filter|safety|prohibited|toxic|refus|moderat|guardrail|sensitive|policy|harm|blocked|recitation",
    ),
    ("length", r"length|max_\w*tokens?|tokens?_limit|context_(?:window|limit|size)|output_limit|truncat"),
    ("tool_calls", r"tool|function_call"),
)
"""Parts of words that are not listed, but are clear nevertheless."""
_LONGEST_WORD = 60
_LONGEST_READ = 500  # with the white space around it
_BROKEN = frozenset({"error", ABSENT})


def finish_reason(reported: Any, native: Any = None) -> tuple[str, bool]:
    """Return the outcome of a server's finish reason, and whether one of its words is unknown.

    `native` is the word of the server behind a router or library, which may be more precise: the worse of the two
    counts. An unknown word stays unchanged.
    """
    first, second = _word(reported), _word(native)
    outcome, behind = _outcome(first), _outcome(second)
    if second == "" or behind == ABSENT:
        return outcome or first, outcome is None
    if behind is None:
        return outcome or first, True
    if outcome == ABSENT:
        return behind, False
    if outcome is None:
        return (behind if behind != "stop" else first), True
    return max(outcome, behind, key=_WORSE.index), False


def with_known_finish_reasons(reply: Reply) -> Reply:
    """Return a reply with outcomes as finish reasons; a reply with an unknown word is flagged."""
    if all(completion.finish_reason in _BY_OUTCOME for completion in reply.completions):
        return reply
    outcomes = [finish_reason(completion.finish_reason) for completion in reply.completions]
    completions = tuple(
        replace(c, finish_reason=word) for c, (word, _) in zip(reply.completions, outcomes, strict=True)
    )
    new = (UNKNOWN_FINISH_REASON,) if any(strange for _, strange in outcomes) else ()
    return replace(reply, completions=completions, flags=tuple(dict.fromkeys((*reply.flags, *new))))


def broken_off(reply: Reply, where: str, remote: bool = True) -> ModelError | None:
    """Return the error of a reply that broke off, with its usage, or None.

    It is worth another try, unless the answer was recorded.
    """
    broken = next((c.finish_reason for c in reply.completions if c.finish_reason in _BROKEN), None)
    if broken is None or (broken == ABSENT and not remote):
        return None
    manner = "without a finish reason" if broken == ABSENT else f"with the finish reason {broken!r}"
    what = f"the answer broke off {manner}"
    fault = RetryableModelError(what, where=where) if remote else FatalModelError(what, where=where)
    fault.lost = LostUsage(1, reply.usage, reply.cost)
    return fault


def _word(reason: Any) -> str:
    """Return a finish reason in lower case with underscores; SGLang sends an object with its type."""
    if isinstance(reason, dict):
        reason = reason.get("type")
    return _plain_reason(reason[:_LONGEST_READ]) if isinstance(reason, str) else ""


@functools.lru_cache(maxsize=256)
def _plain_reason(reason: str) -> str:
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", reason.strip()[:_LONGEST_WORD])
    text = re.sub(r"[\s_-]+", "_", text.encode("utf-8", "replace").decode()).lower()
    return re.sub(r"^(?:finish|stop)_reason[_.]", "", text) if text != "finish_reason_unspecified" else text


def _outcome(word: str) -> str | None:
    known = _OUTCOME_OF.get(word)
    if known is not None:
        return known
    return next((outcome for outcome, parts in _PARTS if re.search(parts, word)), None)
