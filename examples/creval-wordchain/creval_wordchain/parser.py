"""Parser `single_word`: an answer that is one word."""

from __future__ import annotations

from typing import Any

from creval.plugin import Parsed
from creval.plugin.parsing import is_refusal, refused

__all__ = ["SingleWord"]


class SingleWord:
    """The answer in lower case, where it is letters alone (and perhaps a full stop); else the reason."""

    def parse(self, text: Any) -> Parsed:
        """Read one answer; a chain in one answer is read as its words."""
        if not isinstance(text, str) or not text.strip():
            return Parsed.failure("there is no text")
        if is_refusal(text):
            return refused()
        words = text.strip().rstrip(".!").lower().split()
        if all(word.isalpha() for word in words) or words == ["-"]:
            return Parsed(" ".join(words), route="single_word")
        return Parsed.failure("the answer is no single word")
