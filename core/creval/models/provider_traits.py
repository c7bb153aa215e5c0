"""The traits of an opened provider, which may depend on its model and address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ProviderTraits"]


@dataclass(frozen=True, slots=True)
class ProviderTraits:
    """Set as attribute `traits` of a provider; without it the defaults apply.

    - `remote`: calls go over a network, so an answer may break off, and an empty one is requested once more.
    - `cacheable`: answers are worth caching (not those of baselines or replays, which cost nothing).
    - `honours_n`: one call returns several completions; otherwise the core makes one call for each.
    - `concurrency`: the most calls at once, whatever the user allows (1 for a model in this process).
    - `base_url`: the address of calls, without credentials. Models with the same address share a limiter.
    - `identity`: whatever else distinguishes two models of one name (a checksum of weights); part of the cache key.
    - `prices`: whether the price table's entry for the name applies.
    - `reports_cost`: the server reports the price of each call.
    - `free`: calls cost nothing.
    - `verbatim`: answers are used word for word (people, baselines), without searching them for thinking.
    - `continues`: if the last message is the assistant's, the answer continues it without a new turn, and
      `top_logprobs` show the alternatives. Searches over the steps of an answer need it (`requires: [continues]` of a
      task).
    - `modalities`: the media that the model accepts besides text (`image`, `audio`, `file`); None if the provider does
      not know: then those of the price table apply, if its entry does, and otherwise any are sent.
    - `exclusive`: settings of which the model accepts only one (`("temperature", "top_p")`). One with the provider's
      default (1) is not sent with another; the results report it (the flag `default_left_out`).
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
