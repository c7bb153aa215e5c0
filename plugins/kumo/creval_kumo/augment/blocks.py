"""Find the plain data in an answer, with or without a code fence."""

from __future__ import annotations

import re

__all__ = ["data_part"]

_FENCE = re.compile(r"^[ \t]*```[^\n]*\n", re.MULTILINE)


def data_part(answer: str, begin: re.Pattern[str]) -> str:
    """Return the text from the first match of `begin` to the end of the fenced block that contains it.

    An unclosed block extends to the end of the answer. Without a match the whole answer is returned.
    """
    found = begin.search(answer)
    if found is None:
        return answer
    before = len(_FENCE.findall(answer[: found.start()] + "\n"))
    if before % 2:
        end = re.compile(r"^[ \t]*```", re.MULTILINE).search(answer, found.start())
        if end is not None:
            return answer[found.start() : end.start()]
    return answer[found.start() :]
