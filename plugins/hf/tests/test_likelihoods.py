"""Log-likelihoods equal those of lm-eval's `hf` model (0.4.13) on the same weights; shared beginnings are read once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from creval.errors import ContextLengthError, FatalModelError
from creval.types.likelihoods import Loglikelihood, LoglikelihoodCall, LoglikelihoodRequest
from creval.types.messages import Origin
from creval.types.sample import SampleKey

pytestmark = pytest.mark.model

CONTEXTS = ["", "Which is it?", "Which is it? \n", "word", "<s>he was", " ".join(f"{i} with" for i in range(200))]
TEXTS = [" the", " of and", "x", "  the one with\n", " naïve 日本", " the"]
WHOLE = ["One line.", " x\n\ny", " ".join(f"{i * i} was his" for i in range(150))]
KINDS = {"llama": {}, "qwen": {}, "gpt2": {}, "mistral": {"sliding_window": 16}}


def call(requests: Sequence[tuple[str, str]], output: Any = "loglikelihood", **settings: Any) -> LoglikelihoodCall:
    origin = Origin(SampleKey("task", "doc", "default", 0))
    texts = tuple(LoglikelihoodRequest(context, text) for context, text in requests)
    return LoglikelihoodCall((), settings, origin, requests=texts, output=output)


def by_lm_eval(folder: Any) -> tuple[list[tuple[float, bool]], list[float]]:
    pytest.importorskip("lm_eval", reason="no lm-eval: pip install 'lm-eval==0.4.13'")
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    model = HFLM(pretrained=str(folder), device="cpu", batch_size=4, dtype="float32")
    pairs = [(context, text) for context in CONTEXTS for text in TEXTS]
    asked = [Instance("loglikelihood", {}, pair, i) for i, pair in enumerate(pairs)]
    whole = [Instance("loglikelihood_rolling", {}, (text,), i) for i, text in enumerate(WHOLE)]
    return model.loglikelihood(asked, disable_tqdm=True), model.loglikelihood_rolling(whole, disable_tqdm=True)


@pytest.mark.parametrize("kind", KINDS)
def test_likelihoods_equal_those_of_lm_eval(kind: str, tiny: Any, open_tiny: Any, together: Any) -> None:
    theirs, whole = by_lm_eval(tiny(kind, **KINDS[kind]))
    provider = open_tiny(kind, **KINDS[kind])
    calls = [call([(context, text) for text in TEXTS]) for context in CONTEXTS]
    *replies, last = together(
        *map(provider.loglikelihood, [*calls, call([("", text) for text in WHOLE], "loglikelihood_rolling")])
    )
    ours = [Loglikelihood.of(each) for reply in replies for each in reply.completions]
    assert [each.logprob for each in ours] == pytest.approx([value for value, _ in theirs], abs=1e-4)
    assert [each.is_greedy for each in ours] == [greedy for _, greedy in theirs]
    rolled = [Loglikelihood.of(each) for each in last.completions]
    assert [each.logprob for each in rolled] == pytest.approx(whole, abs=1e-4, rel=1e-7)
    assert [reply.flags for reply in replies] == [()] * 5 + [("context_cut",)]
    assert [each.text for each in replies[1].completions] == TEXTS


def test_one_call_alone_and_many_together_are_equal(open_tiny: Any, together: Any) -> None:
    """What is shared differs: alone a call's own context, together what all contexts begin with."""
    provider = open_tiny("qwen")
    head = "these lines all calls have, and some more words that he had. "
    calls = [call([(head + "with " * i, text) for text in TEXTS]) for i in range(1, 9)]
    many = together(*map(provider.loglikelihood, calls))
    alone = [together(provider.loglikelihood(each))[0] for each in calls]
    for one, other in zip(many, alone, strict=True):
        values = [Loglikelihood.of(each).logprob for each in one.completions]
        assert values == pytest.approx([Loglikelihood.of(each).logprob for each in other.completions], abs=1e-4)


def test_a_shared_beginning_is_read_once(open_tiny: Any, together: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 4 x 6 texts after a head of over 100 tokens about 100 + 4 x 10 + 24 x 3 tokens are read, not 24 x 115."""
    from creval_hf import likelihoods

    read: list[int] = []
    original = likelihoods._read

    def counting(loaded: Any, state: Any, rows: Any, blocks: Any, logits: bool = False) -> Any:
        read.append(sum(map(len, blocks)))
        return original(loaded, state, rows, blocks, logits)

    monkeypatch.setattr(likelihoods, "_read", counting)
    provider = open_tiny()
    head = " ".join(f"{i} he" for i in range(40))
    calls = [call([(f"{head} {chr(97 + i)} for it", text) for text in TEXTS]) for i in range(4)]
    replies = together(*map(provider.loglikelihood, calls))
    assert replies[0].usage.input_tokens > 100 * len(TEXTS)
    assert len(read) == 3 and read[0] > 100 and sum(read) < 300


def test_a_model_without_plain_memory_is_read_as_a_whole(open_tiny: Any) -> None:
    from creval_hf.likelihoods import _shares

    providers = {kind: open_tiny(kind, **config) for kind, config in KINDS.items()}
    shares = {kind: _shares(provider._load().model) for kind, provider in providers.items()}
    assert shares == {"llama": True, "qwen": True, "gpt2": True, "mistral": False}


def test_lengths_and_prefixes_that_a_task_states(open_tiny: Any, together: Any) -> None:
    provider = open_tiny()
    context = " ".join(f"{i} with" for i in range(30))
    short, whole = together(
        provider.loglikelihood(call([(context, " the")], context_length=20)),
        provider.loglikelihood(call([(context, " the")])),
    )
    assert short.flags == ("context_cut",) and whole.flags == ()
    assert short.usage.input_tokens == 19
    with pytest.raises(ContextLengthError, match="does not fit into a context of 5"):
        together(provider.loglikelihood(call([("he", " the one with his word")], context_length=6)))
    with pytest.raises(FatalModelError, match="'' has no tokens"):
        together(provider.loglikelihood(call([("he", "")])))
    (empty,) = together(open_tiny("gpt2").loglikelihood(call([("", "")], "loglikelihood_rolling")))
    assert Loglikelihood.of(empty.completions[0]) == Loglikelihood(0.0, True, 0)
    plain, prefixed, known = together(
        provider.loglikelihood(call([("", "he was")])),
        provider.loglikelihood(call([("", "he was")], prefix="<|im_start|>")),
        provider.loglikelihood(call([("", "he was")], prefix="<s>")),
    )
    of = [Loglikelihood.of(reply.completions[0]).logprob for reply in (plain, prefixed, known)]
    assert of[0] == pytest.approx(of[2], abs=1e-5) and of[0] != pytest.approx(of[1], abs=1e-2)
