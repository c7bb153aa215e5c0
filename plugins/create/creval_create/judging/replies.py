"""Parse a judge's reply: which triples of a path are true (D.2), and how large their classes are (D.1).

A reply counts only as a whole: one judgement per triple, in order, in the words and numbers that the prompt requires.
Anything else is unreadable; a missing judgement is never filled in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from creval.plugin.parsing import JsonArray, JsonObject

__all__ = ["UnreadableVerdictError", "read_class_sizes", "read_factuality"]

_WORDS = {"not hallucinated": True, "hallucinated": False}


class UnreadableVerdictError(ValueError):
    """A judge's reply without a judgement for each triple."""


def read_factuality(text: str, triples: int) -> tuple[bool, ...]:
    """Return for each triple whether the judge judges it to be true. Raises UnreadableVerdictError."""
    found = JsonObject(keys=("judgments",)).parse(text)
    if not found.ok:
        raise UnreadableVerdictError(str(found.reason))
    said = _counted(found.value["judgments"], triples)
    verdicts = [_WORDS.get(" ".join(word.lower().split())) if isinstance(word, str) else None for word in said]
    if None in verdicts:
        wrong = said[verdicts.index(None)]
        raise UnreadableVerdictError(f"{str(wrong)[:60]!r} is neither 'hallucinated' nor 'not hallucinated'")
    return tuple(verdict is True for verdict in verdicts)


def read_class_sizes(text: str, triples: int) -> tuple[int, ...]:
    """Return for each triple the size of its larger class, an integer of at least 0. Raises UnreadableVerdictError.

    The prompt's example shows one object, so for a path of one triple a single object is accepted too.
    """
    found = JsonArray(items="object").parse(text)
    if found.ok:
        said = _counted(found.value, triples)
    else:
        alone = JsonObject(keys=("judgment",)).parse(text) if triples == 1 else found
        if not alone.ok:
            raise UnreadableVerdictError(str(found.reason))
        said = [alone.value]
    return tuple(_size(judgement, number) for number, judgement in enumerate(said, 1))


def _counted(said: Any, triples: int) -> Sequence[Any]:
    if not isinstance(said, list):
        raise UnreadableVerdictError("the judgements are not a list")
    if len(said) != triples:
        raise UnreadableVerdictError(f"{len(said)} judgements for {triples} triples")
    return said


def _size(judgement: Any, number: int) -> int:
    size = judgement.get("judgment") if isinstance(judgement, dict) else None
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise UnreadableVerdictError(f"the class size of triple {number} is {str(size)[:40]!r}, no whole number")
    return size
