"""Log-likelihoods of a model that only chooses a text: a baseline, a recorded answer, a test's script."""

from __future__ import annotations

import math

from creval.errors import FatalModelError
from creval.types.likelihoods import LoglikelihoodCall, LoglikelihoodRequest
from creval.types.messages import Completion, Reply, TokenLogprob

__all__ = ["certain"]

_BYTE = -math.log(256)
"""The log-probability of a byte if all are equally probable."""


def certain(call: LoglikelihoodCall, said: str) -> Reply:
    """Return the likelihoods of a model that is certain of one text, and knows nothing about the others.

    `said` is the label of that text, the text itself, or its index from 0. Its log-likelihood is 0; for other texts all
    bytes are equally probable. Raises FatalModelError if it is none of several texts.
    """
    place = _meant(call, said.strip())
    if place is None and call.output == "loglikelihood":
        labels = ", ".join(item.label or repr(item.continuation) for item in call.requests)
        raise FatalModelError(f"the answer {said[:60]!r} is none of the given texts", fix=f"These are: {labels}.")
    return Reply(tuple(_completion(item, number == place) for number, item in enumerate(call.requests)), cost=0.0)


def _meant(call: LoglikelihoodCall, answer: str) -> int | None:
    labels = [item.label for item in call.requests]
    texts = [item.continuation.strip() for item in call.requests]
    for known in (labels, texts, [str(place) for place in range(len(labels))]):
        if answer in known:
            return known.index(answer)
    return None


def _completion(request: LoglikelihoodRequest, meant: bool) -> Completion:
    text = request.continuation
    logprob = 0.0 if meant else _BYTE * len(text.encode("utf-8", "surrogatepass"))
    return Completion(text, logprobs=(TokenLogprob(text, logprob, () if meant else (("", 0.0),)),))
