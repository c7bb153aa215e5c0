"""Sentences by one fixed rule, whose version is part of a task.

A sentence ends at . ! ? or an ellipsis, closing quotes and brackets included, before white space and a capital letter,
a digit or an opening quote; not after an initial or a common abbreviation. The rule is made for English prose.
"""

from __future__ import annotations

import re

__all__ = ["SPLITTER", "first_sentence_end", "split_sentences"]

SPLITTER = "openended/1"
"""Name of the rule; another rule would make another task."""

_END = re.compile(r"""(?<![.!?…])[.!?…]++["'”’)\]]*+(?=\s+["'“‘(\[]?[A-Z0-9]|\s*$)""")
_ABBREVIATION = re.compile(r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|e\.g|i\.e|No|Vol|Fig|cf|approx))\.$")


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text in order; white space between them is dropped, every other character is kept."""
    sentences, rest = [], text.strip()
    while rest:
        end = first_sentence_end(rest)
        sentences.append(rest[:end].strip())
        rest = rest[end:].lstrip()
    return sentences


def first_sentence_end(text: str) -> int:
    """Return the end of the first sentence of a text (the length of the text if it never ends)."""
    for match in _END.finditer(text):
        if not _ABBREVIATION.search(text[: match.end()].rstrip("\"'”’)]")):
            return match.end()
    return len(text)
