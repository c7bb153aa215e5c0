"""Log-likelihoods: how probable a model finds a text, after a context or as a whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from creval.types.messages import Completion, GenerateRequest, Reply

__all__ = ["Loglikelihood", "LoglikelihoodCall", "LoglikelihoodProvider", "LoglikelihoodRequest", "Output"]

Output = Literal["loglikelihood", "loglikelihood_rolling"]
"""What a call returns: the likelihood of continuations after a context, or of whole texts, window by window."""


@dataclass(frozen=True, slots=True)
class LoglikelihoodRequest:
    """A text whose probability is asked for: `continuation` after `context`, or as a whole if the context is empty.

    `label` is the task's name for the text (e.g. the letter of a choice); a language model never sees it.
    """

    context: str
    continuation: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Loglikelihood:
    """How probable a continuation is.

    `logprob` is the sum of the natural-log probabilities of its tokens (<= 0), `tokens` their number. `is_greedy` says
    whether each token is the most probable one at its position.
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

    `messages` is that context (empty if there is none). `settings` may hold `context_length` (the most tokens of
    context and continuation, plus one), `prefix` (the text before the first token if there is no context), and under
    `extra` whatever a server accepts. The reply has one completion for each of `requests`, in order: `text` is the
    continuation, `logprobs` are its tokens. If another token is the most probable at a position, it is in `top`.
    """

    requests: tuple[LoglikelihoodRequest, ...] = ()
    output: Output = "loglikelihood"


class LoglikelihoodProvider(Protocol):
    """A provider that also returns log-likelihoods; it is registered with `loglikelihood=True`.

    Like `Provider.generate` it makes one try and raises RetryableModelError or FatalModelError.
    """

    async def loglikelihood(self, call: LoglikelihoodCall) -> Reply: ...
