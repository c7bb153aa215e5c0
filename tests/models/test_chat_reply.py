"""Reading what servers send: what they leave out is tolerated, nonsense is reported."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.models.answers.flags import EXTRA_ANSWERS, LOGPROBS_DROPPED
from creval.models.providers.chat_reply import MalformedReplyError, read_reply
from creval.types.messages import Reply, Usage


def body(message: dict[str, Any] | None = None, **choice: Any) -> dict[str, Any]:
    made = {"index": 0, "message": {"content": "hi", **(message or {})}, "finish_reason": "stop", **choice}
    return {"choices": [made], "model": "m"}


def read(data: Any) -> Reply:
    return read_reply(data, latency=0.5)


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_by_either_name(field: str) -> None:
    assert read(body({field: "because"})).completions[0].reasoning == "because"


def test_content_in_parts_with_thinking() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
    ]
    completion = read(body({"content": parts})).completions[0]
    assert (completion.text, completion.reasoning) == ("ab", "hm")


def test_no_content_is_an_empty_text() -> None:
    assert read(body({"content": None})).text == ""


@pytest.mark.parametrize(
    ("sent", "read_as"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("model_length", "length"),
        ("eos", "stop"),
        ("SAFETY", "content_filter"),
        ("tool_calls", "tool_calls"),
        (None, "unknown"),
        (7, "unknown"),
    ],
)
def test_finish_reasons_in_the_protocols_words(sent: Any, read_as: str) -> None:
    assert read(body(finish_reason=sent)).completions[0].finish_reason == read_as


def test_log_probabilities_with_the_most_probable() -> None:
    content = [
        {
            "token": "a",
            "logprob": -0.5,
            "top_logprobs": [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -2}],
        },
        {"token": "c", "logprob": 1e-7, "top_logprobs": []},
    ]
    tokens = read(body(logprobs={"content": content})).completions[0].logprobs
    assert tokens is not None
    assert (tokens[0].token, tokens[0].logprob, tokens[0].top) == ("a", -0.5, (("a", -0.5), ("b", -2.0)))
    assert tokens[1].logprob == 0.0  # rounding above 0 is no probability above 1


def test_choices_come_in_the_order_of_their_index() -> None:
    data = {"choices": [{"index": i, "message": {"content": str(i)}, "finish_reason": "stop"} for i in (2, 0, 1)]}
    assert [c.text for c in read(data).completions] == ["0", "1", "2"]


def test_usage_with_details() -> None:
    data = body()
    data["usage"] = {
        "prompt_tokens": 10,
        "completion_tokens": 7,
        "completion_tokens_details": {"reasoning_tokens": 5},
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    assert read(data).usage == Usage(10, 7, 5, 8)


@pytest.mark.parametrize(
    "usage", [None, [], {"prompt_tokens": None, "completion_tokens": "many"}, {"prompt_tokens": -1}]
)
def test_strange_usage_counts_nothing(usage: Any) -> None:
    assert read({**body(), "usage": usage}).usage == Usage()


def test_cost_of_a_router_and_of_ones_own_upstream_key() -> None:
    usage = {"cost": 0.5, "cost_details": {"upstream_inference_cost": 19.0}}
    assert read({**body(), "usage": usage}).cost == 0.5
    assert read({**body(), "usage": {**usage, "is_byok": True}}).cost == 19.5
    assert read(body()).cost is None


def test_lone_surrogates_can_be_written_to_a_file() -> None:
    text = read(
        json.loads('{"choices":[{"message":{"content":"a\\ud800b \\ud83d\\ude00"},"finish_reason":"stop"}]}')
    ).text
    assert text.encode()
    assert (text[0], text[-1]) == ("a", "\U0001f600")


@pytest.mark.parametrize(
    "bad",
    [
        None,
        [],
        "text",
        {},
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": 7}}]},
    ],
)
def test_nonsense_is_reported(bad: Any) -> None:
    with pytest.raises(MalformedReplyError):
        read(bad)


@pytest.mark.parametrize("bad", [None, "x", True, float("nan"), float("-inf"), 10**400])
def test_log_probabilities_that_are_no_finite_numbers_are_left_out(bad: Any) -> None:
    reply = read(body(logprobs={"content": [{"token": "a", "logprob": -1}, {"token": "b", "logprob": bad}]}))
    assert (reply.text, reply.completions[0].logprobs, reply.flags) == ("hi", None, (LOGPROBS_DROPPED,))
    top = [{"token": "a", "logprob": -1}, {"token": "b", "logprob": bad}]
    tokens = (
        read(body(logprobs={"content": [{"token": "a", "logprob": -1, "top_logprobs": top}]})).completions[0].logprobs
    )
    assert tokens is not None
    assert tokens[0].top == (("a", -1.0),)


def test_log_probabilities_that_nobody_asked_for_are_left_out(ask: Any) -> None:
    data = body(logprobs={"content": [{"token": "a", "logprob": float("-inf")}]})
    assert read_reply(data, 0.5, request=ask()).completions[0].logprobs is None
    assert read_reply(data, 0.5, request=ask()).flags == ()


def test_a_choice_more_than_asked_for_is_left_out(ask: Any) -> None:
    data = {"choices": [{"index": i, "message": {"content": str(i)}, "finish_reason": "stop"} for i in (1, 0)]}
    reply = read_reply(data, 0.5, request=ask())
    assert ([c.text for c in reply.completions], reply.flags) == (["0"], (EXTRA_ANSWERS,))


def test_a_tool_call_alone_is_distinguished_from_an_empty_answer() -> None:
    call = [{"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    assert read(body({"content": None, "tool_calls": call})).completions[0].finish_reason == "tool_calls"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "logprobs", "token", "usage", "cost", "index", "text", "type"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(json_values)
def test_any_json_is_a_reply_or_malformed(data: Any) -> None:
    try:
        reply = read(data)
    except MalformedReplyError:
        return
    assert reply.completions
    assert all(isinstance(c.text, str) for c in reply.completions)
