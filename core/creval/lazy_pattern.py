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
        self._arguments = text, flags

    @functools.cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(*self._arguments)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._compiled, name)
        setattr(self, name, value)  # from then on it is found without this method
        return value
