"""Answers of tiny models: those of transformers' own `generate`, alone or in a batch, with seeds and stop texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from creval.errors import ContextLengthError, FatalModelError
from creval.types.messages import Message
from creval.types.tools import Tool

pytestmark = pytest.mark.model

QUESTIONS = ["with", "Which of these is it? " * 4, "he was on\nthe word", "naïve 日本 🙂", "a" * 40, "at one"]


def by_transformers(folder: Any, texts: list[str], limit: int) -> list[str]:
    """Return the greedy answers of transformers' own pipeline, one question at a time."""
    import transformers

    pipe = transformers.pipeline("text-generation", model=str(folder), device="cpu")
    made = [
        pipe(
            [{"role": "user", "content": text}],
            max_new_tokens=limit,
            do_sample=False,
            return_full_text=False,
            clean_up_tokenization_spaces=False,
        )
        for text in texts
    ]
    return [each[0]["generated_text"] for each in made]


@pytest.mark.parametrize("kind", ["llama", "gpt2", "mistral"])
def test_greedy_answers_in_a_batch_equal_those_of_transformers_alone(
    kind: str, tiny: Any, open_tiny: Any, ask: Any, together: Any
) -> None:
    config = {"sliding_window": 16} if kind == "mistral" else {}
    provider = open_tiny(kind, **config)
    replies = together(*(provider.generate(ask(text, max_tokens=24, temperature=0)) for text in QUESTIONS))
    expected = by_transformers(tiny(kind, **config), QUESTIONS, 24)
    assert [reply.text for reply in replies] == expected
    assert len(set(expected)) == len(expected)
    assert {reply.completions[0].finish_reason for reply in replies} <= {"length", "stop"}
    assert all(reply.usage.output_tokens <= 24 and reply.usage.input_tokens > 5 for reply in replies)


def test_the_makers_repetition_penalty_counts_as_in_transformers_and_no_padding(
    tiny: Any, open_tiny: Any, ask: Any, together: Any, tmp_path: Any
) -> None:
    """The padding is the token <pad>, whose own probability a penalty on padding would change."""
    import json
    import shutil

    from creval.models.model_options import ProviderOptions
    from creval_hf.provider import HfProvider

    folder = shutil.copytree(tiny(), tmp_path / "penalised")
    config = json.loads((folder / "generation_config.json").read_text())
    (folder / "generation_config.json").write_text(json.dumps(config | {"repetition_penalty": 1.7}))
    provider = HfProvider(str(folder), ProviderOptions(offline=True))
    replies = together(*(provider.generate(ask(text, max_tokens=16, temperature=0)) for text in QUESTIONS))
    assert [reply.text for reply in replies] == by_transformers(folder, QUESTIONS, 16)
    plain = open_tiny()
    assert together(plain.generate(ask("with", max_tokens=16, temperature=0)))[0].text != replies[0].text
    together(provider.close())


def test_a_seed_gives_the_same_answers_alone_and_in_a_batch(open_tiny: Any, ask: Any, together: Any) -> None:
    provider = open_tiny()
    asked = [ask(text, n=2, seed=seed, temperature=1.0, max_tokens=12 + seed) for seed, text in enumerate(QUESTIONS)]
    batched = together(*map(provider.generate, asked))
    alone = [together(provider.generate(request))[0] for request in reversed(asked)][::-1]
    texts = [[each.text for each in reply.completions] for reply in batched]
    assert texts == [[each.text for each in reply.completions] for reply in alone]
    assert all(first != second for first, second in texts), "the completions of a call have seeds of their own"
    (second,) = together(provider.generate(ask(QUESTIONS[0], seed=1, temperature=1.0, max_tokens=12)))
    assert second.text == texts[0][1], "completion i has seed + i"
    (other,) = together(provider.generate(ask(QUESTIONS[0], seed=99, temperature=1.0, max_tokens=12)))
    assert other.text not in texts[0]


def test_rows_of_a_batch_have_their_own_settings(open_tiny: Any, ask: Any, together: Any) -> None:
    provider = open_tiny()
    settings = [
        {"temperature": 0, "max_tokens": 3},
        {"temperature": 2.0, "top_k": 1, "seed": 5, "max_tokens": 20},
        {"temperature": 0.01, "seed": 1, "max_tokens": 20},
        {"temperature": 1.0, "top_p": 1e-6, "seed": 2, "max_tokens": 20},
        {"temperature": 1.0, "min_p": 1.0, "seed": 3, "max_tokens": 20},
        {"temperature": 0, "max_tokens": 20},
    ]
    texts = [r.text for r in together(*(provider.generate(ask("with", **each)) for each in settings))]
    assert texts[1:] == [texts[-1]] * 5, "each of these leaves the most probable token alone"
    assert texts[-1].startswith(texts[0]) and texts[0] != texts[-1]
    changed: list[dict[str, Any]] = [{"frequency_penalty": 2.0}, {"presence_penalty": 2.0}, {"repetition_penalty": 3.0}]
    changed += [{}, {"logit_bias": {"40": 100}}]
    long = {"temperature": 0, "max_tokens": 80}
    texts = [r.text for r in together(*(provider.generate(ask("with", **long, **each)) for each in changed))]
    assert texts[3] not in texts[:3] and texts[4] == "E" * 80


def test_an_answer_ends_at_the_first_stop_text(open_tiny: Any, ask: Any, together: Any) -> None:
    provider = open_tiny()
    (whole,) = together(provider.generate(ask("with", temperature=0, max_tokens=40)))
    for start in (4, 11):
        stop = whole.text[start : start + 3]
        first = whole.text.index(stop)
        (reply,) = together(
            provider.generate(ask("with", temperature=0, max_tokens=40, stop=[stop, "never there"], logprobs=True))
        )
        completion = reply.completions[0]
        assert (completion.text, completion.finish_reason) == (whole.text[:first], "stop")
        assert reply.usage.output_tokens < 40
        assert "".join(token.token for token in completion.logprobs or ()) == completion.text


def test_logprobs_are_those_of_the_model(tiny: Any, open_tiny: Any, ask: Any, together: Any) -> None:
    import torch
    import transformers

    provider = open_tiny("gpt2")
    drawn = {"temperature": 1.5, "seed": 4, "max_tokens": 10, "top_logprobs": 3}
    replies = together(*(provider.generate(ask(text, chat_template="none", **drawn)) for text in QUESTIONS))
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny("gpt2"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny("gpt2"))
    for text, reply in zip(QUESTIONS, replies, strict=True):
        completion = reply.completions[0]
        assert completion.logprobs is not None and len(completion.logprobs) == 10
        assert "".join(token.token for token in completion.logprobs) == completion.text
        assert all(len(token.top) == 3 for token in completion.logprobs)
        prompt = tokenizer.encode(text)
        with torch.no_grad():
            values = torch.log_softmax(model(torch.tensor([prompt])).logits[0, -1], -1)
        first = completion.logprobs[0]
        best = torch.topk(values, 3).values.tolist()
        assert [value for _, value in first.top] == pytest.approx(best, abs=1e-4)
        assert any(abs(first.logprob - value) < 1e-4 for value in values.tolist())


def test_no_template_sends_the_text_alone_and_an_answer_is_continued(
    tiny: Any, open_tiny: Any, ask: Any, together: Any
) -> None:
    import transformers

    provider = open_tiny()
    settings = {"temperature": 0, "max_tokens": 12}
    (whole,) = together(provider.generate(ask("with", **settings, chat_template="none")))
    pipe = transformers.pipeline("text-generation", model=str(tiny()), device="cpu")
    (expected,) = pipe("with", max_new_tokens=12, do_sample=False, return_full_text=False)
    assert whole.text == expected["generated_text"]
    assert whole.usage.input_tokens == len(pipe.tokenizer.encode("with"))
    question = ask("with", **settings)
    going = replace(question, messages=(*question.messages, Message("assistant", "he was")))
    (reply,) = together(provider.generate(going))
    (expected,) = pipe(
        [{"role": "user", "content": "with"}, {"role": "assistant", "content": "he was"}],
        max_new_tokens=12,
        do_sample=False,
        return_full_text=False,
    )
    assert reply.text == expected["generated_text"]
    assert provider.traits.continues


def test_what_cannot_be_done_is_said_for_every_call(
    tiny: Any, open_tiny: Any, ask: Any, together: Any, tmp_path: Any
) -> None:
    import shutil

    provider = open_tiny()

    def refused(request: Any, match: str, kind: type[FatalModelError] = FatalModelError) -> FatalModelError:
        with pytest.raises(kind, match=match) as caught:
            together(provider.generate(request))
        return caught.value

    assert refused(replace(ask("Go."), tools=(Tool("go"),)), "calls no tools").every_call
    error = refused(ask("Go.", response_format={"type": "json_object"}), "'response_format'")
    assert error.every_call and "--generation response_format=null" in str(error)
    assert refused(ask("Go.", temperature="hot"), "cannot be read").every_call
    assert refused(ask("Go.", chat_template="poem"), "no chat template 'poem'").every_call
    assert not refused(ask("word " * 600), "takes 256 with the answer", ContextLengthError).every_call
    bare = shutil.copytree(tiny(), tmp_path / "bare")
    (bare / "chat_template.jinja").unlink()
    from creval.models.model_options import ProviderOptions
    from creval_hf.provider import HfProvider

    provider = HfProvider(str(bare), ProviderOptions(offline=True))
    error = refused(ask("Go."), "has no chat template")
    assert error.every_call and "--generation chat_template=none" in str(error)
    together(provider.close())


def test_an_answer_has_the_room_that_the_context_leaves(open_tiny: Any, ask: Any, together: Any) -> None:
    (reply,) = together(open_tiny().generate(ask("word " * 20, temperature=0, max_tokens=10_000)))
    assert reply.usage.input_tokens + reply.usage.output_tokens <= 256


def test_memory_is_freed_at_rest_and_a_further_call_loads_again(open_tiny: Any, ask: Any, together: Any) -> None:
    provider = open_tiny()
    request = ask("with", temperature=0, max_tokens=6)
    (first,) = together(provider.generate(request))
    provider.rest()
    assert provider._batcher is None
    assert together(provider.generate(request))[0].text == first.text


def test_a_cancelled_answer_stops_within_a_token(open_tiny: Any, ask: Any, loop: Any) -> None:
    import asyncio
    import time

    provider = open_tiny("llama", max_position_embeddings=100_000)

    async def cancelled() -> float:
        call = asyncio.ensure_future(provider.generate(ask("with", temperature=0, max_tokens=90_000)))
        await asyncio.sleep(0.5)
        call.cancel()
        started = time.perf_counter()
        await provider.generate(ask("with", temperature=0, max_tokens=2))
        return time.perf_counter() - started

    assert loop.run_until_complete(cancelled()) < 10
