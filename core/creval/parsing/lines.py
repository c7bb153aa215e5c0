"""Parsers `lines` and `text`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from creval.parsing.base import Extractor, not_text
from creval.parsing.lists import has_mark, is_no_item, one_item_a_line, strip_marks
from creval.parsing.refusal import refused
from creval.types.components import Parsed

__all__ = ["Lines", "Text"]


@dataclass(frozen=True)
class Lines(Extractor):
    """The lines of an answer, stripped, without blank ones, code fences and list marks.

    Those that say there is none (`N/A`) are left out; a list on one line (`1) a 2) b`) is one item a line.

    `marked`: only lines that begin with a list mark (`1.`, `-`, `a)`). `keep_marks`: leave the marks on.
    `limit`: keep the first so many. `minimum`: fewer lines are a failure.
    """

    marked: bool = False
    keep_marks: bool = False
    limit: int | None = None
    minimum: int = 1

    gives: ClassVar[str | None] = "list"
    spots_refusals: ClassVar[bool] = True
    reads_prose: ClassVar[bool] = True

    def parse(self, text: Any) -> Parsed:
        if not isinstance(text, str):
            return not_text(text)
        if self.is_refusal(text):
            return refused()
        kept = []
        for line in one_item_a_line(text).splitlines():
            if self.marked and not has_mark(line):
                continue
            item = line.strip() if self.keep_marks else strip_marks(line)
            if item and not item.startswith("```") and not is_no_item(item):
                kept.append(item)
        if len(kept) < self.minimum:
            kind = "marked lines" if self.marked else "lines"
            return Parsed.failure(f"{self.minimum} {kind} needed, {len(kept)} found")
        return Parsed(kept[: self.limit], route="lines")


@dataclass(frozen=True)
class Text(Extractor):
    """The whole answer, stripped."""

    gives: ClassVar[str | None] = "text"
    reads_prose: ClassVar[bool] = True

    def parse(self, text: Any) -> Parsed:
        if not isinstance(text, str):
            return not_text(text)
        return refused() if self.is_refusal(text) else Parsed(text.strip(), route="text")
