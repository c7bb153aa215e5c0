"""Why an answer ended, in the words of every provider: one table for each outcome."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.chat_server import Answer, ChatServer, Raw

from creval.errors import FatalModelError, RetryableModelError
from creval.models.answers.finish_reasons import broken_off, finish_reason, with_known_finish_reasons
from creval.models.answers.flags import UNKNOWN_FINISH_REASON
from creval.models.model import Model
from creval.models.model_options import ModelOptions
from creval.models.open_model import open_model
from creval.models.providers.chat_reply import read_reply
from creval.types.messages import Completion, GenerateRequest, Reply

WORDS = {
    "stop": "stop STOP end_turn stop_sequence STOP_SEQUENCE COMPLETE complete eos eos_token eosFound eogToken "
    "endoftext stopStringFound stop_criteria_met FINISH FINISHED FINISH_REASON_STOP end_of_text normal completed word "
    "ALTERNATIVE_STATUS_FINAL FinishReason.STOP",
    "length": "length LENGTH max_tokens MAX_TOKENS model_length max_output_tokens max_completion_tokens max_new_tokens "
    "model_context_window_exceeded context_length context_window_exceeded contextLengthReached token_limit "
    "maxPredictedTokensReached FINISH_REASON_MAX_TOKENS ERROR_LIMIT limit maximum_tokens context repetition "
    "ALTERNATIVE_STATUS_TRUNCATED_FINAL max-tokens max_reasoning_tokens output_token_limit",
    "content_filter": "content_filter content-filter CONTENT_FILTERED content_filtered SAFETY RECITATION ERROR_TOXIC "
    "PROHIBITED_CONTENT BLOCKLIST SPII LANGUAGE refusal sensitive guardrail_intervened IMAGE_SAFETY "
    "IMAGE_PROHIBITED_CONTENT ESCALATION MODEL_ARMOR blacklist ALTERNATIVE_STATUS_CONTENT_FILTER "
    "FINISH_REASON_SAFETY content_policy_violation csam_blocked",
    "tool_calls": "tool_calls tool-calls TOOL_CALL tool_use function_call MALFORMED_FUNCTION_CALL toolCalls "
    "UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS malformed_tool_use MISSING_THOUGHT_SIGNATURE",
    "error": "error ERROR USER_CANCEL pause_turn network_error abort aborted cancelled canceled timeout TIMEOUT "
    "time_limit insufficient_system_resource incomplete not_finished OTHER MALFORMED_RESPONSE "
    "malformed_model_output compaction load unload failed userStopped modelUnloaded FINISH_REASON_UNSPECIFIED "
    "upstream_error connection_lost_error deadline_exceeded RAG_QUERY_WHEN_RAG_DISABLED request_aborted_by_scheduler",
    "unknown": "null None unknown",
}
MORE_WORDS = {
    "stop": "Stop done eos-token EndTurn stop_token endTurn turn_complete STOP_REASON_END_TURN finish_stop eos_id "
    "success FINISH_REASON_STOP_SEQUENCE hit_stop_sequence stop_word stopword",
    "length": "max_length MaxTokens maxTokens length_limit max_tokens_reached token_limit_reached "
    "context_length_exceeded model_context_window exceeded_max_tokens too_long out_of_tokens "
    "max_output_tokens_exceeded truncated TRUNCATED cutoff LENGTH_LIMIT context_window_full maximum_length "
    "max_len tokens_limit output_limit MAX_OUTPUT_TOKENS finish_length incomplete_length context_overflow",
    "content_filter": "content_blocked blocked BLOCKED filtered policy_violation moderation MODERATION safety_filter "
    "FinishReason.SAFETY prohibited refused REFUSED content_moderation harmful harm_category guardrail "
    "GUARDRAIL_INTERVENED toxic ERROR_PROHIBITED copyright COPYRIGHT unsafe flagged",
    "error": "server_error internal_error INTERNAL_ERROR user_cancelled client_disconnect disconnected "
    "connection_error network-error stopped_by_user aborted_by_user abort_requested interrupted overloaded "
    "rate_limit stream_error engine_error Cancelled canceled_by_user ERROR_UNSPECIFIED FINISH_REASON_ERROR "
    "service_unavailable killed preempted paused",
}
TABLE = [(word, outcome) for table in (WORDS, MORE_WORDS) for outcome, words in table.items() for word in words.split()]


def body(finish: Any, **choice: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"content": "hi"}, "finish_reason": finish, **choice}]}


@pytest.mark.parametrize(("word", "outcome"), TABLE)
def test_each_word_is_its_outcome(word: str, outcome: str) -> None:
    assert finish_reason(word) == (outcome, False)
    reply = read_reply(body(word), 0.0)
    assert (reply.completions[0].finish_reason, reply.flags) == (outcome, ())


@pytest.mark.parametrize("word", [None, "", 7, [], {}, True])
def test_what_is_no_word_is_absent(word: Any) -> None:
    assert finish_reason(word) == ("unknown", False)


def test_an_object_tells_its_type() -> None:
    assert finish_reason({"type": "length", "length": 10}) == ("length", False)


@pytest.mark.parametrize(
    ("said", "native", "outcome"),
    [
        ("stop", "network_error", "error"),
        ("stop", "MAX_TOKENS", "length"),
        ("stop", "SAFETY", "content_filter"),
        ("stop", "end_turn", "stop"),
        ("stop", None, "stop"),
        ("stop", "", "stop"),
        ("length", "pause_turn", "error"),
        ("length", "stop", "length"),
        ("content_filter", "STOP", "content_filter"),
        ("tool_calls", "MALFORMED_FUNCTION_CALL", "tool_calls"),
        (None, "completed", "stop"),
        (None, "upstream_error", "error"),
    ],
)
@pytest.mark.parametrize("place", ["native_finish_reason", "provider_specific_fields"])
def test_the_word_behind_a_router(said: Any, native: Any, outcome: str, place: str) -> None:
    more = {place: native} if place.startswith("native") else {place: {"native_finish_reason": native}}
    reply = read_reply(body(said, **more), 0.0)
    assert (reply.completions[0].finish_reason, reply.flags) == (outcome, ())


@pytest.mark.parametrize(("said", "native"), [("vibes", None), ("stop", "vibes"), ("vibes", "stop"), ("a b", "")])
def test_a_word_that_is_not_known_is_flagged(said: str, native: Any) -> None:
    reply = read_reply(body(said, native_finish_reason=native), 0.0)
    assert reply.flags == (UNKNOWN_FINISH_REASON,)
    assert broken_off(reply, "m") is None


def test_replies_of_other_providers_are_read_the_same_way() -> None:
    given = Reply((Completion("a", "MAX_TOKENS"), Completion("b", "vibes"), Completion("c")), flags=("thinking",))
    read = with_known_finish_reasons(given)
    assert [c.finish_reason for c in read.completions] == ["length", "vibes", "stop"]
    assert read.flags == ("thinking", UNKNOWN_FINISH_REASON)


def test_a_recorded_answer_that_broke_off_is_not_tried_again() -> None:
    broken = with_known_finish_reasons(Reply((Completion("a", "USER_CANCEL"),)))
    assert isinstance(broken_off(broken, "m"), RetryableModelError)
    assert isinstance(broken_off(broken, "m", remote=False), FatalModelError)


WITHOUT_MESSAGE = [
    (body("content_filter", message=None), "content_filter"),
    (body("SAFETY", message=None), "content_filter"),
    ({"choices": [{"index": 0, "finish_reason": "content_filter"}]}, "content_filter"),
    (body("MAX_TOKENS", message=None), "length"),
    ({"choices": [], "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "content_filter"),
    ({"choices": None, "prompt_feedback": {"block_reason": 1}}, "content_filter"),
    (
        {"choices": [], "prompt_filter_results": [{"content_filter_results": {"hate": {"filtered": True}}}]},
        "content_filter",
    ),
]


@pytest.mark.parametrize(("sent", "outcome"), WITHOUT_MESSAGE)
def test_a_filter_or_limit_that_left_no_message(sent: dict[str, Any], outcome: str) -> None:
    completion = read_reply(sent, 0.0).completions[0]
    assert (completion.text, completion.finish_reason) == ("", outcome)


def test_one_try_for_a_refusal_more_for_an_error(registry: Any, ask: Any, fast: Any) -> None:
    script = [
        Raw(b'{"choices": [{"index": 0, "message": null, "finish_reason": "content_filter"}]}'),
        Answer("half", finish_reason="USER_CANCEL"),
        Answer("half", extra={"choices": [{**body("stop", native_finish_reason="network_error")["choices"][0]}]}),
        Answer("whole", finish_reason="COMPLETE"),
        Answer("perhaps", finish_reason="vibes"),
    ]
    with ChatServer(script) as server:
        refused, whole, strange = asyncio.run(_three(open_model("chat/m", registry, _at(fast, server)), ask()))
        assert len(server.requests) == 5
    assert (refused.completions[0].finish_reason, refused.attempts) == ("content_filter", 1)
    assert (whole.text, whole.attempts) == ("whole", 3)
    assert (strange.text, strange.attempts, strange.flags) == ("perhaps", 1, (UNKNOWN_FINISH_REASON,))


async def _three(model: Model, request: GenerateRequest) -> list[Reply]:
    try:
        return [await model.generate(request) for _ in range(3)]
    finally:
        await model.close()


def _at(options: ModelOptions, server: ChatServer) -> ModelOptions:
    return replace(options, base_url=server.url)


@settings(max_examples=80)
@given(st.none() | st.text(max_size=70) | st.integers() | st.lists(st.text()), st.none() | st.text(max_size=70))
def test_no_word_raises(said: Any, native: Any) -> None:
    word, strange = finish_reason(said, native)
    assert word and isinstance(strange, bool) and word.encode()
