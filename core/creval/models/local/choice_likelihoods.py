"""Log-likelihoods of a model that only chooses a text: a baseline, a recorded answer, a test's script."""

from __future__ import annotations

import math

from creval.errors import FatalModelError
from creval.types.likelihoods import LoglikelihoodCall, LoglikelihoodRequest
from creval.types.messages import Completion, Reply, TokenLogprob

__all__ = ["certain"]

_BYTE_LOGPROB = -math.log(256)
"""The log-probability of a byte if all are equally probable."""


def certain(call: LoglikelihoodCall, said: str) -> Reply:
    """Return the likelihoods of a model that is certain of one text, and knows nothing about the others.

    `said` is the label of that text, the text itself, or its index from 0. Its log-likelihood is 0; for other texts all
    bytes are equally probable. Raises FatalModelError if it is none of several texts.
    """
    chosen = _chosen_index(call, said.strip())
    if chosen is None and call.output == "loglikelihood":
        labels = ", ".join(item.label or repr(item.continuation) for item in call.requests)
        raise FatalModelError(f"the answer {said[:60]!r} is none of the given texts", fix=f"These are: {labels}.")
    return Reply(tuple(_completion(item, number == chosen) for number, item in enumerate(call.requests)), cost=0.0)


def _chosen_index(call: LoglikelihoodCall, answer: str) -> int | None:
    """Return the index of the text that an answer names; None if it names none."""
    labels = [item.label for item in call.requests]
    texts = [item.continuation.strip() for item in call.requests]
    for candidates in (labels, texts, [str(index) for index in range(len(labels))]):
        if answer in candidates:
            return candidates.index(answer)
    return None


def _completion(request: LoglikelihoodRequest, is_chosen: bool) -> Completion:
    text = request.continuation
    logprob = 0.0 if is_chosen else _BYTE_LOGPROB * len(text.encode("utf-8", "surrogatepass"))
    return Completion(text, logprobs=(TokenLogprob(text, logprob, () if is_chosen else (("", 0.0),)),))
