"""Replies without the keys that a server gave back."""

from __future__ import annotations

from dataclasses import replace

from creval.models.secrets import Mask
from creval.types.messages import Completion, Reply

__all__ = ["masked_reply"]


def masked_reply(reply: Reply, mask: Mask) -> Reply:
    """Return a reply in whose texts and names nothing of `mask` stands."""
    completions = tuple(_masked(completion, mask) for completion in reply.completions)
    model, served = (None if text is None else mask.hide(text) for text in (reply.model, reply.served_by))
    if completions == reply.completions and (model, served) == (reply.model, reply.served_by):
        return reply
    return replace(reply, completions=completions, model=model, served_by=served)


def _masked(completion: Completion, mask: Mask) -> Completion:
    text = mask.hide(completion.text)
    reasoning, refusal = (
        None if said is None else mask.hide(said) for said in (completion.reasoning, completion.refusal)
    )
    if (text, reasoning, refusal) == (completion.text, completion.reasoning, completion.refusal):
        return completion
    # The tokens would tell what is hidden in the text.
    tokens = completion.logprobs if text == completion.text else None
    return replace(completion, text=text, reasoning=reasoning, refusal=refusal, logprobs=tokens)
