"""Thinking is separated from the answer, whatever a model's tags are; and nothing else is touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.models.answers.flags import ENDLESS_THINKING, LOGPROBS_DROPPED, THINKING
from creval.models.answers.thinking import tags_in, tags_in_parameters, without_thinking
from creval.types.messages import Completion, TokenLogprob

NONE: frozenset[str] = frozenset()
FENCED = "```python\ntext.split('</think>')\n```\n"


def answer(text: str, own: frozenset[str] = NONE) -> tuple[str, str | None]:
    """The answer and the thinking in a text."""
    completion, _ = without_thinking(Completion(text), own)
    return completion.text, completion.reasoning


@pytest.mark.parametrize(
    ("text", "said", "thought"),
    [
        ("<think>hm</think>\n\nB", "B", "hm"),
        ("<THINK effort='high'>hm</Think >B", "B", "hm"),
        ("hm</think>\n\nB", "B", "hm"),
        ("<think></think>B", "B", None),
        ("A <think>one</think>or <thinking>two</thinking>B", "A or B", "one\n\ntwo"),
        ("<think>a <think>b</think> c</think>B", "B", "a <think>b\n\nc"),
        ("draft <think>hm</think> more </think>B", "B", "draft\n\nhm\n\nmore"),
        ("<think>hm</thinking>B", "B", "hm"),
        ("<think>I may write </reasoning> here</think>B", "B", "I may write </reasoning> here"),
        ("<think>```\nunfinished</think>B", "B", "```\nunfinished"),
        ("we begin\n```\ncode\n</think>\n```json\n[1]\n```", "```json\n[1]\n```", "we begin\n```\ncode"),
        ("<think>one does not write `</think>` yet</think>B", "B", "one does not write `</think>` yet"),
        ("<seed:think>hm</seed:think>B", "B", "hm"),
        ("[THINK]hm[/THINK]B", "B", "hm"),
        ("◁think▷hm◁/think▷B", "B", "hm"),
        ("<unused94>thought\nhm<unused95>B", "B", "thought\nhm"),
        ("<|begin_of_thought|>hm<|end_of_thought|>\n<|begin_of_solution|>B<|end_of_solution|>", "B", "hm"),
        ("<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>B<|END_RESPONSE|>", "B", "hm"),
        ("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>", "B", "hm"),
        ("hm<|end|><|start|>assistant<|channel|>final<|message|>B", "B", "hm"),
        ("<|channel|>final<|message|>B", "B", None),
        ("<|channel>thought\nhm<channel|>B", "B", "hm"),
        ("analysisThe user asks.assistantfinalB", "B", "The user asks."),
        ("<|channel|>analysis<|message|>hm<|end|><|channel|>final <|constrain|>json<|message|>[1]", "[1]", "hm"),
        ("<|thought|>hm<|/thought|>B", "B", "hm"),
        ("<mm:think>hm</mm:think>B", "B", "hm"),
        ("<chain_of_thought>hm</chain_of_thought>B", "B", "hm"),
        ("<think>hm</think>\n<|im_end|>", "", "hm"),
        ("<|im_start|>assistant\n<think>hm</think>B<|im_end|>", "B", "hm"),
    ],
)
def test_thinking_is_taken_out(text: str, said: str, thought: str | None) -> None:
    assert answer(text) == (said, thought)


@pytest.mark.parametrize(
    "text",
    [
        "<think>hm, A or B",
        "B <think>or rather",
        "<|channel|>analysis<|message|>hm",
        "[THINK]B",
        "<|channel|>commentary to=f <|constrain|>json<|message|>[1]",
        "<think>a</think><think>b",
    ],
)
def test_thinking_that_never_ends_leaves_no_answer(text: str) -> None:
    completion, flags = without_thinking(Completion(text), NONE)
    assert (completion.text, completion.raw, flags) == ("", text, (THINKING, ENDLESS_THINKING))
    assert completion.reasoning


@pytest.mark.parametrize(
    "text",
    [
        "B",
        "",
        "a < b > c",
        "I think <b>B</b>",
        "the `<think>` tag and the `</think>` tag",
        FENCED + "B",
        "```\n<think>\nhm\n</think>\n```\nB",
        "analysis of the matter: B",
        "<|end|>",
        "<thinker>B</thinker>",
        "[think] B",
        "<think />\nB",
    ],
)
def test_what_is_no_thinking_stays(text: str) -> None:
    completion = Completion(text)
    assert without_thinking(completion, NONE) == (completion, ())


def test_tags_of_the_tasks_own_are_left_alone() -> None:
    own = tags_in(["Reason in <reasoning> and </reasoning>, then answer."])
    assert answer("<reasoning>x</reasoning>B", own) == ("<reasoning>x</reasoning>B", None)
    assert answer("<think>hm</think><reasoning>x</reasoning>B", own) == ("<reasoning>x</reasoning>B", "hm")


@pytest.mark.parametrize(
    ("parameters", "tags"),
    [
        ({"tag": "thinking"}, {"thinking"}),
        ({"tag": "answer"}, set()),
        ({"pattern": r"</?think>(.*)"}, {"think"}),
        ({"pattern": "<reasoning>(.*)</reasoning>"}, {"reasoning"}),
        ({"keys": ["reasoning", "answer"]}, set()),
    ],
)
def test_tags_that_parsers_name(parameters: object, tags: set[str]) -> None:
    assert tags_in_parameters(parameters) == tags


def tokens(*texts: str) -> tuple[TokenLogprob, ...]:
    return tuple(TokenLogprob(text, -float(i + 1)) for i, text in enumerate(texts))


def test_log_probabilities_are_cut_to_the_answers_tokens() -> None:
    parts = tokens("<think>", "hm", "</think>", "\n\n", "Paris", " is", " it")
    completion, flags = without_thinking(Completion("<think>hm</think>\n\nParis is it", logprobs=parts), NONE)
    assert completion.logprobs == parts[4:]
    assert "".join(token.token for token in parts[4:]) == completion.text
    assert flags == (THINKING,)


@pytest.mark.parametrize("parts", [("<think>", "hm", "</think>B"), ("<think>", "B")], ids=["across", "others"])
def test_log_probabilities_that_do_not_fit_are_left_out(parts: tuple[str, ...]) -> None:
    completion, flags = without_thinking(Completion("<think>hm</think>B", logprobs=tokens(*parts)), NONE)
    assert (completion.text, completion.logprobs, flags) == ("B", None, (THINKING, LOGPROBS_DROPPED))


def test_reasoning_that_came_apart_comes_first() -> None:
    completion, _ = without_thinking(Completion("<think>two</think>B", reasoning="one"), NONE)
    assert completion.reasoning == "one\n\ntwo"


pieces = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<thinking>",
        "</thinking>",
        "```\n",
        "\n```python\n",
        "`",
        "B",
        " ",
        "\n",
        "<|channel|>final<|message|>",
        "<|channel|>analysis<|message|>",
        "<|end|>",
        "[THINK]",
        "[/THINK]",
        "word",
        "<",
        ">",
    ]
)


@given(st.lists(pieces, max_size=30).map("".join))
def test_any_text_is_read_once_and_for_all(text: str) -> None:
    completion, flags = without_thinking(Completion(text), NONE)
    assert (completion.raw is None) == (flags == ())
    assert text in (completion.text, completion.raw)
    assert without_thinking(completion, NONE) == (completion, ())
    assert all(letter in text for letter in completion.text)


@pytest.mark.parametrize(
    "text", ["<think>", "</think>", "```\n</think>\n", "<think>a</think>```\n", "`<think>`", "<think ", "<|end|>"]
)
def test_two_hundred_thousand_characters_are_no_matter(text: str) -> None:
    """In time in proportion to the length: a quadratic walk would take minutes here."""
    without_thinking(Completion(text * (200_000 // len(text))), NONE)
