"""An answer of a word game as plain lines: without tags, boxes and LaTeX, with the commas of other scripts as `,`."""

from __future__ import annotations

import re

from creval.plugin.lists import one_item_a_line, plain_separators
from creval.plugin.parsing import boxed_spans, without_unseen

__all__ = ["AND", "plain_lines"]

AND = r"(?:and|&|und|et|y|e|och|og|en)"
"""The word before the last of several words."""
_EMPHASIS = re.compile(r"</?(?:b|i|em|strong|u|code|span|mark)\b[^<>]{0,80}>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][\w-]{0,30}(?:\s[^<>]{0,80})?/?>", re.IGNORECASE)
_LATEX = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|texttt|quad|qquad|,|;|!| )\s?")


def plain_lines(text: str) -> str:
    """Return the text of an answer without markup around its words; a tag ends a line."""
    shown = plain_separators(without_unseen(text))
    if "<" in shown:
        shown = _TAG.sub("\n", _EMPHASIS.sub("", shown))
    if "\\" in shown:
        for start, end, content in reversed(boxed_spans(shown)):
            shown = f"{shown[:start]}\n{shown[content : end - 1]}\n{shown[end:]}"
        shown = _LATEX.sub("", shown.replace("\\\\", "\n"))
        shown = re.sub(r"\{([^{}\":]{1,400})\}", r" \1 ", shown)
    return one_item_a_line(shown)
