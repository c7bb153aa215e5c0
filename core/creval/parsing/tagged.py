"""Parser `tagged`: what stands inside <answer> ... </answer>."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from typing import Any, Literal

from creval.errors import UsageError
from creval.parsing.base import Extractor, not_text
from creval.parsing.refusal import refused
from creval.types.components import Parsed

__all__ = ["Tagged"]

_NAME = re.compile(r"[A-Za-z][\w.-]{0,63}")


@dataclass(frozen=True)
class Tagged(Extractor):
    """The text inside a tag, stripped.

    `choose`: the `last` tagged part (default) or the `first`. `closing`: `required`, or `optional`: then a part
    that is never closed reaches to the end of the answer. `ignore_case`: whether <ANSWER> is <answer> (default
    true). Tags don't nest: a part ends at the first closing tag. A blank part is a failure.
    """

    tag: str = "answer"
    choose: Literal["last", "first"] = "last"
    closing: Literal["required", "optional"] = "required"
    ignore_case: bool = True

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.tag):
            raise UsageError(f"{self.tag!r} is no tag name", where="parser tagged", cure="Give a word, without <>.")

    def parse(self, text: Any) -> Parsed:
        if not isinstance(text, str):
            return not_text(text)
        if self.is_refusal(text):
            return refused()
        flags = re.IGNORECASE if self.ignore_case else 0
        openings = [match.end() for match in re.finditer(f"<{re.escape(self.tag)}>", text, flags)]
        closings = [match.start() for match in re.finditer(f"</{re.escape(self.tag)}>", text, flags)]
        if not openings:
            return Parsed.failure(f"no <{self.tag}> in the answer")
        for start in openings if self.choose == "first" else reversed(openings):
            after = bisect.bisect_left(closings, start)
            end = closings[after] if after < len(closings) else None
            if end is None and self.closing == "required":
                continue
            part = text[start:end].strip()
            if not part:
                return Parsed.failure(f"<{self.tag}> is empty")
            return Parsed(part, route="tagged" if end is not None else "tagged/open")
        return Parsed.failure(f"<{self.tag}> is never closed")
