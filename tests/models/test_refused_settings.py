"""Settings that a model refuses: one call, then one message that names the setting and what to do about it."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.chat_server import Answer, ChatServer

from creval.errors import FatalModelError
from creval.models.answers.flags import DEFAULT_LEFT_OUT
from creval.models.open_model import open_model
from creval.models.providers.chat_request import exclusive_settings
from creval.models.providers.failures import Caller, error_of, explain, refused_setting, with_request_settings
from creval.types.messages import Reply

SENT = {
    "temperature": 0.7,
    "top_p": 0.9,
    "max_tokens": 512,
    "seed": 1,
    "stop": ["\n"],
    "top_k": 5,
    "logprobs": True,
    "presence_penalty": 0.5,
    "frequency_penalty": 0.5,
    "response_format": {"type": "json_object"},
    "reasoning_effort": "low",
}
BEDROCK = (
    '{"type":"error","error":{"type":"invalid_request_error","message":"`temperature` is deprecated for this model."}}'
)
BOTH = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
REFUSALS: list[tuple[Any, str]] = [
    (BOTH, "top_p"),
    ("temperature and top_p cannot both be specified for this model. Please use only one.", "top_p"),
    (f"The model returned the following errors: {BOTH}", "top_p"),
    ("We generally recommend altering temperature or top_p but not both", "top_p"),
    ("Only one of 'temperature' and 'top_p' may be set", "top_p"),
    ("`top_p` and `temperature` are mutually exclusive", "top_p"),
    ("You may only specify one of temperature or top_p", "top_p"),
    ("Setting both temperature and top_p is deprecated", "top_p"),
    ("Do not set temperature together with top_p.", "top_p"),
    ("模型不支持参数 temperature", "temperature"),
    ("Input validation error: `temperature` must be strictly positive", "temperature"),
    ("presence_penalty cannot be combined with top_k", "top_k"),
    ("`temperature` is deprecated for this model.", "temperature"),
    ("temperature is deprecated for this model.", "temperature"),
    (f"The model returned the following errors: {BEDROCK}", "temperature"),
    (
        {
            "message": "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) "
            "value is supported.",
            "param": "temperature",
            "code": "unsupported_value",
            "type": "invalid_request_error",
        },
        "temperature",
    ),
    ("Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
    (
        "gpt-5 models (including gpt-5-codex) don't support temperature=0.7. Only temperature=1 is supported.",
        "temperature",
    ),
    ("`temperature` may only be set to 1 when thinking is enabled.", "temperature"),
    ("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled", "top_p"),
    ("`top_k` must be unset when thinking is enabled", "top_k"),
    ("temperature: range: 0..1", "temperature"),
    ("Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.", "temperature"),
    ("invalid temperature: only 1 is allowed for this model", "temperature"),
    ("Argument not supported on this model: presencePenalty", "presence_penalty"),
    ("Argument not supported on this model: stop", "stop"),
    ("property 'logprobs' is unsupported", "logprobs"),
    ("`logprobs` is not supported with this model", "logprobs"),
    ("logprobs are not supported for reasoning models", "logprobs"),
    ("This model does not support the `response_format` parameter", "response_format"),
    ('Invalid JSON payload received. Unknown name "seed": Cannot find field.', "seed"),
    ("'stop' is not supported with this model.", "stop"),
    ("Unrecognized request argument supplied: top_k", "top_k"),
    ("Unknown parameter: 'reasoning_effort'.", "reasoning_effort"),
    ("litellm.UnsupportedParamsError: anthropic does not support parameters: ['seed'], for model=m", "seed"),
    ("top_k: Extra inputs are not permitted", "top_k"),
    ([{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}], "seed"),
    ("Penalty is not enabled for this model: presence_penalty", "presence_penalty"),
    ("The parameter `temperature` specified in the request is not valid: not supported by this model", "temperature"),
]
MORE_REFUSALS: list[tuple[Any, str]] = [
    ("Parameter temperature is not supported.", "temperature"),
    ("The parameter 'temperature' is not supported by this model", "temperature"),
    ("temperature is not supported when reasoning is enabled", "temperature"),
    ("temperature not supported", "temperature"),
    ("unsupported temperature value", "temperature"),
    ("`temperature` must be 1 for this model", "temperature"),
    ("temperature must be 1", "temperature"),
    ("Only temperature=1 is supported", "temperature"),
    ("temperature has been removed", "temperature"),
    ("temperature: no longer supported", "temperature"),
    ("`top_p` is deprecated for this model.", "top_p"),
    ("top_p is not allowed", "top_p"),
    ("top_p must be in (0, 1]", "top_p"),
    ("top_p: value out of range", "top_p"),
    ("topP is not supported", "top_p"),
    ("Cannot specify both temperature and top_p", "top_p"),
    ("temperature and top_p are mutually exclusive", "top_p"),
    ("Please provide either temperature or top_p, not both", "top_p"),
    ("You cannot set temperature and top_p at the same time", "top_p"),
    ("temperature and top_p should not be used simultaneously", "top_p"),
    ("Use temperature or top_p but not both.", "top_p"),
    ("specifying both `temperature` and `top_p` is not allowed", "top_p"),
    ("Conflicting parameters: temperature, top_p", "top_p"),
    ("Invalid parameter: seed", "seed"),
    ("seed: unknown field", "seed"),
    ("unknown field `seed`", "seed"),
    ("Unexpected keyword argument 'seed'", "seed"),
    ("extra fields not permitted: seed", "seed"),
    ("seed is not a valid parameter", "seed"),
    ("Additional properties are not allowed ('seed' was unexpected)", "seed"),
    ("'logprobs' is not available for this model", "logprobs"),
    ("This model does not support logprobs", "logprobs"),
    ("logprobs is disabled", "logprobs"),
    ("frequency_penalty is not supported with this model", "frequency_penalty"),
    ("frequencyPenalty: Unsupported", "frequency_penalty"),
    ("`stop` is not supported for reasoning models", "stop"),
    ("stop sequences are not supported", "stop"),
    ("stop_sequences: not supported", "stop"),
    ("reasoning_effort is not supported by this model", "reasoning_effort"),
    ("This model does not support reasoning effort", "reasoning_effort"),
    ("response_format json_object is not supported", "response_format"),
    ("response_format.type is invalid", "response_format"),
    ("top_k is not supported on this endpoint", "top_k"),
    ("This model does not support setting top_k", "top_k"),
    ("unrecognized parameter: top_k", "top_k"),
    ("No se admite el parámetro temperature", "temperature"),
    ("参数 temperature 不合法", "temperature"),
    ("temperature 不支持", "temperature"),
    ("Le paramètre temperature n'est pas pris en charge", "temperature"),
]
OTHER: list[Any] = [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 (max_tokens 512).",
    "The prompt is too long: 210000 tokens > 200000 maximum",
    "messages: roles must alternate between user and assistant",
    "Invalid value: the content must not stop with a blank",
    "Could not finish the message because max_tokens or model output limit was reached",
    "The seed of doubt is not allowed",
    "Invalid prompt: the message asks for the temperature of a bomb, which cannot be answered",
    "Your input 'What is the temperature of the sun?' is not allowed",
    "Could not parse message content: 'cannot mix temperature and pressure'",
    "messages.0.content: the text 'temperature must be' is not valid UTF-8",
    "an image of a temperature chart is not supported",
    "The response was blocked as the prompt about body temperature is not allowed by policy",
    "messages: text content blocks must be non-empty (temperature ...)",
    "Invalid 'messages[0].content': string too long; it begins with 'temperature'",
    "The question on temperature and pressure may only have one image",
    "bad request",
    "",
]


def advice(error: Any, sent: dict[str, Any], ask: Any) -> str:
    body = json.dumps({"detail": error} if isinstance(error, list) else {"error": error})
    failure = with_request_settings(error_of(400, body, {}), ask(**sent))
    said = explain(failure, Caller("claude at x", "m"))
    assert isinstance(said, FatalModelError) and said.every_call
    return str(said)


@pytest.mark.parametrize(("error", "name"), [*REFUSALS, *MORE_REFUSALS])
def test_the_message_names_the_setting_and_the_fix(error: Any, name: str, ask: Any) -> None:
    error = error if isinstance(error, dict | list) else {"message": error, "type": "invalid_request_error"}
    said = advice(error, SENT, ask)
    assert f"'{name}'" in said and f"{name}=null" in said
    assert len(said.splitlines()) <= 3


def test_a_conflict_names_both(ask: Any) -> None:
    said = advice({"message": BOTH}, SENT, ask)
    assert "only one of the settings 'temperature' and 'top_p'" in said
    assert "--generation top_p=null" in said and "--generation temperature=null" in said


@pytest.mark.parametrize(
    "said",
    [
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "this model is not supported MaxTokens (max_tokens), please use max_completion_tokens",
        "max_tokens is deprecated, use max_completion_tokens",
    ],
)
def test_another_name_of_the_limit(said: str, ask: Any) -> None:
    fix = advice({"message": said, "param": "max_tokens", "code": "unsupported_parameter"}, SENT, ask)
    assert "--generation max_tokens=null" in fix and "max_completion_tokens=512" in fix


TOO_HIGH = [
    ("max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you ...", "16384"),
    ("max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-x", "8192"),
    ("max_tokens is too large: 100000", "N"),
    ("max_tokens must be less than or equal to `8192`", "8192"),
    ("`max_tokens` must be at most 8192", "8192"),
    ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", "8192"),
    ("max_tokens (100000) exceeds the maximum of 32768", "32768"),
    ("max_tokens must be between 1 and 4096", "4096"),
    ("The value of maxTokens exceeds the model limit of 8192", "8192"),
]


@pytest.mark.parametrize(("message", "most"), TOO_HIGH)
@pytest.mark.parametrize("param", ["", "max_tokens"])
def test_a_limit_over_what_the_model_gives_is_to_be_lowered(message: str, most: str, param: str, ask: Any) -> None:
    said = advice({"message": message, "param": param, "code": "invalid_value"}, {**SENT, "max_tokens": 100_000}, ask)
    assert f"--generation max_tokens={most}" in said and "the limit of 100000 tokens" in said
    assert "=null" not in said and "context" not in said and len(said.splitlines()) <= 3


@pytest.mark.parametrize("message", OTHER)
def test_other_words_are_no_refusal_of_a_setting(message: str) -> None:
    assert refused_setting(message, "", "", tuple(SENT)) is None


@settings(max_examples=100)
@given(st.text(max_size=80), st.text(max_size=10), st.lists(st.sampled_from([*SENT, "[", "(", "a.b"]), max_size=4))
def test_no_words_raise(message: str, param: str, sent: list[str]) -> None:
    for words in (message, f"`{message}` is not supported", f"{' and '.join(sent)} cannot both be {message}"):
        refused_setting(words, param, param, sent)


@pytest.mark.parametrize(
    ("model", "sent", "kept"),
    [
        ("anthropic/claude-sonnet-4-5", {"temperature": 0.7, "top_p": 1}, {"temperature": 0.7}),
        ("claude-opus-4-1", {"temperature": 1.0, "top_p": 1.0}, {"temperature": 1.0}),
        ("us.anthropic.claude-haiku-4-5", {"temperature": 1, "top_p": 0.9}, {"top_p": 0.9}),
        ("claude-sonnet-4-5", {"temperature": 0.7, "top_p": 0.9}, {"temperature": 0.7, "top_p": 0.9}),
        ("claude-sonnet-4-5", {"top_p": 1}, {"top_p": 1}),
        ("claude-sonnet-4-5", {"temperature": 2.0, "max_tokens": 20}, {"temperature": 2.0, "max_tokens": 20}),
        ("gpt-4o", {"temperature": 0.7, "top_p": 1}, {"temperature": 0.7, "top_p": 1}),
    ],
)
def test_a_default_is_left_out_where_the_model_takes_only_one(
    registry: Any, ask: Any, fast: Any, model: str, sent: dict[str, Any], kept: dict[str, Any]
) -> None:
    with ChatServer([Answer("hi")]) as server:
        opened = open_model(f"chat/{model}", registry, dataclasses.replace(fast, base_url=server.url))

        async def go() -> Reply:
            try:
                return await opened.generate(ask(**sent))
            finally:
                await opened.close()

        reply = asyncio.run(go())
        body = server.requests[0].body
    assert {name: value for name, value in body.items() if name not in ("model", "messages")} == kept
    assert reply.flags == ((DEFAULT_LEFT_OUT,) if kept != sent else ())


@pytest.mark.parametrize(
    "model",
    [
        *("claude-opus-4-1", "anthropic/claude-sonnet-4.5", "bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0"),
        *("vertex_ai/claude-opus-4-5@20251101", "azure_ai/claude-sonnet-4-5", "~anthropic/Claude-Latest"),
    ],
)
def test_which_models_take_only_one(model: str) -> None:
    assert exclusive_settings(model) == ("temperature", "top_p")


@pytest.mark.parametrize("model", ["gpt-5", "gemini-2.5-pro", "claudette-7b", "deepseek-r1"])
def test_which_models_take_both(model: str) -> None:
    assert exclusive_settings(model) == ()
