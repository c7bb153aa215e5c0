"""Parser `choice`: which of some options an answer names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from creval.errors import UsageError
from creval.parsing.base import Extractor, not_text
from creval.parsing.refusal import refused
from creval.types.components import Parsed

__all__ = ["Choice"]

_AROUND = " \t\r\n.,:;!?()[]{}*_`\"'"


@dataclass(frozen=True)
class Choice(Extractor):
    """One of `options`, returned as written there.

    Tried in this order:
    1. the whole answer is an option, apart from punctuation around it (route `choice`);
    2. an option follows a cue: `answer` or `choice`, then `is`, `:` or `=`; the last such place counts (`choice/cue`);
    3. exactly one option occurs in the text as a whole word (`choice/only`). Several are a failure: no guess is made.

    Letter case is ignored, except for options of one letter in steps 2 and 3: there "a" is an article, "A" an option.
    """

    gives: ClassVar[str | None] = "text"
    reads_prose: ClassVar[bool] = True

    options: Sequence[str] = ("A", "B", "C", "D")
    _patterns: Sequence[tuple[str, re.Pattern[str]]] = field(init=False, repr=False, compare=False)
    _cue: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.options or len({option.casefold() for option in self.options}) != len(self.options):
            raise UsageError("options must be given, and all different", where="parser choice")
        ordered = sorted(self.options, key=len, reverse=True)
        patterns = [(option, re.compile(_spelling(option))) for option in ordered]
        either = "|".join(_spelling(option) for option in ordered)
        cue = re.compile(rf"(?i:\b(?:answer|choice)\b)\W{{0,8}}(?i:(?:is|:|=)?)\W{{0,8}}({either})")
        object.__setattr__(self, "_patterns", patterns)
        object.__setattr__(self, "_cue", cue)

    def parse(self, text: Any) -> Parsed:
        if not isinstance(text, str):
            return not_text(text)
        if self.is_refusal(text):
            return refused()
        bare = text.strip(_AROUND).casefold()
        for option in self.options:
            if option.strip(_AROUND).casefold() == bare:
                return Parsed(option, route="choice")
        cued = [match.group(1) for match in self._cue.finditer(text)]
        if cued:
            return Parsed(self._named(cued[-1]), route="choice/cue")
        named = self._occurring(text)
        if len(named) == 1:
            return Parsed(named[0], route="choice/only")
        if not named:
            return Parsed.failure("the answer names none of the options")
        return Parsed.failure(f"the answer names several options: {', '.join(named)}")

    def _named(self, spelled: str) -> str:
        return next(option for option in self.options if option.casefold() == spelled.casefold())

    def _occurring(self, text: str) -> list[str]:
        """Options that occur; one inside a longer option that occurs at the same place does not count."""
        taken: list[tuple[int, int]] = []
        named = []
        for option, pattern in self._patterns:
            for match in pattern.finditer(text):
                if not any(start <= match.start() and match.end() <= end for start, end in taken):
                    taken.append(match.span())
                    named.append(option)
                    break
        return named


def _spelling(option: str) -> str:
    """The pattern of an option as a whole word; letter case counts only for a single letter."""
    word = rf"(?<!\w){re.escape(option)}(?!\w)"
    return word if len(option) == 1 else f"(?i:{word})"
