"""Which parts of a message are its answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.models.answers.flags import STRANGE_PARTS
from creval.models.providers.chat_reply import MalformedReplyError, read_reply
from creval.types.messages import Completion, Reply

TEXT = {"type": "text", "text": "B"}
REASONING = [
    {"type": "reasoning_text", "text": "hm"},
    {"type": "thinking", "thinking": "hm"},
    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
    {"type": "thinking", "text": "hm"},
    {"type": "reasoning", "reasoning": "hm"},
    {"type": "reasoning", "text": "hm"},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
    {"type": "reasoning.text", "text": "hm"},
    {"type": "reasoning_content", "reasoning_content": "hm"},
    {"type": "summary_text", "text": "hm"},
    {"type": "Thinking", "thinking": "hm"},
    {"text": "hm", "thought": True},
    {"thinking": "hm"},
]
UNKNOWN = [
    {"type": "annotation", "text": "hm"},
    {"type": "input_text", "text": "hm"},
    {"type": "document", "text": "hm"},
    {"type": "image_url", "image_url": {"url": "data:"}},
    {"type": 7, "text": "hm"},
    {"type": "citation", "text": "hm", "content": "hm"},
    7,
]
SILENT = [
    {"type": "tool_use", "text": "hm"},
    {"type": "tool_call", "name": "f"},
    {"type": "function", "text": "hm"},
    None,
]


def read(message: dict[str, Any]) -> Reply:
    return read_reply({"choices": [{"message": message, "finish_reason": "stop"}]}, 0.0)


def first(message: dict[str, Any]) -> Completion:
    return read(message).completions[0]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("part", "reasoning", "flags"),
    [
        *((part, "hm", ()) for part in REASONING),
        *((part, None, (STRANGE_PARTS,)) for part in UNKNOWN),
        *((part, None, ()) for part in SILENT),
    ],
)
def test_other_parts_never_join(part: Any, reasoning: str | None, flags: tuple[str, ...], reverse: bool) -> None:
    reply = read({"content": [TEXT, part] if reverse else [part, TEXT]})
    completion = reply.completions[0]
    assert (completion.text, completion.reasoning, reply.flags) == ("B", reasoning, flags)


@pytest.mark.parametrize(
    "content",
    [
        "AB",
        ["A", "B"],
        [{"type": "text", "text": "A"}, {"type": "output_text", "text": "B", "annotations": []}],
        [{"text": "A"}, {"text": "B"}],
        [{"type": "text", "text": {"value": "AB", "annotations": []}}],
        {"type": "text", "text": "AB"},
        [{"type": "TEXT", "text": "AB"}],
    ],
)
def test_texts_join(content: Any) -> None:
    assert (first({"content": content}).text, read({"content": content}).flags) == ("AB", ())


def test_a_refusal_in_a_part() -> None:
    completion = first({"content": [{"type": "refusal", "refusal": "I will not."}]})
    assert (completion.text, completion.refusal) == ("", "I will not.")


@pytest.mark.parametrize(
    "message",
    [
        {"reasoning": "hm"},
        {"reasoning_content": "hm"},
        {"reasoning_text": "hm"},
        {"thinking": "hm"},
        {"reasoning": "", "reasoning_content": "hm"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "x"}]},
        {"reasoning": {"text": "hm"}},
    ],
)
def test_reasoning_next_to_the_content(message: dict[str, Any]) -> None:
    assert first({"content": "B", **message}).reasoning == "hm"


KEYS = ["choices", "message", "content", "type", "text", "thinking", "reasoning", "thought", "refusal", "finish_reason"]
MORE = [
    "native_finish_reason",
    "provider_specific_fields",
    "reasoning_details",
    "prompt_filter_results",
    "usage",
    "model",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["text", "thinking", "stop", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS + MORE), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150)
@given(VALUES, VALUES, VALUES)
def test_any_message_is_read_or_malformed(content: Any, message: Any, choice: Any) -> None:
    message = {**(message if isinstance(message, dict) else {}), "content": content}
    choice = {**(choice if isinstance(choice, dict) else {}), "message": message}
    try:
        reply = read_reply({"choices": [choice], "prompt_filter_results": content}, 0.0)
    except MalformedReplyError:
        return
    assert all(
        (isinstance(c.text, str) and c.text.encode() and c.finish_reason) or not c.text for c in reply.completions
    )
