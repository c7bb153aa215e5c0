"""Heuristics for lists in answers: list marks, separators, small talk around a list.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.parsing.lists import (
    has_mark,
    is_no_item,
    one_item_a_line,
    plain_separators,
    straighten,
    strip_edges,
    strip_marks,
)
from creval.parsing.refusal import is_small_talk, speaks_of_the_last, without_talk
