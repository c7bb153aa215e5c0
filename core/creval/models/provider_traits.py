"""What a provider says about itself, so that the core treats it right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ProviderTraits"]


@dataclass(frozen=True, slots=True)
class ProviderTraits:
    """Set as attribute `traits` of a provider; without one these defaults hold.

    `remote`: calls go over a network, so an answer may break off, and an empty one is asked for once more.
    `cacheable`: answers are worth keeping (not those of baselines or replays, which cost nothing).
    `honours_n`: several completions come from one call; otherwise the core makes one call for each.
    `concurrency`: at most this many calls at once whatever the user allows (1 for a model in this process).
    `base_url`: where calls go, without credentials. Models with the same one share a limiter.
    `identity`: what else distinguishes two models of one name (a checksum of weights); part of the cache key.
    `prices`: whether the price table's entry for the name holds here.
    `reports_cost`: the server reports the price of each call.
    `free`: calls cost nothing.
    `verbatim`: answers are taken word for word (people, baselines): no thinking is looked for in them.
    `continues`: where the last message is the assistant's, the answer continues from its end, without a new turn; and
    `top_logprobs` tell what else might have followed. Searches over the steps of an answer need it (`requires:
    [continues]` of a task).
    `modalities`: the media that the model takes next to text (`image`, `audio`, `file`); None where the provider does
    not know: then the price table says it where its entry holds, and else any are sent.
    `exclusive`: settings of which the model takes one only (`("temperature", "top_p")`). One that has the provider's
    default (1) is not sent next to another; the results say so (the flag `default_left_out`).
    """

    remote: bool = True
    cacheable: bool = True
    honours_n: bool = True
    concurrency: int | None = None
    base_url: str | None = None
    identity: Mapping[str, Any] = field(default_factory=dict)
    prices: bool = False
    reports_cost: bool = False
    free: bool = False
    verbatim: bool = False
    continues: bool = False
    exclusive: tuple[str, ...] = ()
    modalities: frozenset[str] | None = None
