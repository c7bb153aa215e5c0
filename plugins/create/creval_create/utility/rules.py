"""Rules for scoring a set of paths: every reading of the paper is a setting."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from creval_create.paths.strings import Extent
from creval_create.paths.validity import Validity
from creval_create.utility.bounds import most
from creval_create.utility.distance import OverOne
from creval_create.utility.greedy import Order

__all__ = ["MAIN_PATIENCE", "PATIENCES", "Discount", "Rules", "Variant"]

PATIENCES = tuple(step / 10 for step in range(11))
"""The grid of Figure 4."""

MAIN_PATIENCE = 0.9
"""The patience of the paper's headline number."""

Variant = Literal["paper", "released"]
Discount = Literal["equation", "released"]


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings of a score.

    `validity`: which paths count. `last_triple`: whether the strength counts the triple that the query prescribes;
    `path_string`: whether the encoder reads it. `discount`: Eq. 1 (gamma^(i-1)), or the released code's, which
    leaves the first two paths undiscounted. `empty_set`: the value of a set without a path, `zero` or `one`.
    `over_one`: see `transformed`. `order`: see `Order`.
    """

    validity: Validity = "strict"
    last_triple: Extent = "left_out"
    path_string: Extent = "left_out"
    discount: Discount = "equation"
    empty_set: Literal["zero", "one"] = "zero"
    over_one: OverOne = "clamp"
    order: Order = "first"

    @classmethod
    def of(cls, variant: Variant = "paper", **chosen: Any) -> Rules:
        """Return the rules of a variant with single settings changed; None leaves a setting unchanged.

        `released` is the variant of the authors' code.
        """
        released = {"validity": "released", "discount": "released", "empty_set": "one", "over_one": "wrap"}
        base: dict[str, Any] = dict(released) if variant == "released" else {}
        base.update({name: value for name, value in chosen.items() if value is not None})
        return cls(**base)

    def most(self, patience: float) -> float | None:
        """Return the upper bound for a set of paths, None if there is none."""
        return most(patience, self.discount)

    def named(self) -> dict[str, str]:
        """Return the settings by name, for a result."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
