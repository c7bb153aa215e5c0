"""Marks of chat templates are taken off; nothing else is touched."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.models.answers.flags import LOGPROBS_DROPPED, TEMPLATE_TOKENS, THINKING
from creval.models.answers.read_answers import read_answers, without_template_tokens
from creval.types.messages import Completion, Reply, TokenLogprob

ENDS = [
    *("<|im_end|>", "</s>", "<|eot_id|>", "<end_of_turn>", "<|endoftext|>", "<|end|>", "<|return|>", "<|eom_id|>"),
    *("<|end_of_text|>", "<|end_of_turn|>", "<|END_OF_TURN_TOKEN|>", "<|eot|>", "<eos>", "<|im_sep|>", "<|user|>"),
    *("<\uff5cend\u2581of\u2581sentence\uff5c>", "<|observation|>", "<turn|>", "[/INST]", "[INST]", "<|eos|>", "<pad>"),
    *("<|role_end|>", "[e~[", "<end_of_utterance>", "<|endofassistant|>", "<|im_start|>", "<|im_start|>user", "[EOS]"),
    *(
        "<|start_header_id|>user<|end_header_id|>",
        "<start_of_turn>user",
        "<|im_end|><|im_end|>",
        "</s>\n</s>",
        *("<EOT>", "<eot>", "<eod>", "<im_end>", "<seed:eos>", "<|reserved_special_token_12|>"),
        "\n</s>\n",
    ),
    *("<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n", "<\uff5cUser\uff5c>", "<|fim_pad|>", "<EOS>"),
]
BEGINS = [
    *("<|im_start|>assistant\n", "<|start_header_id|>assistant<|end_header_id|>\n\n", "<start_of_turn>model\n"),
    *("<|assistant|>", "<bos>", "<|begin_of_text|>", "<\uff5cAssistant\uff5c>", "[/INST] ", "<|CHATBOT_TOKEN|>"),
    *("<\uff5cbegin\u2581of\u2581sentence\uff5c>", "<|turn>model\n", "<|header_start|>assistant<|header_end|>\n\n"),
]
MORE_ENDS = [
    "<|endofturn|>",
    "<|end_turn|>",
    "<|stop|>",
    "<|separator|>",
    "<|eod|>",
    "<|end_of_document|>",
    "<eos_token>",
    "<|im_end|> ",
    "\n<|im_end|>\n\n",
    "<|EOT|>",
    "<|end_of_response|>",
    "<|END_OF_SEQUENCE|>",
    "</s></s>",
    "<｜Assistant｜>",
    "<|assistant|>",
    "<|system|>",
    "<|human|>",
    "</assistant>",
    "<|endofmessage|>",
    "<|/assistant|>",
    "<|call|>",
    "<|message|>",
    "<unk>",
    "<|unk|>",
    "<end_of_text>",
    "<|endoftext|><|endoftext|>",
    "[|endofturn|]",
    "<|eom|>",
    "<|end_of_message|>",
    "</s>\u200b",
    "<|im_end|>\x00",
    "<turn_end>",
    "<|turn_end|>",
    "[SEP]",
    "[PAD]",
    "<|end_of_solution|>",
    "<|end_of_thought|>",
    "<__end_of_text__>",
]
MORE_BEGINS = [
    "<|start|>assistant<|channel|>final<|message|>",
    "<s>",
    "<|startoftext|>",
    "<|im_start|>assistant",
    "<|bot|>",
    "<|start_of_role|>assistant<|end_of_role|>",
    "<|response|>",
    "<assistant>",
    "<|begin_of_solution|>",
    "[BOS]",
    "<|model|>",
    "[|assistant|]",
    "<|role_start|>assistant<|role_end|>",
    "<|header_start|>assistant<|header_end|>\n",
    "<start_of_turn>assistant\n",
]
PLAIN = [
    *("m3", "a < b", "x <| f |> y", "[1, 2]", "<b>bold</b>", "<s>old</s> new", "<s>struck</s>", "if a <b>c", "`</s>`"),
    *("The end token is `<|im_end|>`", "```\n<|im_end|>\n```", "<answer>4</answer>", "</answer>", "It ends with </s>."),
    *("[[2]]", "Score: [[4]]", "f <|> g", "</ul>", "<think", "", "  m3  \n"),
]


def taken(text: str, *prompts: str) -> str:
    return without_template_tokens(Completion(text), prompts)[0].text


@pytest.mark.parametrize("end", [*ENDS, *MORE_ENDS])
def test_an_end_token_is_taken_off(end: str) -> None:
    completion, flags = without_template_tokens(Completion(f'["anchor", "m3"]{end}'), ["List words."])
    assert (completion.text, flags) == ('["anchor", "m3"]', (TEMPLATE_TOKENS,))
    assert completion.raw == f'["anchor", "m3"]{end}'


@pytest.mark.parametrize("begin", [*BEGINS, *MORE_BEGINS])
def test_the_opening_of_the_answer_is_taken_off(begin: str) -> None:
    assert taken(f"{begin}m3") == "m3"
    assert taken(f"{begin}m3<|im_end|>") == "m3"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<|begin_of_box|>42<|end_of_box|>", "42"),
        ("The answer is <|begin_of_box|>42<|end_of_box|>.", "The answer is 42."),
        ("<|begin_of_box|>\n[1, 2]\n<|end_of_box|>", "[1, 2]"),
        ("<|begin_of_box|>42<|end_of_box|></s>", "42"),
        ("<|begin_of_solution|>B<|end_of_solution|>", "B"),
        ("<|START_RESPONSE|>B<|END_RESPONSE|>", "B"),
        ("42<|end_of_box|>", "42"),
        ("<|start_of_answer|>B<|end_of_answer|>", "B"),
    ],
)
def test_a_box_is_opened(text: str, said: str) -> None:
    assert taken(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "m3<|im_end|>\n<|im_start|>user\nAnd now?<|im_end|>\n<|im_start|>assistant\nm4",
        "m3<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnd now?",
        "m3</s><s>[INST] And now? [/INST] m4</s>",
        "m3<end_of_turn>\n<start_of_turn>user\nAnd now?",
        "m3</s>[INST] And now?",
        "m3<|endoftext|><|user|>\nAnd now?",
    ],
)
def test_the_answer_ends_where_another_turn_opens(text: str) -> None:
    assert taken(text).strip() == "m3"


@pytest.mark.parametrize("text", PLAIN)
def test_all_else_stays(text: str) -> None:
    completion = Completion(text)
    assert without_template_tokens(completion, ()) == (completion, ())


def test_tokens_that_the_prompt_names_stay() -> None:
    assert taken("a</s>", "End with </s>, please.") == "a</s>"
    assert taken("x<|im_end|><|eot_id|>", "What ends a turn: <|im_end|> or what?") == "x<|im_end|>"
    assert taken("<|begin_of_box|>a<|end_of_box|>", "Write <|begin_of_box|>...<|end_of_box|>") == (
        "<|begin_of_box|>a<|end_of_box|>"
    )


def test_log_probabilities_are_cut_to_what_is_left() -> None:
    tokens = (TokenLogprob("m", -1.0), TokenLogprob("3", -2.0), TokenLogprob("</s>", -0.1))
    whole, _ = without_template_tokens(Completion("m3</s>", logprobs=tokens), ())
    assert whole.logprobs == tokens[:2]
    short, flags = without_template_tokens(Completion("m3</s>", logprobs=tokens[:2]), ())
    assert (short.logprobs, flags) == (tokens[:2], (TEMPLATE_TOKENS,))
    other, flags = without_template_tokens(Completion("m3</s>", logprobs=tokens[:1]), ())
    assert (other.logprobs, flags) == (None, (TEMPLATE_TOKENS, LOGPROBS_DROPPED))


def test_within_a_reply_with_and_without_thinking(ask: Any) -> None:
    sent = Reply((Completion("m3</s>"), Completion("<think>hm</think>m4<|im_end|>"), Completion("m5")))
    read = read_answers(sent, ask(n=3))
    assert [c.text for c in read.completions] == ["m3", "m4", "m5"]
    assert set(read.flags) == {TEMPLATE_TOKENS, THINKING}
    assert read_answers(read, ask(n=3)) == read


@settings(max_examples=100)
@given(st.lists(st.sampled_from([*ENDS, *BEGINS, "<|begin_of_box|>", "<|end_of_box|>", "a", " ", "<"]), max_size=8))
def test_it_never_raises_and_only_takes_away(pieces: list[str]) -> None:
    text = "".join(pieces)
    kept = taken(text)
    letters = iter(text)
    assert all(letter in letters for letter in kept)
    assert taken(kept) == kept or "<" in kept or "[" in kept
