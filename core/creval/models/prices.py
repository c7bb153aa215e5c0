"""Prices of models. creval-litellm has the table of them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple, Protocol

from creval.types.messages import Usage

__all__ = ["Price", "Prices", "price_table"]

IMAGE_TOKENS = (85, 1_800)
"""The tokens of a small and of a large image, by the rules that OpenAI, Google, Anthropic and xAI publish."""


class Price(NamedTuple):
    """Prices in US dollars per token. `tiers` are (input tokens above which it applies, input price, output price).

    `image` is the price of one image, `image_token` that of a token of an image, None if the table has none. `reads`
    are the media that the model accepts (`image`, `audio`, `file`), None if the table does not say.
    """

    name: str
    input: float
    output: float
    cached_input: float | None = None
    reasoning: float | None = None
    tiers: tuple[tuple[int, float, float], ...] = ()
    image: float | None = None
    image_token: float | None = None
    reads: frozenset[str] | None = None

    @property
    def images(self) -> tuple[float, float] | None:
        """The lowest and highest price of an image, from the price per image or per token; None if unknown."""
        if self.image is not None:
            return self.image, self.image
        fewest, most = IMAGE_TOKENS
        return None if self.image_token is None else (fewest * self.image_token, most * self.image_token)

    def cost(self, usage: Usage) -> float:
        """Return the price of one call in US dollars; the whole call is charged at the tier of its input tokens."""
        into, out = self.input, self.output
        for above, tier_into, tier_out in self.tiers:
            if usage.input_tokens > above:
                into, out = tier_into, tier_out
        cached = min(usage.cached_input_tokens, usage.input_tokens)
        thought = min(usage.reasoning_tokens, usage.output_tokens)
        cached_price = into if self.cached_input is None else self.cached_input
        thought_price = out if self.reasoning is None else self.reasoning
        return (
            (usage.input_tokens - cached) * into
            + cached * cached_price
            + (usage.output_tokens - thought) * out
            + thought * thought_price
        )


class Prices(Protocol):
    """A table of prices."""

    def find(self, provider: str, model: str, batch: bool = False) -> Price | None:
        """Return the price of `provider/model`, with `batch` that of calls in batches, or None."""

    def providers(self) -> frozenset[str]:
        """Return the names of the providers."""


def price_table() -> Prices | None:
    """Return the table of creval-litellm, or None without it."""
    if find_spec("creval_litellm") is None:
        return None
    table: Prices = import_module("creval_litellm.price_table").PriceTable()
    return table
