"""Log-likelihoods: how probable given texts are to a model, after a context or as a whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from creval.types.messages import Completion, GenerateRequest, Reply

__all__ = ["Loglikelihood", "LoglikelihoodCall", "LoglikelihoodProvider", "LoglikelihoodRequest", "Output"]

Output = Literal["loglikelihood", "loglikelihood_rolling"]
"""What a call gives: the likelihood of continuations after a context, or of whole texts, window by window."""


@dataclass(frozen=True, slots=True)
class LoglikelihoodRequest:
    """A text whose probability is asked for: `continuation` after `context`; with an empty context as a whole.

    `label` is what the task calls the text (the letter of a choice); a language model never sees it.
    """

    context: str
    continuation: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Loglikelihood:
    """How probable a continuation is.

    `logprob` is the sum of the natural-log probabilities of its tokens (<= 0), `tokens` their number. `is_greedy`: each
    of them is the most probable one at its place.
    """

    logprob: float
    is_greedy: bool
    tokens: int

    @classmethod
    def of(cls, completion: Completion) -> Loglikelihood:
        """Return the likelihood that a completion of a `LoglikelihoodCall` holds."""
        tokens = completion.logprobs or ()
        greedy = all(token.logprob >= best for token in tokens for _, best in token.top)
        return cls(math.fsum(token.logprob for token in tokens), greedy, len(tokens))


@dataclass(frozen=True, slots=True)
class LoglikelihoodCall(GenerateRequest):
    """One call to a model for the likelihoods of several texts after one context.

    `messages` is that context (empty where there is none), `settings` are `context_length` (the most tokens of context
    and continuation, and one more) and `prefix` (the text before the first token where there is no context), where
    they are stated, and what a server takes under `extra`. The reply has one completion for each of `requests`, in
    order: `text` is the continuation, `logprobs` are its tokens, each with the most probable one at its place in `top`
    where that is another.
    """

    requests: tuple[LoglikelihoodRequest, ...] = ()
    output: Output = "loglikelihood"


class LoglikelihoodProvider(Protocol):
    """A provider that gives log-likelihoods too; its component states so: `loglikelihood=True`.

    One try, as `Provider.generate` makes it: it raises RetryableModelError or FatalModelError.
    """

    async def loglikelihood(self, call: LoglikelihoodCall) -> Reply: ...
