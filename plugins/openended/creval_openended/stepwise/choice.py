"""Choice of the candidate, and the end of the solution.

Source: paper 004, 3.2 ("the highest-probability sample", "until majority of the samples indicate completion").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from creval_openended.stepwise.candidates import Candidate

__all__ = ["Majority", "Select", "choose", "is_complete"]

Select = Literal["mean", "sum"]
Majority = Literal["more_than_half", "half"]


def is_complete(candidates: Sequence[Candidate], majority: Majority) -> bool:
    """Return whether more than half of all sampled candidates say STOP; `half` also accepts exactly half."""
    stops = sum(candidate.kind == "stop" for candidate in candidates)
    return 2 * stops >= len(candidates) if majority == "half" else 2 * stops > len(candidates)


def choose(candidates: Sequence[Candidate], select: Select) -> int | None:
    """Return the number of the candidate to append, or None if none is usable.

    The highest mean log-probability (`sum`: the highest sum, which favours short steps), the first on a tie. If some
    usable candidate has no log-probabilities: the most frequent text, the first on a tie.
    """
    usable = [index for index, candidate in enumerate(candidates) if candidate.kind == "usable"]
    if not usable:
        return None
    if all(candidates[index].mean is not None for index in usable):
        worth = {i: (candidates[i].total if select == "sum" else candidates[i].mean) or 0.0 for i in usable}
        return max(usable, key=lambda i: worth[i])  # max keeps the first of equals
    counts = Counter(candidates[index].text for index in usable)
    return max(usable, key=lambda i: counts[candidates[i].text])
