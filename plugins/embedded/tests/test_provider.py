"""SmolLM2 in process: real answers, and faults that are distinguished."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from creval.errors import ContextLengthError, FatalModelError, MissingPartError, UnknownNameError
from creval.models.model_options import ProviderOptions
from creval.types.messages import GenerateRequest, Message, Origin, Reply
from creval.types.sample import SampleKey
from creval.types.tools import Tool
from creval_embedded.provider import SLOTS, EmbeddedProvider
from creval_embedded.stream import Gathered

T = TypeVar("T")


def ask(text: str, n: int = 1, **settings: Any) -> GenerateRequest:
    origin = Origin(SampleKey("task", "doc", "default", 0))
    return GenerateRequest((Message("user", text),), settings, origin, n)


@pytest.fixture(scope="module")
def loop() -> Any:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture(scope="module")
def provider(loop: asyncio.AbstractEventLoop) -> Any:
    try:
        provider = EmbeddedProvider("smollm2", ProviderOptions())
    except MissingPartError as error:
        pytest.skip(str(error))
    yield provider
    loop.run_until_complete(provider.close())


@pytest.fixture
def run(loop: asyncio.AbstractEventLoop) -> Any:
    def run(work: Coroutine[Any, Any, T]) -> T:
        return loop.run_until_complete(work)

    return run


def test_it_answers_and_counts(provider: EmbeddedProvider, run: Any) -> None:
    reply: Reply = run(provider.generate(ask("What is the capital of France?", temperature=0, max_tokens=24)))
    assert reply.text.strip()
    assert (
        reply.text == run(provider.generate(ask("What is the capital of France?", temperature=0, max_tokens=24))).text
    )
    assert reply.usage.input_tokens > 10 and 1 <= reply.usage.output_tokens <= 24
    assert reply.cost == 0.0 and reply.latency > 0 and reply.served_by == "embedded"


def test_a_cut_answer_says_length_and_a_whole_one_stop(provider: EmbeddedProvider, run: Any) -> None:
    cut = run(provider.generate(ask("Tell me a long story.", seed=1, max_tokens=5)))
    whole = run(provider.generate(ask("Say hi.", temperature=0, max_tokens=200)))
    assert cut.completions[0].finish_reason == "length" and cut.usage.output_tokens == 5
    assert whole.completions[0].finish_reason == "stop"


def test_a_seed_repeats_all_n_answers_beyond_the_slots(provider: EmbeddedProvider, run: Any) -> None:
    request = ask("Name a fruit.", n=SLOTS + 2, seed=3, temperature=1.0, max_tokens=10)
    one, two = run(provider.generate(request)), run(provider.generate(request))
    texts = [completion.text for completion in one.completions]
    assert len(texts) == SLOTS + 2
    assert texts == [completion.text for completion in two.completions]
    assert len(set(texts)) > 2, "completions of one call must differ"
    other = run(provider.generate(ask("Name a fruit.", n=SLOTS + 2, seed=99, temperature=1.0, max_tokens=10)))
    assert texts != [completion.text for completion in other.completions]
    assert one.usage.output_tokens > 10, "tokens of all completions are counted"


def test_logprobs_belong_to_the_text(provider: EmbeddedProvider, run: Any) -> None:
    reply = run(provider.generate(ask("Count to three.", n=2, seed=1, max_tokens=8, logprobs=True, top_logprobs=2)))
    for completion in reply.completions:
        assert completion.logprobs is not None
        assert "".join(token.token for token in completion.logprobs).startswith(completion.text)
        assert all(token.logprob <= 0 for token in completion.logprobs)
        assert all(len(token.top) == 2 for token in completion.logprobs)
    assert run(provider.generate(ask("Hi.", max_tokens=2))).completions[0].logprobs is None


def test_calls_run_side_by_side(provider: EmbeddedProvider, run: Any) -> None:
    async def several() -> list[Reply]:
        return await asyncio.gather(
            *(provider.generate(ask(f"Say {i}.", seed=i, max_tokens=6)) for i in range(2 * SLOTS))
        )

    together = run(several())
    alone = [run(provider.generate(ask(f"Say {i}.", seed=i, max_tokens=6))) for i in range(2 * SLOTS)]
    assert [reply.text for reply in together] == [reply.text for reply in alone]


def test_a_cancelled_call_frees_its_place(provider: EmbeddedProvider, run: Any) -> None:
    async def cancelled() -> None:
        calls = [
            asyncio.ensure_future(provider.generate(ask("Tell a very long story.", seed=i, max_tokens=4000)))
            for i in range(SLOTS)
        ]
        await asyncio.sleep(0.3)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    run(cancelled())
    # Were the four still running to 4,000 tokens each, this would take minutes.
    reply = run(provider.generate(ask("Hi.", max_tokens=2)))
    assert reply.usage.output_tokens == 2


def test_bad_requests_are_fatal_with_a_reason(provider: EmbeddedProvider, run: Any) -> None:
    with pytest.raises(ContextLengthError, match="too long for this model"):
        run(provider.generate(ask("word " * 20_000, max_tokens=2)))
    with pytest.raises(FatalModelError, match="temperature"):
        run(provider.generate(ask("Hi.", temperature="hot", max_tokens=2)))


def test_an_answer_continues_from_its_beginning_and_tells_its_end(provider: EmbeddedProvider, run: Any) -> None:
    """The greedy answer is the same whether it is made at once or in two pieces; the end is a token without text."""
    settings = {"temperature": 0, "max_tokens": 40, "logprobs": True, "top_logprobs": 3}
    whole = run(provider.generate(ask("Say hi.", **settings))).completions[0]
    tokens = [token.token for token in whole.logprobs]
    assert ("".join(tokens), whole.finish_reason) == (whole.text, "stop")

    def after(count: int) -> GenerateRequest:
        question = ask("Say hi.", **settings)
        return replace(question, messages=(*question.messages, Message("assistant", "".join(tokens[:count]))))

    assert run(provider.generate(after(3))).text == "".join(tokens[3:])
    end = run(provider.generate(after(len(tokens)))).completions[0]
    assert (end.text, end.finish_reason) == ("", "stop")
    assert [token.token for token in end.logprobs or ()] in ([], [""])
    assert provider.traits.continues


def test_a_json_schema_is_obeyed(provider: EmbeddedProvider, run: Any) -> None:
    import json

    schema = {"type": "array", "items": {"type": "string", "enum": ["cat", "dog"]}, "minItems": 2, "maxItems": 2}
    form = {"type": "json_schema", "json_schema": {"schema": schema}}
    reply = run(provider.generate(ask("Two animals as JSON.", seed=1, max_tokens=40, response_format=form)))
    assert len(json.loads(reply.text)) == 2


def test_unknown_models_and_missing_or_damaged_files(run: Any, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="embedded/smollm2"):
        EmbeddedProvider("smollm", ProviderOptions())
    with pytest.raises(MissingPartError, match="no file"):
        EmbeddedProvider(str(tmp_path / "none.gguf"), ProviderOptions())
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 100)
    provider = EmbeddedProvider(str(broken), ProviderOptions())
    with pytest.raises(FatalModelError, match="cannot be loaded"):
        run(provider.generate(ask("Hi.")))
    run(provider.close())


def test_the_weights_are_part_of_the_cache_key(provider: EmbeddedProvider) -> None:
    assert len(provider.traits.identity["sha256"]) == 12
    assert not provider.traits.remote and provider.traits.concurrency == SLOTS


def test_pieces_are_put_together_by_index() -> None:
    gathered = Gathered("m")
    gathered.add([{"choices": [{"index": 1, "delta": {"content": "b"}}]}, {"choices": [{"index": 0, "delta": {}}]}])
    gathered.add({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "length"}]})
    gathered.add({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}})
    gathered.add({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})
    assert [(c.text, c.finish_reason) for c in gathered.completions()] == [("a", "length"), ("b", "stop")]
    assert (gathered.usage.input_tokens, gathered.usage.output_tokens) == (7, 5)
    gathered.add({"error": {"code": 400, "message": "no"}})
    assert gathered.error is not None and "llama.cpp said: no" in str(gathered.error)


def test_tools_are_refused_and_no_media_taken(provider: EmbeddedProvider, run: Any) -> None:
    with pytest.raises(FatalModelError, match="calls no tools"):
        run(provider.generate(replace(ask("Go."), tools=(Tool("go"),))))
    assert provider.traits.modalities == frozenset()
