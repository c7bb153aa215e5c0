"""Log-likelihoods through the facade: cache, budget, retries; and what servers of all kinds send."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from support.completions_server import EOS, CompletionsServer, logprob_of, tokens_of

from creval.errors import BudgetError, ContextLengthError, FatalModelError, UsageError
from creval.models.budget import Budget
from creval.models.model_options import ModelOptions
from creval.models.open_model import open_model
from creval.types.likelihoods import Loglikelihood, LoglikelihoodCall, LoglikelihoodRequest
from creval.types.messages import Message, Origin, Reply
from creval.types.sample import SampleKey
from creval_likelihoods.completions import prompt_tokens
from creval_likelihoods.likelihood_tokens import cut, rolling_windows, split_texts

TEXTS = ((" the king", "A"), (" a very long answer of many words", "B"), (" so", "C"))


def call(context: str = "Who are you?", texts: Any = TEXTS, output: Any = "loglikelihood", **settings: Any) -> Any:
    requests = tuple(LoglikelihoodRequest(context, text, label) for text, label in texts)
    messages = (Message("user", context),) if context else ()
    return LoglikelihoodCall(messages, settings, Origin(SampleKey("t", "0", "d", 0)), requests=requests, output=output)


def asked(registry: Any, options: ModelOptions, server: CompletionsServer, *calls: Any, model: str = "chat/m") -> Any:
    async def ask() -> list[Reply]:
        opened = open_model(model, registry, replace(options, base_url=server.url))
        try:
            return [await opened.loglikelihood(each) for each in calls]
        finally:
            await opened.close()

    return asyncio.run(ask())


def expected(context: str, continuation: str, first: list[str]) -> Loglikelihood:
    """Return the likelihood by the definition of the server's model."""
    whole = [*first, *tokens_of(context + continuation)]
    start = len(first) + len(tokens_of(context))
    pairs = [logprob_of(whole[:place], whole[place]) for place in range(start, len(whole))]
    return Loglikelihood(sum(value for value, _ in pairs), all(greedy for _, greedy in pairs), len(pairs))


def same(found: Loglikelihood, wanted: Loglikelihood) -> bool:
    return found.logprob == pytest.approx(wanted.logprob, abs=1e-9) and found == replace(wanted, logprob=found.logprob)


FORMS = {
    "tokenizer": ({}, "chat/m"),
    "no tokenizer": ({"tokenizes": False}, "chat/m"),
    "a first token of its own": ({"tokenizes": False, "adds_first": True}, "chat/m"),
    "nothing generated": ({"tokenizes": False, "generates": False}, "chat/m"),
    "vllm": ({"vllm": True}, "hosted_vllm/m"),
    "vllm without its tokenizer": ({"vllm": True, "tokenizes": False}, "hosted_vllm/m"),
    "openai's protocol elsewhere": ({}, "openai/m"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_server_gives_the_same_likelihoods(form: str, registry: Any, fast: ModelOptions) -> None:
    kind, model = FORMS[form]
    with CompletionsServer(**kind) as server:
        (reply,) = asked(registry, fast, server, call("Who are you?  "), model=model)
    first = [EOS] if server.adds_first else []
    for completion, (text, _) in zip(reply.completions, TEXTS, strict=True):
        assert completion.text == text
        assert same(Loglikelihood.of(completion), expected("Who are you?", "  " + text, first))
    assert (reply.cost, reply.flags, reply.model) == (0.0, (), "m")
    assert reply.usage.input_tokens > 0


@pytest.mark.parametrize("tokenizes", [True, False])
def test_a_whole_text_follows_the_prefix(tokenizes: bool, registry: Any, fast: ModelOptions) -> None:
    text = [("One line of text, and no more of it.", "")]
    given = call("", text, "loglikelihood_rolling", prefix=EOS)
    with CompletionsServer(tokenizes=tokenizes) as server:
        (reply,) = asked(registry, fast, server, given)
    assert same(Loglikelihood.of(reply.completions[0]), expected("", text[0][0], [EOS]))
    assert reply.flags == ()


def test_without_a_prefix_the_first_token_is_left_out_and_the_reply_says_so(registry: Any, fast: ModelOptions) -> None:
    given = call("", [("One line of text.", "")], "loglikelihood_rolling")
    with CompletionsServer(tokenizes=False) as server:
        (reply,) = asked(registry, fast, server, given)
        server.adds_first = True  # then it is the server's own token that has no probability
        (other,) = asked(registry, fast, server, given)
    assert (reply.flags, other.flags) == (("first_token",), ())
    assert len(other.completions[0].logprobs or ()) == len(reply.completions[0].logprobs or ()) + 1


def test_a_long_context_is_cut_on_the_left_and_the_reply_says_so(registry: Any, fast: ModelOptions) -> None:
    with CompletionsServer(longest=20) as server:
        cut_by_server, cut_by_setting = asked(
            registry, fast, server, call("many words " * 20), call("many words " * 20, context_length=16)
        )
        sent = [len(prompt) for body in server.of("/v1/completions") for prompt in body["prompt"]]
    assert sent == [19, 19, 19, 15, 15, 15]
    assert cut_by_server.flags == cut_by_setting.flags == ("context_cut",)
    assert Loglikelihood.of(cut_by_server.completions[0]) != Loglikelihood.of(cut_by_setting.completions[0])


def test_a_continuation_longer_than_the_context_is_an_error_of_the_sample(registry: Any, fast: ModelOptions) -> None:
    with CompletionsServer() as server, pytest.raises(ContextLengthError, match="does not fit into a context of 4"):
        asked(registry, fast, server, call(context_length=5))


def test_one_request_asks_for_all_texts_and_no_own_setting_reaches_the_server(
    registry: Any, fast: ModelOptions
) -> None:
    with CompletionsServer() as server:
        asked(registry, fast, server, call(context_length=50, prefix=EOS, add_special_tokens=True))
    (body,) = server.of("/v1/completions")
    assert len(body.pop("prompt")) == 3
    wanted = {"model": "m", "max_tokens": 1, "temperature": 0, "logprobs": 1, "echo": True}
    assert body == {**wanted, "add_special_tokens": True}


def test_failed_tries_are_made_again_and_the_answer_is_kept(registry: Any, fast: ModelOptions, tmp_path: Any) -> None:
    options = replace(fast, cache=tmp_path / "cache.sqlite")
    with CompletionsServer(fail=[503, 429]) as server:
        (first,) = asked(registry, options, server, call())
        again, other = asked(registry, options, server, call(), call(texts=TEXTS[:2]))
        count = len(server.of("/v1/completions"))
    assert (first.attempts, first.cached, again.cached, other.cached) == (3, False, True, False)
    assert again.completions == first.completions
    assert count == 4


def test_the_budget_of_calls_holds(registry: Any, fast: ModelOptions) -> None:
    options = replace(fast, budget=Budget(None, 1))
    with CompletionsServer() as server, pytest.raises(BudgetError):
        asked(registry, options, server, call(), call("Another?"))


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ({"echoes": False}, "sends no log-probabilities of the prompt"),
        ({"echoes": False, "tokenizes": False}, "sends no log-probabilities of the prompt"),
        ({"fail": [404]}, "HTTP 404"),
    ],
)
def test_a_server_that_cannot_stops_the_run_at_its_first_call(
    kind: dict[str, Any], said: str, registry: Any, fast: ModelOptions
) -> None:
    with CompletionsServer(**kind) as server, pytest.raises(FatalModelError, match=said) as caught:
        asked(registry, fast, server, call())
    assert caught.value.every_call
    assert "vLLM" in str(caught.value.fix)


@pytest.mark.parametrize("model", ["openrouter/a/b", "ollama_chat/m", "openai/gpt-5-mini", "litellm/anthropic/x"])
def test_models_that_give_none_say_so_before_anything_is_sent(
    model: str, registry: Any, fast: ModelOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI", "OPENROUTER", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "key-for-a-test")
    opened = open_model(model, registry, fast)
    assert not opened.gives_loglikelihoods
    with pytest.raises(UsageError, match="returns no log-likelihoods"):
        asyncio.run(opened.loglikelihood(call()))
    asyncio.run(opened.close())


def test_two_old_models_of_openai_give_them(registry: Any, fast: ModelOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-a-test")
    assert open_model("openai/davinci-002", registry, fast).gives_loglikelihoods


@pytest.mark.parametrize("length", [None, 3, 4, 7, 11, 12, 100])
def test_every_token_is_scored_once_after_the_one_before_it(length: int | None) -> None:
    tokens = list(range(1, 12))
    windows = rolling_windows(tokens, [0], length)
    assert [token for _, scored in windows for token in scored] == tokens
    assert all(context[-1] == scored[0] - 1 for context, scored in windows)
    assert all(len(context) + len(scored) <= (length or 100) for context, scored in windows)
    assert all([*context, *scored] == list(range(context[0], scored[-1] + 1)) for context, scored in windows)


@pytest.mark.parametrize("length", [None, 2, 3, 5, 6, 9])
def test_a_piece_is_the_end_of_context_and_continuation(length: int | None) -> None:
    piece = cut(0, [1, 2, 3, 4], [5], length)
    assert piece.prompt == [1, 2, 3, 4, 5][-(length or 5) :]
    assert piece.prompt[int(piece.context) :] == [5]
    assert piece.shortened == (len(piece.prompt) < 5)


def test_white_space_at_the_end_of_a_context_goes_to_the_continuation() -> None:
    assert split_texts(LoglikelihoodRequest("Answer: \n", "yes")) == ("Answer:", " \nyes")
    assert split_texts(LoglikelihoodRequest("  ", "yes"), "<s>") == ("<s>", "  yes")


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"logprobs": None},
        {"logprobs": {"token_logprobs": None}},
        {"logprobs": {"token_logprobs": [None, None, -1.0]}},
        {"logprobs": {"token_logprobs": [None, float("nan"), -1.0]}},
        {"logprobs": {"token_logprobs": [None, True, -1.0]}},
        {"logprobs": {"token_logprobs": [-1.0]}},
        {"prompt_logprobs": [None, {}]},
        {"prompt_logprobs": [None, {"8": -1.0}]},
        {"prompt_logprobs": [None]},
    ],
)
def test_a_choice_without_each_tokens_probability_is_no_answer(choice: dict[str, Any]) -> None:
    assert prompt_tokens(choice, [7, 8]) is None


def test_a_choice_without_the_tokens_texts_is_read() -> None:
    tokens = prompt_tokens({"logprobs": {"token_logprobs": [None, -2.0, -1.0], "top_logprobs": None}}, [7, 8])
    assert tokens is not None
    assert [token and token.logprob for token in tokens] == [None, -2.0]
