"""Parser `last_number`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, ClassVar

from creval.parsing.base import Extractor, not_text
from creval.parsing.refusal import refused
from creval.types.components import Parsed

__all__ = ["LastNumber"]

# thousands in groups of three, or plain digits; a sign only where no word or digit stands before it
_NUMBER = re.compile(
    r"(?:(?<![\w)\].])[-+−])?(?:\d{1,3}(?:,\d{3}){1,100}(?!\d)|\d{1,400})(?:\.\d{1,400})?(?:[eE][-+]?\d{1,3})?"
)


@dataclass(frozen=True)
class LastNumber(Extractor):
    """The last finite number of a text, as a float.

    Reads signs, thousands commas (`1,234.5`), decimals and exponents; a unit, currency or percent sign beside the
    number is ignored (50 % gives 50). In `3-4` the last number is 4, not -4.
    """

    gives: ClassVar[str | None] = "number"
    reads_prose: ClassVar[bool] = True

    def parse(self, text: Any) -> Parsed:
        if isinstance(text, int | float) and not isinstance(text, bool):
            return Parsed(float(text), route="last_number")
        if not isinstance(text, str):
            return not_text(text)
        if self.is_refusal(text):
            return refused()
        last = None
        for match in _NUMBER.finditer(text):
            number = float(match.group().replace(",", "").replace("−", "-"))
            last = number if math.isfinite(number) else last
        return Parsed.failure("no number in the answer") if last is None else Parsed(last, route="last_number")
