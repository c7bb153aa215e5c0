"""Prompts by a chat template, and thinking parted by the template's own marks."""

from __future__ import annotations

from typing import Any

import pytest
from tiny_models import CHAT, THINKING_CHAT, tokenizer

from creval.models.answers.read_answers import read_answers
from creval.types.messages import Completion, GenerateRequest, Message, Origin, Reply, TokenLogprob
from creval.types.sample import SampleKey
from creval_hf.chat import Marks, part_thinking, render

pytestmark = pytest.mark.model

QWEN = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}{% if m.role == 'assistant' and m.reasoning_content %}"
    "{{ '<think>\n' + m.reasoning_content.strip('\n') + '\n</think>\n\n' }}{% endif %}{{ m.content + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{% if enable_thinking is defined and enable_thinking is false %}{{ '<think>\n\n</think>\n\n' }}"
    "{% endif %}{% endif %}"
)
DEEPSEEK = (
    "{% for m in messages %}{% if m.role == 'user' %}{{ '<|User|>' + m.content }}{% else %}"
    "{{ '<|Assistant|>' + m.content.split('</think>')[-1] }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|Assistant|><think>\n' }}{% endif %}"
)
HARMONY = (
    "{% for m in messages %}{% if m.role == 'assistant' %}"
    "{% if m.thinking %}<|start|>assistant<|channel|>analysis<|message|>{{ m.thinking }}<|end|>{% endif %}"
    "<|start|>assistant<|channel|>final<|message|>{{ m.content }}<|return|>"
    "{% else %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)
HERE = "model test"


def marks(template: str, **settings: Any) -> Marks | None:
    return render(tokenizer(template=template), [Message("user", "Hi")], settings, HERE).marks


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (CHAT, None),
        (QWEN, Marks("<think>", "</think>")),
        (DEEPSEEK, Marks("<think>", "</think>")),
        (THINKING_CHAT, Marks("<muse>", "</muse>")),
        (HARMONY, Marks("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>")),
    ],
)
def test_the_marks_are_the_templates_own(template: str, expected: Marks | None) -> None:
    assert marks(template) == expected


MUSE = Marks("<muse>", "</muse>")


@pytest.mark.parametrize(
    ("prompt", "text", "answer", "thought", "flags"),
    [
        ("assistant\n", "<muse>\nWell.\n</muse>\n\n42", "42", "Well.", ("thinking",)),
        ("assistant\n<muse>\n", "Well.\n</muse>\n\n42", "42", "Well.", ("thinking",)),
        ("assistant\n<muse>\n", "Well, and on and on", "", "Well, and on and on", ("thinking", "endless_thinking")),
        ("assistant\n", "<muse> Well", "", "Well", ("thinking", "endless_thinking")),
        ("assistant\n", "Well.</muse>42", "42", "Well.", ("thinking",)),
        ("assistant\n<muse>\n</muse>\n", "42", "42", None, ()),
        ("assistant\n", "42 <muse>", "42 <muse>", None, ()),
    ],
)
def test_thinking_is_parted_from_the_answer(
    prompt: str, text: str, answer: str, thought: str | None, flags: tuple[str, ...]
) -> None:
    parted, found = part_thinking(Completion(text), MUSE, prompt)
    assert (parted.text, parted.reasoning, found) == (answer, thought, flags)
    assert parted.raw == (text if found else None)


def test_logprobs_are_cut_to_the_answer_and_a_task_may_keep_the_thinking() -> None:
    tokens = tuple(TokenLogprob(each, -1.0) for each in ("<muse>", "Well", "</muse>", "\n", "4", "2"))
    completion = Completion("<muse>Well</muse>\n42", logprobs=tokens)
    parted, flags = part_thinking(completion, MUSE, "assistant\n")
    assert [each.token for each in parted.logprobs or ()] == ["4", "2"]
    origin = Origin(SampleKey("task", "doc", "default", 0))
    keeping = GenerateRequest((Message("user", "Hi"),), {}, origin, keep_reasoning=True)
    assert read_answers(Reply((parted,), flags=flags), keeping).text == completion.text


def test_variables_of_the_template_and_plain_text() -> None:
    asked = [Message("system", "Be brief."), Message("user", "Hi")]
    words = tokenizer(template=QWEN)
    closed = render(words, asked, {"chat_template_kwargs": {"enable_thinking": False}}, HERE)
    assert closed.text.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    assert part_thinking(Completion("42"), closed.marks or MUSE, closed.text) == (Completion("42"), ())
    plain = render(words, asked, {"chat_template": "none"}, HERE)
    assert (plain.text, plain.plain, plain.marks) == ("Be brief.\n\nHi", True, None)
    named = tokenizer(template=None)
    named.chat_template = {"default": CHAT, "loud": CHAT.replace("content'] ", "content'] | upper ")}
    assert "HI<|im_end|>" in render(named, asked, {"chat_template": "loud"}, HERE).text
    assert "Hi<|im_end|>" in render(named, asked, {}, HERE).text


def test_a_template_that_refuses_the_messages_is_quoted() -> None:
    refusing = "{{ raise_exception('System role not supported') if messages[0].role == 'system' }}"
    with pytest.raises(Exception, match="refuses the messages: System role not supported"):
        render(tokenizer(template=refusing), [Message("system", "Be brief.")], {}, HERE)


def test_special_tokens_of_marks_stay_in_the_text_until_it_is_parted(
    tiny: Any, open_tiny: Any, ask: Any, together: Any
) -> None:
    """The model is made to write marks that are special tokens; another special token is no part of the text."""
    template = CHAT.replace(
        "{{ m['content'] }}",
        "{% if m.reasoning_content %}<s>{{ m.reasoning_content }}<pad>{% endif %}{{ m['content'] }}",
    )
    provider = open_tiny("llama", template=template)
    loaded = provider._load()
    ids = {name: loaded.tokenizer.convert_tokens_to_ids(name) for name in ("<s>", "<pad>", "<|im_start|>")}
    script = [
        ids["<s>"],
        *loaded.encode_exactly("well"),
        ids["<pad>"],
        ids["<|im_start|>"],
        *loaded.encode_exactly("42"),
    ]

    from creval_hf import generation

    drawn = iter(script)
    original, generation._drawn = generation._drawn, lambda line, scores: next(drawn)
    try:
        (reply,) = together(provider.generate(ask("Hi", temperature=1.0, max_tokens=len(script))))
    finally:
        generation._drawn = original
    assert (reply.text, reply.completions[0].reasoning) == ("42", "well")
    assert reply.flags == ("thinking",)


def test_tags_that_the_task_uses_for_something_of_its_own_are_left(open_tiny: Any, ask: Any, together: Any) -> None:
    from creval_hf.chat import Prompt
    from creval_hf.generation import Answer
    from creval_hf.provider import _completion

    answer = Answer("<think>a</think>b", "stop", 9, None)
    prompt = Prompt("assistant\n", False, Marks("<think>", "</think>"))
    assert _completion(answer, prompt, ask("Hi"))[0].text == "b"
    assert _completion(answer, prompt, ask("Write your plan in <think> tags."))[0].text == answer.text
