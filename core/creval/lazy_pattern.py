"""Regular expressions that are compiled when first used: a run needs few of them, and compiling all takes long."""

from __future__ import annotations

import functools
import re
from typing import Any, cast

__all__ = ["lazy_pattern"]


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` returns, compiled when one of its attributes is first used."""
    return cast("re.Pattern[str]", _LazyPattern(text, flags))


class _LazyPattern:
    def __init__(self, text: str, flags: int) -> None:
        self._given = text, flags

    @functools.cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(*self._given)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._compiled, name)
        setattr(self, name, found)  # from then on it is found without this method
        return found
